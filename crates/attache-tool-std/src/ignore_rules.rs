//! Decides which files of a project are ignored: those named by `.gitignore` files, `.git/info/exclude` and the
//! `.geminiignore` at its root.
//!
//! Rules of files in the settings override `.geminiignore`, which overrides git's rules. A deeper `.gitignore`
//! overrides a higher one. If the root lies inside a repository, the rules of the folders above it apply too, unless
//! they ignore the root itself. The walk itself is in `walk`.

#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use attache_domain::IgnorePoison;
use attache_tool::{Workspace, check_glob};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

/// Only the beginning of a larger rule file is read.
const MAX_RULES_BYTES: u64 = 1024 * 1024;

/// Which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IgnoreSelection {
    pub(crate) git: bool,
    pub(crate) gemini: bool,
}

impl IgnoreSelection {
    pub(crate) const ALL: Self = Self { git: true, gemini: true };
}

/// The rules that a call selects. By default all apply.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(crate) struct FileFiltering {
    respect_git_ignore: Option<bool>,
    respect_gemini_ignore: Option<bool>,
}

impl FileFiltering {
    pub(crate) fn properties() -> Value {
        json!({
            "respect_git_ignore": {
                "type": "boolean",
                "description": "Whether files that git ignores are left out. Default true.",
            },
            "respect_gemini_ignore": {
                "type": "boolean",
                "description": "Whether files that .geminiignore names are left out. Default true.",
            },
        })
    }

    pub(crate) fn selection(self) -> IgnoreSelection {
        let all = IgnoreSelection::ALL;
        IgnoreSelection {
            git: self.respect_git_ignore.unwrap_or(all.git),
            gemini: self.respect_gemini_ignore.unwrap_or(all.gemini),
        }
    }
}

/// The rules of one root. The rules of a folder are read once, at the first use.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    root: PathBuf,
    /// Rules with the highest priority first.
    own: Vec<Gitignore>,
    /// The top of the repository, or the root. None if git's rules do not apply.
    top: Option<PathBuf>,
    exclude: Option<Gitignore>,
    folders: RwLock<HashMap<PathBuf, Option<Arc<FolderRules>>>>,
}

/// The rules of a folder's `.gitignore` and of the nearest folder above with rules.
#[derive(Debug)]
struct FolderRules {
    rules: Gitignore,
    above: Option<Arc<FolderRules>>,
}

impl IgnoreRules {
    /// `root` is one of the workspace's folders. A call cannot select rules that the workspace switches off.
    pub(crate) fn new(workspace: &Workspace, root: &Path, respected: IgnoreSelection) -> Self {
        let sources = &workspace.ignore;
        let respected =
            IgnoreSelection { git: respected.git && sources.git, gemini: respected.gemini && sources.gemini };
        let custom = sources.custom.iter().rev().filter_map(|path| rules(root, path));
        let gemini = respected.gemini.then(|| rules(root, &root.join(".geminiignore"))).flatten();
        let mut ignoring = Self {
            root: root.to_owned(),
            own: custom.chain(gemini).collect(),
            top: None,
            exclude: None,
            folders: RwLock::default(),
        };
        if respected.git {
            let top = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root);
            ignoring.begin_at(top);
            if top != root && ignoring.git_hides_any(top, root) {
                ignoring.begin_at(root);
            }
        }
        ignoring
    }

    /// Whether `path` or a folder above it is ignored. The path is below the root.
    pub(crate) fn hides(&self, path: &Path, is_folder: bool) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let mut above = self.root.clone();
        let mut names = below.components().peekable();
        while let Some(name) = names.next() {
            above.push(name);
            if self.hides_itself(&above, is_folder || names.peek().is_some()) {
                return true;
            }
        }
        false
    }

    /// Like [`hides`](Self::hides), for a path whose folders are not ignored.
    pub(crate) fn hides_itself(&self, path: &Path, is_folder: bool) -> bool {
        for rules in &self.own {
            match rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        self.git_hides(path, is_folder)
    }

    fn begin_at(&mut self, top: &Path) {
        self.exclude = rules(top, &top.join(".git/info/exclude"));
        self.top = Some(top.to_owned());
        self.folders = RwLock::default();
    }

    fn git_hides_any(&self, top: &Path, path: &Path) -> bool {
        path.ancestors().take_while(|folder| *folder != top).any(|folder| self.git_hides(folder, true))
    }

    fn git_hides(&self, path: &Path, is_folder: bool) -> bool {
        let (Some(top), Some(folder)) = (&self.top, path.parent()) else { return false };
        let mut level = self.folder_rules(top, folder);
        while let Some(here) = level {
            match here.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = here.above.clone(),
            }
        }
        self.exclude.as_ref().is_some_and(|rules| rules.matched(path, is_folder).is_ignore())
    }

    /// The nearest rules for the entries of `folder`.
    fn folder_rules(&self, top: &Path, folder: &Path) -> Option<Arc<FolderRules>> {
        if !folder.starts_with(top) {
            return None;
        }
        if let Some(known) = self.folders.read().ignore_poison().get(folder) {
            return known.clone();
        }
        let above = folder.parent().and_then(|parent| self.folder_rules(top, parent));
        let level = match rules(folder, &folder.join(".gitignore")) {
            Some(rules) => Some(Arc::new(FolderRules { rules, above })),
            None => above,
        };
        let mut folders = self.folders.write().ignore_poison();
        folders.entry(folder.to_owned()).or_insert(level).clone()
    }
}

