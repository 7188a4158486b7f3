//! What the built-in agent `cli_help` knows: the documentation, and the help of every command.

use std::sync::LazyLock;

use attache_help::{Manual, Page};
use clap::{Command, CommandFactory};

use crate::cli::Cli;

/// Made when it is first asked.
pub(crate) static MANUAL: LazyLock<Manual> = LazyLock::new(manual);

fn manual() -> Manual {
    let mut pages = Vec::new();
    add(&mut Cli::command(), "attache", &mut pages);
    Manual::new(pages)
}

/// The help of a command and of those below it, each as a page.
fn add(command: &mut Command, name: &str, pages: &mut Vec<Page>) {
    let help = command.render_long_help();
    let text = format!("# {name}\n\n{help}\n");
    pages.push(Page { name: format!("{name} --help").into(), text: text.into() });
    for below in command.get_subcommands_mut().filter(|below| !below.is_hide_set()) {
        let name = format!("{name} {}", below.get_name());
        add(below, &name, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_every_command_is_a_page() {
        let manual = manual();
        let pages: Vec<&str> = manual.pages().collect();
        for page in
            ["attache --help", "attache serve --help", "attache agents disable --help", "docs/settings.md"]
        {
            assert!(pages.contains(&page), "{page} in {pages:?}");
        }
        let answer = manual
            .answer("which flag of attache serve names the file that holds the bearer token of callers?");
        assert!(answer.contains("--token-file"), "{answer}");
    }
}
