//! The part of `docs/interop.md` about agent frameworks. It is generated from the lists of known gaps, which every run checks.

use std::fmt::Write;

use super::frameworks::{self, Framework, Gap, Interface};
use super::table::row;

const HEAD: &str = "
## Agent frameworks

Each framework uses attache as a remote agent through its own interface. It goes through six steps, which
`tests/frameworks/README.md` describes: connect by the card; show a text exactly; stream the text; show a question about an edit;
send `yes` in the same conversation and show the text after it; get an answer to a second message. `cargo xtask test` runs the
frameworks that install within a minute, `cargo xtask interop --all` runs all of them. ✓ marks a step that passes, ✗ a step
that fails, and – a step for which the framework has no interface. Each ✗ and – is explained below its table, with the line of
the framework's source that shows it.
";

pub(super) fn write(out: &mut String) {
    out.push_str(HEAD);
    heading(out, Interface::Default, "By default", "An answer is an artifact that grows.");
    let answers = "An answer is the message of the final status and cannot be streamed.";
    heading(out, Interface::Message, "With `--answers message`", answers);
    out.push_str("\n### How the frameworks are used\n\n");
    for framework in frameworks::all().filter(|framework| !framework.note.is_empty()) {
        line(out, &format!("- {}: {}.", framework.client.name, framework.note));
    }
}

fn heading(out: &mut String, interface: Interface, title: &str, what: &str) {
    let number = frameworks::all().count();
    let every = frameworks::all().filter(|framework| framework.passes_all(interface)).count();
    let more = frameworks::all().filter(|framework| framework.is_whole(interface)).count() - every;
    let numbers = format!(
        "{every} of {number} pass every step. {more} more pass every step that they have an interface for: {} together.",
        every + more
    );
    line(out, &format!("\n### {title}\n\n{what} {numbers}\n"));
    let steps = interface.steps();
    row(out, ["framework"].into_iter().chain(steps.iter().map(|step| step.name())).chain(["passes"]));
    row(out, std::iter::repeat_n("---", steps.len() + 2));
    for framework in frameworks::all() {
        row(out, cells(framework, interface).into_iter());
    }
    out.push('\n');
    for framework in frameworks::all() {
        reasons(out, framework, interface);
    }
}

fn cells(framework: &Framework, interface: Interface) -> Vec<&'static str> {
    let mut cells = vec![framework.client.name];
    for step in interface.steps() {
        cells.push(match framework.gap(interface, step).map(|known| known.gap) {
            None => "✓",
            Some(Gap::Fails) => "✗",
            Some(Gap::Missing) => "–",
        });
    }
    cells.push(match (framework.passes_all(interface), framework.is_whole(interface)) {
        (true, _) => "all",
        (false, true) => "all that it has",
        (false, false) => "some",
    });
    cells
}

fn reasons(out: &mut String, framework: &Framework, interface: Interface) {
    let counted = interface.steps();
    for known in framework.known.iter().filter(|known| known.interfaces.contains(&interface)) {
        let steps: Vec<&str> =
            known.steps.iter().filter(|step| counted.contains(step)).map(|step| step.name()).collect();
        if !steps.is_empty() {
            let (name, steps) = (framework.client.name, steps.join(", "));
            line(out, &format!("- {name}, {steps}: {} (`{}`).", known.reason, known.source));
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_framework_has_a_row_for_each_interface() {
        let mut out = String::new();
        write(&mut out);
        for framework in frameworks::all() {
            let rows =
                out.lines().filter(|line| line.starts_with(&format!("| {} | ", framework.client.name)));
            assert_eq!(rows.count(), 2, "{}", framework.client.name);
        }
        let crewai = "| PyPI crewai 1.15.30 | ✓ | ✗ | ✗ | ✓ | ✗ | ✗ | some |";
        assert!(out.contains(crewai), "{out}");
        let reason = "- PyPI crewai 1.15.30, stream: it hands out pieces of bare messages only (`crewai/";
        assert!(out.contains(reason), "{out}");
    }
}
