//! Tables in the documents that point into the code: the glossary, and where things are.

use std::collections::BTreeMap;

use crate::tidy::Finding;
use crate::tidy::masked_source::MaskedSource;
use crate::tidy::source_path::{Role, SourcePath};
use crate::tidy::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const GLOSSARY: &str = "## Glossary";
const CONTRIBUTING: &str = "CONTRIBUTING.md";
const WHERE_IS: &str = "## Where is";

/// Crates that do not use the domain: they name the things of the protocol themselves.
const INDEPENDENT: &[&str] = &["attache-bench", "attache-conformance", "attache-testkit"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_glossary(tree);
    findings.extend(check_where_is(tree));
    findings
}

/// Every word of the glossary is an identifier in the code, and names one type only.
fn check_glossary(tree: &Tree) -> Vec<Finding> {
    let check = "glossary";
    let rows = table(tree, ARCHITECTURE, GLOSSARY);
    if rows.is_empty() {
        let message = format!("add the heading `{GLOSSARY}` and below it a table of our own words");
        return vec![Finding::new(check, ARCHITECTURE, message)];
    }
    let identifiers = identifiers(tree);
    let mut findings = Vec::new();
    for Row { line, cells } in rows {
        let words: Vec<&str> = cells.first().into_iter().flat_map(|cell| quoted(cell)).collect();
        if words.is_empty() {
            findings.push(Finding::at(check, ARCHITECTURE, line, "put the word into backticks"));
        }
        for word in words {
            let message = match identifiers.get(word).copied() {
                Some(0 | 1) => continue,
                Some(types) => {
                    format!("explains `{word}`, which names {types} types in the code; rename all but one")
                }
                None if word.split("::").all(|part| identifiers.contains_key(part)) => continue,
                None => format!("explains `{word}`, which is no identifier in the code"),
            };
            findings.push(Finding::at(check, ARCHITECTURE, line, message));
        }
    }
    findings
}

/// Every answer to "where is …?" names files that exist.
fn check_where_is(tree: &Tree) -> Vec<Finding> {
    let check = "where-is";
    let rows = table(tree, CONTRIBUTING, WHERE_IS);
    if rows.is_empty() {
        let message = format!("add the heading `{WHERE_IS} …?` and below it a table of questions and files");
        return vec![Finding::new(check, CONTRIBUTING, message)];
    }
    let mut findings = Vec::new();
    for Row { line, cells } in rows {
        let answers = cells.iter().skip(1).flat_map(|cell| quoted(cell));
        let paths: Vec<&str> = answers.filter(|text| text.contains('/')).collect();
        if paths.is_empty() {
            findings.push(Finding::at(check, CONTRIBUTING, line, "name a file, in backticks"));
        }
        for path in paths.into_iter().filter(|path| tree.file(path).is_none()) {
            let message = format!("names `{path}`, and there is no such file");
            findings.push(Finding::at(check, CONTRIBUTING, line, message));
        }
    }
    findings
}

struct Row<'a> {
    line: usize,
    cells: Vec<&'a str>,
}

/// The rows of the first table below a heading, without its head.
fn table<'a>(tree: &'a Tree, path: &str, heading: &str) -> Vec<Row<'a>> {
    let text = tree.file(path).map_or("", |file| &file.text);
    let below = text.lines().enumerate().skip_while(|(_, line)| !line.starts_with(heading)).skip(1);
    let section = below.take_while(|(_, line)| !line.starts_with("## "));
    let rows =
        section.skip_while(|(_, line)| !line.starts_with('|')).take_while(|(_, line)| line.starts_with('|'));
    let split = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect();
    rows.skip(2).map(|(number, line)| Row { line: number + 1, cells: split(line) }).collect()
}

/// The texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Every word in the code of the crates, without comments, string literals and tests, and the number of types that it names.
fn identifiers(tree: &Tree) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with("crates/")) {
        let source = SourcePath::of(&file.path).filter(|source| source.role == Role::Shipped);
        if source.is_none_or(|source| INDEPENDENT.contains(&source.package)) {
            continue;
        }
        let code = MaskedSource::new(&file.text).without_tests().code;
        let words = code.split(|character: char| !character.is_alphanumeric() && character != '_');
        let mut declares = false;
        for word in words.filter(|word| !word.is_empty()) {
            *found.entry(word.to_owned()).or_default() += usize::from(declares);
            declares = matches!(word, "struct" | "enum" | "trait" | "type");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: (&str, &str) = (
        "crates/a/src/lib.rs",
        "// Ghost\npub struct Fact;\nmod follow { const TEXT: &str = \"Spectre\"; }\n",
    );

    #[track_caller]
    fn check_row(row: &str, expected: Option<&str>) {
        let page =
            format!("# a\n\n## Glossary\n\nOur words.\n\n| word | meaning |\n|---|---|\n{row}\n\n## More\n");
        let findings = check_glossary(&Tree::of(&[(ARCHITECTURE, &page), SOURCE]));
        match expected {
            None => assert_eq!(findings, []),
            Some(message) => {
                assert_eq!(findings.len(), 1, "{findings:?}");
                assert!(findings[0].message.contains(message), "{findings:?}");
                assert_eq!(findings[0].place, "ARCHITECTURE.md:9");
            }
        }
    }

    #[test]
    fn a_word_of_the_glossary_is_an_identifier() {
        check_row("| `Fact` | what happened |", None);
        check_row("| `Fact`, `follow` | `Ghost` is only explained |", None);
        check_row("| `follow::TEXT` | a path |", None);
        check_row("| `Ghost` | stands in a comment |", Some("`Ghost`"));
        check_row("| `Spectre` | stands in a string |", Some("`Spectre`"));
        check_row("| Fact | without backticks |", Some("backticks"));
    }

    #[test]
    fn a_word_of_the_glossary_names_one_type() {
        let page = "## Glossary\n\n| word | meaning |\n|---|---|\n| `Fact` | what happened |\n";
        let count = |path: &str, text: &str| {
            check_glossary(&Tree::of(&[(ARCHITECTURE, page), SOURCE, (path, text)])).len()
        };
        assert_eq!(count("crates/b/src/fact.rs", "enum Fact {}"), 1);
        assert_eq!(
            count("crates/b/src/fact.rs", "use a::Fact;\n#[cfg(test)]\nmod tests { struct Fact; }"),
            0
        );
        assert_eq!(count("crates/b/tests/fact.rs", "struct Fact;"), 0);
        assert_eq!(count("crates/attache-conformance/src/fact.rs", "struct Fact;"), 0);
    }

    #[test]
    fn a_page_without_its_table_is_a_finding() {
        assert_eq!(check(&Tree::default()).len(), 2);
        let other = "## Glossary\n\nno table\n\n## Words\n\n| a | b |\n|---|---|\n| `Fact` | x |\n";
        assert_eq!(check_glossary(&Tree::of(&[(ARCHITECTURE, other), SOURCE])).len(), 1);
    }

    #[test]
    fn an_answer_names_files_that_exist() {
        let page = "## Where is …?\n\n| what | file |\n|---|---|\n\
                    | the limit | `crates/a/src/lib.rs`, constant `MAX` |\n\
                    | the rest | `crates/a/src/gone.rs` |\n| `x/y` | nowhere |\n";
        let findings = check_where_is(&Tree::of(&[(CONTRIBUTING, page), SOURCE]));
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            ["names `crates/a/src/gone.rs`, and there is no such file", "name a file, in backticks"]
        );
    }
}
