//! One step.

use regex::Regex;

use super::super::error::Problem;
use super::super::keys::{CREDENTIAL, Fields, step_kind};
use super::super::limits::{MAX_CHUNKS, MAX_REPEAT};
use super::super::quantity::{A_DURATION, Count, Pause, a_count, count_of, parse_duration};
use super::super::rule::{Ending, Pace, PlannedStep, ScriptStep, Split, StepCondition, TextStep};
use super::super::template::{DataTemplate, PlaceholderScope, Template};
use super::super::yaml::{Kind, Node};

/// The result of parsing a step.
pub(super) enum ParsedStep {
    Play(Vec<PlannedStep>),
    Status(Template),
    /// The turn ends here.
    Stop {
        key: &'static str,
        ending: Ending,
    },
}

/// Knows the groups that placeholders can name, and whether one was used.
pub(super) struct StepParser<'a> {
    pub(super) scope: PlaceholderScope<'a>,
    pub(super) uses_groups: bool,
}

impl<'a> StepParser<'a> {
    pub(super) fn new(pattern: Option<&'a Regex>) -> Self {
        Self { scope: PlaceholderScope { pattern, calls: 0 }, uses_groups: false }
    }

    pub(super) fn step(&mut self, node: Node) -> Result<ParsedStep, Problem> {
        let kind = step_kind(&node)?;
        let key = kind.known[0];
        let mut fields = Fields::of(node, kind)?;
        let main = fields.require(key)?;
        let when = if fields.has("when") { fields.take("when") } else { None };
        let when = when.map(|node| self.when(node)).transpose()?;
        let parsed = self.step_of(key, main, fields, when)?;
        match &parsed {
            ParsedStep::Play(steps) => self.scope.calls += steps.iter().map(calls).sum::<usize>(),
            ParsedStep::Status(_) => {}
            // The next turn has results of its own.
            ParsedStep::Stop { .. } => self.scope.calls = 0,
        }
        Ok(parsed)
    }

    fn step_of(
        &mut self,
        key: &'static str,
        main: Node,
        fields: Fields,
        when: Option<StepCondition>,
    ) -> Result<ParsedStep, Problem> {
        let stop = |ending| Ok(ParsedStep::Stop { key, ending });
        let step = match key {
            "say" => self.say(main, fields)?,
            "think" => ScriptStep::Think(self.text(main)?),
            "wait" => ScriptStep::Wait(self.pause(main)?),
            "artifact" => ScriptStep::Artifact(Box::new(self.artifact(main)?)),
            "call" => ScriptStep::Call(vec![self.call(main)?]),
            "calls" => ScriptStep::Call(self.calls(main)?),
            "status" => return Ok(ParsedStep::Status(self.text(main)?)),
            "ask" => return stop(Ending::InputRequired { question: Some(self.text(main)?) }),
            "refuse" | "fail" => {
                let reason = self.text(main)?;
                let ending =
                    if key == "fail" { Ending::Failed { reason } } else { Ending::Rejected { reason } };
                match when {
                    None => return stop(ending),
                    Some(_) => ScriptStep::Stop(ending),
                }
            }
            "answer" => return stop(Ending::Replied { parts: self.answer(main)? }),
            "end" => return stop(end_of(main)?),
            _ => return self.credential(main),
        };
        Ok(ParsedStep::Play(vec![PlannedStep { when, step }]))
    }

    fn say(&mut self, main: Node, mut fields: Fields) -> Result<ScriptStep, Problem> {
        let line = main.line;
        let texts = match main.kind {
            Kind::List(nodes) => {
                if nodes.is_empty() {
                    return Err(Problem::new(line, "`say` has an empty list: give it at least one text"));
                }
                if fields.has("chunks") || fields.has("chunk_size") {
                    let what = "the texts of the list are the chunks already: drop `chunks` and `chunk_size`";
                    return Err(Problem::new(line, what));
                }
                nodes.into_iter().map(|node| self.text(node)).collect::<Result<_, _>>()?
            }
            Kind::Map(_) | Kind::Null => return Err(main.unexpected("a text, or a list of texts")),
            _ => vec![self.text(main)?],
        };
        let split = self.split(&mut fields)?;
        let pace = self.pace(&mut fields)?;
        Ok(ScriptStep::Say(TextStep { texts, split, pace }))
    }

