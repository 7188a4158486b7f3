//! Finds the simple commands in the grammar's tree.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::decode::decode;
use super::{Assignment, Redirection, Segment, ShellWord};

/// The parser is stopped after this many progress reports; ordinary lines need a few.
const MAX_REPORTS: usize = 600;
/// The depth to which the tree is followed.
const MAX_DEPTH: usize = 120;

/// Reserved words of the shell: as the name of a program they show a misreading.
const RESERVED: &[&str] = &[
    "!", "{", "}", "[[", "]]", "((", "if", "then", "elif", "else", "fi", "for", "select", "while", "until",
    "do", "done", "case", "esac", "in", "function", "coproc",
];

pub(super) struct WalkResult {
    pub(super) segments: Vec<Segment>,
    pub(super) sure: bool,
}

/// The tree of a line; none when it takes too long.
pub(super) fn tree(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut reports = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MAX_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let letters = in_ascii(line);
    let mut input = |at: usize, _| letters.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut input, None, Some(ParseOptions::new().progress_callback(&mut progress)))
}

/// The line with an ASCII letter for every non-ASCII byte. The grammar's scanner reads beyond the end of a table for these;
/// to the shell they are ordinary parts of words.
fn in_ascii(line: &str) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line.as_bytes());
    }
    line.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect()
}

/// Every simple command of the tree.
pub(super) fn segments(tree: &Tree, line: &str) -> WalkResult {
    let found = WalkResult { segments: Vec::new(), sure: !tree.root_node().has_error() };
    let mut walker = Walker { line, found, places: Vec::new() };
    walker.visit(tree.root_node(), 0);
    walker.found
}

struct Walker<'a> {
    line: &'a str,
    found: WalkResult,
    /// Where in the line each segment begins.
    places: Vec<usize>,
}