/// The rules in `file` for the content of `folder`; none if there are none. As in git, invalid lines are skipped, and a
/// link is not followed.
fn rules(folder: &Path, file: &Path) -> Option<Gitignore> {
    fs::symlink_metadata(file).ok().filter(|metadata| metadata.is_file())?;
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
    parse_rules(folder, &bytes)
}

fn parse_rules(folder: &Path, bytes: &[u8]) -> Option<Gitignore> {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{FEFF}').lines().filter(|line| check_glob(line).is_ok()) {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Project(tempfile::TempDir);

    impl Project {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, content) in files {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            Self(folder)
        }

        #[track_caller]
        fn check(&self, root: &str, respected: IgnoreSelection, hidden: &[&str], seen: &[&str]) {
            let root = self.0.path().join(root);
            let workspace = Workspace {
                roots: vec![root.clone()],
                scratch: root.clone(),
                environment: Vec::new(),
                ignore: Default::default(),
            };
            let ignoring = IgnoreRules::new(&workspace, &root, respected);
            let hides = |name: &str| ignoring.hides(&root.join(name), name.ends_with('/'));
            for name in hidden {
                assert!(hides(name), "{name} should be hidden");
            }
            for name in seen {
                assert!(!hides(name), "{name} should be seen");
            }
        }
    }

    #[test]
    fn rules_of_every_folder_count_and_the_deeper_ones_win() {
        let project = Project::new(&[
            (".gitignore", "*.log\n/build/\n!keep.log\r\n# note\n"),
            ("sub/.gitignore", "!loud.log\nprivate\n"),
        ]);
        project.check(
            "",
            IgnoreSelection::ALL,
            &["a.log", "sub/a.log", "build/", "build/x/y", "sub/private", "sub/private/x"],
            &["", "keep.log", "sub/loud.log", "loud.rs", "sub/build/", "private", "build"],
        );
    }

    #[test]
    fn what_is_in_a_hidden_folder_cannot_be_shown_again() {
        let project = Project::new(&[(".gitignore", "out/\n!out/keep\n")]);
        project.check("", IgnoreSelection::ALL, &["out/", "out/keep"], &["keep"]);
    }

    #[test]
    fn the_root_s_geminiignore_beats_git_both_ways() {
        let project = Project::new(&[
            (".gitignore", "*.gen\n"),
            (".geminiignore", "secret/\n!shown.gen\n"),
            ("sub/.geminiignore", "not-at-the-root\n"),
        ]);
        project.check(
            "",
            IgnoreSelection::ALL,
            &["secret/", "sub/secret/x", "a.gen"],
            &["shown.gen", "sub/not-at-the-root"],
        );
        project.check("", IgnoreSelection { git: false, gemini: true }, &["secret/x"], &["a.gen"]);
        project.check(
            "",
            IgnoreSelection { git: true, gemini: false },
            &["a.gen", "shown.gen"],
            &["secret/x"],
        );
    }

    #[test]
    fn the_repository_s_own_exclude_file_counts_last() {
        let project = Project::new(&[(".git/info/exclude", "*.tmp\nmine\n"), (".gitignore", "!good.tmp\n")]);
        project.check("", IgnoreSelection::ALL, &["a.tmp", "sub/mine"], &["good.tmp", "a.txt"]);
    }

    #[test]
    fn a_root_inside_a_repository_obeys_the_rules_above_it() {
        let files = [(".git/HEAD", ""), (".gitignore", "target/\n/app/gone\n/elsewhere\n"), ("app/file", "")];
        Project::new(&files).check("app", IgnoreSelection::ALL, &["target/", "gone"], &["file", "elsewhere"]);
    }

    #[test]
    fn a_root_that_the_rules_above_hide_is_seen_whole() {
        let project = Project::new(&[(".git/HEAD", ""), (".gitignore", "*\n"), ("app/.gitignore", "own\n")]);
        project.check("app", IgnoreSelection::ALL, &["own"], &["file", "folder/file"]);
    }

    #[test]
    fn rules_behind_a_link_do_not_count() {
        let project = Project::new(&[("elsewhere", "*.rs\n")]);
        std::os::unix::fs::symlink("elsewhere", project.0.path().join(".gitignore")).unwrap();
        project.check("", IgnoreSelection::ALL, &[], &["a.rs"]);
    }
}
