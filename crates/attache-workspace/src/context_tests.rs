use std::fs;

use proptest::prelude::*;

use super::*;

struct World(tempfile::TempDir);

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(world.at("home/.gemini")).unwrap();
        fs::create_dir_all(world.at("repository/.git")).unwrap();
        fs::create_dir_all(world.at("repository/app/deep/er")).unwrap();
        for (name, text) in files {
            fs::create_dir_all(world.at(name).parent().unwrap()).unwrap();
            fs::write(world.at(name), text).unwrap();
        }
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn with<T>(&self, ask: impl FnOnce(&ContextSources<'_>) -> T) -> T {
        let homes = HomeFolders::new(Some(self.at("home")), &|_| None);
        let names = ["GEMINI.md".to_owned(), "AGENTS.md".to_owned()];
        let workspace = self.at("repository/app");
        ask(&ContextSources { workspace: &workspace, include: &[], homes: &homes, names: &names })
    }

    fn load(&self) -> LoadedContext {
        self.with(load)
    }
}

#[test]
fn tiers_are_read_from_the_top_of_the_repository_down() {
    let world = World::new(&[
        ("GEMINI.md", "above the repository"),
        ("home/.gemini/GEMINI.md", "mine"),
        ("repository/GEMINI.md", "top"),
        ("repository/AGENTS.md", "agents\n"),
        ("repository/app/GEMINI.md", "app"),
        ("repository/app/deep/GEMINI.md", "deep"),
        ("repository/app/AGENTS.md", "  \n"),
    ]);
    let context = world.load();
    assert_eq!(context.global, "=== Context from: GEMINI.md ===\nmine\n=== end of GEMINI.md ===\n\n");
    assert_eq!(
        context.project,
        "=== Context from: GEMINI.md ===\ntop\n=== end of GEMINI.md ===\n\n\
         === Context from: AGENTS.md ===\nagents\n=== end of AGENTS.md ===\n\n\
         === Context from: app/GEMINI.md ===\napp\n=== end of app/GEMINI.md ===\n\n"
    );
    assert_eq!(context.files[0], (world.at("home/.gemini/GEMINI.md"), 4));
}

#[test]
fn what_lies_in_touched_folders_turns_up_once() {
    let world = World::new(&[
        ("repository/app/GEMINI.md", "app"),
        ("repository/app/deep/GEMINI.md", "deep"),
        ("repository/app/deep/er/AGENTS.md", "deeper"),
        ("repository/app/deep/er/file.rs", ""),
    ]);
    let mut known: Vec<PathBuf> = world.load().files.into_iter().map(|(path, _)| path).collect();
    let touched = world.at("repository/app/deep/er/file.rs");
    let found = world.with(|sources| between(sources, &touched, &known)).unwrap();
    assert!(found.project.contains("Context from: app/deep/GEMINI.md"), "{}", found.project);
    assert!(found.project.contains("deeper") && !found.project.contains("app\n==="), "{}", found.project);
    known.extend(found.files.into_iter().map(|(path, _)| path));
    assert_eq!(world.with(|sources| between(sources, &touched, &known)), None);
    assert_eq!(world.with(|sources| between(sources, &world.at("home/.gemini"), &[])), None, "outside");
}

#[track_caller]
fn check_imports(files: &[(&str, &str)], expected: &str) {
    let world = World::new(files);
    let project = world.load().project;
    let project = project.strip_prefix("=== Context from: app/GEMINI.md ===\n").expect(&project);
    let project = project.strip_suffix("=== end of app/GEMINI.md ===\n\n").expect(project);
    assert_eq!(project, expected);
}

#[test]
fn imports_are_put_in_where_they_stand() {
    let main = "repository/app/GEMINI.md";
    check_imports(
        &[(main, "a @./b.md, c\n"), ("repository/app/b.md", "B")],
        "a <!-- from ./b.md -->\nB\n<!-- end of ./b.md -->, c\n",
    );
    check_imports(
        &[(main, "@../x/c.md\n"), ("repository/x/c.md", "C @./d.md\n"), ("repository/x/d.md", "")],
        "<!-- from ../x/c.md -->\nC <!-- from ./d.md -->\n<!-- end of ./d.md -->\n<!-- end of ../x/c.md -->\n",
    );
    for untouched in [
        "`@./b.md`\n",
        "``x ` @./b.md``\n",
        "```\n@./b.md\n```\n",
        "~~~~ md\n@./b.md\n~~~\n@./b.md\n~~~~~\n",
        "me@./b.md\n",
        "@b.md @./ @/ @../\n",
        "@someone @.hidden\n",
    ] {
        check_imports(&[(main, untouched), ("repository/app/b.md", "B")], untouched);
    }
    check_imports(
        &[(main, "an open ` mark and @./b.md\n"), ("repository/app/b.md", "B")],
        "an open ` mark and <!-- from ./b.md -->\nB\n<!-- end of ./b.md -->\n",
    );
}

