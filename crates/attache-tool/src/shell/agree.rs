//! Whether the grammar and the lexer agree on a line.

use tree_sitter::{Node, Tree};

use super::scan::Class;

/// Whether every token of the grammar has the lexer's class, and the tokens cover the line.
pub(super) fn agree(tree: &Tree, line: &str, classes: &[Class]) -> bool {
    let mut covered = 0;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.child_count() == 0 {
            let (start, end) = (node.start_byte(), node.end_byte());
            let gap = covered.min(start)..start;
            if start < end && !(gap_is_empty(line, classes, gap) && same(node, line, &classes[start..end])) {
                return false;
            }
            covered = covered.max(end);
        } else if !holds_together(node) {
            return false;
        } else if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return gap_is_empty(line, classes, covered..line.len());
            }
        }
    }
}

/// The grammar skips blanks and newlines even where they end a word.
fn holds_together(node: Node<'_>) -> bool {
    if !matches!(node.kind(), "concatenation" | "simple_expansion" | "variable_assignment" | "command_name") {
        return true;
    }
    let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
    children.windows(2).all(|pair| pair[0].end_byte() == pair[1].start_byte())
}

/// What no token covers separates tokens, or is text of which the grammar makes no token.
fn gap_is_empty(line: &str, classes: &[Class], gap: std::ops::Range<usize>) -> bool {
    gap.into_iter().all(|at| match classes[at] {
        Class::Blank | Class::Newline | Class::Joined | Class::Heredoc => true,
        Class::Double | Class::Expansion => line.as_bytes()[at].is_ascii_whitespace(),
        _ => false,
    })
}

fn same(node: Node<'_>, line: &str, classes: &[Class]) -> bool {
    let all = |allowed: &[Class]| classes.iter().all(|class| allowed.contains(class));
    match node.kind() {
        "raw_string" => all(&[Class::Single]),
        "ansi_c_string" => all(&[Class::Ansi]),
        "string_content" | "\"" => all(&[Class::Double]),
        "comment" => all(&[Class::Comment]),
        "heredoc_start" | "heredoc_body" | "heredoc_content" => all(&[Class::Heredoc]),
        "heredoc_end" => all(&[Class::Heredoc, Class::Newline]),
        "\n" => all(&[Class::Newline]),
        "regex" => false,
        _ => {
            let Some(text) = line.get(node.byte_range()) else { return false };
            let operator = !node.is_named() && !text.contains(|letter: char| letter.is_ascii_alphanumeric());
            all(&[Class::Text, Class::Escape])
                || all(&[Class::Expansion])
                || (text == "$" && all(&[Class::Double]))
                || (operator && all(&[Class::Operator]))
        }
    }
}
