//! Completes what is being typed with Tab: the names of commands, and the paths of files behind an `@`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{CommandSpec, IgnorePoison, visible_line};
use rustyline::completion::Pair;

/// More names are not offered: the person types another letter.
const MAX_CANDIDATES: usize = 100;
/// Files of a folder that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// The commands of the terminal itself.
const OWN_COMMANDS: &[&[&str]] = &[&["calls"], &["calls", "cancel"], &["quit"], &["exit"]];

/// What there is to complete with. Shared by the screen and the line editor.
#[derive(Clone, Default)]
pub(crate) struct Completions(Arc<Mutex<CompletionSources>>);

#[derive(Default)]
struct CompletionSources {
    /// The words of each command.
    commands: Vec<Vec<String>>,
    workspace: Option<PathBuf>,
    /// What is completed next is the backslash at the end of the line.
    continues_line: bool,
}

impl Completions {
    pub(crate) fn set_workspace(&self, workspace: PathBuf) {
        self.lock().workspace = Some(workspace);
    }

    pub(crate) fn set_commands(&self, specs: &[CommandSpec]) {
        let mut commands = Vec::new();
        add_paths(&[], specs, &mut commands);
        commands
            .extend(OWN_COMMANDS.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()));
        commands.sort();
        self.lock().commands = commands;
    }

    /// Has the next completion replace the letter before the cursor, a backslash, with a line break: a completion is how the
    /// line editor lets a line be changed.
    pub(crate) fn continue_line(&self) {
        self.lock().continues_line = true;
    }

    /// Where the completed word begins, and what it may become.
    pub(crate) fn complete(&self, line: &str, cursor: usize) -> (usize, Vec<Pair>) {
        let Some(typed) = line.get(..cursor) else { return (cursor, Vec::new()) };
        let mut known = self.lock();
        if std::mem::take(&mut known.continues_line) && typed.ends_with('\\') {
            let line_break = "\n".to_owned();
            return (cursor - 1, vec![Pair { display: line_break.clone(), replacement: line_break }]);
        }
        if let Some(words) = typed.strip_prefix('/').filter(|words| !words.contains('\n')) {
            let (start, names) = next_words(&known.commands, words);
            return (1 + start, names);
        }
        match (&known.workspace, mention_start(typed)) {
            (Some(workspace), Some(start)) => (start, paths(workspace, &typed[start..])),
            _ => (cursor, Vec::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, CompletionSources> {
        self.0.lock().ignore_poison()
    }
}

fn add_paths(before: &[String], specs: &[CommandSpec], paths: &mut Vec<Vec<String>>) {
    for spec in specs {
        let path: Vec<String> = before.iter().cloned().chain([spec.name.clone()]).collect();
        add_paths(&path, &spec.sub_commands, paths);
        paths.push(path);
    }
}

/// The words that can stand in the place of the last one.
fn next_words(commands: &[Vec<String>], typed: &str) -> (usize, Vec<Pair>) {
    let start = typed.rfind(' ').map_or(0, |blank| blank + 1);
    let before: Vec<&str> = typed[..start].split_whitespace().collect();
    let begun = &typed[start..];
    let follows = |path: &&Vec<String>| {
        path.len() == before.len() + 1
            && path.iter().zip(&before).all(|(word, given)| word == given)
            && path[before.len()].starts_with(begun)
    };
    let names = commands.iter().filter(follows).take(MAX_CANDIDATES).map(|path| {
        let name = path[before.len()].clone();
        Pair { replacement: format!("{name} "), display: name }
    });
    (start, names.collect())
}

/// Behind the `@` before the cursor, if what follows it can be a path.
fn mention_start(typed: &str) -> Option<usize> {
    let mut is_escaped = false;
    let mut start = None;
    let mut before = ' ';
    for (place, letter) in typed.char_indices() {
        if letter == '@' && before.is_whitespace() {
            start = Some(place + 1);
        } else if letter.is_whitespace() && !is_escaped {
            start = None;
        }
        is_escaped = letter == '\\' && !is_escaped;
        before = letter;
    }
    start
}

/// The entries of a folder that begin as typed. Those with a dot are left out unless the dot is typed, and names that
/// would control the terminal always.
fn paths(workspace: &Path, typed: &str) -> Vec<Pair> {
    let (folder, begun) = typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1));
    let begun = unescaped(begun);
    let Ok(entries) = fs::read_dir(workspace.join(unescaped(folder))) else { return Vec::new() };
    let names = entries.take(MAX_ENTRIES).flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_shown = name.starts_with(&begun)
            && (begun.starts_with('.') || !name.starts_with('.'))
            && visible_line(&name) == name;
        let is_folder = is_shown && fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
        is_shown.then_some((name, is_folder))
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.truncate(MAX_CANDIDATES);
    let pair = |(name, is_folder): (String, bool)| {
        let (mark, end) = if is_folder { ("/", "/") } else { ("", " ") };
        Pair { display: format!("{name}{mark}"), replacement: format!("{folder}{}{end}", escaped(&name)) }
    };
    names.into_iter().map(pair).collect()
}

