//! Checks the proposals of tools.

use std::path::{Component, Path, PathBuf};

use attache_net::Url;
use attache_tool::{Effect, Preview, Proposal, ToolKind, Workspace};

/// Allows only effects of this kind of tool, at real paths inside the workspace.
pub(super) fn check(kind: ToolKind, proposal: &Proposal, workspace: &Workspace) {
    let readable: Vec<&PathBuf> = workspace.roots.iter().chain([&workspace.scratch]).collect();
    let writable: Vec<&PathBuf> = workspace.roots.iter().collect();
    for effect in &proposal.effects {
        match (effect, kind) {
            (Effect::Read { path }, ToolKind::Read | ToolKind::Search) => check_inside(path, &readable),
            (Effect::Write { path }, ToolKind::Edit) => check_inside(path, &writable),
            (Effect::Run { command, directory, .. }, ToolKind::Execute) => {
                assert!(!command.trim().is_empty() && !command.contains('\0'), "{command:?}");
                check_inside(directory, &readable);
            }
            (Effect::Fetch { url }, ToolKind::Fetch) => {
                let url = Url::parse(url).expect("what would be fetched is a URL");
                assert!(matches!(url.scheme(), "http" | "https"), "{url}");
            }
            (Effect::AskPerson, ToolKind::Communicate) => {}
            other => panic!("nobody expects {other:?}"),
        }
    }
    // The preview shows all of the effects.
    match (&proposal.shown, proposal.effects.as_slice()) {
        (Preview::Edit { path, .. }, effects) => assert_eq!(effects, [Effect::Write { path: path.clone() }]),
        (Preview::Exec { command, directory, .. }, effects) => {
            let access = proposal.access().expect("a command has an access").clone();
            let (command, directory) = (command.clone(), directory.clone());
            assert_eq!(effects, [Effect::Run { command, directory, access }]);
        }
        (Preview::Info { urls, .. }, effects) => {
            let fetched = urls.iter().map(|url| Effect::Fetch { url: url.clone() });
            assert_eq!(effects, fetched.collect::<Vec<_>>());
        }
        (_, effects) => {
            let harmless = |effect: &Effect| matches!(effect, Effect::Read { .. } | Effect::AskPerson);
            assert!(effects.iter().all(harmless), "{effects:?}");
        }
    }
}

/// Checks the text of the path, and that no part of it is a link.
#[track_caller]
fn check_inside(path: &Path, places: &[&PathBuf]) {
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    assert!(plain && places.iter().any(|place| path.starts_with(place)), "{path:?}");
    let there =
        path.ancestors().find(|path| path.symlink_metadata().is_ok()).expect("the workspace is there");
    assert_eq!(there.canonicalize().expect("what is there has a real path"), there);
}
