//! What clients say in the extension's words, in whichever dialect, becomes the same domain words.

mod answer;
mod settings;

use attache_domain::{Message, Metadata, PartContent, Wishes};
use serde_json::Value;

use super::{Profile, speaks};
use crate::decode::reading::{Place, Reading, id_problem};

/// The member of a message's metadata by which clients of Gemini CLI's server are known.
pub(crate) const GEMINI: &str = "coderAgent";

/// Reads what `message` says in the extension's words, wishes and answers, and tells in whose words it was.
pub(crate) fn read(reading: &mut Reading, message: &mut Message, place: Place<'_>) -> Option<Profile> {
    message.wishes = wishes(reading, message.metadata.as_ref(), place);
    let mut answered = None;
    for part in &mut message.parts {
        if let PartContent::Data(data) = &mut part.content {
            answered = answer::understand(data).or(answered);
            check_ids(reading, data, place);
        }
    }
    signed(message).or(answered)
}

/// The ids in an answer about a call are told back when they are wrong, so they are bounded like all others.
fn check_ids(reading: &mut Reading, data: &Value, place: Place<'_>) {
    if let Value::Array(items) = data {
        return items.iter().for_each(|item| check_ids(reading, item, place));
    }
    let (Some(call), Some(choice)) = (data["call"].as_str(), data["choice"].as_str()) else { return };
    for (what, id) in [("the id of a call", call), ("the id of a choice", choice)] {
        if let Some(problem) = id_problem(id) {
            reading.refuse::<()>(place, format!("answers with {what} that {problem}"));
        }
    }
}

/// What `metadata` wishes for.
pub(crate) fn wishes(
    reading: &mut Reading,
    metadata: Option<&Metadata>,
    place: Place<'_>,
) -> Option<Box<Wishes>> {
    settings::read(reading, metadata, place.member("metadata")).map(Box::new)
}

/// What the settings of one of Gemini CLI's clients wish for.
pub(crate) fn gemini_wishes(reading: &mut Reading, settings: Value, place: Place<'_>) -> Option<Box<Wishes>> {
    settings::read_gemini(reading, settings, place).map(Box::new)
}

/// The profile that a message carries a sign of, besides what it answers.
fn signed(message: &Message) -> Option<Profile> {
    let metadata = message.metadata.as_ref();
    let named = message.extensions.iter().map(String::as_str);
    let keys = metadata.into_iter().flat_map(|metadata| metadata.keys().map(String::as_str));
    if metadata.is_some_and(|metadata| metadata.contains_key(GEMINI)) {
        return Some(Profile::Gemini);
    }
    named.chain(keys).any(speaks).then_some(Profile::Developer)
}
