//! The crate of a Rust file, and whether the file is shipped.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourcePath<'a> {
    pub(crate) package: &'a str,
    pub(crate) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Part of a library or a binary.
    Shipped,
    /// Tests, benches, examples and build scripts.
    Development,
}

impl<'a> SourcePath<'a> {
    /// `None` for files that are not Rust.
    pub(crate) fn of(path: &'a str) -> Option<Self> {
        let stem = path.strip_suffix(".rs")?;
        let package = match path.split('/').collect::<Vec<_>>()[..] {
            ["crates", package, ..] | [package @ "xtask", ..] => package,
            _ => "",
        };
        let development_folder = path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples"));
        let is_build_script = stem.split('/').collect::<Vec<_>>()[..] == ["crates", package, "build"];
        let development_file = stem.ends_with("_tests") || stem.ends_with("/tests") || is_build_script;
        Some(Self {
            package,
            role: if development_folder || development_file { Role::Development } else { Role::Shipped },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<(&str, Role)>) {
        assert_eq!(SourcePath::of(path).map(|place| (place.package, place.role)), expected);
    }

    #[test]
    fn a_path_tells_the_crate_and_the_role() {
        check("crates/attache-wire/src/v1_0/task.rs", Some(("attache-wire", Role::Shipped)));
        check("crates/attache-wire/src/v1_0/task_tests.rs", Some(("attache-wire", Role::Development)));
        check("crates/attache-wire/src/task/tests.rs", Some(("attache-wire", Role::Development)));
        check("crates/attache/tests/it/main.rs", Some(("attache", Role::Development)));
        check("crates/attache/examples/hello.rs", Some(("attache", Role::Development)));
        check("crates/attache-proto/build.rs", Some(("attache-proto", Role::Development)));
        check("crates/attache/src/build.rs", Some(("attache", Role::Shipped)));
        check("xtask/src/test.rs", Some(("xtask", Role::Shipped)));
        check("README.md", None);
    }
}
