//! What a message answers about calls, in words or as data, in every dialect.

use attache_domain::{DataAnswer, Message, MessageAnswers, PartAnswers, PartContent};

use crate::approval_data::read_data;
use crate::approval_words::read_text;
use crate::decode::decoder::{Decoder, FieldPath, invalid_id_reason};
use crate::devtool::Dialect;

/// The answers in `message`, for callers that decode no request.
pub fn read_answers(message: &Message) -> MessageAnswers {
    read_with_dialect(message).0
}

/// The answers in `message`, and the dialect of those that are data, unless it is plain A2A.
fn read_with_dialect(message: &Message) -> (MessageAnswers, Option<Dialect>) {
    let mut found = None;
    let parts = message.parts.iter().map(|part| match &part.content {
        PartContent::Text(text) => PartAnswers::Text(read_text(text)),
        PartContent::Data(data) => {
            let (answers, dialect) = read_data(data);
            found = dialect.or(found);
            PartAnswers::Data(answers)
        }
        PartContent::Raw(_) | PartContent::Url(_) => PartAnswers::None,
    });
    (MessageAnswers { parts: parts.collect() }, found)
}

/// The same for the message of a request, at `path`.
pub(crate) fn decode_answers(
    decoder: &mut Decoder,
    message: &Message,
    path: FieldPath<'_>,
) -> (MessageAnswers, Option<Dialect>) {
    let (answers, dialect) = read_with_dialect(message);
    for part in &answers.parts {
        if let PartAnswers::Data(items) = part {
            items.iter().for_each(|item| check_ids(decoder, item, path));
        }
    }
    (answers, dialect)
}

/// A refusal repeats the ids that are wrong, so they are bounded like all others.
fn check_ids(decoder: &mut Decoder, item: &DataAnswer, path: FieldPath<'_>) {
    let (Some(call), Some(choice)) = (&item.call, &item.choice) else { return };
    for (what, id) in [("the id of a call", &call.0), ("the id of a choice", &choice.given)] {
        if let Some(problem) = invalid_id_reason(id) {
            decoder.refuse::<()>(path, format!("answers with {what} that {problem}"));
        }
    }
}
