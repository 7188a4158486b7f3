//! Compiles YAML to a script.

mod artifact;
mod call;
mod step;

use attache_domain::ReplyShape;
use regex::Regex;

use super::error::{Problem, ScriptError};
use super::keys::{Fields, RULE, SCRIPT};
use super::limits::{MAX_RULES, MAX_SCRIPT_BYTES, MAX_STEPS};
use super::quantity::{a_count, count_of};
use super::rule::{Ending, Pace, PlannedStep, Rule, Script, ScriptStep, Segment, Split, TextStep};
use super::template::{PlaceholderScope, Template};
use super::yaml::{Kind, Node};
use step::{ParsedStep, StepParser};

pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    if text.len() > MAX_SCRIPT_BYTES {
        return Err(ScriptError::TooLarge { size: text.len() });
    }
    Ok(script_of(Node::read(text)?)?)
}

fn script_of(node: Node) -> Result<Script, Problem> {
    let mut fields = Fields::of(node, &SCRIPT)?;
    let list = fields.require("rules")?;
    let line = list.line;
    let nodes = list.into_list("a list of rules")?;
    if nodes.is_empty() {
        return Err(Problem::new(line, "`rules` is empty: a script needs at least one rule"));
    }
    if nodes.len() > MAX_RULES {
        return Err(Problem::new(
            line,
            format!("there are {} rules, and at most {MAX_RULES} are allowed", nodes.len()),
        ));
    }
    let mut rules: Vec<Rule> = Vec::with_capacity(nodes.len() + 1);
    let mut names = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.into_iter().enumerate() {
        let (line, title) = (node.line, title(index, &node));
        if let Some(place) = rules.iter().position(Rule::matches_everything) {
            let what = format!(
                "it is never reached, because {} matches everything: put that one last",
                names[place]
            );
            return Err(Problem::new(line, what).within(title));
        }
        rules.push(rule_of(node).map_err(|problem| problem.within(title.clone()))?);
        names.push(title);
    }
    let otherwise = match fields.take("otherwise") {
        Some(node) => otherwise_of(node).map_err(|problem| problem.within("otherwise"))?,
        None => no_rule_matched(&names),
    };
    rules.push(otherwise);
    Ok(Script { rules })
}

/// The name of a rule in errors and answers: its number and its name.
fn title(index: usize, node: &Node) -> String {
    let number = index + 1;
    let Kind::Map(entries) = &node.kind else { return format!("rule {number}") };
    match entries.iter().find(|(key, _)| key == "name").map(|(_, node)| &node.kind) {
        Some(Kind::Text(name)) => format!("rule {number} ({})", name.chars().take(60).collect::<String>()),
        _ => format!("rule {number}"),
    }
}

fn rule_of(node: Node) -> Result<Rule, Problem> {
    let mut fields = Fields::of(node, &RULE)?;
    if let Some(name) = fields.take("name") {
        name.into_text()?;
    }
    let text = fields.take("text").map(|node| pattern_of(node, "text")).transpose()?;
    let message_id = fields.take("message_id").map(Node::into_text).transpose()?;
    let turn_line = fields.line;
    let turn = fields.take("turn").map(turn_of).transpose()?.flatten();
    let steps = fields.require("steps")?.into_list("a list of steps")?;
    let mut rule = compile(steps, text.as_ref())?;
    if rule.reply == ReplyShape::Message && turn.is_some_and(|turn| turn != 1) {
        let what =
            "a rule with `answer` can only begin in turn 1: later there is a task already. Use `say` instead";
        return Err(Problem::new(turn_line, what));
    }
    // A rule that answers without a task matches no message to a task.
    rule.turn = if rule.reply == ReplyShape::Message { Some(1) } else { turn };
    Ok(Rule { text, message_id, ..rule })
}

fn pattern_of(node: Node, key: &str) -> Result<Regex, Problem> {
    let line = node.line;
    let pattern = node.into_text()?;
    Regex::new(&pattern).map_err(|error| {
        let message = error.to_string();
        let reason = message.lines().last().unwrap_or_default().trim();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        Problem::new(line, format!("`{key}` is not a regular expression: {reason}"))
    })
}

fn turn_of(node: Node) -> Result<Option<u32>, Problem> {
    if matches!(&node.kind, Kind::Text(text) if text == "any") {
        return Ok(None);
    }
    let allowed = (1, u32::MAX);
    count_of(&node, allowed)
        .map(Some)
        .ok_or_else(|| node.unexpected(&format!("`any` or {}", a_count(allowed))))
}

