//! Rulings go by where paths lead, by ignore rules, and by what a repository sets.

use std::collections::HashMap;

use super::*;

/// Files that exist only in words.
#[derive(Debug, Default)]
struct Sketch {
    links: HashMap<PathBuf, PathBuf>,
    ignored: Vec<PathBuf>,
    texts: HashMap<PathBuf, String>,
}

impl Sketch {
    fn link(mut self, from: &str, to: &str) -> Self {
        self.links.insert(Path::new(ROOT).join(from), to.into());
        self
    }

    fn ignore(mut self, name: &str) -> Self {
        self.ignored.push(Path::new(ROOT).join(name));
        self
    }

    fn text(mut self, name: &str, text: &str) -> Self {
        self.texts.insert(Path::new(ROOT).join(name), text.to_owned());
        self
    }
}

impl FileLookup for Sketch {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let found = path.ancestors().find_map(|start| Some((start, self.links.get(start)?)));
        let Some((start, target)) = found else { return Some(path.to_owned()) };
        Some(target.join(path.strip_prefix(start).ok()?))
    }

    fn is_ignored(&self, path: &Path) -> bool {
        self.ignored.iter().any(|ignored| path.starts_with(ignored))
    }

    fn read(&self, path: &Path) -> Option<String> {
        self.texts.get(path).cloned()
    }
}

#[track_caller]
fn check_in(files: &Sketch, line: &str, mode: PolicyMode, expected: PolicyDecision) {
    let ruling = Call::command(line).mode(mode).judge_with(&Policy::default(), files);
    assert_eq!(ruling.decision, expected, "{line:?} in {mode:?}: {}", ruling.why);
}

#[test]
fn reading_over_a_link_that_leads_out_is_asked_about() {
    let files = Sketch::default()
        .link("notes.txt", "/elsewhere/.ssh/id")
        .link("proc", "/proc")
        .link("near", "/w/project/src")
        .link("src/deep", "/etc");
    for line in [
        "cat notes.txt",
        "cat ./notes.txt",
        "head -n 5 notes.txt | wc -l",
        "grep x notes.txt",
        "grep -fnotes.txt a",
        "grep --file=notes.txt a",
        "cat < notes.txt",
        "tr a b < notes.txt",
        "cat proc/self/environ",
        "ls proc",
        "cd proc && ls",
        "cd src && cat deep/passwd",
        "cd src; cat deep/passwd",
        "find proc -name x",
        "rg x proc",
        "sed -n 5p notes.txt",
        "base64 notes.txt",
        "git diff -- notes.txt",
        "git -C proc log",
        "timeout 5 cat notes.txt",
        "sh -c 'cat notes.txt'",
    ] {
        check_in(&files, line, PolicyMode::Default, Ask);
        check_in(&files, line, PolicyMode::AutoEdit, Ask);
    }
    for line in ["cat a", "cat near/a", "cd near && cat a", "grep -rn x src", "ls", "echo notes.txt"] {
        check_in(&files, line, PolicyMode::Default, Allow);
    }
    let ruling = Call::command("cat notes.txt").judge_with(&Policy::default(), &files);
    assert_eq!(ruling.why, "notes.txt is a link that leads out of the workspace");
}

#[test]
fn following_every_link_is_asked_about() {
    for line in [
        "grep -R x .",
        "grep -nR x .",
        "grep --dereference-recursive x .",
        "grep --deref x .",
        "rg -L x",
        "rg --follow x",
        "find -L . -name x",
        "find . -follow",
        "ls -LR",
    ] {
        check(&Policy::default(), line, PolicyMode::Default, Ask);
    }
}

#[test]
fn writing_over_a_link_that_leads_out_is_asked_about() {
    let files = Sketch::default()
        .link("todo.md", "/elsewhere/.bashrc")
        .link("out", "/tmp")
        .link("near", "/w/project/src");
    for line in ["echo x > todo.md", "echo x >> ./todo.md", "echo x > out/a", "cd src && echo x > ../todo.md"]
    {
        for mode in [PolicyMode::Default, PolicyMode::AutoEdit, PolicyMode::Confined] {
            check_in(&files, line, mode, Ask);
        }
        check_in(&files, line, PolicyMode::Yolo, Allow);
    }
    for line in ["echo x > a.md", "echo x > near/a"] {
        check_in(&files, line, PolicyMode::Default, Ask);
        check_in(&files, line, PolicyMode::AutoEdit, Allow);
        check_in(&files, line, PolicyMode::Confined, Allow);
    }
}

#[test]
fn reading_what_is_ignored_is_asked_about() {
    let files = Sketch::default().ignore(".env").ignore("secret").link("plain", "/w/project/.env");
    for line in [
        "cat .env",
        "cat ./.env",
        "cat plain",
        "head secret/key",
        "cat < .env",
        "grep -e x .env",
        "cd src && cat .env",
    ] {
        for mode in [PolicyMode::Default, PolicyMode::AutoEdit, PolicyMode::Confined] {
            check_in(&files, line, mode, Ask);
        }
        check_in(&files, line, PolicyMode::Yolo, Allow);
    }
    for line in ["cat a", "ls secret", "grep -n secret a", "stat .env"] {
        check_in(&files, line, PolicyMode::Default, Allow);
    }
}

#[test]
fn git_in_a_repository_that_names_programs_is_asked_about() {
    let plain = "[core]\n\tbare = false\n";
    let hostile = "[diff \"x\"]\n\ttextconv = touch p; cat\n";
    let files = Sketch::default().text(".git/config", plain).text("inner/.git/config", hostile);
    check_in(&files, "git diff", PolicyMode::Default, Allow);
    check_in(&files, "git -C src diff", PolicyMode::Default, Allow);
    for line in [
        "git -C inner diff",
        "cd inner && git show",
        "cd inner; cd deep; git status",
        "(cd src); cd inner; git log",
    ] {
        check_in(&files, line, PolicyMode::Default, Ask);
    }
    let linked = Sketch::default()
        .text(".git", "gitdir: ../main/.git/worktrees/a\n")
        .text("../main/.git/worktrees/a/commondir", "../..\n")
        .text("../main/.git/worktrees/a/../../config", hostile);
    check_in(&linked, "git status", PolicyMode::Default, Ask);
    let per_worktree = Sketch::default().text(".git/config", plain).text(".git/config.worktree", hostile);
    check_in(&per_worktree, "git status", PolicyMode::Default, Ask);
}
