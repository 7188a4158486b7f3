//! What the model is told: the conversation, in the order it happened, as far as it is still told.

mod built_in_turns;

use std::sync::Arc;

use attache_domain::{
    Compacted, Content, ConversationItem, Exchange, Message, ModelPart, ModelPartContent, Part, PartContent,
    PlacedExchange, TaskView, ToolResult,
};

use built_in_turns::{Item, LastTurn, built_in_turns};

/// What was said in finished tasks of the same conversation, and all that the model was told last.
#[derive(Default)]
pub(crate) struct PromptBuilder {
    summary: Option<String>,
    exchanges: Vec<Arc<Exchange>>,
    /// Answers of the model in them.
    pub(crate) rounds: u32,
    /// Put together once: the next prompt only adds to it.
    latest: Latest,
}

/// A prompt, and what of the running task is in it.
#[derive(Default)]
struct Latest {
    told: Arc<Vec<Arc<Exchange>>>,
    exchanges: usize,
    messages: usize,
    /// The last of the exchanges: where it was, it is, unless the conversation was reduced.
    last: Option<Arc<Exchange>>,
    compacted: Compacted,
    /// How many turns were told by what stands in the history.
    spoken: usize,
    /// At the end of it: what the task does not show yet.
    ahead: usize,
}

impl PromptBuilder {
    /// Oldest first. A summary stands for everything before it.
    pub(crate) fn of(views: &[TaskView]) -> Self {
        let mut earlier = Self::default();
        for view in views {
            if let Some(summary) = &view.compacted.summary {
                earlier.summary = Some(summary.clone());
                earlier.exchanges.clear();
            }
            earlier.rounds += view.rounds;
            earlier.exchanges.extend(conversation(view, LastTurn::Over));
        }
        earlier
    }

    /// All that the model is told now: what the workplace says at the beginning, then the conversation, then what is
    /// `ahead` of the task.
    pub(crate) fn exchanges(
        &mut self,
        opening: &[Content],
        view: &TaskView,
        ahead: &[Arc<Exchange>],
    ) -> Arc<Vec<Arc<Exchange>>> {
        self.latest.forget_ahead();
        let holds = self.latest.holds(view);
        if holds {
            let Latest { told, exchanges, messages, .. } = &mut self.latest;
            let mut new = view.conversation_since(*exchanges, *messages).map(exchange).peekable();
            if new.peek().is_some() {
                // Copied only if somebody still holds the prompt before.
                Arc::make_mut(told).extend(new);
            }
        } else {
            self.latest.told = Arc::new(self.told_from_the_start(opening, view));
        }
        self.latest.remember(view, holds);
        self.latest.add_ahead(ahead);
        Arc::clone(&self.latest.told)
    }

    fn told_from_the_start(&self, opening: &[Content], view: &TaskView) -> Vec<Arc<Exchange>> {
        let own = view.compacted.summary.as_ref();
        let before = if own.is_some() { &[][..] } else { &self.exchanges[..] };
        let summary = own.or(self.summary.as_ref());
        let mut exchanges: Vec<_> =
            before.iter().cloned().chain(conversation(view, LastTurn::GoesOn)).collect();
        let mut first = opening.to_vec();
        if let Some(summary) = summary {
            first.push(Content::Text(format!(
                "Our conversation so far, in short, because it had become too long:\n\n{summary}"
            )));
        }
        if first.is_empty() {
            return exchanges;
        }
        match exchanges.first().map(|exchange| exchange.as_ref()) {
            // After a summary the model has to have said something before the person goes on.
            Some(Exchange::User(_)) if summary.is_some() => {
                let said = ModelPartContent::Text("Understood; I go on from there.".into());
                exchanges.insert(0, Arc::new(Exchange::Model(vec![ModelPart { what: said, opaque: None }])));
                exchanges.insert(0, Arc::new(Exchange::User(first)));
            }
            Some(Exchange::User(contents)) => {
                first.extend(contents.iter().cloned());
                exchanges[0] = Arc::new(Exchange::User(first));
            }
            _ => exchanges.insert(0, Arc::new(Exchange::User(first))),
        }
        exchanges
    }
}

impl Latest {
    /// Everything that was told of the task is told of it still.
    fn holds(&self, view: &TaskView) -> bool {
        let placed = self.exchanges.checked_sub(1).and_then(|last| view.exchanges.get(last));
        let same = |(last, placed): (&Arc<Exchange>, &PlacedExchange)| Arc::ptr_eq(last, &placed.exchange);
        self.last.as_ref().zip(placed).is_some_and(same)
            && self.compacted == view.compacted
            // What comes is told whole.
            && view.compacted.masked <= self.exchanges
            && (view.history.len() == self.messages || built_in_turns(view, LastTurn::GoesOn).len() == self.spoken)
    }

