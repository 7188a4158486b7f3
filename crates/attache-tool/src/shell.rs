//! What a shell command would start, found without starting it.
//!
//! Two readers look at every line: a grammar, which finds the commands, and a small lexer of our own, which only
//! knows where words, quotes and operators are. Where the two disagree, or where either meets something that it does
//! not know, the result is not [`Parsed::sure`]: then what was found is a part of the truth, and a person is asked.
//! Nothing is ever run or refused because of a misunderstanding.
//!
//! Not here: whether any of it may run (`ruling`).

mod agree;
mod decode;
mod options;
mod scan;
mod suspicion;
mod walk;
mod wrapper;

/// More than this is not read: nobody could judge it either.
const MAX_BYTES: usize = 16 * 1024;
/// How deep commands may sit in the text of other commands (`sh -c "sh -c …"`).
const MAX_NESTING: usize = 6;
/// No line starts more than this; one that seems to is not judged.
const MAX_SEGMENTS: usize = 512;

/// Everything a command line would start, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedCommand {
    pub segments: Vec<Segment>,
    /// Whether `segments` is all of it. If not, somebody has to look at the line itself.
    pub sure: bool,
}

/// One simple command, at whatever depth it was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Segment {
    /// The program and its arguments. Empty when there are only assignments or redirections.
    pub words: Vec<ShellWord>,
    pub assignments: Vec<Assignment>,
    pub redirections: Vec<Redirection>,
    pub background: bool,
    pub role: SegmentRole,
}

/// Whether a segment does something itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SegmentRole {
    #[default]
    Program,
    /// Only starts another command, which is a segment of its own (`env`, `timeout`, `sh -c`).
    Wrapper,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWord {
    /// The program gets exactly this.
    Text(String),
    /// Stands for the names of files that match.
    Pattern(String),
    /// Holds something that is known only when it runs.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: ShellWord,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Whether a file would be written. Joining streams and throwing output away is not writing.
    pub write: bool,
    pub target: ShellWord,
}

/// Reads a command line of bash.
///
/// ```
/// let parsed = attache_tool::shell::parse("cd src && timeout 5 grep -n main *.rs | head");
/// assert!(parsed.sure);
/// assert_eq!(attache_tool::shell::roots(&parsed), ["cd", "grep", "head"]);
/// ```
pub fn parse(line: &str) -> ParsedCommand {
    nested(line, 0)
}

/// The names of the programs, each once, in the order in which they are met; for showing. Nothing has no name.
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
    /// What is in the place of the program, as it is spelled (perhaps with a path).
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(ShellWord::text)
    }

    /// The program without the folder it is in.
    pub fn base(&self) -> Option<&str> {
        self.program().map(|program| program.rsplit('/').next().unwrap_or(program))
    }

    /// The arguments, if all of them are known to the letter.
    pub fn known_arguments(&self) -> Option<Vec<&str>> {
        self.words.iter().skip(1).map(ShellWord::text).collect()
    }

    /// The words with blanks between them; what is unknown shows as `$?`.
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

/// The grammar takes very long to find its way out of many openings that are not closed.
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
