//! The registry of commands, which finds the command of a line.

use std::fmt;
use std::sync::Arc;

use attache_domain::{CommandCall, CommandSpec};

use crate::custom::{CommandFileProblem, CustomCommand, LoadedCommands};
use crate::standard::{self, Help};
use crate::unknown::{unknown, unknown_below};
use crate::{Command, CommandError, MatchedCommand, name, spec};

/// Bytes of a line; what is longer belongs into a file or a message.
const MAX_LINE: usize = 256 * 1024;

/// Commands in a fixed order, each with a name of its own. Cheap to copy: a workspace adds its own to those of all.
///
/// ```
/// use attache_command::CommandRegistry;
///
/// let registry = CommandRegistry::standard();
/// let call = registry.parse("/memory add tabs, not spaces").unwrap();
/// assert_eq!(call.path, ["memory", "add"]);
/// assert_eq!(call.arguments, "tabs, not spaces");
/// assert!(registry.find(&call).unwrap().check().is_ok());
/// ```
#[derive(Clone, Default)]
pub struct CommandRegistry {
    entries: Vec<Entry>,
}

#[derive(Clone)]
enum Entry {
    Command(Arc<dyn Command>),
    /// Lists all the others, so it is made on demand.
    Help,
}

/// How far the words of a line name a command.
struct Walk<'line> {
    path: Vec<String>,
    command: Arc<dyn Command>,
    rest: &'line str,
}

impl CommandRegistry {
    /// All built-in commands. `Registry::default()` has none.
    pub fn standard() -> Self {
        let mut entries: Vec<Entry> = standard::all().into_iter().map(Entry::Command).collect();
        entries.push(Entry::Help);
        entries.sort_by(|one, other| one.name().cmp(other.name()));
        Self { entries }
    }

    /// Adds a command behind the others.
    pub fn with(mut self, command: Arc<dyn Command>) -> Result<Self, CommandError> {
        self.add(command)?;
        Ok(self)
    }

    /// Adds a command behind the others. A name that is no single word, or that another command has, is refused.
    pub fn add(&mut self, command: Arc<dyn Command>) -> Result<(), CommandError> {
        name::check_tree(&*command)?;
        if let Some(other) = self.entries.iter().find(|entry| entry.name() == command.name()) {
            return Err(name::taken(other.description(), &*command));
        }
        self.entries.push(Entry::Command(command));
        Ok(())
    }

    /// Adds commands from files. One whose name is taken is left out and said to be, but for one of an extension: it
    /// then has the extension's name before its own.
    pub fn with_custom(mut self, loaded: LoadedCommands) -> (Self, Vec<CommandFileProblem>) {
        let LoadedCommands { commands, mut problems } = loaded;
        for command in commands {
            let command = self.named_apart(command);
            let path = command.path().to_owned();
            if let Err(error) = self.add(Arc::new(command)) {
                problems.push(CommandFileProblem {
                    path,
                    what: format!("{error}; until then this file is left out"),
                });
            }
        }
        (self, problems)
    }

    /// What can be given, the whole tree.
    pub fn specs(&self) -> Vec<CommandSpec> {
        self.entries.iter().map(Entry::spec).collect()
    }

    /// Finds the command of a call. The call is parsed as one line, so a path may contain arguments, slashes or
    /// several words, and may continue in the arguments.
    pub fn find(&self, call: &CommandCall) -> Result<MatchedCommand, CommandError> {
        let length = call.path.iter().map(String::len).sum::<usize>() + call.arguments.len();
        if length > MAX_LINE {
            let what =
                format!("the line has {length} bytes, and {MAX_LINE} are the most; give a shorter one");
            return Err(CommandError::BadArguments { what });
        }
        let line = call.line();
        let line = line.trim_start_matches(|letter: char| letter == '/' || letter.is_whitespace());
        let Some(Walk { path, command, rest }) = self.walk(line) else {
            let names: Vec<&str> = self.entries.iter().map(Entry::name).collect();
            return Err(unknown(first_word(line).0, &names));
        };
        let subs = command.sub_commands();
        if !rest.is_empty() && !subs.is_empty() && command.arguments().is_empty() {
            let names: Vec<&str> = subs.iter().map(|sub| sub.name()).collect();
            return Err(unknown_below(&path, first_word(rest).0, &names));
        }
        let arguments = rest.to_owned();
        Ok(MatchedCommand { command, call: CommandCall { path, arguments } })
    }

    /// The call that a line of text is, if it is one: a slash and a word. The longest known path wins, and the rest is
    /// the arguments as they were written. An unknown word is a call too, which [`Registry::find`] then refuses; a file's
    /// path (`/etc/hosts`), `//` and `/ ` are none.
    pub fn parse(&self, line: &str) -> Option<CommandCall> {
        let line = line.strip_prefix('/')?;
        if line.starts_with(|first: char| first.is_whitespace() || first == '*') {
            return None;
        }
        let (word, rest) = first_word(line);
        if word.is_empty() || word.contains('/') {
            return None;
        }
        Some(match self.walk(line) {
            Some(Walk { path, rest, .. }) => CommandCall { path, arguments: rest.to_owned() },
            None => CommandCall { path: vec![word.to_owned()], arguments: rest.to_owned() },
        })
    }

    fn walk<'line>(&self, line: &'line str) -> Option<Walk<'line>> {
        let (word, rest) = first_word(line);
        let command = self.named(word)?;
        let mut walk = Walk { path: vec![command.name().to_owned()], command, rest };
        loop {
            let (word, rest) = first_word(walk.rest);
            let Some(sub) = pick(walk.command.sub_commands(), word) else { return Some(walk) };
            walk.path.push(sub.name().to_owned());
            walk.command = sub;
            walk.rest = rest;
        }
    }

    fn named(&self, word: &str) -> Option<Arc<dyn Command>> {
        let entries = self.entries.iter();
        let by_name = entries.clone().find(|entry| entry.name() == word);
        let entry = by_name.or_else(|| entries.clone().find(|entry| entry.other_names().contains(&word)))?;
        Some(match entry {
            Entry::Command(command) => command.clone(),
            Entry::Help => Arc::new(Help::of(self.specs())),
        })
    }

    fn named_apart(&self, command: CustomCommand) -> CustomCommand {
        if self.entries.iter().any(|entry| entry.name() == command.name()) {
            command.named_apart()
        } else {
            command
        }
    }
}

impl fmt::Debug for CommandRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.entries.iter().map(Entry::name)).finish()
    }
}

impl Entry {
    fn name(&self) -> &str {
        match self {
            Self::Command(command) => command.name(),
            Self::Help => Help::NAME,
        }
    }

    fn other_names(&self) -> &[&str] {
        match self {
            Self::Command(command) => command.other_names(),
            Self::Help => Help::OTHER_NAMES,
        }
    }

    fn description(&self) -> &str {
        match self {
            Self::Command(command) => command.description(),
            Self::Help => Help::DESCRIPTION,
        }
    }

    fn spec(&self) -> CommandSpec {
        match self {
            Self::Command(command) => spec::of(&**command),
            Self::Help => spec::of(&Help::of(Vec::new())),
        }
    }
}

fn pick(commands: Vec<Arc<dyn Command>>, word: &str) -> Option<Arc<dyn Command>> {
    let by_name = commands.iter().position(|command| command.name() == word);
    let at = by_name.or_else(|| commands.iter().position(|command| command.other_names().contains(&word)))?;
    commands.into_iter().nth(at)
}

/// The first word, and everything after the blanks behind it.
fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim_start())
}
