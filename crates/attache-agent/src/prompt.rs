//! Builds prompts: the items of the conversation in order, as far as they are not compacted.

mod built_in_turns;

use std::sync::Arc;

use attache_domain::{
    CompactedHistory, Content, ConversationItem, Exchange, Message, ModelPart, ModelPartContent, Part,
    PartContent, TaskView, ToolResult,
};

use attache_model::PromptKey;

use built_in_turns::{LastTurn, PromptItem};

/// Builds the prompts of one turn. Contains the finished tasks of the same conversation.
#[derive(Default)]
pub(crate) struct PromptBuilder {
    summary: Option<String>,
    exchanges: Vec<Arc<Exchange>>,
    /// The number of model answers in them.
    pub(crate) rounds: u32,
    /// The next prompt extends this one, unless the conversation was compacted or a message arrived.
    latest: Option<LatestPrompt>,
}

/// A prompt, and its position in the running task.
struct LatestPrompt {
    key: PromptKey,
    prompt: Arc<Vec<Arc<Exchange>>>,
    exchanges: usize,
    messages: usize,
    compacted: CompactedHistory,
}

impl PromptBuilder {
    /// Oldest first. A summary replaces everything before it.
    pub(crate) fn of(views: &[TaskView]) -> Self {
        let mut builder = Self::default();
        for view in views {
            if let Some(summary) = &view.compacted.summary {
                builder.summary = Some(summary.clone());
                builder.exchanges.clear();
            }
            builder.rounds += view.rounds;
            builder.exchanges.extend(conversation(view, LastTurn::Over));
        }
        builder
    }

    /// The exchanges of the next prompt. The key stays the same while prompts of the turn only grow.
    pub(crate) fn next(
        &mut self,
        opening: &[Content],
        view: &TaskView,
    ) -> (PromptKey, Arc<Vec<Arc<Exchange>>>) {
        let grows = |latest: &LatestPrompt| {
            // The beginning of a prompt depends on the first exchange of the conversation.
            latest.prompt.len() > 1
                && latest.compacted == view.compacted
                && latest.messages == view.history.len()
                && latest.exchanges <= view.exchanges.len()
                // New items are not masked.
                && view.compacted.masked <= latest.exchanges
        };
        let latest = match self.latest.take().filter(grows) {
            Some(mut latest) => {
                let new = view.conversation_since(latest.exchanges, latest.messages).map(exchange);
                // Copies only if the previous prompt is still in use.
                Arc::make_mut(&mut latest.prompt).extend(new);
                LatestPrompt { exchanges: view.exchanges.len(), ..latest }
            }
            None => LatestPrompt {
                key: PromptKey::unique(),
                prompt: Arc::new(self.exchanges(opening, view)),
                exchanges: view.exchanges.len(),
                messages: view.history.len(),
                compacted: view.compacted.clone(),
            },
        };
        let latest = self.latest.insert(latest);
        (latest.key, Arc::clone(&latest.prompt))
    }

    /// The conversation was compacted: the next prompt gets a new key.
    pub(crate) fn restart(&mut self) {
        self.latest = None;
    }

    /// The opening prompt of the workspace, then the conversation.
    pub(crate) fn exchanges(&self, opening: &[Content], view: &TaskView) -> Vec<Arc<Exchange>> {
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
            // After a summary the model must answer before the next message of the user.
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

/// For each exchange of the running task in the prompt, whether [`TaskView::conversation`] has it. The others are
/// built-in turns.
pub(crate) fn known(view: &TaskView) -> Vec<bool> {
    let item = |item: &PromptItem<'_>| matches!(item, PromptItem::Conversation(_));
    built_in_turns::items(view, LastTurn::GoesOn).iter().map(item).collect()
}

/// The messages and answers of one task.
fn conversation(view: &TaskView, last_turn: LastTurn) -> Vec<Arc<Exchange>> {
    let mut known = 0;
    let exchange_of = |item| match item {
        PromptItem::BuiltIn(exchange) => exchange,
        PromptItem::Conversation(item) => {
            known += 1;
            match item {
                ConversationItem::Exchange(exchange) if known <= view.compacted.masked => mask(exchange),
                item => exchange(item),
            }
        }
    };
    built_in_turns::items(view, last_turn).into_iter().map(exchange_of).collect()
}

fn exchange(item: ConversationItem<'_>) -> Arc<Exchange> {
    match item {
        ConversationItem::Message(message) => Arc::new(Exchange::User(contents(message))),
        ConversationItem::Exchange(exchange) => Arc::clone(exchange),
    }
}

/// The part of an old result that is kept.
const MASKED: usize = 2000;

/// Old results keep only their beginning and end.
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
