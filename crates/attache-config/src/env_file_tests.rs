use std::fs;

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &[(&str, &str, u32)]) {
    let found = lines(text);
    let found: Vec<_> =
        found.iter().map(|line| (line.name.as_str(), line.value.expose(), line.line)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn values_are_read_as_people_write_them() {
    check("A=1\n# B=2\n\nexport C = three # comment\n", &[("A", "1", 1), ("C", "three", 4)]);
    check("A='x # y' # z\nB=\"a\\nb\"\nC=`c`\n", &[("A", "x # y", 1), ("B", "a\nb", 2), ("C", "c", 3)]);
    check("A=\"two\nlines\"\nB=after", &[("A", "two\nlines", 1), ("B", "after", 3)]);
    check("A=\"no end\nB=1", &[("A", "\"no end", 1), ("B", "1", 2)]);
    check("A=\nB=#x\nC=a#b\r\nnonsense\n=1\nA B=2", &[("A", "", 1), ("B", "", 2), ("C", "a#b", 3)]);
    check("A=it's\nB=\"a\\\"b\"", &[("A", "it's", 1), ("B", "a\"b", 2)]);
}

#[test]
fn the_last_line_counts_and_an_empty_value_does_not() {
    let file = EnvFile::parse(Path::new("/w/.env"), true, "A=1\nA=2\nB=\nDEBUG=1\nDEBUG_MODE=1\n");
    assert_eq!(
        file.get("A").map(|(value, origin)| (value, origin.to_string())),
        Some(("2", "$A in /w/.env:2".into()))
    );
    assert_eq!(file.get("B"), None);
    assert_eq!(file.get("DEBUG"), None);
    assert!(EnvFile::parse(Path::new("/h/.env"), false, "DEBUG=1").get("DEBUG").is_some());
    assert!(!format!("{file:?}").contains('2') || !format!("{file:?}").contains("Hidden(\"2"), "hidden");
}

#[test]
fn the_nearest_file_counts_up_to_the_top_of_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let write = |name: &str| {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "A=1").unwrap();
    };
    let homes = Homes::new(Some(base.join("home")), &|_| None);
    let workspace = base.join("home/code/repository/sub");
    fs::create_dir_all(&workspace).unwrap();
    fs::create_dir_all(base.join("home/code/repository/.git")).unwrap();
    let found = |trusted: bool| {
        let mut warnings = Vec::new();
        let file = EnvFile::find(&workspace, &homes, trusted, &mut warnings);
        assert!(warnings.is_empty(), "{warnings:?}");
        file.map(|file| (file.path().strip_prefix(&base).unwrap().display().to_string(), file.is_project()))
    };
    let expect = |name: &str, project: bool| Some((name.to_owned(), project));
    assert_eq!(found(true), None);
    // From the farthest to the nearest, so that each beats those before it.
    write(".env");
    write("home/code/.env");
    assert_eq!(found(true), None, "above the repository");
    write("home/.env");
    assert_eq!(found(true), expect("home/.env", false));
    write("home/.gemini/.env");
    assert_eq!(found(true), expect("home/.gemini/.env", false));
    write("home/code/repository/.env");
    assert_eq!(found(true), expect("home/code/repository/.env", true));
    write("home/code/repository/sub/.env");
    assert_eq!(found(true), expect("home/code/repository/sub/.env", true));
    write("home/code/repository/sub/.gemini/.env");
    assert_eq!(found(true), expect("home/code/repository/sub/.gemini/.env", true));
    assert_eq!(found(false), expect("home/.gemini/.env", false), "an untrusted project has no say");
}

#[test]
fn a_project_s_file_may_not_be_a_link_out_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir(base.join("w")).unwrap();
    fs::write(base.join("secret"), "A=1").unwrap();
    std::os::unix::fs::symlink(base.join("secret"), base.join("w/.env")).unwrap();
    let mut warnings = Vec::new();
    assert!(EnvFile::find(&base.join("w"), &Homes::default(), true, &mut warnings).is_none());
    assert!(warnings[0].contains(".env is passed over: it leads out of"), "{warnings:?}");
}

proptest! {
    #[test]
    fn no_text_makes_it_fall_over(text in "\\PC*") {
        let _ = lines(&text);
    }

    #[test]
    fn nor_does_text_that_is_nearly_right(text in "[A=\"'`\\\\\n #ä]{0,60}") {
        let found = lines(&text);
        prop_assert!(found.iter().all(|line| line.name.chars().all(|letter| letter == 'A')));
    }
}
