//! The last events of a task in memory, so that readers who keep up never touch the store.

use std::collections::VecDeque;
use std::sync::Arc;

use attache_domain::{
    CallRecord, Cast, Change, Content, Event, Exchange, Fact, Happening, Part, PartContent, Proposal, Said,
    Seq, Shown, Stage, TaskView, Update, Utterance, closes, happening_of, is_shown, update_of,
};
use serde_json::{Map, Value};

use crate::spellings::Spellings;

/// An event and how it is shown, spelled once for each dialect however many readers there are.
pub struct Entry {
    pub event: Arc<Event>,
    /// What the event is shown by; its face itself is made only when somebody spells it.
    stage: Stage,
    /// The calls after it, for those who are shown calls.
    cast: Arc<Cast>,
    spelled: Spellings,
}

impl Entry {
    /// `stage` is of before the event, `cast` of after it.
    pub(crate) fn new(event: Arc<Event>, stage: Stage, cast: Arc<Cast>) -> Self {
        Self { event, stage, cast, spelled: Spellings::default() }
    }

    /// The face of the event for those who are shown more than plain A2A has; `None` for what stays inside.
    pub fn happening(&self) -> Option<Happening<'_>> {
        happening_of(&self.stage, &self.cast, &self.event)
    }

    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    pub fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// The visible face of the event; `None` for what stays inside.
    pub fn update(&self) -> Option<Update<'_>> {
        update_of(&self.stage, &self.event)
    }

    /// Clients see something of this event.
    pub fn is_shown(&self) -> bool {
        is_shown(&self.stage, &self.event.fact)
    }

    /// Writes the event's face in dialect number `dialect`, as `spell` does. The spelling is kept for `others` who will
    /// want the same; a reader alone need not pay for that.
    pub fn write_spelled(
        &self,
        dialect: usize,
        others: bool,
        out: &mut Vec<u8>,
        spell: impl FnOnce(&Self, &mut Vec<u8>),
    ) {
        if others {
            self.spelled.write(dialect, out, |out| spell(self, out));
        } else {
            spell(self, out);
        }
    }

    /// What the event after this one is shown by.
    pub(crate) fn stage_after(&self) -> Stage {
        self.stage.after(&self.event.fact)
    }

    /// A stream that has shown this event is done.
    pub fn closes(&self) -> bool {
        closes(&self.event.fact)
    }
}

/// Bounded by count and by weight; the oldest entries go first.
const MOST_ENTRIES: usize = 1024;
const MOST_BYTES: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct Tail {
    entries: VecDeque<(usize, Arc<Entry>)>,
    bytes: usize,
}

impl Tail {
    pub(crate) fn push(&mut self, entry: Arc<Entry>) {
        let weight = weight(&entry.event.fact) + weight_of_live(&entry);
        self.bytes += weight;
        self.entries.push_back((weight, entry));
        while self.entries.len() > MOST_ENTRIES || (self.bytes > MOST_BYTES && self.entries.len() > 1) {
            let Some((weight, _)) = self.entries.pop_front() else { break };
            self.bytes -= weight;
        }
    }

