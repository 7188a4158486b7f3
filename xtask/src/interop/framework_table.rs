//! The part of `docs/interop.md` about agent frameworks. It is made of what is known about them, which every run checks.

use std::fmt::Write;

use super::frameworks::{self, Framework, Gap, Interface};
use super::table::row;

const HEAD: &str = "
## Agent frameworks

Each framework uses attache as a remote agent in its own way, as `tests/frameworks/README.md` describes: it connects by the
card, shows a text to the letter, streams it, shows a question about an edit, sends `yes` in the same conversation, shows the
text after it, and gets an answer to a second message. `cargo xtask test` runs the frameworks that install within a minute,
`cargo xtask interop --all` runs every one. ✓ is a step that passes, ✗ one that does not, and – one that the framework has no
means for.
";

pub(super) fn write(out: &mut String) {
    out.push_str(HEAD);
    heading(out, Interface::Default, "By default", "An answer is an artifact that grows.");
    let answers = "An answer is the message of the final status and cannot be streamed.";
    heading(out, Interface::Message, "With `--answers message`", answers);
    out.push_str("\n### How they are used\n\n");
    for framework in frameworks::all().filter(|framework| !framework.note.is_empty()) {
        line(out, &format!("- {}: {}.", framework.client.name, framework.note));
    }
}

fn heading(out: &mut String, interface: Interface, title: &str, what: &str) {
    let number = frameworks::all().count();
    let every = frameworks::all().filter(|framework| framework.passes_all(interface)).count();
    let more = frameworks::all().filter(|framework| framework.is_whole(interface)).count() - every;
    let numbers = format!("{every} of {number} pass every step, and {more} more every step that they have.");
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
            line(out, &format!("- {}, {}: {}.", framework.client.name, steps.join(", "), known.reason));
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
        let strands = "| PyPI strands-agents 1.62.0 | ✓ | ✗ | ✓ | ✓ | – | ✗ | some |";
        assert!(out.contains(strands), "{out}");
        assert!(
            out.contains("- PyPI strands-agents 1.62.0, exact text, second message: it puts line breaks"),
            "{out}"
        );
    }
}
