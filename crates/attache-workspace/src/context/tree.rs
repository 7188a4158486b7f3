//! Draws the files and folders of a workspace.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use attache_tool::check_glob;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::file_stamps;
use crate::project_root::top_of;
use crate::read_file;

/// How many files and folders are shown.
const MAX_ITEMS: usize = 200;
/// How many entries of one folder are read.
const MAX_ENTRIES: usize = 10_000;
const MAX_RULES_BYTES: u64 = 1 << 20;

/// Folders of generated files.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules", "dist", "__pycache__"];

/// The ignore rules that apply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeOptions<'a> {
    pub(crate) git: bool,
    pub(crate) gemini: bool,
    /// Further files of rules.
    pub(crate) custom: &'a [PathBuf],
}

/// The files and folders of `root`, breadth first, so that the deepest are cut off.
pub(crate) fn folder_tree(root: &Path, options: &TreeOptions<'_>) -> String {
    let ignoring = IgnoreRules::new(root, options);
    let mut folders = vec![Folder::new(root.to_owned())];
    let mut queue = VecDeque::from([0]);
    let mut left = MAX_ITEMS;
    while let Some(number) = queue.pop_front() {
        let path = folders[number].path.clone();
        let levels = if options.git { ignoring.along(root, &path) } else { Vec::new() };
        let (entries, more) = entries(&path);
        folders[number].cut = more;
        for (name, is_folder) in entries {
            let place = path.join(&name);
            if ignoring.hides(&levels, &place, is_folder) {
                continue;
            }
            if left == 0 {
                folders[number].cut = true;
                break;
            }
            left -= 1;
            if !is_folder {
                folders[number].items.push(Item::File(name));
                continue;
            }
            let closed = SKIPPED_FOLDERS.contains(&name.as_str());
            let child = folders.len();
            folders.push(Folder { cut: closed, ..Folder::new(place) });
            folders[number].items.push(Item::Folder(name, child));
            if !closed {
                queue.push_back(child);
            }
        }
    }
    let mut text = format!("{}/\n", root.display());
    draw(&folders, 0, 1, &mut text);
    text
}

struct Folder {
    path: PathBuf,
    items: Vec<Item>,
    /// Whether not all entries are shown.
    cut: bool,
}

enum Item {
    File(String),
    Folder(String, usize),
}

impl Folder {
    fn new(path: PathBuf) -> Self {
        Self { path, items: Vec::new(), cut: false }
    }
}

fn draw(folders: &[Folder], number: usize, level: usize, text: &mut String) {
    let indent = "  ".repeat(level);
    for item in &folders[number].items {
        match item {
            Item::File(name) => text.push_str(&format!("{indent}{name}\n")),
            Item::Folder(name, child) => {
                text.push_str(&format!("{indent}{name}/\n"));
                draw(folders, *child, level + 1, text);
            }
        }
    }
    if folders[number].cut {
        text.push_str(&format!("{indent}…\n"));
    }
}

/// Sorted names, and whether there are more. Links are shown and not followed.
fn entries(folder: &Path) -> (Vec<(String, bool)>, bool) {
    file_stamps::content(folder);
    let Ok(entries) = fs::read_dir(folder) else { return (Vec::new(), true) };
    let mut found: Vec<(String, bool)> = entries
        .filter_map(Result::ok)
        .take(MAX_ENTRIES + 1)
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().chars().map(printable).collect();
            (name, entry.file_type().is_ok_and(|kind| kind.is_dir()))
        })
        .collect();
    let more = found.len() > MAX_ENTRIES;
    found.sort();
    found.truncate(MAX_ENTRIES);
    (found, more)
}

fn printable(letter: char) -> char {
    if letter.is_control() { '\u{FFFD}' } else { letter }
}

/// The rules that apply to everything below the root.
struct IgnoreRules {
    always: Vec<Gitignore>,
    /// Rules of the folders from the top of the repository to the root, the root last.
    levels: Vec<Gitignore>,
    exclude: Option<Gitignore>,
}

impl IgnoreRules {
    fn new(root: &Path, options: &TreeOptions<'_>) -> Self {
        let gemini = options.gemini.then(|| rules(root, &root.join(".geminiignore"))).flatten();
        let always = options.custom.iter().filter_map(|file| rules(root, file)).chain(gemini).collect();
        let mut ignoring = Self { always, levels: Vec::new(), exclude: None };
        if options.git {
            let top = top_of(root, None);
            ignoring.exclude = rules(&top, &top.join(".git/info/exclude"));
            let above = root.ancestors().skip(1).take_while(|folder| folder.starts_with(&top));
            let mut above: Vec<Gitignore> =
                above.filter_map(|folder| rules(folder, &folder.join(".gitignore"))).collect();
            above.reverse();
            // A workspace that is ignored itself is still shown.
            let hidden = above.iter().any(|rules| rules.matched_path_or_any_parents(root, true).is_ignore());
            if !hidden {
                ignoring.levels = above;
            }
            ignoring.levels.extend(rules(root, &root.join(".gitignore")));
        }
        ignoring
    }

    /// The rules of all folders down to `folder`, its own last.
    fn along(&self, root: &Path, folder: &Path) -> Vec<Gitignore> {
        let between = folder.ancestors().take_while(|above| *above != root);
        let mut between: Vec<Gitignore> =
            between.filter_map(|folder| rules(folder, &folder.join(".gitignore"))).collect();
        between.reverse();
        self.levels.iter().cloned().chain(between).collect()
    }

    fn hides(&self, levels: &[Gitignore], path: &Path, is_folder: bool) -> bool {
        let in_order = self.always.iter().chain(levels.iter().rev()).chain(&self.exclude);
        for rules in in_order {
            match rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// Lines that are not rules are skipped.
fn rules(folder: &Path, file: &Path) -> Option<Gitignore> {
    let read = read_file::read(file, MAX_RULES_BYTES, None).ok()??;
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&read.bytes)
        .trim_start_matches('\u{FEFF}')
        .lines()
        .filter(|line| check_glob(line).is_ok())
    {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
