//! What the model is told: the conversation of a task, in the model's words.

use std::sync::Arc;

use attache_domain::{Content, Exchange, Message, Part, PartContent, Role, TaskView, Utterance};

/// What people said and what the model answered, in the order it happened.
pub(crate) fn conversation(view: &TaskView) -> Vec<Arc<Exchange>> {
    let mut conversation = Vec::with_capacity(view.history.len() + view.exchanges.len());
    let mut placed = view.exchanges.iter().peekable();
    for (place, message) in view.history.iter().enumerate() {
        while let Some(exchange) = placed.next_if(|exchange| exchange.after <= place) {
            conversation.push(exchange.exchange.clone());
        }
        // What the agent said is in the exchanges, with everything the provider wants to see again.
        if message.role == Role::User {
            conversation.push(Arc::new(Exchange::User(contents(message))));
        }
    }
    conversation.extend(placed.map(|exchange| exchange.exchange.clone()));
    conversation
}

/// What the model has said in whole answers of this turn: it stays, whatever becomes of the one under way.
pub(crate) fn text_of_turn(view: &TaskView) -> String {
    let rounds = usize::try_from(view.progress.work.rounds).unwrap_or(usize::MAX);
    let answers = view.exchanges.iter().filter_map(|placed| match placed.exchange.as_ref() {
        Exchange::Model(said) => Some(said),
        Exchange::User(_) | Exchange::Results(_) => None,
    });
    let answers: Vec<_> = answers.collect();
    let first = answers.len().saturating_sub(rounds);
    let texts = answers[first..].iter().flat_map(|said| said.iter()).filter_map(|said| match &said.what {
        Utterance::Text(text) => Some(text.as_str()),
        Utterance::Thought(_) | Utterance::Call(_) | Utterance::Hidden => None,
    });
    texts.collect()
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
