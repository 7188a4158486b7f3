//! Judges a command line segment by segment, and decides its access.
//!
//! Commands without approval run confined: known safe ones at level look, those that a rule or the mode allows at level
//! work. A line that requests more needs approval, and the question shows the requested access.

use std::path::{Path, PathBuf};

use super::dangerous::dangerous;
use super::inside::inside;
use super::matching::{self, RuleMatch};
use super::misleading::is_misleading;
use super::safe::{self, CommandLocation, known_safe};
use super::{CallFacts, Ruling, fallback, named_files, shape, suggested};
use crate::policy::{CommandShape, Policy, PolicyDecision, PolicyMode, PolicyRule};
use crate::shell::{self, ParsedCommand, Segment, SegmentRole};
use crate::{Access, AccessLevel};

/// A command line, its directory, and the requested access.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) directory: &'a Path,
    pub(super) wanted: &'a Access,
}

/// The most careful ruling of all segments.
pub(super) fn rule(policy: &Policy, call: &CallFacts<'_>, mode: PolicyMode, line: Line<'_>) -> Ruling {
    let parsed = shell::parse(line.text);
    let directories = safe::directories(&parsed.segments, line.directory);
    let location = location(call, &parsed, line.directory, &directories);
    let evaluator = SegmentEvaluator { policy, call, mode, location, wanted: line.wanted };
    let whole = if parsed.segments.is_empty() { Some(evaluator.nothing_found()) } else { None };
    let unsure = (!parsed.sure).then(|| evaluator.unsure());
    let pieces = parsed.segments.iter().map(|segment| evaluator.piece(segment));
    let ruling = pieces.chain(whole).chain(unsure).reduce(Ruling::and).unwrap_or_else(|| evaluator.unsure());
    let ruling = evaluator.enforceable(evaluator.unless_more_is_wanted(ruling));
    evaluator.with_suggested_writes(ruling, &parsed.segments)
}

fn location<'a>(
    call: &CallFacts<'a>,
    parsed: &ParsedCommand,
    directory: &'a Path,
    directories: &'a [PathBuf],
) -> CommandLocation<'a> {
    let moves = parsed.segments.iter().any(|segment| matches!(segment.base(), Some("cd" | "pushd" | "popd")));
    CommandLocation { directory, directories, roots: call.roots, files: call.files, moves }
}

/// The forms that an "always" answer would allow. None when the line can only be allowed once.
pub(crate) fn grantable(
    call: &CallFacts<'_>,
    line: &str,
    directory: &Path,
    access: &Access,
) -> Option<Vec<CommandShape>> {
    let parsed = shell::parse(line);
    let opens = access.level == AccessLevel::Open && !call.trusted;
    let enforced = call.confinement.holds(access.level);
    if !parsed.sure || is_misleading(line) || opens || !enforced || !access.writes.is_empty() {
        return None;
    }
    let directories = safe::directories(&parsed.segments, directory);
    let location = location(call, &parsed, directory, &directories);
    let (policy, mode) = (&Policy::default(), PolicyMode::Default);
    let evaluator = SegmentEvaluator { policy, call, mode, location, wanted: access };
    let mut shapes = Vec::new();
    for segment in &parsed.segments {
        let writes = segment.redirections.iter().any(|redirection| redirection.write);
        if writes || dangerous(segment).is_some() || (segment.base() == Some("git") && !call.trusted) {
            return None;
        }
        if evaluator.unruled(segment).decision != PolicyDecision::Allow {
            let shape = shape::shape_of(segment, location)?;
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
    }
    (!shapes.is_empty()).then_some(shapes)
}

struct SegmentEvaluator<'a> {
    policy: &'a Policy,
    call: &'a CallFacts<'a>,
    mode: PolicyMode,
    location: CommandLocation<'a>,
    wanted: &'a Access,
}

