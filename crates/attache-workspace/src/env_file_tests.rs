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
    let file = EnvFile::parse(Path::new("/w/.env"), "A=1\nA=2\nB=\n");
    assert_eq!(
        file.get("A").map(|(value, origin)| (value, origin.to_string())),
        Some(("2", "$A in /w/.env:2".into()))
    );
    assert_eq!(file.get("B"), None);
    assert!(!format!("{file:?}").contains('2') || !format!("{file:?}").contains("Hidden(\"2"), "hidden");
}

#[test]
fn the_nearest_file_of_a_project_counts_up_to_the_top_of_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let write = |name: &str| {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "A=1").unwrap();
    };
    let homes = HomeFolders::new(Some(base.join("home")), &|_| None);
    let workspace = base.join("home/code/repository/sub");
    fs::create_dir_all(&workspace).unwrap();
    fs::create_dir_all(base.join("home/code/repository/.git")).unwrap();
    let place =
        |file: Option<EnvFile>| file.map(|file| file.path.strip_prefix(&base).unwrap().display().to_string());
    let project = || place(EnvFile::of_project(&workspace, &homes, &mut Vec::new()));
    let user = || place(EnvFile::of_user(&homes, &mut Vec::new()));
    assert_eq!((project(), user()), (None, None));
    // From the farthest to the nearest, so that each beats those before it.
    write(".env");
    write("home/code/.env");
    assert_eq!((project(), user()), (None, None), "above the repository");
    write("home/.env");
    assert_eq!((project(), user()), (None, Some("home/.env".into())));
    write("home/.gemini/.env");
    assert_eq!((project(), user()), (None, Some("home/.gemini/.env".into())));
    for name in ["", "sub/", "sub/.gemini/"] {
        write(&format!("home/code/repository/{name}.env"));
        assert_eq!(project(), Some(format!("home/code/repository/{name}.env")));
    }
    assert_eq!(user(), Some("home/.gemini/.env".into()), "a project's file does not stand in its way");
    let none = EnvFile::of_project(&base.join("home"), &homes, &mut Vec::new());
    assert_eq!(place(none), None, "what lies in the home folder is the user's");
}

#[test]
fn a_project_s_file_sets_nothing_that_steers_more_than_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let names = [
        "OPENAI_BASE_URL",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "ANTHROPIC_AUTH",
        "ATTACHE_MODEL",
        "GEMINI_YOLO_MODE",
        "HTTPS_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "SSL_CERT_FILE",
        "NODE_OPTIONS",
        "LD_PRELOAD",
        "PATH",
        "HOME",
        "DEBUG",
        "CUSTOM_IGNORE_FILE_PATHS",
        "GIT_SSH_COMMAND",
        "AWS_SECRET_ACCESS_KEY",
        "PORT",
    ];
    let text: String = names.iter().map(|name| format!("{name}=evil\n")).collect();
    fs::write(base.join(".env"), text + "MINE=1\n").unwrap();
    let mut warnings = Vec::new();
    let file = EnvFile::of_project(&base, &HomeFolders::default(), &mut warnings).unwrap();
    for name in names {
        assert_eq!(file.get(name), None, "{name}");
    }
    assert!(file.get("MINE").is_some());
    let told = |name: &str| warnings.iter().any(|warning| warning.contains(&format!(": {name} is left out")));
    assert!(told("GEMINI_API_KEY") && told("OPENAI_BASE_URL") && !told("NODE_OPTIONS"), "{warnings:?}");
}

#[test]
fn a_project_s_file_may_not_be_a_link_out_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir(base.join("w")).unwrap();
    fs::write(base.join("secret"), "A=1").unwrap();
    std::os::unix::fs::symlink(base.join("secret"), base.join("w/.env")).unwrap();
    let mut warnings = Vec::new();
    assert!(EnvFile::of_project(&base.join("w"), &HomeFolders::default(), &mut warnings).is_none());
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