    fn credential(&mut self, main: Node) -> Result<ParsedStep, Problem> {
        if !matches!(main.kind, Kind::Map(_)) {
            let ending = Ending::AuthRequired { explanation: self.text(main)? };
            return Ok(ParsedStep::Stop { key: "require_auth", ending });
        }
        let mut fields = Fields::of(main, &CREDENTIAL)?;
        let explanation = fields.require("explanation")?;
        let explanation = self.text(explanation)?;
        match fields.take("resume_after") {
            None => {
                Ok(ParsedStep::Stop { key: "require_auth", ending: Ending::AuthRequired { explanation } })
            }
            Some(node) => {
                let pause = self.pause(node)?;
                let steps =
                    [ScriptStep::NeedCredential(explanation), ScriptStep::Wait(pause), ScriptStep::Resume];
                Ok(ParsedStep::Play(steps.into_iter().map(PlannedStep::always).collect()))
            }
        }
    }

    pub(super) fn split(&mut self, fields: &mut Fields) -> Result<Split, Problem> {
        match (fields.take("chunks"), fields.take("chunk_size")) {
            (None, None) => Ok(Split::Whole),
            (Some(chunks), None) => Ok(Split::Chunks(self.count(chunks, (1, MAX_CHUNKS))?)),
            (None, Some(size)) => Ok(Split::Size(self.count(size, (1, u32::MAX))?)),
            (Some(_), Some(size)) => Err(Problem::new(
                size.line,
                "`chunks` and `chunk_size` contradict each other: drop one of them",
            )),
        }
    }

    pub(super) fn pace(&mut self, fields: &mut Fields) -> Result<Pace, Problem> {
        let repeat = fields.take("repeat").map(|node| self.count(node, (0, MAX_REPEAT))).transpose()?;
        let every = fields.take("every").map(|node| self.pause(node)).transpose()?;
        Ok(Pace { repeat: repeat.unwrap_or(Count::Fixed(1)), every })
    }

    pub(super) fn text(&mut self, node: Node) -> Result<Template, Problem> {
        let line = node.line;
        let template = Template::parse(&node.into_text()?, self.scope);
        let template = template.map_err(|what| Problem::new(line, what))?;
        self.uses_groups |= template.uses_groups();
        Ok(template)
    }

    pub(super) fn data(&mut self, node: Node) -> Result<DataTemplate, Problem> {
        let line = node.line;
        let data = DataTemplate::parse(node.into_json(), self.scope);
        let data = data.map_err(|what| Problem::new(line, what))?;
        self.uses_groups |= data.uses_groups();
        Ok(data)
    }

    fn count(&mut self, node: Node, allowed: (u32, u32)) -> Result<Count, Problem> {
        let count = match (&node.kind, count_of(&node, allowed)) {
            (_, Some(count)) => Count::Fixed(count),
            (Kind::Text(text), None) if text.contains("{{") => Count::Written(self.text(node)?),
            _ => return Err(node.unexpected(&a_count(allowed))),
        };
        Ok(count)
    }

    fn pause(&mut self, node: Node) -> Result<Pause, Problem> {
        let fixed = match &node.kind {
            Kind::Text(text) => parse_duration(text),
            _ => None,
        };
        match (&node.kind, fixed) {
            (_, Some(duration)) => Ok(Pause::Fixed(duration)),
            (Kind::Text(text), None) if text.contains("{{") => Ok(Pause::Written(self.text(node)?)),
            _ => Err(node.unexpected(A_DURATION)),
        }
    }
}

fn calls(planned: &PlannedStep) -> usize {
    match &planned.step {
        ScriptStep::Call(calls) => calls.len(),
        _ => 0,
    }
}

fn end_of(node: Node) -> Result<Ending, Problem> {
    match &node.kind {
        Kind::Text(text) if text == "completed" => Ok(Ending::Completed { status: None }),
        Kind::Text(text) if text == "input-required" => Ok(Ending::InputRequired { question: None }),
        _ => Err(node.unexpected("`completed` or `input-required`")),
    }
}