fn escaped(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_whitespace() || letter == '\\' || letter == '@' {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn unescaped(typed: &str) -> String {
    let mut out = String::new();
    let mut letters = typed.chars();
    while let Some(letter) = letters.next() {
        out.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, sub_commands: Vec<CommandSpec>) -> CommandSpec {
        let (description, arguments) = (String::new(), Vec::new());
        CommandSpec { name: name.to_owned(), description, arguments, sub_commands, is_followed: false }
    }

    fn completions(workspace: &Path) -> Completions {
        let completions = Completions::default();
        completions.set_workspace(workspace.to_owned());
        let memory = spec("memory", vec![spec("show", vec![]), spec("add", vec![])]);
        completions.set_commands(&[spec("mcp", vec![]), memory, spec("help", vec![])]);
        completions
    }

    #[track_caller]
    fn check(completions: &Completions, typed: &str, expected: &[&str]) {
        let (start, found) = completions.complete(typed, typed.len());
        let lines: Vec<_> =
            found.iter().map(|pair| format!("{}{}", &typed[..start], pair.replacement)).collect();
        assert_eq!(lines, expected, "{typed:?}");
    }

    #[test]
    fn commands_are_completed_word_by_word() {
        let completions = completions(Path::new("/nowhere"));
        check(&completions, "/m", &["/mcp ", "/memory "]);
        check(&completions, "/mem", &["/memory "]);
        check(&completions, "/memory ", &["/memory add ", "/memory show "]);
        check(&completions, "/memory s", &["/memory show "]);
        check(&completions, "/memory show ", &[]);
        check(&completions, "/calls c", &["/calls cancel "]);
        check(&completions, "/nonsense ", &[]);
        check(&completions, "say /m", &[]);
        check(&completions, "", &[]);
    }

    #[test]
    fn files_are_completed_behind_an_at_sign() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["main.rs", "my notes.md", ".hidden", "e\u{1b}[2J", "\u{202e}x"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir_all(folder.path().join("more things/inner")).unwrap();
        let completions = completions(folder.path());
        check(&completions, "see @m", &["see @main.rs ", "see @more\\ things/", "see @my\\ notes.md "]);
        check(&completions, "see @more\\ th", &["see @more\\ things/"]);
        check(&completions, "see @more\\ things/", &["see @more\\ things/inner/"]);
        check(&completions, "@.", &["@.hidden "]);
        check(&completions, "@", &["@main.rs ", "@more\\ things/", "@my\\ notes.md "]);
        check(&completions, "@e", &[]);
        check(&completions, "me@m", &[]);
        check(&completions, "@main.rs ", &[]);
        check(&completions, "@nothing/", &[]);
    }

    #[test]
    fn a_backslash_becomes_a_line_break_when_the_line_goes_on() {
        let completions = completions(Path::new("/nowhere"));
        completions.continue_line();
        check(&completions, "one\\", &["one\n"]);
        check(&completions, "one\\", &[]);
    }
}
