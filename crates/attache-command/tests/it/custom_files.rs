//! Which files become commands, and what is said about the others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use attache_command::custom::{CustomSource, LoadedCommands, load, load_admitted};
use attache_command::{Command, CommandRegistry};
use proptest::prelude::*;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), content).unwrap();
    }

    fn load(&self) -> LoadedCommands {
        load(&[CustomSource::user(self.at("commands"))])
    }

    /// Nothing of the folder is loaded, and one problem says this.
    #[track_caller]
    fn refuses(&self, expected: &str) {
        let loaded = self.load();
        assert_eq!(names(&loaded), [""; 0]);
        let [problem] = loaded.problems.as_slice() else { panic!("{:?}", loaded.problems) };
        assert!(problem.to_string().contains(expected), "{expected:?} in {problem}");
        assert!(problem.path.starts_with(self.at("commands")));
    }
}

fn names(loaded: &LoadedCommands) -> Vec<&str> {
    loaded.commands.iter().map(|command| command.name()).collect()
}

#[test]
fn a_path_is_a_name() {
    let world = World::new();
    world.write("commands/test.toml", "prompt = 'x'\ndescription = 'Tests\nit.'".replace('\n', " "));
    world.write("commands/git/commit.toml", "prompt = 'x'");
    world.write("commands/git/deep/er:y.toml", "prompt = 'x'\nother = 1");
    world.write("commands/README.md", "no command");
    world.write("commands/.hidden.toml", "no = 'command'");
    world.write("commands/.git/x.toml", "no = 'command'");
    let loaded = load(&[CustomSource::user(world.at("commands"))]);
    assert_eq!(names(&loaded), ["git:commit", "git:deep:er_y"]);
    assert_eq!(loaded.problems.len(), 1, "two keys on one line: {:?}", loaded.problems);
    world.write("commands/test.toml", "description = \"\"\"\nTests\n\\u001bit.\"\"\"\nprompt = 'x'");
    let loaded = world.load();
    assert_eq!(names(&loaded), ["git:commit", "git:deep:er_y", "test"]);
    assert_eq!(loaded.problems, []);
    assert_eq!(loaded.commands[0].description(), "The custom command of commit.toml.");
    assert_eq!(loaded.commands[2].description(), "Tests it.");
    assert_eq!(loaded.commands[2].path(), world.at("commands/test.toml"));
}

#[test]
fn a_folder_that_is_not_there_holds_nothing() {
    let loaded = World::new().load();
    assert!(loaded.commands.is_empty() && loaded.problems.is_empty());
}

#[test]
fn the_later_source_wins() {
    let world = World::new();
    world.write("user/a.toml", "prompt = 'x'\ndescription = 'user'");
    world.write("user/b.toml", "prompt = 'x'\ndescription = 'user'");
    world.write("project/b.toml", "prompt = 'x'\ndescription = 'project'");
    let sources =
        [CustomSource::user(world.at("user")), CustomSource::project(world.at("project"), world.at(""))];
    let loaded = load(&sources);
    let told: Vec<_> =
        loaded.commands.iter().map(|command| (command.name(), command.description())).collect();
    assert_eq!(told, [("a", "user"), ("b", "project")]);
    assert_eq!(loaded.problems, []);
}

#[test]
fn a_command_that_is_turned_down_replaces_no_other() {
    let world = World::new();
    world.write("user/a.toml", "prompt = 'x'\ndescription = 'user'");
    world.write("project/a.toml", "description = 'project'\n\nprompt = 'x !{rm {{args}}} !{ls}'");
    let project = CustomSource::project(world.at("project"), world.at(""));
    let mut seen = Vec::new();
    let loaded =
        load_admitted(&[CustomSource::user(world.at("user")), project.clone()], &mut |source, command| {
            seen.push((command.name().to_owned(), command.programs(), command.first_program_line()));
            *source != project
        });
    assert_eq!(loaded.commands[0].description(), "user");
    assert_eq!(seen[0], ("a".to_owned(), Vec::new(), 1));
    assert_eq!(seen[1], ("a".to_owned(), vec!["rm {{args}}".to_owned(), "ls".to_owned()], 3));
}

