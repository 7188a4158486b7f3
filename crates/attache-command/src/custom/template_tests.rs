//! The placeholders of a prompt.

use proptest::prelude::*;

use super::template::{ARGUMENTS, Template, TemplatePart};

/// Pieces in short: `T:text`, `A`, `F:path`, `C:command`.
fn pieces(prompt: &str) -> Vec<String> {
    let short = |piece: &TemplatePart| match piece {
        TemplatePart::Text(text) => format!("T:{text}"),
        TemplatePart::Arguments => "A".into(),
        TemplatePart::File(path) => format!("F:{path}"),
        TemplatePart::Command(line) => format!("C:{}", line.fill("?")),
    };
    Template::parse(prompt).unwrap().pieces.iter().map(short).collect()
}

#[track_caller]
fn check(prompt: &str, expected: &[&str]) {
    assert_eq!(pieces(prompt), expected, "{prompt:?}");
}

#[test]
fn places_are_told_from_text() {
    check("", &[]);
    check("a", &["T:a"]);
    check("a {{args}} b", &["T:a ", "A", "T: b"]);
    check("{{args}}{{args}}", &["A", "A"]);
    check("!{a}@{b}", &["C:a", "F:b"]);
    check("a!{b{c}{d{e}}}f", &["T:a", "C:b{c}{d{e}}", "T:f"]);
    check("!{x {{args}}}", &["C:x '?'"]);
    check("@{ a b }", &["F:a b"]);
    check("!{ }@{}x", &["T:x"]);
    check("! {a} {b} }", &["T:! {a} {b} }"]);
    check("{{{args}}}", &["T:{", "A", "T:}"]);
    check("!{{args}}", &["T:!", "A"]);
    check("é!{ü}é", &["T:é", "C:ü", "T:é"]);
    // A file's place is what it says; what is put in is not known yet.
    check("@{{{args}}}", &["F:{{args}}"]);
    check("!{cat @{a}}", &["C:cat @{a}"]);
}

#[test]
fn arguments_have_a_place_wherever_it_is() {
    for (prompt, expected) in [("a", false), ("{{args}}", true), ("!{a {{args}}}", true), ("{{arg}}", false)]
    {
        assert_eq!(Template::parse(prompt).unwrap().places_arguments, expected, "{prompt:?}");
    }
}

#[test]
fn a_crowd_of_places_is_refused_soon() {
    let prompt = "!{a}".repeat(60_000);
    assert!(Template::parse(&prompt).unwrap_err().contains("60000 places"));
}

proptest! {
    #[test]
    fn any_prompt_is_read_or_refused(prompt in "[!@{}args \n'\"\\\\$é]{0,60}") {
        let Ok(template) = Template::parse(&prompt) else {
            return Ok(());
        };
        // Without a place nothing is lost.
        if template.pieces.iter().all(|piece| matches!(piece, TemplatePart::Text(_) | TemplatePart::Arguments)) {
            let text: String = template.pieces.iter().map(|piece| match piece {
                TemplatePart::Text(text) => text.as_str(),
                _ => ARGUMENTS,
            }).collect();
            let empty = ["!{", "@{"].iter().any(|opening| prompt.contains(opening));
            prop_assert!(text == prompt || empty, "{prompt:?} became {text:?}");
        }
        for command in template.commands("x") {
            let depth = command.chars().try_fold(0_usize, |depth, letter| match letter {
                '{' => Some(depth + 1),
                '}' => depth.checked_sub(1),
                _ => Some(depth),
            });
            prop_assert_eq!(depth, Some(0), "{:?}", command);
        }
    }
}
