//! Finds the programs that a shell command would start, without starting it.
//!
//! Two parsers read every line: a grammar finds the commands, and a small lexer of our own finds words, quotes and
//! operators. Where the two disagree, or either meets something unknown, the result is not [`ParsedCommand::sure`]: it may
//! be incomplete, and a person is asked. No command runs because of a misreading. `ruling` decides what may run.

mod agree;
mod decode;
mod options;
mod scan;
mod suspicion;
mod walk;
mod wrapper;

/// Longer lines are not parsed.
const MAX_BYTES: usize = 16 * 1024;
/// Nesting of commands in the text of other commands (`sh -c "sh -c …"`).
const MAX_NESTING: usize = 6;
/// A line with more segments is not judged.
const MAX_SEGMENTS: usize = 512;

/// Every program that a command line would start, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedCommand {
    pub segments: Vec<Segment>,
    /// Whether `segments` is complete. If not, a person has to read the line itself.
    pub sure: bool,
}

/// One simple command, at any depth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// The program and its arguments. Empty when there are only assignments or redirections.
    pub words: Vec<ShellWord>,
    pub assignments: Vec<Assignment>,
    pub redirections: Vec<Redirection>,
    pub background: bool,
    pub role: SegmentRole,
}

/// Whether a segment does work itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SegmentRole {
    #[default]
    Program,
    /// Only starts another command, which is a segment of its own (`env`, `timeout`, `sh -c`).
    Wrapper,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWord {
    /// Exactly this text.
    Text(String),
    /// A glob: stands for the files that match.
    Pattern(String),
    /// Known only at run time.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: ShellWord,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Whether it writes a file. Joining streams and `/dev/null` do not count.
    pub write: bool,
    pub target: ShellWord,
}

/// Parses a bash command line.
///
/// ```
/// let parsed = attache_tool::shell::parse("cd src && timeout 5 grep -n main *.rs | head");
/// assert!(parsed.sure);
/// assert_eq!(attache_tool::shell::roots(&parsed), ["cd", "grep", "head"]);
/// ```
pub fn parse(line: &str) -> ParsedCommand {
    nested(line, 0)
}

/// The names of the programs, each once, in order of appearance; for display.
pub fn roots(parsed: &ParsedCommand) -> Vec<String> {
    let mut roots: Vec<String> = Vec::new();
    for segment in parsed.segments.iter().filter(|segment| segment.role == SegmentRole::Program) {
        if let Some(program) = segment.program()
            && !matches!(program, "" | "[")
            && !roots.iter().any(|root| root == program)
        {
            roots.push(program.to_owned());
        }
    }
    roots
}

impl Segment {
    /// The program as written, perhaps with a path.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(ShellWord::text)
    }

    /// The program without the folder it is in.
    pub fn base(&self) -> Option<&str> {
        self.program().map(|program| program.rsplit('/').next().unwrap_or(program))
    }

    /// The arguments, if all of them are known exactly.
    pub(crate) fn known_arguments(&self) -> Option<Vec<&str>> {
        self.words.iter().skip(1).map(ShellWord::text).collect()
    }

    /// The words separated by blanks; unknown ones as `$?`.
    pub fn text(&self) -> String {
        let words: Vec<&str> = self
            .words
            .iter()
            .map(|word| match word {
                ShellWord::Text(text) | ShellWord::Pattern(text) => text.as_str(),
                ShellWord::Unknown => "$?",
            })
            .collect();
        words.join(" ")
    }
}

impl ShellWord {
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Pattern(_) | Self::Unknown => None,
        }
    }
}

fn nested(line: &str, depth: usize) -> ParsedCommand {
    if line.len() > MAX_BYTES || depth > MAX_NESTING {
        return ParsedCommand::default();
    }
    let classes = scan::scan(line);
    if too_complex(line, classes.as_deref()) {
        return ParsedCommand::default();
    }
    let Some(tree) = walk::tree(line) else { return ParsedCommand::default() };
    let found = walk::segments(&tree, line);
    let agreed = classes.is_some_and(|classes| agree::agree(&tree, line, &classes));
    let mut parsed = ParsedCommand { segments: Vec::new(), sure: found.sure && agreed };
    for segment in found.segments {
        wrapper::expand(segment, depth, &mut parsed);
        if parsed.segments.len() > MAX_SEGMENTS {
            parsed.sure = false;
            break;
        }
    }
    parsed
}

/// The grammar takes very long on many unclosed openings.
fn too_complex(line: &str, classes: Option<&[scan::Class]>) -> bool {
    const MAX_EXPANSION_BYTES: usize = 2048;
    const MAX_UNREAD_BYTES: usize = 4096;
    const MAX_OPENINGS: usize = 256;
    match classes {
        Some(classes) => {
            classes.iter().filter(|class| **class == scan::Class::Expansion).count() > MAX_EXPANSION_BYTES
        }
        None => {
            let openings = line.bytes().filter(|byte| b"`$({\"'".contains(byte)).count();
            line.len() > MAX_UNREAD_BYTES || openings > MAX_OPENINGS
        }
    }
}

#[cfg(test)]
mod tests;
