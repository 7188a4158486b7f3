//! Protected files: settings of git, editors, CI, shells and the agent itself, which decide what runs.
//!
//! Writing one needs approval in every mode but yolo, whatever was allowed before. Names match at any depth, without regard
//! to case.

mod manifest;

use std::path::{Component, Path, PathBuf};

use attache_domain::{Effect, Preview, Proposal};

use manifest::scripts_differ;

/// Protected with everything below.
const FOLDERS: &[&str] = &[
    ".attache",
    ".buildkite",
    ".circleci",
    ".cursor",
    ".devcontainer",
    ".gemini",
    ".husky",
    ".idea",
    ".ssh",
    ".vscode",
];
/// Protected entries inside other folders.
const NESTED: &[(&str, &[&str])] =
    &[(".github", &["actions", "workflows"]), (".cargo", &["config", "config.toml"]), (".config", &["fish"])];
const FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".drone.yml",
    ".env",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yaml",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".inputrc",
    ".kshrc",
    ".lldbinit",
    ".mcp.json",
    ".mise.toml",
    ".netrc",
    ".npmrc",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".profile",
    ".tcshrc",
    ".travis.yml",
    ".vimrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "AGENTS.md",
    "azure-pipelines.yaml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "CLAUDE.md",
    "GEMINI.md",
    "Jenkinsfile",
    "mise.toml",
];
/// Copies of `.env` that hold no secrets.
const HARMLESS_ENVIRONMENTS: &[&str] = &[".env.dist", ".env.example", ".env.sample", ".env.template"];

/// Environments that may be made; every other `.env.…` is protected, too.
const USUAL_ENVIRONMENTS: &[&str] =
    &[".env.development", ".env.local", ".env.production", ".env.staging", ".env.test"];

/// Protected files and folders at the top of a project, for read-only mounts. Without those inside `.git`, which depend on
/// the repository; with `package.json`, because a mount cannot protect only its scripts.
pub fn protected_files() -> impl Iterator<Item = String> {
    let nested =
        NESTED.iter().flat_map(|(folder, names)| names.iter().map(move |name| format!("{folder}/{name}")));
    let plain = [FOLDERS, FILES, USUAL_ENVIRONMENTS, &["package.json"]].into_iter().flatten();
    plain.map(|name| (*name).to_owned()).chain(nested)
}

/// Whether `path` is protected in the workspace folder `root`. Paths outside are not. `protected_edit` covers
/// `package.json`, of which only the scripts are protected.
pub fn is_protected(root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let names: Vec<String> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    is_protected_file(names.last().copied().unwrap_or_default())
        || (0..names.len()).any(|at| steers(names[at], &names[at + 1..]))
}

/// Whether the path is protected in one of the folders of a workspace.
pub(crate) fn is_protected_in(roots: &[PathBuf], path: &Path) -> bool {
    roots.iter().any(|root| is_protected(root, path))
}

fn is_protected_file(name: &str) -> bool {
    FILES.iter().any(|file| file.eq_ignore_ascii_case(name))
        || (name.starts_with(".env.") && !HARMLESS_ENVIRONMENTS.contains(&name))
}

/// Whether what lies `below` a folder of this name, or the folder itself, is protected.
fn steers(name: &str, below: &[&str]) -> bool {
    FOLDERS.contains(&name)
        || (name == ".git" && is_protected_in_git(below))
        || NESTED.iter().any(|(folder, names)| {
            *folder == name && below.first().is_some_and(|first| names.contains(first))
        })
}

/// Hooks and configuration; ordinary git commands write index, objects, references and logs. An empty `below` means the
/// folder itself, or the file that points to one.
fn is_protected_in_git(below: &[&str]) -> bool {
    match below {
        [] | ["config" | "config.worktree" | "hooks" | "commondir" | "gitdir", ..] => true,
        ["info", "attributes", ..] => true,
        ["worktrees", _, "config.worktree" | "gitdir" | "commondir", ..] => true,
        // A submodule's name can have several parts.
        ["modules", rest @ ..] => {
            (0..rest.len()).any(|at| !rest[at..].is_empty() && is_protected_in_git(&rest[at..]))
        }
        _ => false,
    }
}

/// The protected file that the call would write.
pub(crate) fn protected_edit(proposal: &Proposal, roots: &[PathBuf]) -> Option<String> {
    let written = proposal.effects.iter().filter_map(|effect| match effect {
        Effect::Write { path } => Some(path),
        _ => None,
    });
    let is_manifest = |path: &Path| path.file_name().is_some_and(|name| name == "package.json");
    let mut written = written.filter(|path| {
        is_protected_in(roots, path) || (is_manifest(path) && changes_scripts(&proposal.shown))
    });
    written.next().map(|path| {
        let shown = roots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        let what = if is_manifest(path) { "the scripts of " } else { "" };
        format!("{what}{} decide what runs, so every change is asked about", shown.display())
    })
}

fn changes_scripts(shown: &Preview) -> bool {
    match shown {
        Preview::Edit { original, new_content, .. } => scripts_differ(original.as_deref(), new_content),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_what_runs_is_protected() {
        for name in [
            ".git",
            ".git/config",
            ".git/config.worktree",
            ".git/hooks",
            ".git/hooks/pre-commit",
            ".git/info/attributes",
            ".git/modules/a/config",
            ".git/modules/a/b/hooks/post-checkout",
            ".git/modules/a/info/attributes",
            ".git/worktrees/x/gitdir",
            ".git/worktrees/x/commondir",
            ".git/worktrees/x/config.worktree",
            "sub/.git/config",
            "sub/.git",
            ".GIT/Config",
            ".gemini/settings.json",
            ".attache/x",
            ".env",
            "app/.env",
            ".env.local",
            ".envrc",
            "GEMINI.md",
            "docs/agents.md",
            "CLAUDE.md",
            ".vscode/tasks.json",
            ".idea/workspace.xml",
            ".github/workflows/ci.yml",
            ".github/actions/x/action.yml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            ".bashrc",
            ".zshenv",
            ".gitattributes",
            ".gitmodules",
            ".husky/pre-commit",
            ".npmrc",
            ".cargo/config.toml",
            ".mcp.json",
        ] {
            assert!(is_protected(Path::new("/w"), &Path::new("/w").join(name)), "{name}");
        }
        for name in [
            "",
            "src/main.rs",
            "package.json",
            ".git/index",
            ".git/HEAD",
            ".git/refs/heads/config",
            ".git/logs/HEAD",
            ".git/objects/ab/cd",
            ".git/info/exclude",
            ".git/COMMIT_EDITMSG",
            ".git/modules/a/index",
            ".git/worktrees/x/index",
            ".gitignore",
            ".env.example",
            ".env.sample",
            ".env.template",
            ".github/CODEOWNERS",
            ".github/dependabot.yml",
            ".cargo/audit.toml",
            "environment",
            "README.md",
        ] {
            assert!(!is_protected(Path::new("/w"), &Path::new("/w").join(name)), "{name}");
        }
        assert!(!is_protected(Path::new("/w"), Path::new("/elsewhere/.env")));
    }

    #[test]
    fn the_list_for_mounts_names_only_what_is_protected() {
        for name in protected_files() {
            let protected = is_protected(Path::new("/w"), &Path::new("/w").join(&name));
            assert!(protected || name == "package.json", "{name}");
        }
    }
}
