//! Turns of built-in models: their text is only in the history. A language model that continues the conversation needs
//! it.

use std::sync::Arc;

use attache_domain::{
    APPROVAL, ConversationItem, Exchange, Message, Metadata, ModelPart, ModelPartContent, Role, TaskView,
};

/// One item of the conversation in a prompt.
pub(super) enum PromptItem<'a> {
    Conversation(ConversationItem<'a>),
    BuiltIn(Arc<Exchange>),
}

/// Whether all turns of a task are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastTurn {
    Over,
    GoesOn,
}

/// The text of such a turn.
pub(super) struct BuiltInTurn {
    /// The message of the history that follows it; none at the end.
    before: usize,
    exchange: Arc<Exchange>,
}

/// All items of a task for a prompt, in order.
pub(super) fn items(view: &TaskView, last_turn: LastTurn) -> Vec<PromptItem<'_>> {
    let mut built_in = built_in_turns(view, last_turn).into_iter().peekable();
    let mut items = Vec::new();
    for (item, after) in with_history_position(view) {
        let earlier = std::iter::from_fn(|| built_in.next_if(|built_in| built_in.before < after));
        items.extend(earlier.map(|built_in| PromptItem::BuiltIn(built_in.exchange)));
        items.push(PromptItem::Conversation(item));
    }
    items.extend(built_in.map(|built_in| PromptItem::BuiltIn(built_in.exchange)));
    items
}

/// The text of finished turns that is in no answer of a language model.
pub(super) fn built_in_turns(view: &TaskView, last_turn: LastTurn) -> Vec<BuiltInTurn> {
    let messages =
        with_history_position(view).filter(|(item, _)| matches!(item, ConversationItem::Message(_)));
    let built_in = messages.filter_map(|(_, start)| {
        // Every message of a person starts a turn, whether the model sees the message or not.
        let next = view.history[start..].iter().position(|message| message.role == Role::User);
        let (end, last) = match next {
            Some(next) => (start + next, None),
            None if last_turn == LastTurn::Over => {
                (view.history.len(), view.status.message.as_ref().or(view.replied.as_ref()))
            }
            None => return None,
        };
        let said = view.history[start..end].iter().chain(last);
        let text = not_in_answers(said, exchanges_of(view, start, end))?;
        let said = vec![ModelPart { what: ModelPartContent::Text(text), opaque: None }];
        Some(BuiltInTurn { before: end, exchange: Arc::new(Exchange::Model(said)) })
    });
    built_in.collect()
}

/// Each item of the conversation, with the number of history messages before the next one.
fn with_history_position(view: &TaskView) -> impl Iterator<Item = (ConversationItem<'_>, usize)> {
    let mut exchanges = view.exchanges.iter();
    let mut history = view.history.iter().enumerate();
    view.conversation().map(move |item| {
        let after = match item {
            ConversationItem::Message(message) => {
                history.find(|(_, known)| known.id == message.id).map(|(place, _)| place + 1)
            }
            ConversationItem::Exchange(_) => exchanges.next().map(|placed| placed.after),
        };
        (item, after.unwrap_or(0))
    })
}

/// The exchanges of the turn between two positions of the history.
fn exchanges_of(view: &TaskView, start: usize, end: usize) -> impl Iterator<Item = &Exchange> {
    let first = view.exchanges.partition_point(|placed| placed.after < start);
    let turn = view.exchanges[first..].iter().take_while(move |placed| placed.after <= end);
    turn.map(|placed| placed.exchange.as_ref())
}

/// The messages of a turn without those of the model.
fn not_in_answers<'a>(
    messages: impl Iterator<Item = &'a Arc<Message>>,
    exchanges: impl Iterator<Item = &'a Exchange>,
) -> Option<String> {
    // Why a turn stopped without an answer is for people, and so are approvals.
    let is_for_people = |message: &Message| {
        let holds = |metadata: &Metadata| metadata.contains_key("reason") || metadata.contains_key(APPROVAL);
        message.metadata.as_ref().is_some_and(holds)
    };
    let messages = messages.filter(|message| !is_for_people(message));
    let texts: Vec<String> = match answers(exchanges) {
        TurnAnswers::None => messages.map(|message| message.text()).collect(),
        // A built-in model that used tools: only its text before the calls is in the answers.
        TurnAnswers::Open(known) => {
            let answer = messages.filter(|message| message.id.as_str().starts_with("answer-"));
            answer.filter_map(|message| Some(message.text().strip_prefix(&known)?.to_owned())).collect()
        }
        TurnAnswers::Whole => return None,
    };
    let texts: Vec<_> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The answers of a model in a turn.
enum TurnAnswers {
    None,
    /// The whole text of the answers; results follow the last one.
    Open(String),
    Whole,
}

fn answers<'a>(exchanges: impl Iterator<Item = &'a Exchange>) -> TurnAnswers {
    let (mut known, mut open) = (None, false);
    for exchange in exchanges {
        match exchange {
            Exchange::Model(said) => {
                let texts = said.iter().filter_map(|said| match &said.what {
                    ModelPartContent::Text(text) => Some(text.as_str()),
                    ModelPartContent::Thought(_) | ModelPartContent::Call(_) | ModelPartContent::Hidden => {
                        None
                    }
                });
                known.get_or_insert_with(String::new).extend(texts);
                open = false;
            }
            Exchange::Results(_) => open = true,
            Exchange::User(_) => {}
        }
    }
    match known {
        None => TurnAnswers::None,
        Some(known) if open => TurnAnswers::Open(known),
        Some(_) => TurnAnswers::Whole,
    }
}