#[test]
fn a_built_in_command_stays_what_it_is() {
    let world = World::new();
    world.write("commands/memory.toml", "prompt = 'x'");
    world.write("commands/help.toml", "prompt = 'x'");
    world.write("commands/own.toml", "prompt = 'x'");
    let (registry, problems) = CommandRegistry::standard().with_custom(world.load());
    assert_eq!(registry.specs().last().unwrap().name, "own");
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("help.toml: two commands are called `help`"), "{told:?}");
    assert!(told[1].contains("memory.toml: two commands are called `memory`"), "{told:?}");
}

#[test]
fn an_extension_replaces_nothing() {
    let world = World::new();
    world.write("extension/memory.toml", "prompt = 'x'");
    world.write("extension/own.toml", "prompt = 'x'");
    world.write("extension/new.toml", "prompt = 'x'");
    world.write("user/own.toml", "prompt = 'x'\ndescription = 'mine'");
    let sources =
        [CustomSource::extension(world.at("extension"), "cloud"), CustomSource::user(world.at("user"))];
    let (registry, problems) = CommandRegistry::standard().with_custom(load(&sources));
    assert_eq!(problems, []);
    let specs = registry.specs();
    let added: Vec<&str> = specs[13..].iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(added, ["own", "cloud.memory", "new", "cloud.own"]);
    assert_eq!(specs[13].description, "mine");
}

#[track_caller]
fn content_is_refused(content: impl AsRef<[u8]>, expected: &str) {
    let world = World::new();
    world.write("commands/bad.toml", content);
    world.refuses(expected);
}

#[test]
fn a_wrong_file_is_told_with_what_would_be_right() {
    content_is_refused("", "missing field `prompt`; a command file has `prompt = \"…\"`");
    content_is_refused("prompt = 1", "line 1: invalid type: integer `1`, expected a string");
    content_is_refused("\n\nprompt = [", "line 3: ");
    content_is_refused("prompt = \" \\n\"", "`prompt` is empty");
    content_is_refused("prompt = ''", "`prompt` is empty");
    content_is_refused("prompt = 'x'\ndescription = 2", "line 2: ");
    content_is_refused("prompt = '''\na\n!{git '''", "in `prompt`, line 2: `!{` is not closed");
    content_is_refused("prompt = '@{a{b}'", "line 1: `@{` is not closed; every `{` after it needs its `}`");
    content_is_refused("prompt = '!{echo `x {{args}}`}'", "`{{args}}` stands behind a backtick");
    content_is_refused(format!("prompt = '{}'", "!{a}".repeat(33)), "33 places `!{…}`; have at most 32");
    content_is_refused(format!("prompt = '{}'", "@{a}".repeat(65)), "65 places `@{…}`; have at most 64");
    content_is_refused([0xff, 0xfe], "it is not UTF-8 text");
    content_is_refused(format!("prompt = '{}'", "x".repeat(256 * 1024)), "more than 262144 bytes");
    content_is_refused(format!("x = {}1", "[".repeat(100_000)), "a command file has");
}

#[test]
fn a_mark_at_the_beginning_is_no_text() {
    let world = World::new();
    world.write("commands/a.toml", "\u{FEFF}prompt = 'x'");
    assert_eq!(names(&world.load()), ["a"]);
}

#[test]
fn a_name_that_cannot_be_written_is_told() {
    let world = World::new();
    world.write("commands/two words.toml", "prompt = 'x'");
    world.refuses("`two words` cannot be a command's name: it is not one word");
}

#[test]
fn two_files_do_not_share_a_name() {
    let world = World::new();
    world.write("commands/a:b.toml", "prompt = 'x'");
    world.write("commands/a_b.toml", "prompt = 'x'");
    let loaded = world.load();
    assert_eq!(names(&loaded), ["a_b"]);
    assert!(loaded.problems[0].what.contains("`/a_b` is "), "{:?}", loaded.problems);
}

