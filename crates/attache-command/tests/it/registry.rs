//! Which command a line means.

use std::sync::Arc;

use async_trait::async_trait;
use attache_command::{Command, CommandError, CommandRegistry, CommandRequest, CommandStep};
use attache_domain::{CommandArgument, CommandCall, CommandSpec};
use proptest::prelude::*;

/// A command that only has a place in the tree.
#[derive(Clone, Default)]
struct Plain {
    name: String,
    description: String,
    arguments: Vec<CommandArgument>,
    below: Vec<Plain>,
}

fn plain(name: &str) -> Plain {
    Plain { name: name.into(), description: format!("Does {name}."), ..Plain::default() }
}

fn argument(name: &str, required: bool) -> CommandArgument {
    CommandArgument { name: name.into(), description: format!("the {name}"), required }
}

#[async_trait]
impl Command for Plain {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn arguments(&self) -> Vec<CommandArgument> {
        self.arguments.clone()
    }

    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        self.below.iter().map(|sub| Arc::new(sub.clone()) as Arc<dyn Command>).collect()
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        Ok(CommandStep::Prompt(request.line.to_owned()))
    }
}

fn call(path: &[&str], arguments: &str) -> CommandCall {
    CommandCall { path: path.iter().map(|word| (*word).to_owned()).collect(), arguments: arguments.into() }
}

fn names(specs: &[CommandSpec]) -> Vec<&str> {
    specs.iter().map(|spec| spec.name.as_str()).collect()
}

#[test]
fn the_built_in_commands_are_listed_in_a_fixed_order() {
    let specs = CommandRegistry::standard().specs();
    let expected = [
        "about",
        "agents",
        "compress",
        "extensions",
        "help",
        "init",
        "list-extensions",
        "mcp",
        "memory",
        "model",
        "restore",
        "stats",
        "tools",
    ];
    assert_eq!(names(&specs), expected);
    let memory = specs.iter().find(|spec| spec.name == "memory").unwrap();
    assert_eq!(names(&memory.sub_commands), ["show", "add", "refresh", "list"]);
    assert!(memory.sub_commands[1].arguments[0].required);
}

#[track_caller]
fn finds(path: &[&str], arguments: &str, expected: (&[&str], &str)) {
    let found = CommandRegistry::standard().find(&call(path, arguments)).unwrap();
    assert_eq!(found.call, call(expected.0, expected.1), "{path:?} {arguments:?}");
    assert_eq!(found.command.name(), *expected.0.last().unwrap());
}

#[test]
fn a_call_is_found_however_it_is_cut() {
    finds(&["memory"], "", (&["memory"], ""));
    finds(&["memory", "show"], "", (&["memory", "show"], ""));
    finds(&["memory", "add"], "a  fact", (&["memory", "add"], "a  fact"));
    finds(&["memory", "add", "foo"], "", (&["memory", "add"], "foo"));
    finds(&["memory", "add", "foo"], "bar", (&["memory", "add"], "foo bar"));
    finds(&["/memory", "show"], "", (&["memory", "show"], ""));
    finds(&["/memory show"], "", (&["memory", "show"], ""));
    finds(&["memory  add  a  fact"], "", (&["memory", "add"], "a  fact"));
    finds(&[" /memory"], "show", (&["memory", "show"], ""));
    finds(&["memory"], "add /tmp is small", (&["memory", "add"], "/tmp is small"));
    finds(&["memory", "add", "show"], "", (&["memory", "add"], "show"));
    finds(&["model"], "deep", (&["model"], "deep"));
    finds(&["model"], "set deep", (&["model", "set"], "deep"));
    finds(&["help"], "memory add", (&["help"], "memory add"));
    finds(&["list-extensions"], "", (&["list-extensions"], ""));
}

#[test]
fn other_names_are_understood() {
    finds(&["?"], "", (&["help"], ""));
    finds(&["compact"], "", (&["compress"], ""));
    finds(&["memory", "reload"], "", (&["memory", "refresh"], ""));
    finds(&["tools", "nodesc"], "", (&["tools", "list"], ""));
    finds(&["model", "manage"], "", (&["model", "list"], ""));
}

#[test]
fn a_name_comes_before_another_s_other_name() {
    let registry = CommandRegistry::standard().with(Arc::new(plain("compact"))).unwrap();
    assert_eq!(registry.find(&call(&["compact"], "")).unwrap().command.description(), "Does compact.");
}

#[track_caller]
fn misses(path: &[&str], expected: &[&str]) {
    let error = CommandRegistry::standard().find(&call(path, "")).unwrap_err();
    assert!(matches!(error, CommandError::Unknown { .. }), "{error:?}");
    for part in expected {
        assert!(error.to_string().contains(part), "{part:?} in {error}");
    }
}

#[test]
fn what_is_unknown_is_told_with_what_there_is() {
    misses(&["memroy"], &["no command `/memroy`", "did you mean `/memory`?", "/about", "/tools"]);
    misses(&["quit"], &["no command `/quit`; there are: /about"]);
    misses(
        &["memory", "shwo"],
        &["`/memory` has no `shwo` (did you mean `/memory show`?)", "show, add, refresh, list"],
    );
    misses(&["extensions", "install"], &["`/extensions` has no `install`; there are: list"]);
    misses(&[], &["no command is named"]);
    misses(&["/"], &["no command is named"]);
    misses(&["a\u{1b}[2J"], &["`/a\u{FFFD}[2J`"]);
    misses(&["Memory"], &["did you mean `/memory`?"]);
}

