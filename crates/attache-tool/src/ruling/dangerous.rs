//! Commands that need approval even where a rule allows the program.

use super::git;
use crate::shell::{Segment, ShellWord};

/// Why the command needs approval.
pub(super) fn dangerous(segment: &Segment) -> Option<&'static str> {
    let base = segment.base()?;
    let any =
        |test: &dyn Fn(&str) -> bool| segment.words.iter().skip(1).filter_map(ShellWord::text).any(test);
    let (found, why) = match base {
        "rm" => (any(&removes_all), "rm with force or with all that lies below"),
        "find" => (any(&finds_and_acts), "find that runs, removes or writes"),
        "rg" => (any(&searches_with_program), "rg that starts another program"),
        "base64" => {
            (any(&|flag| flag.starts_with("-o") || flag.starts_with("--o")), "base64 that writes a file")
        }
        "git" => (git::is_dangerous(segment), "git with an option that runs, overwrites or throws away"),
        "chmod" | "chown" | "chgrp" => (
            any(&|flag| is_short(flag, 'R') || flag.starts_with("--recu")),
            "a change of rights on all that lies below",
        ),
        "dd" | "shred" | "fdisk" | "parted" | "wipefs" => (true, "a program that overwrites disks or files"),
        _ => (base.starts_with("mkfs"), "a program that overwrites disks or files"),
    };
    found.then_some(why)
}

/// In any position and grouping of flags.
fn removes_all(flag: &str) -> bool {
    ['r', 'R', 'f'].into_iter().any(|letter| is_short(flag, letter))
        || (flag.len() > 3 && ("--recursive".starts_with(flag) || "--force".starts_with(flag)))
}

pub(super) fn finds_and_acts(flag: &str) -> bool {
    ["-exec", "-ok", "-delete", "-fprint", "-fls"].into_iter().any(|start| flag.starts_with(start))
}

pub(super) fn searches_with_program(flag: &str) -> bool {
    is_short(flag, 'z')
        || ["--pre", "--search-zip", "--hostname-bin"].into_iter().any(|start| flag.starts_with(start))
}

/// Whether the letter is among the flags after a single dash.
pub(super) fn is_short(flag: &str, letter: char) -> bool {
    flag.starts_with('-') && !flag.starts_with("--") && flag.contains(letter)
}
