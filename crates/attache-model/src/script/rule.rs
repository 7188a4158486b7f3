//! A compiled script: rules, cut into one segment per turn, with the steps of each.

use attache_domain::ReplyShape;
use regex::Regex;

use super::quantity::{Count, Pause};
use super::template::{DataTemplate, Template};

#[derive(Debug)]
pub(super) struct Script {
    /// In the order in which they are tried. The last one matches everything.
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: Option<Regex>,
    pub(super) message_id: Option<String>,
    /// The rule starts only in this turn.
    pub(super) turn: Option<u32>,
    /// The segments of the rule's first turn, its second, and so on. Never empty.
    pub(super) segments: Vec<Segment>,
    pub(super) reply: ReplyShape,
    /// Whether a template uses the groups of `text`.
    pub(super) uses_groups: bool,
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) steps: Vec<PlannedStep>,
    pub(super) ending: Ending,
}

#[derive(Debug)]
pub(super) struct PlannedStep {
    /// None: the step is always played.
    pub(super) when: Option<StepCondition>,
    pub(super) step: ScriptStep,
}

/// The results of earlier calls that a step requires.
#[derive(Debug)]
pub(super) struct StepCondition {
    pub(super) failed: Option<bool>,
    pub(super) result: Option<Regex>,
}

#[derive(Debug)]
pub(super) enum ScriptStep {
    Say(TextStep),
    Think(Template),
    Wait(Pause),
    Artifact(Box<ArtifactStep>),
    NeedCredential(Template),
    Resume,
    /// Tool calls that run together. The turn continues with their results.
    Call(Vec<CallTemplate>),
    /// Ends the turn early.
    Stop(Ending),
}

#[derive(Debug)]
pub(super) struct CallTemplate {
    pub(super) tool: Template,
    pub(super) input: Vec<(String, DataTemplate)>,
}

#[derive(Debug)]
pub(super) enum Ending {
    Completed { status: Option<Template> },
    InputRequired { question: Option<Template> },
    AuthRequired { explanation: Template },
    Failed { reason: Template },
    Rejected { reason: Template },
    Replied { parts: Vec<PartTemplate> },
}

#[derive(Debug)]
pub(super) struct TextStep {
    pub(super) texts: Vec<Template>,
    pub(super) split: Split,
    pub(super) pace: Pace,
}

/// How a text or a file is split into chunks.
#[derive(Debug)]
pub(super) enum Split {
    Whole,
    Chunks(Count),
    /// Characters of a text, bytes of a file.
    Size(Count),
}

#[derive(Debug)]
pub(super) struct Pace {
    pub(super) repeat: Count,
    pub(super) every: Option<Pause>,
}

#[derive(Debug)]
pub(super) struct ArtifactStep {
    pub(super) id: Option<Template>,
    pub(super) name: Option<Template>,
    pub(super) description: Option<Template>,
    pub(super) metadata: Option<Vec<(String, DataTemplate)>>,
    pub(super) extensions: Vec<String>,
    pub(super) parts: Vec<PartTemplate>,
    pub(super) split: Split,
    pub(super) pace: Pace,
    /// The first piece appends to an artifact of an earlier step.
    pub(super) append: bool,
    /// The last piece marks the artifact as complete.
    pub(super) last: bool,
}

#[derive(Debug)]
pub(super) struct PartTemplate {
    pub(super) content: ContentTemplate,
    pub(super) media_type: Option<Template>,
    pub(super) filename: Option<Template>,
    pub(super) metadata: Option<Vec<(String, DataTemplate)>>,
}

#[derive(Debug)]
pub(super) enum ContentTemplate {
    Text(Template),
    Bytes(Vec<u8>),
    /// Bytes given as UTF-8 text.
    BytesText(Template),
    Url(Template),
    Data(DataTemplate),
}

impl PlannedStep {
    pub(super) fn always(step: ScriptStep) -> Self {
        Self { when: None, step }
    }
}

impl Rule {
    /// Matches every message.
    pub(super) fn matches_everything(&self) -> bool {
        self.text.is_none() && self.message_id.is_none() && self.turn.is_none()
    }
}
