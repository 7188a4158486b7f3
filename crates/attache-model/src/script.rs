//! A model that plays a YAML file: rules that match what the caller writes, each with steps to play.
//!
//! The output of a turn is a pure function of the script, the conversation, the number of the turn and the results of
//! its calls. So an interrupted turn continues after the last recorded chunk or answered call. Scripts are compiled
//! when they are loaded; a step without a wait is ready at once. The format is described in `docs/script-model.md`.
//!
//! The binary reads the file.

mod chunk_sequence;
mod error;
mod keys;
mod limits;
mod matching;
mod parse;
mod placeholder_values;
mod player;
mod quantity;
mod rule;
mod run;
mod template;
mod yaml;

#[cfg(test)]
mod schema_tests;

use std::sync::Arc;

use attache_domain::{Message, ReplyShape};
use futures_util::StreamExt;

use crate::{BuiltInModel, ModelRequest, ModelStream};

pub use error::ScriptError;
use matching::MatchedRule;
use placeholder_values::MessageText;
use player::Player;
use rule::Script;
use run::ScriptRun;

/// A loaded script.
///
/// ```
/// use attache_model::script::ScriptModel;
///
/// let model = ScriptModel::from_yaml("rules:\n  - text: ^hello\n    steps:\n      - say: Good day.\n");
/// assert!(model.is_ok());
///
/// let mistake = ScriptModel::from_yaml("rules:\n  - steps:\n      - sya: Good day.\n").unwrap_err();
/// assert!(mistake.to_string().contains("did you mean `say`?"));
/// ```
#[derive(Debug, Clone)]
pub struct ScriptModel {
    script: Arc<Script>,
}

impl ScriptModel {
    /// Checks and compiles a script. Accepts any text; an error says where the mistake is and what is allowed.
    pub fn from_yaml(text: &str) -> Result<Self, ScriptError> {
        Ok(Self { script: Arc::new(parse::script(text)?) })
    }
}

impl BuiltInModel for ScriptModel {
    fn name(&self) -> &str {
        "script"
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let matched = MatchedRule::find(&self.script, &request);
        let run = ScriptRun::new(Arc::clone(&self.script), matched, request.results);
        Player::new(run, request.emitted).boxed()
    }

    fn reply_shape(&self, message: &Message) -> ReplyShape {
        if self.script.answers_bare(message.id.as_str(), || MessageText::of(message)) {
            ReplyShape::Message
        } else {
            ReplyShape::Task
        }
    }
}
