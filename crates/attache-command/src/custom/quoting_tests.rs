//! Any text arrives as one word, or not at all.

use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::template::{ShellLine, Template, TemplatePart};

fn line(command: &str) -> Result<ShellLine, String> {
    let template = Template::parse(&format!("!{{{command}}}"))?;
    match template.pieces.as_slice() {
        [TemplatePart::Command(line)] => Ok(line.clone()),
        other => panic!("{other:?}"),
    }
}

/// What a real shell writes.
fn written(shell: &str, command: &str) -> String {
    let output = Command::new(shell).args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Commands that write `<`, the arguments and `>`.
const PLACES: &[&str] = &[
    "printf '<%s>' {{args}}",
    "printf '<%s>' \"{{args}}\"",
    "printf '<%s>' '{{args}}'",
    "printf %s '<{{args}}>'",
    "printf %s \"<{{args}}>\"",
    "printf %s \\<{{args}}\\>",
    "printf %s \"<\"{{args}}'>'",
    "printf %s \"\\\"\" >/dev/null; printf '<%s>' {{args}}",
    "x='<'; printf %s \"${x}{{args}}>\"",
    "x='<'; printf %s ${x}{{args}}\\>",
    "# it's a comment\nprintf '<%s>' {{args}}",
    "printf \\\n '<%s>' {{args}}",
    "printf '<%s>' \\\n# it\\'s a comment\n printf '<%s>' {{args}} #",
    "printf '<%s>' $(printf %s {{args}} | cat >/dev/null)>/dev/null; printf '<%s>' {{args}}",
    "x={{args}}; printf '<%s>' \"$x\"",
    "printf '%s' \"$$\" >/dev/null; printf '<%s>' {{args}}",
    "case a in a) printf '<%s>' {{args}};; esac",
];

#[track_caller]
fn arrives(shell: &str, place: &str, arguments: &str) {
    let expected = format!("<{arguments}>");
    let line = line(place).unwrap();
    let written = written(shell, &line.fill(arguments));
    // Some of the places write more before.
    assert!(written.ends_with(&expected), "{place:?} {arguments:?} wrote {written:?}");
}

#[test]
fn hostile_words_arrive_everywhere() {
    for place in PLACES {
        for arguments in [
            "plain",
            "it's",
            "'; echo evil; '",
            "\"; echo evil; \"",
            "$(echo evil)",
            "`echo evil`",
            "${HOME}",
            "\\",
            "\\'",
            "a\nb",
            "!{x} {{args}}",
            "*",
            "~",
            "-n",
            "#",
            "é🙂",
        ] {
            arrives("sh", place, arguments);
            arrives("bash", place, arguments);
        }
    }
}

#[test]
fn the_quotes_fit_the_place() {
    let check = |place: &str, expected: &str| assert_eq!(line(place).unwrap().fill("a'b"), expected);
    check("x {{args}} y", "x 'a'\\''b' y");
    check("x \"{{args}}\"", "x \"\"'a'\\''b'\"\"");
    check("x '{{args}}'", "x '''a'\\''b'''");
    check("{{args}}{{args}}", "'a'\\''b''a'\\''b'");
    assert_eq!(line("x {{args}} '{{args}}'").unwrap().fill(""), "x  ''");
}

#[track_caller]
fn is_refused(place: &str, expected: &str) {
    let error = line(place).unwrap_err();
    assert!(error.contains(&format!("`{{{{args}}}}` stands {expected},")), "{place:?}: {error}");
}

#[test]
fn where_a_word_could_run_it_has_no_place() {
    is_refused("x \\{{args}}", "right behind a backslash");
    is_refused("x \"\\{{args}}\"", "right behind a backslash");
    is_refused("x ${{args}}", "right behind a `$`");
    is_refused("x \"${{args}}\"", "right behind a `$`");
    is_refused("x $'{{args}}'", "inside of `$'…'`");
    is_refused("x # {{args}}", "in a comment");
    is_refused("x;# {{args}}", "in a comment");
    is_refused("x \\\n# {{args}}", "in a comment");
    assert!(line("x a#' {{args}}'").is_ok() && line("x $# {{args}}").is_ok());
    is_refused("x \u{a0}# {{args}}", "behind what may be a comment");
    is_refused("x $()#'\n{{args}}", "behind what may be a comment");
    is_refused("x `y {{args}}`", "behind a backtick");
    is_refused("x \"$(y {{args}})\"", "behind a command in double quotes");
    is_refused("x \"`y {{args}}`\"", "behind a command in double quotes");
    is_refused("cat <<EOF\n{{args}}\nEOF", "behind `<<`");
    is_refused("x $((1 + {{args}}))", "behind something that is calculated");
    is_refused("x $[1 + {{args}}]", "behind something that is calculated");
    is_refused("x ${y:-{{args}}}", "behind a `${…}` that is more than a name");
    is_refused("x ${y{{args}}}", "inside of `${…}`");
    // In `$$`, the second is no beginning of quotes.
    assert_eq!(line("x $$'\\'' {{args}}'").unwrap().fill("a"), "x $$'\\'' ''a'''");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_word_arrives(arguments in "[^\0]{1,20}", at in 0..PLACES.len()) {
        arrives("sh", PLACES[at], &arguments);
    }

    #[test]
    fn any_hostile_word_arrives(arguments in "['\"$`(){}\\\\;&|<>#!\n a]{1,12}", at in 0..PLACES.len()) {
        arrives("bash", PLACES[at], &arguments);
    }

    /// Quotes and expansions in any order: where there is a place, the word does not run. What runs would write the
    /// mark, which the word itself does not hold.
    #[test]
    fn no_word_runs_wherever_it_is(
        before in proptest::collection::vec(proptest::sample::select(TOKENS), 0..10),
        after in proptest::collection::vec(proptest::sample::select(TOKENS), 0..4),
        evil in proptest::sample::select(EVIL),
    ) {
        let place = format!("!{{: {}{{{{args}}}}{}}}", before.concat(), after.concat());
        if let Ok(template) = Template::parse(&place) {
            for command in template.commands(evil) {
                let output = Command::new("bash").args(["-c", &command]).stdin(Stdio::null()).output().unwrap();
                let written = String::from_utf8_lossy(&output.stdout).into_owned();
                prop_assert!(!written.contains("mark"), "{command:?} wrote {written:?}");
            }
        }
    }
}

/// Nothing of these, put together, does anything but look at itself.
const TOKENS: &[&str] = &[
    "a",
    "'",
    "\"",
    "$",
    "$(",
    ")",
    "\\",
    "#",
    " ",
    "\n",
    ";",
    "$$",
    "${a}",
    "$'",
    "`",
    "\\\n",
    "<<a",
    "<",
    "|",
    "=(",
    "$\"",
    "case a in a)",
    ";; esac",
    "[[ ",
    "]]",
    "\t",
    "a=",
];

const EVIL: &[&str] = &[
    "$(printf ma; printf rk)",
    "`printf ma; printf rk`",
    "'; printf ma; printf rk; '",
    "\"; printf ma; printf rk; \"",
    "\n printf ma; printf rk\n",
    ") ; printf ma; printf rk; (",
    "\\'; printf ma; printf rk; '",
];
