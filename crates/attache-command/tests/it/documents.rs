//! The page about commands and the commands themselves say the same.

use attache_command::{CommandRegistry, usage};
use attache_domain::CommandSpec;

const PAGE: &str = include_str!("../../../../docs/commands.md");
const EXAMPLE: &str = include_str!("../../examples/own_command.rs");

#[test]
fn every_built_in_command_is_on_the_page() {
    fn check(path: &[&str], specs: &[CommandSpec]) {
        for spec in specs {
            let path: Vec<&str> = path.iter().copied().chain([spec.name.as_str()]).collect();
            let usage = usage(&path, &spec.arguments);
            assert!(PAGE.contains(&format!("`{usage}`")), "{usage}");
            check(&path, &spec.sub_commands);
        }
    }
    check(&[], &CommandRegistry::standard().specs());
}

#[test]
fn the_example_is_on_the_page_as_it_is_compiled() {
    let command = EXAMPLE.split("// The command.\n").nth(1).unwrap();
    let command = command.split("\n// How it is given.").next().unwrap();
    assert!(PAGE.contains(command.trim()), "{command}");
}