    fn add_ahead(&mut self, ahead: &[Arc<Exchange>]) {
        self.ahead = ahead.len();
        if !ahead.is_empty() {
            Arc::make_mut(&mut self.told).extend_from_slice(ahead);
        }
    }

    /// The task shows it by now, or somebody else came before.
    fn forget_ahead(&mut self) {
        if self.ahead > 0 {
            let told = Arc::make_mut(&mut self.told);
            told.truncate(told.len() - self.ahead);
            self.ahead = 0;
        }
    }

    /// What was `added_to` has the same turns told from the history, unless there is more of that; a reduced one may not.
    fn remember(&mut self, view: &TaskView, added_to: bool) {
        if !added_to || view.history.len() != self.messages {
            self.spoken = built_in_turns(view, LastTurn::GoesOn).len();
        }
        (self.exchanges, self.messages) = (view.exchanges.len(), view.history.len());
        self.last = view.exchanges.last().map(|placed| Arc::clone(&placed.exchange));
        if self.compacted != view.compacted {
            self.compacted.clone_from(&view.compacted);
        }
    }
}

/// For each exchange that is told of the running task, whether it is one of those that [`TaskView::told`] knows.
pub(crate) fn known(view: &TaskView) -> Vec<bool> {
    let item = |item: &Item<'_>| matches!(item, Item::Told(_));
    built_in_turns::items(view, LastTurn::GoesOn).iter().map(item).collect()
}

/// What people said and what was answered in one task.
fn conversation(view: &TaskView, last_turn: LastTurn) -> Vec<Arc<Exchange>> {
    let mut known = 0;
    let told = |item| match item {
        Item::Spoken(exchange) => exchange,
        Item::Told(told) => {
            known += 1;
            match told {
                ConversationItem::Exchange(exchange) if known <= view.compacted.masked => mask(exchange),
                told => exchange(told),
            }
        }
    };
    built_in_turns::items(view, last_turn).into_iter().map(told).collect()
}

fn exchange(told: ConversationItem<'_>) -> Arc<Exchange> {
    match told {
        ConversationItem::Message(message) => Arc::new(Exchange::User(contents(message))),
        ConversationItem::Exchange(exchange) => Arc::clone(exchange),
    }
}

/// What is kept of an old result.
const MASKED: usize = 2000;

/// Old results are told by their ends only.
fn mask(exchange: &Arc<Exchange>) -> Arc<Exchange> {
    let Exchange::Results(results) = exchange.as_ref() else { return exchange.clone() };
    let is_long = |result: &ToolResult| result.output.iter().any(|content| size(content) > MASKED);
    if !results.iter().any(is_long) {
        return exchange.clone();
    }
    let results = results
        .iter()
        .map(|result| ToolResult { output: result.output.iter().map(ends).collect(), ..result.clone() });
    Arc::new(Exchange::Results(results.collect()))
}

fn size(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Bytes { bytes, .. } => bytes.0.len(),
        Content::Link { url, .. } => url.len(),
    }
}

fn ends(content: &Content) -> Content {
    match content {
        Content::Text(text) if text.len() > MASKED => {
            let (head, tail) = (text.floor_char_boundary(MASKED / 5), text.len() - MASKED / 5 * 4);
            let tail = text.ceil_char_boundary(tail);
            Content::Text(format!(
                "{}\n[{} characters of this old result are left out; use the tool again if you need them]\n{}",
                &text[..head],
                text[head..tail].chars().count(),
                &text[tail..]
            ))
        }
        Content::Bytes { media_type, bytes, name } if bytes.0.len() > MASKED => {
            let name = name.as_deref().unwrap_or("without a name");
            Content::Text(format!("[a file of type {media_type}, {name}, is left out by now]"))
        }
        content => content.clone(),
    }
}

fn contents(message: &Message) -> Vec<Content> {
    message.parts.iter().map(content).collect()
}

fn content(part: &Part) -> Content {
    let media_type = || part.media_type.clone();
    match &part.content {
        PartContent::Text(text) => Content::Text(text.clone()),
        PartContent::Raw(bytes) => Content::Bytes {
            media_type: media_type().unwrap_or_else(|| "application/octet-stream".into()),
            bytes: bytes.clone(),
            name: part.filename.clone(),
        },
        PartContent::Url(url) => Content::Link { media_type: media_type(), url: url.clone() },
        PartContent::Data(data) => Content::Text(data.to_string()),
    }
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