impl SegmentEvaluator<'_> {
    fn piece(&self, segment: &Segment) -> Ruling {
        let mut suspected = None;
        for rule in self.policy.rules() {
            match matching::segment(rule, self.call, self.mode, segment, self.location) {
                RuleMatch::No => {}
                RuleMatch::Perhaps => {
                    let why = format!("rule {} may be about {:?}", rule.source, segment.text());
                    suspected.get_or_insert_with(|| Ruling::new(PolicyDecision::Ask, why));
                }
                // The wrapped command is judged as its own segment; for the wrapper only rules about its name count.
                RuleMatch::Yes
                    if segment.role == SegmentRole::Wrapper && rule.decision == PolicyDecision::Allow => {}
                RuleMatch::Yes if segment.role == SegmentRole::Wrapper && !rule.is_about_commands() => {}
                RuleMatch::Yes => {
                    let ruling = match rule.decision {
                        PolicyDecision::Allow => self.allowed(segment, self.granted(rule), rule.redirection),
                        PolicyDecision::Ask | PolicyDecision::Deny => Ruling::by(rule),
                    };
                    return suspected.into_iter().fold(ruling, Ruling::and);
                }
            }
        }
        suspected.into_iter().fold(self.unruled(segment), Ruling::and)
    }

    fn unruled(&self, segment: &Segment) -> Ruling {
        let name = segment.program().unwrap_or("it");
        let ask = |why: String| Ruling::new(PolicyDecision::Ask, why);
        let looks = |why: String| {
            let ruling = Ruling::new(PolicyDecision::Allow, why).at(Access::new(AccessLevel::Look));
            self.allowed(segment, ruling, false)
        };
        let hidden = named_files::ignored(segment, self.location);
        match (self.mode, hidden) {
            (PolicyMode::Plan, _) => {
                Ruling::deny("default for commands in mode plan", fallback::not_in(PolicyMode::Plan))
            }
            (PolicyMode::Yolo, _) => self.yolo(),
            (_, Some(why)) => ask(why),
            (PolicyMode::Confined, None) => self.allowed(segment, self.confined(), false),
            (_, None) if segment.role == SegmentRole::Wrapper => looks(format!("{name} only starts others")),
            (_, None) if known_safe(segment, self.location) => match self.doubt(segment) {
                Some(why) => ask(why),
                None => looks(format!("{name} is known to change nothing")),
            },
            (mode, None) => ask(format!("default for commands in mode {}", mode.name())),
        }
    }

    /// Why a known safe command may do more here.
    fn doubt(&self, segment: &Segment) -> Option<String> {
        named_files::leading_out(segment, self.location)
            .or_else(|| named_files::configured_program(segment, self.location))
    }

    /// Everything runs unconfined.
    fn yolo(&self) -> Ruling {
        Ruling::new(PolicyDecision::Allow, "mode yolo").at(Access::open())
    }

    /// Everything runs within the confinement.
    fn confined(&self) -> Ruling {
        let ruling = Ruling::new(PolicyDecision::Allow, "mode confined").at(Access::new(AccessLevel::Work));
        self.unless_more_is_wanted(ruling)
    }

    /// The access of a rule; by default level work without network. In an untrusted folder no rule grants level open.
    fn granted(&self, rule: &PolicyRule) -> Ruling {
        if self.mode == PolicyMode::Yolo {
            return Ruling::by(rule).at(Access::open());
        }
        let access = rule.access.clone().unwrap_or_else(|| Access::new(AccessLevel::Work));
        if access.level == AccessLevel::Open && !self.call.trusted {
            let why = format!("rule {} grants everything, and the folder is not trusted", rule.source);
            return Ruling::new(PolicyDecision::Ask, why);
        }
        self.unless_more_is_wanted(Ruling::by(rule).at(access))
    }

    /// Needs approval when the call requests more access than granted.
    fn unless_more_is_wanted(&self, ruling: Ruling) -> Ruling {
        let plain = Access::new(AccessLevel::Work);
        let granted = ruling.access.clone().unwrap_or_else(|| plain.clone());
        let decided = ruling.decision != PolicyDecision::Allow;
        if decided || plain.covers(self.wanted) || granted.covers(self.wanted) {
            return ruling;
        }
        Ruling::new(PolicyDecision::Ask, "it asks for more than may run unasked")
    }

    /// An allowed command still needs approval when it does more than its name says.
    fn allowed(&self, segment: &Segment, ruling: Ruling, redirection: bool) -> Ruling {
        if self.mode == PolicyMode::Yolo || ruling.decision != PolicyDecision::Allow {
            return ruling;
        }
        if let Some(why) = self.protected(segment, &ruling) {
            return Ruling::new(PolicyDecision::Ask, why);
        }
        if self.mode == PolicyMode::Confined {
            let outside = self.written_outside(segment).filter(|_| !redirection);
            return match outside {
                Some(why) => Ruling::new(PolicyDecision::Ask, why),
                None => ruling.and(self.confined()),
            };
        }
        if let Some(why) = dangerous(segment) {
            return Ruling::new(PolicyDecision::Ask, format!("dangerous: {why}"));
        }
        let writes = segment.redirections.iter().any(|redirection| redirection.write);
        if writes && !redirection {
            // `auto_edit` allows writes inside the workspace.
            let outside = self.written_outside(segment);
            if self.mode != PolicyMode::AutoEdit || outside.is_some() {
                let why = || format!("{} writes a file through a redirection", segment.text());
                return Ruling::new(PolicyDecision::Ask, outside.unwrap_or_else(why));
            }
        }
        if segment.base() == Some("git") && !self.call.trusted {
            return Ruling::new(
                PolicyDecision::Ask,
                "git runs what a folder tells it to, and this one is not trusted",
            );
        }
        if writes { ruling.and(self.confined()) } else { ruling }
    }

    /// A protected file that the command would write without a grant. When only the mode allows the command, also one that
    /// it writes without naming it.
    fn protected(&self, segment: &Segment, ruling: &Ruling) -> Option<String> {
        let granted = ruling.access.as_ref().map_or(&[][..], |access| &access.writes);
        let writes = match (self.mode, granted) {
            (PolicyMode::Confined, []) => suggested::suggested_writes(segment, self.location),
            _ => suggested::visible_writes(segment, self.location),
        };
        let path = writes.into_iter().find(|path| !granted.iter().any(|own| path.starts_with(own)))?;
        Some(format!("it would write {}, which is protected", path.display()))
    }

    /// Adds the protected files that the command is known to write to the access in question.
    fn with_suggested_writes(&self, mut ruling: Ruling, segments: &[Segment]) -> Ruling {
        let access = ruling.access.as_mut().filter(|access| access.level == AccessLevel::Work);
        if let (PolicyDecision::Ask, Some(access)) = (ruling.decision, access) {
            let writes =
                segments.iter().flat_map(|segment| suggested::suggested_writes(segment, self.location));
            for path in writes.collect::<Vec<_>>() {
                if !access.writes.iter().any(|own| path.starts_with(own)) {
                    access.writes.push(path);
                }
            }
        }
        ruling
    }

    /// Why a redirection may write outside the workspace. In a confined line only visible targets count.
    fn written_outside(&self, segment: &Segment) -> Option<String> {
        let mut targets = segment.redirections.iter().filter(|redirection| redirection.write);
        targets.find_map(|redirection| {
            let Some(target) = redirection.target.text() else {
                return (self.mode != PolicyMode::Confined)
                    .then(|| "it is not known which file it writes".to_owned());
            };
            let climbs = self.location.moves && target.contains("..");
            if climbs || !inside(target, self.location.directory, self.location.roots) {
                return Some(format!("it writes {target}, outside the workspace"));
            }
            let leads_out = |path: PathBuf| !named_files::is_inside_resolved(&path, self.location);
            let out = self.location.paths(target).any(leads_out);
            out.then(|| format!("it writes {target}, a link that leads out of the workspace"))
        })
    }

    /// The line is empty or cannot be parsed: only rules about the tool itself apply.
    fn nothing_found(&self) -> Ruling {
        let rule = self.policy.rules().iter().find(|rule| matching::whole(rule, self.call, self.mode));
        match rule {
            Some(rule) if rule.decision == PolicyDecision::Allow => self.granted(rule),
            Some(rule) => Ruling::by(rule),
            None if self.mode == PolicyMode::Plan => self.unruled(&Segment::default()),
            None => {
                Ruling::new(PolicyDecision::Allow, "nothing would start").at(Access::new(AccessLevel::Look))
            }
        }
    }

    /// Runs in yolo, and confined in `confined`, unless a rule is about certain commands, which the line may contain.
    fn unsure(&self) -> Ruling {
        let ruled = |careful: &[PolicyDecision]| {
            self.policy
                .rules()
                .iter()
                .any(|rule| careful.contains(&rule.decision) && rule.is_about_commands())
        };
        match self.mode {
            PolicyMode::Yolo if !ruled(&[PolicyDecision::Deny]) => self.yolo(),
            PolicyMode::Confined if !ruled(&[PolicyDecision::Deny, PolicyDecision::Ask]) => self.confined(),
            _ => Ruling::new(PolicyDecision::Ask, "it cannot be told for sure what the command would start"),
        }
    }

    /// Needs approval when the access cannot be enforced; the question names what is missing.
    fn enforceable(&self, ruling: Ruling) -> Ruling {
        let confinement = self.call.confinement;
        let level = ruling.access.as_ref().map_or(AccessLevel::Look, |access| access.level);
        let ruling = match ruling.decision {
            PolicyDecision::Allow if !confinement.holds(level) => {
                let missing = confinement.gap(level).unwrap_or_else(|| "this system confines nothing".into());
                Ruling::new(PolicyDecision::Ask, format!("it cannot be confined here: {missing}"))
            }
            _ => ruling,
        };
        match ruling.decision {
            PolicyDecision::Allow => ruling,
            PolicyDecision::Ask | PolicyDecision::Deny => {
                let gap = confinement.gap(self.wanted.level);
                ruling.at(Access { gap, ..self.wanted.clone() })
            }
        }
    }
}