#[test]
fn a_long_list_of_commands_is_cut() {
    let mut registry = CommandRegistry::default();
    for number in 0..100 {
        registry.add(Arc::new(plain(&format!("command{number}")))).unwrap();
    }
    let error = registry.find(&call(&["other"], "")).unwrap_err().to_string();
    assert!(error.contains("/command39 and 60 more"), "{error}");
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let error =
        CommandRegistry::standard().find(&call(&["memory", "add"], &"x".repeat(300_000))).unwrap_err();
    assert!(matches!(error, CommandError::BadArguments { .. }), "{error:?}");
}

#[track_caller]
fn parses(line: &str, expected: Option<(&[&str], &str)>) {
    let expected = expected.map(|(path, arguments)| call(path, arguments));
    assert_eq!(CommandRegistry::standard().parse(line), expected, "{line:?}");
}

#[test]
fn a_line_with_a_slash_is_a_call() {
    parses("/memory", Some((&["memory"], "")));
    parses("/memory show", Some((&["memory", "show"], "")));
    parses("/memory add x", Some((&["memory", "add"], "x")));
    parses("/memory\tadd\n two  words \n", Some((&["memory", "add"], "two  words \n")));
    parses("/memory nonsense", Some((&["memory"], "nonsense")));
    parses("/? memory", Some((&["help"], "memory")));
    parses("/nonsense at all", Some((&["nonsense"], "at all")));
    parses("/git:commit now", Some((&["git:commit"], "now")));
}

#[test]
fn other_lines_are_none() {
    for line in
        ["", "memory", " /memory", "/", "//", "// memory", "/ memory", "/\tmemory", "/* a", "/etc/hosts is"]
    {
        parses(line, None);
    }
}

#[track_caller]
fn checks(command: Plain, arguments: &str, expected: Result<(), &str>) {
    let registry = CommandRegistry::default().with(Arc::new(command)).unwrap();
    let found = registry.find(&call(&["deploy"], arguments)).unwrap();
    let expected = expected.map_err(|what| CommandError::BadArguments { what: what.into() });
    assert_eq!(found.check(), expected, "{arguments:?}");
}

#[test]
fn what_has_to_be_there_is_asked_for() {
    let two =
        Plain { arguments: vec![argument("place", true), argument("version", true)], ..plain("deploy") };
    let usage = "usage: /deploy <place> <version>";
    checks(two.clone(), "", Err(&format!("`place` is missing (the place); {usage}")));
    checks(two.clone(), "here", Err(&format!("`version` is missing (the version); {usage}")));
    checks(two.clone(), "here 2", Ok(()));
    checks(two, "here 2 and more", Ok(()));
    let optional = Plain { arguments: vec![argument("place", false)], ..plain("deploy") };
    checks(optional, "", Ok(()));
    checks(plain("deploy"), "", Ok(()));
    checks(plain("deploy"), "here", Err("it takes no arguments; usage: /deploy"));
}

#[track_caller]
fn refuses(command: Plain, expected: &str) {
    let error = CommandRegistry::standard().with(Arc::new(command)).err().unwrap().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_name_is_one_word() {
    refuses(plain(""), "it is empty");
    refuses(plain("two words"), "`two words` cannot be a command's name: it is not one word");
    refuses(plain("a/b"), "it has a slash");
    refuses(plain("/a"), "it has a slash");
    refuses(plain("a\u{7}"), "it is not one word");
    refuses(plain("*a"), "it begins with `*`");
    refuses(plain(&"x".repeat(101)), "it is too long");
    refuses(Plain { below: vec![plain("a b")], ..plain("ok") }, "`a b` cannot be");
}

#[test]
fn a_name_is_taken_once() {
    let expected = "two commands are called `memory`: \"Shows the instructions that the model is given;";
    refuses(plain("memory"), expected);
    refuses(plain("memory"), "and \"Does memory.\"");
    refuses(plain("help"), "two commands are called `help`");
    refuses(Plain { below: vec![plain("a"), plain("a")], ..plain("ok") }, "called `a`");
}

#[test]
fn a_tree_has_a_bottom() {
    let mut tree = plain("a");
    for _ in 0..3 {
        tree = Plain { below: vec![tree], ..plain("a") };
    }
    assert!(CommandRegistry::standard().with(Arc::new(tree.clone())).is_ok());
    refuses(Plain { below: vec![tree], ..plain("a") }, "4 words are the most");
}

#[test]
fn an_added_command_is_known_everywhere() {
    let deploy = Plain { below: vec![plain("now")], ..plain("deploy") };
    let registry = CommandRegistry::standard().with(Arc::new(deploy)).unwrap();
    assert_eq!(registry.specs().last().unwrap().name, "deploy");
    assert_eq!(registry.parse("/deploy now"), Some(call(&["deploy", "now"], "")));
    let help = registry.find(&call(&["help"], "deploy now")).unwrap();
    assert_eq!(help.check(), Ok(()));
}

proptest! {
    #[test]
    fn a_found_call_is_found_again(line in "/?(memory|model|help|x)?( ?(add|set|list|x))?[ /a-z\u{0}-\u{20}]{0,12}") {
        let registry = CommandRegistry::standard();
        if let Some(found) = registry.parse(&line).and_then(|call| registry.find(&call).ok()) {
            prop_assert_eq!(&registry.find(&found.call).unwrap().call, &found.call);
            // The line that is shown means the same.
            prop_assert_eq!(registry.parse(&found.call.line()), Some(found.call.clone()));
        }
    }

    #[test]
    fn any_call_is_answered(path in proptest::collection::vec(any::<String>(), 0..4), arguments in any::<String>()) {
        let registry = CommandRegistry::standard();
        if let Ok(found) = registry.find(&CommandCall { path, arguments }) {
            let _ = found.check();
        }
    }
}