#[test]
fn links_stay_inside() {
    let world = World::new();
    world.write("commands/real/a.toml", "prompt = 'x'");
    world.write("elsewhere/secret.toml", "prompt = 'x'");
    symlink("real/a.toml", world.at("commands/inside.toml")).unwrap();
    symlink("real", world.at("commands/folder")).unwrap();
    symlink("../elsewhere/secret.toml", world.at("commands/out.toml")).unwrap();
    symlink("../elsewhere", world.at("commands/outfolder")).unwrap();
    symlink("nowhere", world.at("commands/broken.toml")).unwrap();
    symlink("..", world.at("commands/real/circle")).unwrap();
    let loaded = world.load();
    assert_eq!(names(&loaded), ["folder:a", "inside", "real:a"]);
    let told: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 5, "{told:?}");
    for (file, what) in [
        ("out.toml", "it leads out of"),
        ("outfolder", "it leads out of"),
        ("broken.toml", "it cannot be read"),
        ("real/circle", "in a circle"),
        ("folder/circle", "in a circle"),
    ] {
        let path = world.at("commands").join(file);
        let problem = loaded.problems.iter().find(|problem| problem.path == path).unwrap();
        assert!(problem.what.contains(what), "{problem}");
    }
}

#[test]
fn a_project_s_folder_may_be_a_link_inside_the_project_only() {
    let world = World::new();
    world.write("project/shared/a.toml", "prompt = 'x'");
    world.write("elsewhere/secret.toml", "prompt = 'x'");
    symlink("shared", world.at("project/good")).unwrap();
    symlink("../elsewhere", world.at("project/bad")).unwrap();
    let project = |folder: &str| load(&[CustomSource::project(world.at(folder), world.at("project"))]);
    assert_eq!(names(&project("project/good")), ["a"]);
    let bad = project("project/bad");
    assert!(bad.commands.is_empty());
    assert!(bad.problems[0].what.contains("it leads out of"), "{:?}", bad.problems);
    assert_eq!(names(&load(&[CustomSource::user(world.at("project/bad"))])), ["secret"]);
}

#[test]
fn only_plain_files_are_read() {
    let world = World::new();
    fs::create_dir(world.at("commands")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = world.at("commands/pipe.toml");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    world.refuses("it is not a plain file");
}

#[test]
fn a_file_in_the_folder_s_place_is_told() {
    let world = World::new();
    world.write("commands", "x");
    world.refuses("it cannot be read");
}

#[test]
fn folders_have_a_bottom() {
    let world = World::new();
    world.write("commands/1/2/3/4/5/6/7/deep.toml", "prompt = 'x'");
    world.write("commands/1/2/3/4/5/6/7/8/deeper.toml", "prompt = 'x'");
    let loaded = world.load();
    assert_eq!(names(&loaded), ["1:2:3:4:5:6:7:deep"]);
    assert!(loaded.problems[0].what.contains("more than 8 folders deep"), "{:?}", loaded.problems);
}

#[test]
fn a_crowd_is_cut() {
    let world = World::new();
    for number in 0..1_150 {
        world.write(&format!("commands/{number:04}.toml"), "prompt = 'x'");
    }
    let loaded = world.load();
    assert_eq!(loaded.commands.len(), 1_000);
    assert_eq!(loaded.problems.len(), 101);
    assert!(loaded.problems[0].what.contains("1000 commands already"), "{}", loaded.problems[0]);
    assert_eq!(loaded.problems[100].what, "and 50 more problems after this one");
}

#[test]
fn a_path_is_shown_without_controls() {
    let world = World::new();
    world.write("commands/a\u{1b}b.toml", "prompt = 'x'");
    world.refuses("a\u{FFFD}b.toml");
    let text = world.load().problems[0].to_string();
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

fn loads_or_tells(folder: &Path) -> LoadedCommands {
    let loaded = load(&[CustomSource::user(folder)]);
    assert_eq!(loaded.commands.len() + loaded.problems.len(), 1);
    loaded
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_a_command_or_a_problem(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let world = World::new();
        world.write("any.toml", bytes);
        loads_or_tells(world.0.path());
    }

    #[test]
    fn any_prompt_is_a_command_or_a_problem(prompt in "[!@{}args\\\\'\"$(`#< \n]{0,40}") {
        let world = World::new();
        let text = toml::to_string(&toml::Table::from_iter([("prompt".to_owned(), prompt.into())])).unwrap();
        world.write("any.toml", text);
        loads_or_tells(world.0.path());
    }
}