impl<'a> Walker<'a> {
    fn visit(&mut self, node: Node<'_>, depth: usize) {
        if depth > MAX_DEPTH {
            self.found.sure = false;
            return;
        }
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => self.command(node, depth),
            "test_command" => self.test(node, depth),
            "redirected_statement" => self.redirected(node, depth),
            "variable_assignment" => {
                let assignment = self.assignment(node);
                self.push(node, Segment { assignments: vec![assignment], ..Segment::default() });
                self.children(node, depth);
            }
            "command_substitution" => {
                self.reading_substitution(node, depth);
                self.children(node, depth);
            }
            // A redirection where none is looked for, or a place where text is evaluated once more.
            "file_redirect"
            | "herestring_redirect"
            | "heredoc_redirect"
            | "subscript"
            | "c_style_for_statement" => {
                self.found.sure = false;
                self.children(node, depth);
            }
            "simple_expansion" | "expansion" => {
                self.found.sure &= !self.text(node).contains("IFS");
                self.children(node, depth);
            }
            _ => self.children(node, depth),
        }
    }

    fn children(&mut self, node: Node<'_>, depth: usize) {
        for child in children(node) {
            let first = self.found.segments.len();
            if child.kind() == "file_redirect" && node.kind() == "command_substitution" {
                continue;
            }
            self.visit(child, depth + 1);
            if child.next_sibling().is_some_and(|next| next.kind() == "&") {
                self.found.segments[first..].iter_mut().for_each(|segment| segment.background = true);
            }
        }
    }

    /// `$(< file)` only reads the file.
    fn reading_substitution(&mut self, node: Node<'_>, depth: usize) {
        for redirect in children(node).into_iter().filter(|child| child.kind() == "file_redirect") {
            let mut segment = Segment::default();
            self.found.sure &= self.redirection(redirect, &mut segment).is_empty();
            self.push(redirect, segment);
            self.children(redirect, depth + 1);
        }
    }

    fn command(&mut self, node: Node<'_>, depth: usize) {
        let mut segment = Segment::default();
        let mut end = node.start_byte();
        let parts = children(node);
        for part in &parts {
            // Between the parts of one command there are blanks: a newline would mean two commands.
            self.found.sure &= self.line.get(end..part.start_byte()).is_some_and(only_blanks);
            end = part.end_byte();
            match part.kind() {
                "variable_assignment" => {
                    let assignment = self.assignment(*part);
                    segment.assignments.push(assignment);
                }
                "file_redirect" => self.found.sure &= self.redirection(*part, &mut segment).is_empty(),
                "herestring_redirect" => self.found.sure &= self.on_one_line(*part),
                "subshell" => self.found.sure = false,
                _ => segment.words.push(decode(self.text(*part))),
            }
        }
        if segment.program().is_some_and(|program| RESERVED.contains(&program)) {
            self.found.sure = false;
        }
        self.push(node, segment);
        for part in parts {
            match part.kind() {
                "variable_assignment" | "file_redirect" | "herestring_redirect" => {
                    self.children(part, depth + 1)
                }
                _ => self.visit(part, depth + 1),
            }
        }
    }

    /// Numeric comparisons and `-v` evaluate their operands.
    fn test(&mut self, node: Node<'_>, depth: usize) {
        const EVALUATES: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];
        let text = self.text(node);
        self.found.sure &= !EVALUATES.iter().any(|operator| text.contains(operator));
        // In single brackets these end the test: what follows is a command.
        let single = !text.starts_with("[[");
        self.found.sure &= !text.contains(|letter| letter == '\n' || single && "&|;<>()`".contains(letter));
        self.push(node, Segment { words: vec![ShellWord::Text("[".to_owned())], ..Segment::default() });
        self.children(node, depth);
    }

    fn redirected(&mut self, node: Node<'_>, depth: usize) {
        let body = node.child_by_field_name("body");
        let mut first = self.found.segments.len();
        if let Some(body) = body {
            self.visit(body, depth + 1);
        }
        // The grammar gives a list the redirection of its last command.
        let owner = body.map(last_command);
        if let Some(owner) = owner {
            first += self.places[first..].iter().take_while(|place| **place < owner.start_byte()).count();
        }
        if self.found.segments.len() == first {
            self.push(node, Segment::default());
        }
        let last = self.found.segments.len();
        let takes_words = owner.is_some_and(|owner| owner.kind() == "command");
        for part in children(node).into_iter().filter(|part| Some(*part) != body) {
            self.found.sure &=
                part.prev_sibling().is_none_or(|before| self.only_blanks_between(before, part));
            self.found.sure &= part.kind() != "herestring_redirect" || self.on_one_line(part);
            let mut extra = Segment::default();
            extra.words = match part.kind() {
                "file_redirect" => self.redirection(part, &mut extra),
                "heredoc_redirect" => self.heredoc(part, &mut extra, depth),
                _ => Vec::new(),
            };
            if part.kind() != "heredoc_redirect" {
                self.children(part, depth + 1);
            }
            self.found.sure &= extra.words.is_empty() || takes_words;
            self.found.segments[first].words.append(&mut extra.words);
            for segment in &mut self.found.segments[first..last] {
                segment.redirections.extend(extra.redirections.iter().cloned());
            }
        }
    }

    /// After the delimiter the line continues with words, redirections or the next command.
    fn heredoc(&mut self, node: Node<'_>, segment: &mut Segment, depth: usize) -> Vec<ShellWord> {
        let mut words = Vec::new();
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let part = cursor.node();
            match (part.kind(), cursor.field_name()) {
                ("file_redirect" | "herestring_redirect", _) | (_, Some("argument"))
                    if part.prev_sibling().is_some_and(|before| !self.only_blanks_between(before, part)) =>
                {
                    self.found.sure = false;
                    self.visit(part, depth + 1);
                }
                ("file_redirect", _) => {
                    words.append(&mut self.redirection(part, segment));
                    self.children(part, depth + 1);
                }
                ("herestring_redirect", _) => self.children(part, depth + 1),
                (_, Some("argument")) => {
                    words.push(decode(self.text(part)));
                    self.visit(part, depth + 1);
                }
                _ => self.visit(part, depth + 1),
            }
            more = cursor.goto_next_sibling();
        }
        words
    }

    /// Records the target. The grammar takes later words for further targets; they are returned.
    fn redirection(&mut self, node: Node<'_>, segment: &mut Segment) -> Vec<ShellWord> {
        let mut operator = "";
        let mut targets = Vec::new();
        for part in children(node) {
            self.found.sure &=
                part.prev_sibling().is_none_or(|before| self.only_blanks_between(before, part));
            match part.kind() {
                "file_descriptor" => {}
                _ if !part.is_named() => operator = part.kind(),
                _ => targets.push(decode(self.text(part))),
            }
        }
        if targets.is_empty() {
            return targets;
        }
        let words = targets.split_off(1);
        let joins = operator.ends_with("&-")
            || (operator.ends_with('&')
                && targets[0].text().is_some_and(|text| {
                    text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
                }));
        if let (false, Some(target)) = (joins, targets.pop()) {
            let name = target.text().unwrap_or_default();
            self.found.sure &= !name.starts_with("/dev/tcp/") && !name.starts_with("/dev/udp/");
            let harmless = matches!(name, "/dev/null" | "/dev/stdout" | "/dev/stderr");
            if !harmless {
                segment.redirections.push(Redirection { write: operator.contains('>'), target });
            }
        }
        words
    }

    fn on_one_line(&self, node: Node<'_>) -> bool {
        children(node).windows(2).all(|pair| self.only_blanks_between(pair[0], pair[1]))
    }

    fn only_blanks_between(&self, before: Node<'_>, after: Node<'_>) -> bool {
        self.line.get(before.end_byte()..after.start_byte()).is_some_and(only_blanks)
    }

    fn assignment(&mut self, node: Node<'_>) -> Assignment {
        let name = node.child_by_field_name("name").map(|name| self.text(name)).unwrap_or_default();
        // To the shell, what looks like an assignment to any other name is the name of a program.
        self.found.sure &= is_name(name);
        let value = match node.child_by_field_name("value") {
            Some(value) if value.kind() == "array" => ShellWord::Unknown,
            Some(value) => decode(self.text(value)),
            None => ShellWord::Text(String::new()),
        };
        Assignment { name: name.to_owned(), value }
    }

    fn push(&mut self, node: Node<'_>, segment: Segment) {
        self.places.push(node.start_byte());
        self.found.segments.push(segment);
    }

    /// Nothing, which is never understood, where the grammar cuts a letter in two.
    fn text(&self, node: Node<'_>) -> &'a str {
        self.line.get(node.byte_range()).unwrap_or_default()
    }
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(fits) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn last_command(mut node: Node<'_>) -> Node<'_> {
    while matches!(node.kind(), "list" | "pipeline") {
        let Some(last) = children(node).into_iter().rfind(Node::is_named) else { break };
        node = last;
    }
    node
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

fn only_blanks(gap: &str) -> bool {
    gap.replace("\\\n", " ").bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}