#[test]
fn imports_that_cannot_be_leave_a_comment() {
    let main = "repository/app/GEMINI.md";
    check_imports(&[(main, "@./no.md\n")], "<!-- ./no.md is left out: there is no such file -->\n");
    check_imports(&[(main, "@./GEMINI.md\n")], "<!-- ./GEMINI.md is left out: it would contain itself -->\n");
    check_imports(
        &[(main, "@./b.md\n"), ("repository/app/b.md", "@./GEMINI.md")],
        "<!-- from ./b.md -->\n<!-- ./GEMINI.md is left out: it would contain itself -->\n<!-- end of ./b.md -->\n",
    );
    check_imports(
        &[(main, "@../../home/.gemini/x.md\n"), ("home/.gemini/x.md", "secret")],
        "<!-- ../../home/.gemini/x.md is left out: it is outside of the project -->\n",
    );
    check_imports(&[(main, "@./deep\n")], "<!-- ./deep is left out: it is not a plain file -->\n");
    let chain: Vec<(String, String)> = (1..=7)
        .map(|number| (format!("repository/app/{number}.md"), format!("{number} @./{}.md\n", number + 1)))
        .chain([(main.to_owned(), "@./1.md\n".to_owned())])
        .collect();
    let chain: Vec<(&str, &str)> = chain.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let project = World::new(&chain).load().project;
    assert!(project.contains("5 <!-- ./6.md is left out: imports go at most 5 levels deep -->"), "{project}");
}

#[test]
fn a_link_may_not_lead_out_of_the_project() {
    let world = World::new(&[("home/secret", "hush"), ("repository/app/AGENTS.md", "mine\n@./x.md\n")]);
    std::os::unix::fs::symlink(world.at("home/secret"), world.at("repository/app/GEMINI.md")).unwrap();
    std::os::unix::fs::symlink(world.at("home/secret"), world.at("repository/app/x.md")).unwrap();
    std::os::unix::fs::symlink("app/AGENTS.md", world.at("repository/AGENTS.md")).unwrap();
    let context = world.load();
    assert!(!context.project.contains("hush"), "{}", context.project);
    assert_eq!(context.project.matches("mine").count(), 1, "a link inside is followed, and once is enough");
    assert!(context.notices[0].contains("leads out of"), "{:?}", context.notices);
}

#[test]
fn too_much_is_cut_and_said() {
    let long = "x".repeat(300 << 10);
    let world = World::new(&[("repository/app/GEMINI.md", &long)]);
    let context = world.load();
    assert!(context.project.len() < 257 << 10);
    assert!(context.project.contains("(cut here: only the first 262144 bytes are shown)"));
    assert_eq!(context.notices.len(), 1);
    let imports = "@./long.md\n".repeat(20);
    let world = World::new(&[("repository/app/GEMINI.md", &imports), ("repository/app/long.md", &long)]);
    let context = world.load();
    assert!(context.project.len() < (1 << 20) + (10 << 10), "{}", context.project.len());
    assert!(context.project.contains("there is too much context already"));
    let imports = "@./empty.md\n".repeat(5000);
    let world = World::new(&[("repository/app/GEMINI.md", &imports), ("repository/app/empty.md", "")]);
    assert!(world.load().files.len() <= 1000);
}

#[test]
fn the_tree_shows_what_is_not_ignored() {
    let world = World::new(&[
        ("repository/.gitignore", "*.log\n"),
        ("repository/app/.gitignore", "/built\n"),
        ("repository/app/.geminiignore", "private\n"),
        ("repository/app/mine", "*.tmp\n"),
        ("repository/app/deep/.gitignore", "!keep.log\n"),
        ("repository/app/deep/keep.log", ""),
        ("repository/app/deep/b.log", ""),
        ("repository/app/a.log", ""),
        ("repository/app/x.tmp", ""),
        ("repository/app/built/x", ""),
        ("repository/app/private/x", ""),
        ("repository/app/node_modules/x/y", ""),
        ("repository/app/main.rs", ""),
    ]);
    let root = world.at("repository/app");
    let draw = |git, gemini, custom: &[PathBuf]| {
        let text = folder_tree(&root, &TreeOptions { git, gemini, custom });
        text.strip_prefix(&format!("{}/\n", root.display())).unwrap().to_owned()
    };
    let custom = [root.join("mine")];
    assert_eq!(
        draw(true, true, &custom),
        "  .geminiignore\n  .gitignore\n  deep/\n    .gitignore\n    er/\n    keep.log\n  main.rs\n  mine\n  \
         node_modules/\n    …\n"
    );
    let all = draw(false, false, &[]);
    for name in ["a.log", "built/", "private/", "x.tmp", "b.log"] {
        assert!(all.contains(name), "{all}");
    }
}

#[test]
fn the_tree_is_cut_where_it_is_deepest() {
    let world = World::new(&[]);
    let root = world.at("repository/app");
    for folder in 0..30 {
        fs::create_dir_all(root.join(format!("f{folder:02}"))).unwrap();
        for file in 0..10 {
            fs::write(root.join(format!("f{folder:02}/{file}")), "").unwrap();
        }
    }
    let text = folder_tree(&root, &TreeOptions { git: true, gemini: true, custom: &[] });
    assert!((0..30).all(|folder| text.contains(&format!("f{folder:02}/"))), "{text}");
    let items = text.lines().skip(1).filter(|line| !line.contains('…')).count();
    assert_eq!(items, 200);
    assert!(text.contains('…'));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_bytes_in_a_context_file_make_it_fall_over(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let world = World::new(&[]);
        fs::write(world.at("repository/app/GEMINI.md"), bytes).unwrap();
        world.load();
    }

    #[test]
    fn nor_does_text_that_is_full_of_imports_and_code(text in "[`~@./a \n(ä)-]{0,200}") {
        let world = World::new(&[("repository/app/GEMINI.md", &text)]);
        world.load();
    }
}
