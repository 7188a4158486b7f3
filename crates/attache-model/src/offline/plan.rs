//! Splits a message into requests.

use std::sync::LazyLock;

use regex::Regex;

use super::action::{Action, IT};
use super::phrase;
use super::request::{Request, after, without_courtesies};
use super::separator::{Separator, SeparatorKind, entries, separators};

/// The steps of a plan, in order.
#[derive(Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) steps: Vec<PlanStep>,
}

#[derive(Debug, PartialEq)]
pub(super) enum PlanStep {
    /// Actions that run together.
    Act(Vec<Action>),
    /// A request that needs no tools.
    Say(String),
}

/// Why there is no plan.
#[derive(Debug, PartialEq)]
pub(super) enum PlanError {
    /// No part of the message needs a tool.
    NothingToDo,
    /// One entry of a list was not understood, so no entry is carried out.
    PartNotUnderstood(String),
}

/// Longer messages are not parsed.
const MAX_TEXT_BYTES: usize = 64 * 1024;
/// At most this many actions run together.
const MAX_TOGETHER: usize = 10;

impl Plan {
    pub(super) fn of(text: &str) -> Result<Self, PlanError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(PlanError::NothingToDo);
        }
        let text = text.trim().replace("\r\n", "\n");
        if let Some(action) = for_agent(&text) {
            return Ok(Self { steps: vec![PlanStep::Act(vec![action])] });
        }
        let entries = entries(&text);
        let mut steps = Vec::new();
        if entries.is_empty() {
            steps = steps_of(&text).ok_or(PlanError::NothingToDo)?;
        }
        for entry in entries {
            let next = steps_of(entry).ok_or_else(|| PlanError::PartNotUnderstood(entry.to_owned()))?;
            steps.extend(next);
        }
        let acts = steps.iter().any(|step| matches!(step, PlanStep::Act(_)));
        if !acts || !resolve(&mut steps) {
            return Err(PlanError::NothingToDo);
        }
        Ok(Self { steps })
    }
}

/// `@agent-name` at the beginning: the rest of the text is the prompt for this agent.
fn for_agent(text: &str) -> Option<Action> {
    let is_part = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    let text = text.strip_prefix('@')?;
    let (agent, prompt) = text.split_at(text.find(|letter| !is_part(letter))?);
    let prompt = prompt.strip_prefix([':', ',']).unwrap_or(prompt);
    let is_prompt = prompt.starts_with(char::is_whitespace) && !prompt.trim().is_empty();
    let (agent, prompt) = (agent.to_owned(), prompt.trim().to_owned());
    (!agent.is_empty() && is_prompt).then_some(Action::Ask { agent, prompt })
}

/// Replaces "it" with the file that was named before. False if no file was named.
fn resolve(steps: &mut [PlanStep]) -> bool {
    let mut known: Option<String> = None;
    let actions = steps.iter_mut().flat_map(|step| match step {
        PlanStep::Act(actions) => actions.as_mut_slice(),
        PlanStep::Say(_) => &mut [],
    });
    for file in actions.filter_map(Action::file) {
        match &known {
            None if file == IT => return false,
            Some(named) if file == IT => file.clone_from(named),
            _ => known = Some(file.clone()),
        }
    }
    true
}

