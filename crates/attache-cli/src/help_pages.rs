//! The help of every command as pages of the documentation.

use attache_help::Page;
use clap::Command;

/// The help of a command and of those below it, each as a page.
pub fn help_pages(mut command: Command, name: &str) -> Vec<Page> {
    let mut pages = Vec::new();
    add(&mut command, name, &mut pages);
    pages
}

fn add(command: &mut Command, name: &str, pages: &mut Vec<Page>) {
    let help = command.render_long_help();
    let text = format!("# {name}\n\n{help}\n");
    pages.push(Page { name: format!("{name} --help").into(), text: text.into() });
    for below in command.get_subcommands_mut().filter(|below| !below.is_hide_set()) {
        let name = format!("{name} {}", below.get_name());
        add(below, &name, pages);
    }
}
