//! What a model is told of a task, and what it is not told any more.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Compaction, Exchange, Message, Role, TaskView, Usage};

/// What was dropped from the conversation, and what stands for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Compacted {
    /// Of everything that came before what is told, earlier tasks of the conversation included.
    pub summary: Option<String>,
    /// Messages of the history that are not told.
    messages: usize,
    /// In how many items, from the first, only the ends of what came of calls are told.
    pub masked: usize,
}

/// One item of the conversation as the log has it.
#[derive(Debug, Clone, Copy)]
pub enum ConversationItem<'a> {
    Message(&'a Arc<Message>),
    Exchange(&'a Arc<Exchange>),
}

impl TaskView {
    /// What people said and what was exchanged with the model, in the order it happened. Nothing is ever put in between:
    /// items come at the end, and go from the start when the conversation is reduced.
    pub fn conversation(&self) -> impl Iterator<Item = ConversationItem<'_>> {
        self.conversation_since(0, self.untold.messages)
    }

    /// What has come since there were so many exchanges and messages, if the conversation was not reduced meanwhile.
    pub fn conversation_since(
        &self,
        exchanges: usize,
        messages: usize,
    ) -> impl Iterator<Item = ConversationItem<'_>> {
        let mut exchanges = self.exchanges.iter().skip(exchanges).peekable();
        let mut messages = self.history.iter().enumerate().skip(messages).peekable();
        std::iter::from_fn(move || {
            loop {
                let place = messages.peek().map(|(place, _)| *place);
                if let Some(placed) =
                    exchanges.next_if(|placed| place.is_none_or(|place| placed.after <= place))
                {
                    return Some(ConversationItem::Exchange(&placed.exchange));
                }
                let (_, message) = messages.next()?;
                // What the agent said is in the exchanges, with everything the provider wants to see again.
                if is_for_model(message) {
                    return Some(ConversationItem::Message(message));
                }
            }
        })
    }

    /// The same as [`told`](Self::told), newest first.
    pub fn conversation_backwards(&self) -> impl Iterator<Item = ConversationItem<'_>> {
        let mut exchanges = self.exchanges.iter().rev().peekable();
        let mut messages = self.history.iter().enumerate().skip(self.untold.messages).rev().peekable();
        std::iter::from_fn(move || {
            loop {
                let place = messages.peek().map(|(place, _)| *place);
                if let Some(placed) =
                    exchanges.next_if(|placed| place.is_none_or(|place| placed.after > place))
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

    /// What is dropped here is still in the log; the fold lets go of it.
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
            let message = self.history.get(self.untold.messages);
            users -= usize::from(message.is_none_or(|message| is_for_model(message)));
            self.untold.messages += 1;
        }
        self.usage.add(&reduction.cost);
        // The next prompt is as long as this, not as the latest was.
        self.latest_usage = Usage { input: reduction.after, ..Usage::default() };
        if let Some(summary) = &reduction.summary {
            self.untold.summary = Some(summary.clone());
        }
        self.untold.masked = reduction.masked as usize;
    }
}

/// Commands are for the agent; what they tell the model they say themselves.
fn is_for_model(message: &Message) -> bool {
    message.role == Role::User && message.command.is_none()
}
