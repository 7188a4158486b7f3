//! A model that needs no key, no network and no luck: the same request always gets the same answer.
//!
//! It understands a handful of plain-English requests, which its answer to "help" lists, and says honestly
//! that it is no language model when it is asked for more. It answers in text; it calls no tools.

mod arithmetic;
mod fraction;
mod reply;
mod request;

use attache_domain::{Message, ReplyShape};
use futures_util::{StreamExt, stream};

use crate::conversation::callers_messages;
use crate::{ModelChunk, ModelProvider, ModelRequest, ModelStream, StreamItem};
use reply::Reply;
use request::Request;

/// ```
/// use attache_domain::{Message, Part, ReplyShape, Role};
/// use attache_model::ModelProvider;
/// use attache_model::offline::OfflineModel;
///
/// # let message = Message { id: "m1".into(), role: Role::User, parts: vec![Part::text("what is 6 * 7?")],
/// #     context: None, task: None, reference_tasks: vec![], extensions: vec![], metadata: None };
/// assert_eq!(OfflineModel.reply_shape(&message), ReplyShape::Task);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl ModelProvider for OfflineModel {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        let Reply { pieces, finish } = reply_to(&request);
        // The answer is the same every time, so what is recorded already can simply be left out.
        let rest = pieces.skip(request.emitted as usize);
        let chunks = rest.map(|text| Ok(StreamItem::Chunk(ModelChunk::Text(text))));
        stream::iter(chunks.chain([Ok(StreamItem::Finish(finish))])).boxed()
    }

    fn reply_shape(&self, _message: &Message) -> ReplyShape {
        ReplyShape::Task
    }
}

fn reply_to(request: &ModelRequest) -> Reply {
    let messages = callers_messages(&request.history);
    let Some((latest, earlier)) = messages.split_last() else { return Reply::to(&Request::Unknown) };
    let text = latest.text();
    // Whoever was asked something answers with their next message, whatever it says.
    let asked = earlier.iter().fold(false, |asked, message| {
        !asked && matches!(Request::understand(&message.text()), Request::AskMe)
    });
    let understood = if asked { Request::Answer(text.trim()) } else { Request::understand(&text) };
    Reply::to(&understood).acknowledging(latest)
}
