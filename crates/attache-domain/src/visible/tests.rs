use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(visible(text), expected, "{text:?}");
}

#[test]
fn what_a_terminal_would_swallow_is_written_out() {
    check("ls src\u{1b}]; touch P; :\u{7}", r"ls src\u{1b}]; touch P; :\u{7}");
    check("rm -rf /\rls", r"rm -rf /\u{d}ls");
    check("a\u{8}b\u{7f}c\u{9b}2J", r"a\u{8}b\u{7f}c\u{9b}2J");
}

#[test]
fn what_hides_or_turns_is_written_out() {
    check("\u{202e}sl\u{2069}", r"\u{202e}sl\u{2069}");
    check("a\u{200b}b\u{feff}c\u{ad}d\u{3164}e\u{e0041}", r"a\u{200b}b\u{feff}c\u{ad}d\u{3164}e\u{e0041}");
    check("a\u{a0}b\u{3000}c\u{2028}d\u{fe0f}", r"a\u{a0}b\u{3000}c\u{2028}d\u{fe0f}");
}

#[test]
fn ordinary_text_is_left_as_it_is() {
    for text in
        ["", "a\tb\nc", "über Straße 漢字 emoji 🙂", r"grep '\d+' C:\new \\server", r"\x1b[31m", "u{1b}"]
    {
        assert!(matches!(visible(text), Cow::Borrowed(it) if it == text), "{text:?}");
    }
}

#[test]
fn a_name_has_no_line_breaks() {
    assert_eq!(visible_line("a\nb\tc"), r"a\u{a}b\u{9}c");
}

#[test]
fn a_character_and_its_spelling_are_told_apart() {
    check(r"\u{202e}", r"\\u{202e}");
    check("\\\u{202e}", r"\\\u{202e}");
    check(r"\\u{202e}", r"\\\\u{202e}");
    check(r"\n\", r"\n\");
}

#[test]
fn the_words_of_a_model_keep_what_languages_need() {
    let said = "نامه\u{200c}ای 👩\u{200d}💻 ❤\u{fe0f}\u{3000}日本";
    assert_eq!(terminal_safe(said), said);
    assert_eq!(
        terminal_safe("\u{1b}[31mred\r\u{202e}x\u{9b}2J \\u{1b}"),
        r"\u{1b}[31mred\u{d}\u{202e}x\u{9b}2J \u{1b}"
    );
}

#[test]
fn what_is_visible_stays_so() {
    for text in [r"\u{1b}", r"\\u{1b}", "\u{1b}", "a\u{200b}\\\u{202e}"] {
        let shown = visible(text);
        assert_eq!(visible_again(&shown), shown);
    }
    assert_eq!(visible_again("\r\u{200b}"), r"\u{d}\u{200b}");
}

fn proposal(shown: Preview) -> Proposal {
    Proposal { input: Map::new(), effects: Vec::new(), shown }
}

#[test]
fn a_proposal_knows_whether_it_hides_something() {
    let exec = |command: &str| {
        // As it is stored: other members may be left out.
        let shown = json!({"type": "exec", "command": command, "directory": "/w", "programs": []});
        proposal(serde_json::from_value(shown).unwrap()).has_hidden_characters()
    };
    assert!(!exec("cat <<EOF\n\tüber\nEOF") && exec("ls\r") && exec("ls\u{200b}") && exec("ls\u{1b}[8m"));
    let edit = |path: &str, diff: &str| {
        let (path, diff) = (path.into(), diff.into());
        let shown = Preview::Edit {
            path,
            diff,
            original: None,
            original_digest: None,
            new_content: "\u{200b}".into(),
        };
        proposal(shown).has_hidden_characters()
    };
    assert!(!edit("/w/a", "+one\r\n+two\r\n"), "as Windows ends its lines");
    assert!(
        edit("/w/a", "+one\rtwo\n")
            && edit("/w/a", "+one\r\r\n")
            && edit("/w/a", "+\u{202e}\n")
            && edit("/w/a\n", "+one\n")
    );
    let shown = Preview::Mcp { server: "s".into(), tool: "t".into(), title: "T".into(), address: None };
    let mut server = proposal(shown);
    server.input.insert("query".into(), json!({"deep": ["plain", r"\u{1b}"]}));
    assert!(!server.has_hidden_characters(), "a spelling hides nothing");
    server.input.insert("query".into(), json!({"deep": ["\u{2066}"]}));
    assert!(server.has_hidden_characters());
    let info = |url: &str| proposal(Preview::Info { prompt: "Fetch".into(), urls: vec![url.into()] });
    assert!(
        info("https://a.example/\u{202e}").has_hidden_characters()
            && !info("https://a.example/").has_hidden_characters()
    );
}

/// Characters that matter here, often.
fn text() -> impl Strategy<Value = String> {
    let hidden = prop::sample::select(vec![
        '\u{1b}',
        '\r',
        '\u{7}',
        '\u{8}',
        '\u{85}',
        '\u{9b}',
        '\u{202e}',
        '\u{2066}',
        '\u{61c}',
        '\u{200b}',
        '\u{2060}',
        '\u{feff}',
        '\u{ad}',
        '\u{34f}',
        '\u{115f}',
        '\u{17b4}',
        '\u{180e}',
        '\u{3164}',
        '\u{ffa0}',
        '\u{fe0f}',
        '\u{e0020}',
        '\u{a0}',
        '\u{2028}',
        '\u{2800}',
    ]);
    let ordinary = prop::sample::select(vec!['\\', 'u', '{', '}', '1', 'b', '2', 'e', '0', '\n', '\t', 'ü']);
    prop::collection::vec(prop_oneof![hidden, ordinary, any::<char>()], 0..24)
        .prop_map(|characters| characters.into_iter().collect())
}

/// Reads back what [`visible_line`] has written.
fn read_back(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while !rest.is_empty() {
        let after = rest.trim_start_matches('\\');
        let backslashes = rest.len() - after.len();
        let Some(escape) = after.strip_prefix("u{") else {
            text.push_str(&rest[..backslashes]);
            let next = after.chars().next();
            text.extend(next);
            rest = &after[next.map_or(0, char::len_utf8)..];
            continue;
        };
        text.extend(std::iter::repeat_n('\\', backslashes / 2));
        if backslashes.is_multiple_of(2) {
            text.push_str("u{");
            rest = escape;
            continue;
        }
        let (number, behind) = escape.split_once('}').unwrap();
        text.push(char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap());
        rest = behind;
    }
    text
}

proptest! {
    #[test]
    fn nothing_hidden_is_left(text in text()) {
        prop_assert!(!visible_line(&text).contains(is_hidden));
        prop_assert!(!visible(&text).contains(|it| is_hidden(it) && it != '\n' && it != '\t'));
        let safe = terminal_safe(&text).into_owned();
        prop_assert!(!safe.contains(|it: char| it.is_control() && it != '\n' && it != '\t'));
    }

    #[test]
    fn nothing_is_lost(text in text()) {
        prop_assert_eq!(read_back(&visible_line(&text)), text);
    }

    #[test]
    fn pieces_make_the_same_whole(text in text(), cut in 0_usize..24) {
        let cut = text.char_indices().nth(cut).map_or(text.len(), |(place, _)| place);
        let pieces = format!("{}{}", terminal_safe(&text[..cut]), terminal_safe(&text[cut..]));
        prop_assert_eq!(pieces, terminal_safe(&text).into_owned());
    }
}
