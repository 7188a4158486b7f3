//! A glob pattern for paths below a folder. It tells which folders cannot contain a match.

use std::path::{Component, Path};

use attache_tool::{ToolError, check_glob};
use globset::{GlobBuilder, GlobSet};

/// `*` matches within a folder, `**` any number of folders, `{a,b}` either.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    /// A set of one glob. Building a set returns an error where a single matcher panics.
    matcher: GlobSet,
    /// A file may have exactly this name.
    literal: String,
    /// The leading folders without wildcards.
    prefix: Vec<String>,
    /// The maximum depth of a match; none if unlimited.
    depth: Option<usize>,
    case_sensitive: bool,
}

impl PathPattern {
    /// `tool` and `member` appear in the error message.
    pub(crate) fn new(
        tool: &str,
        member: &str,
        pattern: &str,
        case_sensitive: bool,
    ) -> Result<Self, ToolError> {
        let wrong = |what: String| ToolError::bad_input(format!("{tool}: {member:?}: {what}"));
        let pattern = pattern.trim_start_matches("./");
        if pattern.is_empty() {
            return Err(wrong("the pattern is empty; \"**\" matches every file".to_owned()));
        }
        if Path::new(pattern).components().any(|part| part == Component::ParentDir) {
            return Err(wrong(format!("{pattern:?} contains \"..\"; patterns only look below their folder")));
        }
        check_glob(pattern).map_err(wrong)?;
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .case_insensitive(!case_sensitive)
            .build()
            .and_then(|glob| GlobSet::builder().add(glob).build())
            .map_err(|error| wrong(error.to_string()))?;
        let parts: Vec<&str> = pattern.split('/').collect();
        let plain = |part: &&&str| !part.contains(['*', '?', '[', '{', '\\']);
        let folders = &parts[..parts.len() - 1];
        Ok(Self {
            matcher: glob,
            literal: pattern.to_owned(),
            prefix: folders.iter().take_while(plain).map(|part| (*part).to_owned()).collect(),
            depth: (!pattern.contains("**") && !pattern.contains('{')).then_some(parts.len()),
            case_sensitive,
        })
    }

    pub(crate) fn matches(&self, below: &Path) -> bool {
        self.matcher.is_match(below) || below == Path::new(&self.literal)
    }

    /// Whether the folder can contain a match at any depth.
    pub(crate) fn may_match_in(&self, folder: &Path) -> bool {
        let mut depth = 0;
        for (part, name) in folder.components().enumerate() {
            depth += 1;
            let Some(expected) = self.prefix.get(part) else { continue };
            let name = name.as_os_str().to_string_lossy();
            let equal = name == expected.as_str()
                || !self.case_sensitive && name.to_lowercase() == expected.to_lowercase();
            if !equal {
                return false;
            }
        }
        self.depth.is_none_or(|most| depth < most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let pattern = PathPattern::new("glob", "pattern", pattern, true).unwrap();
        for path in matching {
            assert!(pattern.matches(Path::new(path)), "{path} should match");
            for folder in Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
            {
                assert!(pattern.may_match_in(folder), "{} should be entered", folder.display());
            }
        }
        for path in other {
            assert!(!pattern.matches(Path::new(path)), "{path} should not match");
        }
    }

    #[test]
    fn patterns_match_paths() {
        check("*.rs", &["a.rs"], &["src/a.rs", "a.RS", "a.rss"]);
        check("**/*.rs", &["a.rs", "src/deep/a.rs"], &["a.txt"]);
        check("./src/**", &["src/a", "src/b/c"], &["a", "lib/src/a"]);
        check("src/*/{mod,lib}.rs", &["src/a/mod.rs", "src/b/lib.rs"], &["src/mod.rs"]);
        check("{src,lib/deep}/a", &["src/a", "lib/deep/a"], &["lib/a"]);
        check("app/[id]/page.tsx", &["app/[id]/page.tsx", "app/i/page.tsx"], &["app/x/page.tsx"]);
        check("Makefile", &["Makefile"], &["makefile", "sub/Makefile"]);
    }

    #[test]
    fn folders_that_cannot_hold_a_match_are_not_entered() {
        let enters = |pattern, folder| {
            PathPattern::new("glob", "pattern", pattern, false).unwrap().may_match_in(Path::new(folder))
        };
        assert!(!enters("src/**/*.rs", "target"));
        assert!(enters("src/**/*.rs", "SRC/deep"));
        assert!(!enters("*.rs", "src"));
        assert!(enters("*/*.rs", "src"));
        assert!(!enters("*/*.rs", "src/deep"));
        assert!(!enters("src/lib/*.rs", "src/bin"));
    }

    #[test]
    fn bad_patterns_are_refused() {
        for pattern in ["", "./", "../*", "a/../b", "[", "{a"] {
            let error = PathPattern::new("glob", "pattern", pattern, true).unwrap_err();
            assert!(error.message.starts_with("glob: \"pattern\": "), "{error}");
        }
    }
}
