use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::*;

#[track_caller]
fn check(strategy: Strategy, (text, old, new): (&str, &str, &str), expected: &str) {
    let found = find(text, old, new);
    assert_eq!(found.apply(text), expected);
    assert_eq!(found.strategy, strategy);
}

#[track_caller]
fn check_count(text: &str, old: &str, expected: usize) {
    let found = find(text, old, "new");
    assert_eq!(found.edits.len(), expected, "{:?} found {:?}", found.strategy, found.edits);
}

#[test]
fn the_letter_comes_first() {
    check(Strategy::Exact, ("a b a", "b", "$1 \\0"), "a $1 \\0 a");
    check(Strategy::Exact, ("aaaa", "aa", "b"), "bb");
    check(Strategy::Exact, ("x\n  a\na\n", "a", "b"), "x\n  b\nb\n");
}

#[test]
fn white_space_around_lines_may_differ_and_new_lines_are_indented_alike() {
    let text = "fn main() {\n    if ready {\n        go();\n    }\n}\n";
    check(
        Strategy::Flexible,
        (text, "if ready {\n  go();\n}", "if set {\n    go();\n}"),
        "fn main() {\n    if set {\n        go();\n    }\n}\n",
    );
    check(
        Strategy::Flexible,
        (text, "if ready {\n  go();\n}\n", "if set {}\n"),
        "fn main() {\n    if set {}\n}\n",
    );
    check(Strategy::Flexible, ("\ta\n\tb\nc", "a\nb\n", ""), "c");
    check(Strategy::Flexible, ("a\r\nb\nc\n", "a\nb\n", "x\n"), "x\nc\n");
}

#[test]
fn line_breaks_between_tokens_may_differ() {
    check(
        Strategy::Tokens,
        ("  call(one,\n       two);\nnext();\n", "call( one, two );", "call(two);"),
        "  call(two);\nnext();\n",
    );
    check(Strategy::Tokens, ("    let a=[1,2];\nx\n", "let a = [1,2];\n", ""), "x\n");
    check(
        Strategy::Tokens,
        ("    let a=[1,2];\nx\n", "\nlet a = [1,2];\n", "\nlet a = [];\n"),
        "    let a = [];\nx\n",
    );
}

#[test]
fn words_are_neither_joined_nor_cut() {
    for (text, old) in [("returnvalue\n", "return  value"), ("call (valued)\n", "call(value")] {
        assert_eq!(tokens::find(text, old, "new"), [], "{text}");
    }
}

#[test]
fn a_few_letters_may_differ() {
    let text = "    let message = \"the quick brown fox jumps\";\n    done();\n";
    check(
        Strategy::Fuzzy,
        (text, "let mesage = \"the quick brown fox jump\";", "let message = \"\";"),
        "    let message = \"\";\n    done();\n",
    );
    check_count("short text\n", "shorf te", 0);
    check_count(text, "let other = \"something else entirely\";", 0);
}

#[test]
fn occurrences_are_counted_apart_in_every_strategy() {
    check_count("ababa", "aba", 1);
    check_count("  x\n  x\n  x\n  x\n  x\n", "x\n\tx", 2);
    check_count("f(a,\nb)\nf(a,\nb)\n", "f( a, b )", 2);
    check_count(
        "the quick brown fox jumps\nnothing\nthe quick brown fox jumps\n",
        "the quikc brown fox jumps",
        2,
    );
    check_count("same same line\nsame same line\nsame same line\n", "same samo line\nsame same lyne", 1);
    let line = "one line that is long enough\n";
    check_count(&line.repeat(4), "one line that is long enougH\none line that is long enougH", 2);
    check_count(&line.repeat(5), "one line that is long enougH\none line that is long enougH", 2);
}

#[test]
fn white_space_alone_fits_nowhere_but_to_the_letter() {
    check_count("a\n\n\nb\n", " \n ", 0);
    check_count("a\n\n\nb\n", "\n\n\n", 1);
}

proptest! {
    #[test]
    fn exact_replacement_is_that_of_the_standard_library(text in "[ab\n$]{0,40}", old in "[ab\n$]{1,3}", new in "[ab$1\n]{0,4}") {
        let found = find(&text, &old, &new);
        if text.contains(&old) {
            prop_assert_eq!(found.strategy, Strategy::Exact);
            prop_assert_eq!(found.apply(&text), text.replace(&old, &new));
            let first = Matches { edits: found.edits[..1].to_vec(), ..found };
            prop_assert_eq!(first.apply(&text), text.replacen(&old, &new, 1));
        }
    }

    #[test]
    fn any_text_is_matched_without_a_panic(text in any::<String>(), old in ".{1,20}", new in any::<String>()) {
        let found = find(&text, &old, &new);
        prop_assert!(found.edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        found.apply(&text);
    }

    #[test]
    fn all_edits_lie_in_order_and_apart(text in "([ab ]{1,4}\n){0,20}", old in "([ab ]{1,4}\n?){1,8}", new in "[ab\n ]{0,9}") {
        let found = find(&text, &old, &new);
        prop_assert!(found.edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        found.apply(&text);
    }
}
