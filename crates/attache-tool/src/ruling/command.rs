//! Judges a command line piece by piece.

use std::path::Path;

use super::dangerous::dangerous;
use super::inside::inside;
use super::matching::{self, Fit};
use super::safe::{Place, known_safe};
use super::{Judged, Ruling, fallback};
use crate::policy::{Decision, Mode, Policy};
use crate::shell::{self, Role, Segment};

/// The most careful of what is said about each piece.
pub(super) fn rule(policy: &Policy, call: &Judged<'_>, mode: Mode, line: &str, directory: &Path) -> Ruling {
    let parsed = shell::parse(line);
    let moves = parsed.segments.iter().any(|segment| matches!(segment.base(), Some("cd" | "pushd" | "popd")));
    let judge = Judge { policy, call, mode, place: Place { directory, roots: call.roots, moves } };
    let whole = if parsed.segments.is_empty() { Some(judge.nothing_found()) } else { None };
    let unsure = (!parsed.sure).then(|| judge.unsure());
    let pieces = parsed.segments.iter().map(|segment| judge.piece(segment));
    pieces.chain(whole).chain(unsure).reduce(Ruling::and).unwrap_or_else(|| judge.unsure())
}

struct Judge<'a> {
    policy: &'a Policy,
    call: &'a Judged<'a>,
    mode: Mode,
    place: Place<'a>,
}

impl Judge<'_> {
    fn piece(&self, segment: &Segment) -> Ruling {
        let mut suspected = None;
        for rule in self.policy.rules() {
            match matching::segment(rule, self.call, self.mode, segment) {
                Fit::No => {}
                Fit::Perhaps => {
                    let why = format!("rule {} may be about {:?}", rule.source, segment.text());
                    suspected.get_or_insert_with(|| Ruling::new(Decision::Ask, why));
                }
                // What a wrapper starts is judged by itself; here only its own name can be held against it.
                Fit::Yes if segment.role == Role::Wrapper && rule.decision == Decision::Allow => {}
                Fit::Yes if segment.role == Role::Wrapper && !rule.is_about_commands() => {}
                Fit::Yes => {
                    let ruling = match rule.decision {
                        Decision::Allow => self.allowed(segment, Ruling::by(rule), rule.redirection),
                        Decision::Ask | Decision::Deny => Ruling::by(rule),
                    };
                    return suspected.into_iter().fold(ruling, Ruling::and);
                }
            }
        }
        suspected.into_iter().fold(self.unruled(segment), Ruling::and)
    }

    fn unruled(&self, segment: &Segment) -> Ruling {
        let name = segment.program().unwrap_or("it");
        match self.mode {
            Mode::Plan => Ruling::deny("default for commands in mode plan", fallback::not_in(Mode::Plan)),
            Mode::Yolo => Ruling::new(Decision::Allow, "mode yolo"),
            _ if segment.role == Role::Wrapper => self.allowed(
                segment,
                Ruling::new(Decision::Allow, format!("{name} only starts others")),
                false,
            ),
            _ if known_safe(segment, self.place) => self.allowed(
                segment,
                Ruling::new(Decision::Allow, format!("{name} is known to change nothing")),
                false,
            ),
            _ => Ruling::new(Decision::Ask, format!("default for commands in mode {}", self.mode.name())),
        }
    }

    /// What is allowed is still asked about when it does more than its name says.
    fn allowed(&self, segment: &Segment, ruling: Ruling, redirection: bool) -> Ruling {
        if self.mode == Mode::Yolo {
            return ruling;
        }
        if let Some(why) = dangerous(segment) {
            return Ruling::new(Decision::Ask, format!("dangerous: {why}"));
        }
        if !redirection && self.writes(segment) {
            return Ruling::new(
                Decision::Ask,
                format!("{} writes a file through a redirection", segment.text()),
            );
        }
        if segment.base() == Some("git") && !self.call.trusted {
            return Ruling::new(
                Decision::Ask,
                "git runs what a folder tells it to, and this one is not trusted",
            );
        }
        ruling
    }

    /// In `auto_edit` files of the workspace may be written anyway.
    fn writes(&self, segment: &Segment) -> bool {
        let mut targets = segment.redirections.iter().filter(|redirection| redirection.write);
        targets.any(|redirection| {
            let known = redirection.target.text();
            let inside = known.is_some_and(|target| {
                !(self.place.moves && target.contains(".."))
                    && inside(target, self.place.directory, self.place.roots)
            });
            !(self.mode == Mode::AutoEdit && inside)
        })
    }

    /// Either nothing is there, or nothing could be read: then only rules about the tool itself can be applied.
    fn nothing_found(&self) -> Ruling {
        let rule = self.policy.rules().iter().find(|rule| matching::whole(rule, self.call, self.mode));
        match rule {
            Some(rule) => Ruling::by(rule),
            None if self.mode == Mode::Plan => self.unruled(&Segment::default()),
            None => Ruling::new(Decision::Allow, "nothing would start"),
        }
    }

    /// In yolo it runs, unless somebody forbade certain commands: one of them may be in there.
    fn unsure(&self) -> Ruling {
        let forbids = self
            .policy
            .rules()
            .iter()
            .any(|rule| rule.decision == Decision::Deny && rule.is_about_commands());
        if self.mode == Mode::Yolo && !forbids {
            Ruling::new(Decision::Allow, "mode yolo")
        } else {
            Ruling::new(Decision::Ask, "it cannot be told for sure what the command would start")
        }
    }
}
