//! A deterministic model without a key or a network.
//!
//! It understands the plain-English requests that its answer to "help" lists, and says that it is no language model
//! when a request needs one. It answers some requests by itself (`request`, `reply`); others become a `plan` of tool
//! calls and a summary of their results. Its output depends on the request alone, so a turn continues after a restart.

mod action;
mod arithmetic;
mod fraction;
mod phrase;
mod plan;
mod reply;
mod request;
mod result_summary;
mod separator;
mod turn;
mod wording;

use attache_domain::{Message, ReplyShape};
use futures_util::{StreamExt, stream};

use crate::task_messages::callers_messages;
use crate::{BuiltInModel, ModelChunk, ModelRequest, ModelStream, ModelStreamItem};
use plan::{Plan, PlanError};
use reply::Reply;
use request::{Request, without_courtesies};

/// ```
/// use attache_domain::{Message, Part, ReplyShape, Role};
/// use attache_model::BuiltInModel;
/// use attache_model::offline::OfflineModel;
///
/// # let message = Message { id: "m1".into(), role: Role::User, parts: vec![Part::text("what is 6 * 7?")],
/// #     context: None, task: None, reference_tasks: vec![], extensions: vec![], metadata: None,
/// #     requested: None, command: None, sender: None };
/// assert_eq!(OfflineModel.reply_shape(&message), ReplyShape::Task);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl BuiltInModel for OfflineModel {
    fn name(&self) -> &str {
        "offline"
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let Reply { pieces, finish } = reply_to(&request);
        // The answer is deterministic, so recorded chunks are skipped.
        let rest = pieces.skip(request.emitted as usize);
        let chunks = rest.map(|text| Ok(ModelStreamItem::Chunk(ModelChunk::Text(text))));
        stream::iter(chunks.chain([Ok(ModelStreamItem::Finish(finish))])).boxed()
    }

    fn reply_shape(&self, _message: &Message) -> ReplyShape {
        ReplyShape::Task
    }
}

fn reply_to(request: &ModelRequest) -> Reply {
    let messages = callers_messages(&request.history);
    let Some((latest, earlier)) = messages.split_last() else { return Reply::to(&Request::Unknown) };
    let text = latest.text();
    // The message after a question is the answer to it.
    let question_open = earlier.iter().fold(false, |question_open, message| {
        !question_open && matches!(Request::understand(&message.text()), Request::AskMe)
    });
    let understood = if question_open { Request::Answer(text.trim()) } else { Request::understand(&text) };
    // A request may follow a greeting.
    let reply = match understood {
        Request::Unknown | Request::Greet => match Plan::of(&text) {
            Ok(plan) => turn::play(&plan, request.turn, &request.results),
            Err(_) if understood == Request::Greet => Reply::to(&understood),
            Err(why) => unknown(&text, &why),
        },
        understood => Reply::to(&understood),
    };
    reply.acknowledging(latest)
}

fn unknown(text: &str, why: &PlanError) -> Reply {
    match why {
        PlanError::NothingToDo => Reply::unknown(None, phrase::example(without_courtesies(text.trim()))),
        PlanError::PartNotUnderstood(part) => Reply::unknown(Some(part), phrase::example(part)),
    }
}