/// Splits the text at separators so that every piece is a request. If several splits are possible, takes the one with
/// the shortest pieces from the left.
fn steps_of(text: &str) -> Option<Vec<PlanStep>> {
    let joints = separators(text);
    let starts: Vec<usize> = std::iter::once(0).chain(joints.iter().map(|joint| joint.place.end)).collect();
    // For each start, from the last: the step that begins there and the separator where it ends.
    let mut cuts: Vec<Option<(PlanStep, usize)>> = starts.iter().map(|_| None).collect();
    for (number, start) in starts.iter().enumerate().rev() {
        let ends = joints[number..].iter().map(Some).chain([None]);
        cuts[number] = ends.enumerate().find_map(|(further, joint)| {
            let next = number + further;
            let piece = &text[*start..joint.map_or(text.len(), |joint| joint.place.start)];
            let goes_on = joint.is_none() || cuts.get(next + 1).is_some_and(Option::is_some);
            let step = if goes_on { step_of(piece)? } else { return None };
            ends_at(&step, piece, joint).then_some((step, next))
        });
    }
    let mut steps: Vec<PlanStep> = Vec::new();
    let mut number = 0;
    let mut together = false;
    while let Some((step, joint)) = cuts.get_mut(number).and_then(Option::take) {
        match (steps.last_mut(), step) {
            (Some(PlanStep::Act(before)), PlanStep::Act(mut more))
                if together && fit_together(before, &more) =>
            {
                before.append(&mut more);
            }
            (_, step) => steps.push(step),
        }
        together = joints.get(joint).is_some_and(|joint| joint.kind == SeparatorKind::And);
        number = joint + 1;
    }
    (!steps.is_empty()).then_some(steps)
}

fn fit_together(before: &[Action], more: &[Action]) -> bool {
    before.iter().chain(more).all(Action::only_looks) && before.len() + more.len() <= MAX_TOGETHER
}

/// An "and" after an unquoted text belongs to the text.
fn ends_at(step: &PlanStep, piece: &str, joint: Option<&Separator>) -> bool {
    if joint.is_none_or(|joint| joint.kind == SeparatorKind::Then) {
        return true;
    }
    match step {
        PlanStep::Say(_) => false,
        PlanStep::Act(actions) => {
            let text = actions.last().and_then(Action::free_text);
            text.is_none_or(|text| !piece.trim_end().ends_with(text))
        }
    }
}

fn step_of(piece: &str) -> Option<PlanStep> {
    let piece = without_beginning(piece);
    if let Some(action) = phrase::understand(piece) {
        return Some(PlanStep::Act(vec![action]));
    }
    if let Some(actions) = with_more_names(piece) {
        return Some(PlanStep::Act(actions));
    }
    match Request::understand(piece) {
        Request::Unknown | Request::AskMe => None,
        // "it" would mean the result of another request.
        _ if piece.trim_end_matches(['?', '!', '.']).to_lowercase().ends_with(" it") => None,
        _ => Some(PlanStep::Say(piece.to_owned())),
    }
}

/// "read a.txt, b.txt and c.txt": all names share the verb.
fn with_more_names(piece: &str) -> Option<Vec<Action>> {
    let found = MORE_NAMES.captures(piece)?;
    let first = phrase::understand(&found["first"])?;
    let verb = match &first {
        Action::Read { lines: None, .. } => "read",
        Action::List { folder } if folder != "." => "list",
        Action::Find { folder: None, .. } => "find",
        _ => return None,
    };
    let mut actions = vec![first];
    for more in NEXT_NAME.captures_iter(&found["more"]) {
        actions.push(phrase::understand(&format!("{verb} {}", &more["name"]))?);
    }
    (actions.len() <= MAX_TOGETHER).then_some(actions)
}

const NEXT: &str = r#"(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?<name>"[^"\n]+"|'[^'\n]+'|`[^`\n]+`|[^\s"'`,]+)"#;

static NEXT_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!("(?i){NEXT}")).expect("the pattern is written down, and tests use it")
});

static MORE_NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let next = NEXT.replace("?<name>", "?:");
    Regex::new(&format!(r"(?i)^(?<first>.+?)(?<more>(?:{next})+)\s*[?!]*$"))
        .expect("the pattern is written down, and tests use it")
});

/// Polite words before a request, which are ignored.
fn without_beginning(piece: &str) -> &str {
    let words = ["first", "next", "finally", "also", "now", "then", "and", "hello", "hi", "hey", "just"];
    let mut piece = without_courtesies(piece.trim());
    while let Some(rest) = words.iter().find_map(|word| after(piece, word)) {
        if rest.is_empty() {
            break;
        }
        piece = without_courtesies(rest);
    }
    piece
}