/// A text to say, or steps like those of a rule.
fn otherwise_of(node: Node) -> Result<Rule, Problem> {
    let line = node.line;
    match node.kind {
        Kind::List(steps) => compile(steps, None),
        Kind::Text(text) => {
            let text = Template::parse(&text, PlaceholderScope::default())
                .map_err(|what| Problem::new(line, what))?;
            Ok(says(text))
        }
        _ => Err(node.unexpected("a text or a list of steps")),
    }
}

fn no_rule_matched(names: &[String]) -> Rule {
    // A long list would hide the rest of the message.
    let shown = names.len().min(20);
    let more =
        if names.len() > shown { format!(", and {} more", names.len() - shown) } else { String::new() };
    says(Template::Literal(format!(
        "No rule of the script matches this message. The rules are: {}{more}. \
         A rule without `text` and `message_id` would match everything.",
        names[..shown].join(", ")
    )))
}

fn says(text: Template) -> Rule {
    let pace = Pace { repeat: super::quantity::Count::Fixed(1), every: None };
    let step = ScriptStep::Say(TextStep { texts: vec![text], split: Split::Whole, pace });
    let segment =
        Segment { steps: vec![PlannedStep::always(step)], ending: Ending::Completed { status: None } };
    Rule {
        text: None,
        message_id: None,
        turn: None,
        segments: vec![segment],
        reply: ReplyShape::Task,
        uses_groups: false,
    }
}

/// Splits the steps into segments, one for each turn, and checks their order.
fn compile(nodes: Vec<Node>, pattern: Option<&Regex>) -> Result<Rule, Problem> {
    if let Some(node) = nodes.get(MAX_STEPS) {
        return Err(Problem::new(node.line, format!("a rule has at most {MAX_STEPS} steps")));
    }
    let mut parser = StepParser::new(pattern);
    let mut cutting = SegmentBuilder::default();
    for (index, node) in nodes.into_iter().enumerate() {
        let line = node.line;
        let added = parser.step(node).and_then(|parsed| cutting.add(line, parsed));
        added.map_err(|problem| problem.within(format!("step {}", index + 1)))?;
    }
    let reply = cutting.reply();
    Ok(Rule {
        text: None,
        message_id: None,
        turn: None,
        segments: cutting.finish(),
        reply,
        uses_groups: parser.uses_groups,
    })
}

#[derive(Default)]
struct SegmentBuilder {
    segments: Vec<Segment>,
    steps: Vec<PlannedStep>,
    status: Option<Template>,
    /// The key of a step that ends the task.
    ended: Option<&'static str>,
}

impl SegmentBuilder {
    fn add(&mut self, line: u64, parsed: ParsedStep) -> Result<(), Problem> {
        if let Some(key) = self.ended {
            return Err(Problem::new(
                line,
                format!("it is never played, because the task ends with `{key}` before it"),
            ));
        }
        match parsed {
            ParsedStep::Play(steps) => self.steps.extend(steps),
            ParsedStep::Status(_) if self.status.is_some() => {
                return Err(Problem::new(line, "`status` is set already: a turn ends with one status"));
            }
            ParsedStep::Status(text) => self.status = Some(text),
            ParsedStep::Stop { key, ending } => self.stop(line, key, ending)?,
        }
        Ok(())
    }

    fn stop(&mut self, line: u64, key: &'static str, ending: Ending) -> Result<(), Problem> {
        let ending = match (ending, self.status.take()) {
            (Ending::Completed { .. }, status) => Ending::Completed { status },
            (Ending::InputRequired { question: None }, question) => Ending::InputRequired { question },
            (ending, None) => ending,
            (_, Some(_)) => {
                let what =
                    format!("`status` and `{key}` both set the final status message: drop one of them");
                return Err(Problem::new(line, what));
            }
        };
        if matches!(ending, Ending::Replied { .. }) {
            let alone = self.steps.iter().all(|planned| matches!(planned.step, ScriptStep::Wait(_)));
            if !self.segments.is_empty() || !alone {
                let what = "`answer` replies without a task, so only `wait` can stand before it";
                return Err(Problem::new(line, what));
            }
        }
        if !matches!(ending, Ending::InputRequired { .. } | Ending::AuthRequired { .. }) {
            self.ended = Some(key);
        }
        self.segments.push(Segment { steps: std::mem::take(&mut self.steps), ending });
        Ok(())
    }

    fn reply(&self) -> ReplyShape {
        match self.segments.last().map(|segment| &segment.ending) {
            Some(Ending::Replied { .. }) => ReplyShape::Message,
            _ => ReplyShape::Task,
        }
    }

    /// Steps after the last stop are a turn of their own. So is a rule without steps.
    fn finish(mut self) -> Vec<Segment> {
        if self.segments.is_empty() || !self.steps.is_empty() || self.status.is_some() {
            let ending = Ending::Completed { status: self.status };
            self.segments.push(Segment { steps: self.steps, ending });
        }
        self.segments
    }
}