    /// Adds the entries after `after` to `found`, at most `limit`; false when some of them are not here any more.
    pub(crate) fn after(&self, after: Seq, limit: usize, found: &mut Vec<Arc<Entry>>) -> bool {
        let Some((_, first)) = self.entries.front() else { return false };
        let first = first.event.seq.0;
        if after.0 + 1 < first {
            return false;
        }
        let skip = usize::try_from(after.0 + 1 - first).unwrap_or(usize::MAX);
        if skip < self.entries.len() {
            found.extend(self.entries.range(skip..).take(limit).map(|(_, entry)| entry.clone()));
        }
        true
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What a call has shown is kept anew with each event that adds to it.
fn weight_of_live(entry: &Entry) -> usize {
    let Fact::CallShowed { call, .. } = &entry.event.fact else { return 0 };
    let weigh = |record: &CallRecord| record.live.len() + weight_of_input(&record.call.input);
    entry.cast.find(call).map_or(0, |record| weigh(record))
}

/// About how much memory a fact takes.
fn weight(fact: &Fact) -> usize {
    const OVERHEAD: usize = 200;
    OVERHEAD
        + match fact {
            Fact::TextSaid { text, .. } | Fact::ThoughtShared { text } => text.len() * 2,
            Fact::ArtifactAdded { artifact, .. } => weight_of_parts(&artifact.parts),
            Fact::TaskOpened(opened) => weight_of_parts(&opened.message.parts),
            Fact::MessageReceived { message, .. }
            | Fact::PromptQueued { message, .. }
            | Fact::CredentialAsked { message }
            | Fact::PersonAsked { message }
            | Fact::Noticed { message }
            | Fact::Replied { message } => weight_of_parts(&message.parts),
            Fact::CallShowed { text, .. } | Fact::TextReplaced { text } => text.len() * 2,
            Fact::ContextGiven(given) => weight_of_contents(&given.contents),
            Fact::ContextReduced(reduction) => reduction.summary.as_ref().map_or(0, String::len),
            Fact::ModelAnswered(answer) => answer.said.iter().map(weight_of_said).sum(),
            Fact::CallProposed(proposed) => weight_of_proposal(&proposed.proposal),
            Fact::CallAnswered { answer, .. } => answer.new_content.as_ref().map_or(0, String::len),
            Fact::CallFinished(finished) => {
                weight_of_contents(&finished.output) + finished.diff.as_ref().map_or(0, String::len)
            }
            Fact::TurnEnded { message, .. } | Fact::PromptTaken { said: message } => {
                message.as_ref().map_or(0, |message| weight_of_parts(&message.parts))
            }
            Fact::TurnStarted { .. }
            | Fact::CallStarted { .. }
            | Fact::CallLost { .. }
            | Fact::CallDeferred { .. }
            | Fact::TextWithdrawn
            | Fact::TextEnded
            | Fact::WorkResumed
            | Fact::ModelChosen { .. }
            | Fact::CancelRequested
            | Fact::TaskCanceled => 0,
        }
}

fn weight_of_said(said: &Said) -> usize {
    const OVERHEAD: usize = 256;
    OVERHEAD
        + match &said.what {
            Utterance::Text(text) | Utterance::Thought(text) => text.len(),
            Utterance::Call(call) => weight_of_input(&call.input),
            Utterance::Hidden => 0,
        }
}

fn weight_of_proposal(proposal: &Proposal) -> usize {
    let shown = match &proposal.shown {
        Shown::Edit { diff, original, new_content, .. } => {
            diff.len() + original.as_ref().map_or(0, String::len) + new_content.len()
        }
        Shown::Exec { command, .. } => command.len(),
        Shown::Mcp { .. } | Shown::Info { .. } | Shown::Questions { .. } | Shown::Plain { .. } => 1024,
    };
    weight_of_input(&proposal.input) + shown
}

/// The texts in it, which are all that can be long.
fn weight_of_input(input: &Map<String, Value>) -> usize {
    input.values().map(|value| value.as_str().map_or(64, str::len)).sum()
}

fn weight_of_contents(contents: &[Content]) -> usize {
    let weigh = |content: &Content| match content {
        Content::Text(text) => text.len(),
        Content::Bytes { bytes, .. } => bytes.0.len(),
        Content::Link { url, .. } => url.len(),
    };
    contents.iter().map(weigh).sum()
}

/// About how much memory a task takes without its tail.
pub(crate) fn weight_of_view(view: &TaskView) -> usize {
    const OVERHEAD: usize = 1024;
    let history = view.history.iter().map(|message| weight_of_parts(&message.parts));
    let artifacts = view.artifacts.iter().map(|artifact| weight_of_parts(&artifact.parts));
    let exchanges = view.exchanges.iter().map(|placed| match placed.exchange.as_ref() {
        Exchange::User(contents) => weight_of_contents(contents),
        Exchange::Model(said) => said.iter().map(weight_of_said).sum(),
        Exchange::Results(results) => results.iter().map(|result| weight_of_contents(&result.output)).sum(),
    });
    let weigh = |change: &Change| change.content.len() + change.original.as_ref().map_or(0, String::len);
    let changes = view.changes.iter().map(weigh);
    let granted = view.granted.iter().map(|grant| weight_of_proposal(&grant.proposal));
    OVERHEAD + history.chain(artifacts).chain(exchanges).chain(changes).chain(granted).sum::<usize>()
}

fn weight_of_parts(parts: &[Part]) -> usize {
    const PER_PART: usize = 128;
    let weigh = |part: &Part| match &part.content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Raw(base64) => base64.0.len(),
        PartContent::Data(_) => 1024,
    };
    parts.len() * PER_PART + parts.iter().map(weigh).sum::<usize>() * 2
}
