//! Arbitrary texts as files of rules.

use std::path::Path;

use super::*;

const ROOT: &str = "/project/app";
/// Enough paths for rules of every kind.
const PATHS: &[&str] =
    &["a", "a/b.rs", "a/b/c.log", "target/debug", ".git/config", "é/\u{202e}", "a b/ c", "!", "#"];

/// Up to five texts with a NUL between them: `.geminiignore`, the `.gitignore` of the repository, that of the root and
/// that of the folder `a`, and the repository's own exclude file.
pub(crate) fn rules_of_a_project(texts: &[u8]) {
    let mut texts = texts.splitn(5, |byte| *byte == 0);
    let mut next = || texts.next().unwrap_or_default();
    let ignoring = project([next(), next(), next(), next(), next()]);
    for path in PATHS {
        for is_folder in [false, true] {
            let path = Path::new(ROOT).join(path);
            let hidden = ignoring.hides(&path, is_folder);
            let below: Vec<&Path> = path.ancestors().take_while(|path| *path != Path::new(ROOT)).collect();
            let by_itself = |at: &&Path| ignoring.hides_itself(at, is_folder || **at != path);
            assert_eq!(hidden, below.iter().any(by_itself), "{path:?} is hidden by itself or with a folder");
            if hidden && is_folder {
                assert!(ignoring.hides(&path.join("x"), false), "{path:?} hides what is in it");
            }
        }
    }
    assert!(!ignoring.hides(Path::new(ROOT), true), "the root is seen");
    assert!(
        !ignoring.hides(Path::new("/elsewhere"), true),
        "what is not below the root is no matter of its rules"
    );
}

/// As [`IgnoreRules::new`] reads it from the disk.
fn project([gemini, top, root, folder, exclude]: [&[u8]; 5]) -> IgnoreRules {
    let [above, here] = [Path::new("/project"), Path::new(ROOT)];
    let mut ignoring = IgnoreRules {
        root: here.to_owned(),
        own: parse_rules(here, gemini).into_iter().collect(),
        top: Some(above.to_owned()),
        exclude: parse_rules(above, exclude),
        folders: RwLock::default(),
    };
    let level = |folder: &Path, text: &[u8], above: Option<Arc<FolderRules>>| match parse_rules(folder, text)
    {
        Some(rules) => Some(Arc::new(FolderRules { rules, above })),
        None => above,
    };
    let of_top = level(above, top, None);
    let of_root = level(here, root, of_top.clone());
    let of_folder = level(&here.join("a"), folder, of_root.clone());
    let mut folders = HashMap::from([(above.to_owned(), of_top), (here.to_owned(), of_root.clone())]);
    // All folders of the paths are known, so nothing is read from the disk.
    for path in PATHS {
        let path = here.join(path);
        for folder in path.ancestors().take_while(|folder| *folder != here) {
            let known = if folder.starts_with(here.join("a")) { &of_folder } else { &of_root };
            folders.insert(folder.to_owned(), known.clone());
        }
    }
    ignoring.folders = RwLock::new(folders);
    ignoring
}
