//! The conversation of a task as the model sees it, and its compaction.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Compaction, Exchange, Message, Role, TaskView, Usage};

/// The dropped part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CompactedHistory {
    /// Of everything dropped, earlier tasks of the conversation included.
    pub summary: Option<String>,
    /// The number of dropped messages of the history.
    messages: usize,
    /// The number of items, from the first, whose call results are cut to their ends.
    pub masked: usize,
}

/// One item of the conversation.
#[derive(Debug, Clone, Copy)]
pub enum ConversationItem<'a> {
    Message(&'a Arc<Message>),
    Exchange(&'a Arc<Exchange>),
}

impl TaskView {
    /// The messages of people and the exchanges with the model, in their order. Items are only added at the end, and
    /// removed from the start by a compaction.
    pub fn conversation(&self) -> impl Iterator<Item = ConversationItem<'_>> {
        self.conversation_since(0, self.compacted.messages)
    }

    /// The items after so many exchanges and messages, if there was no compaction since.
    pub fn conversation_since(
        &self,
        exchanges: usize,
        messages: usize,
    ) -> impl Iterator<Item = ConversationItem<'_>> {
        let mut exchanges = self.exchanges.iter().skip(exchanges).peekable();
        let mut messages = self.history.iter().enumerate().skip(messages).peekable();
        std::iter::from_fn(move || {
            loop {
                let index = messages.peek().map(|(index, _)| *index);
                if let Some(placed) =
                    exchanges.next_if(|placed| index.is_none_or(|index| placed.after <= index))
                {
                    return Some(ConversationItem::Exchange(&placed.exchange));
                }
                let (_, message) = messages.next()?;
                // The agent's answers are in the exchanges, with the data that the provider wants back.
                if is_for_model(message) {
                    return Some(ConversationItem::Message(message));
                }
            }
        })
    }

    /// The same as [`conversation`](Self::conversation), newest first.
    pub fn conversation_backwards(&self) -> impl Iterator<Item = ConversationItem<'_>> {
        let mut exchanges = self.exchanges.iter().rev().peekable();
        let mut messages = self.history.iter().enumerate().skip(self.compacted.messages).rev().peekable();
        std::iter::from_fn(move || {
            loop {
                let index = messages.peek().map(|(index, _)| *index);
                if let Some(placed) =
                    exchanges.next_if(|placed| index.is_none_or(|index| placed.after > index))
                {
                    return Some(ConversationItem::Exchange(&placed.exchange));
                }
                let (_, message) = messages.next()?;
                if is_for_model(message) {
                    return Some(ConversationItem::Message(message));
                }
            }
        })
    }

    /// Drops items from the view; they stay in the log.
    pub(super) fn compact(&mut self, reduction: &Compaction) {
        let dropped = self.conversation().take(reduction.dropped as usize);
        let (mut exchanges, mut users) = (0, 0);
        for item in dropped {
            match item {
                ConversationItem::Exchange(_) => exchanges += 1,
                ConversationItem::Message(_) => users += 1,
            }
        }
        self.exchanges.drain(..exchanges);
        while users > 0 {
            let message = self.history.get(self.compacted.messages);
            users -= usize::from(message.is_none_or(|message| is_for_model(message)));
            self.compacted.messages += 1;
        }
        self.usage.add(&reduction.cost);
        // An estimate for the next prompt.
        self.latest_usage = Usage { input: reduction.after, ..Usage::default() };
        if let Some(summary) = &reduction.summary {
            self.compacted.summary = Some(summary.clone());
        }
        self.compacted.masked = reduction.masked as usize;
    }
}

/// Messages of people, except commands, which prompt the model themselves.
fn is_for_model(message: &Message) -> bool {
    message.role == Role::User && message.command.is_none()
}
