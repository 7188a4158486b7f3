//! What the built-in agent `cli_help` knows: the documentation, and the help of every command.

use std::sync::LazyLock;

use attache_cli::help_pages;
use attache_help::Manual;
use clap::CommandFactory;

use crate::cli::Cli;

/// Made when it is first asked.
pub(crate) static MANUAL: LazyLock<Manual> =
    LazyLock::new(|| Manual::new(help_pages(Cli::command(), "attache")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_every_command_is_a_page() {
        let pages: Vec<&str> = MANUAL.pages().collect();
        for page in
            ["attache --help", "attache serve --help", "attache agents disable --help", "docs/settings.md"]
        {
            assert!(pages.contains(&page), "{page} in {pages:?}");
        }
        let answer = MANUAL
            .answer("which flag of attache serve names the file that holds the bearer token of callers?");
        assert!(answer.contains("--token-file"), "{answer}");
    }
}
