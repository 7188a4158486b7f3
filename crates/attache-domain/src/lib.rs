//! The words of attache and the pure functions over them.
//!
//! Whatever happens to a task is a [`Fact`] appended to its log; whatever anyone sees is a reading
//! of that log. Four functions are the heart: [`Progress::decide`] may refuse and never changes,
//! [`TaskView::apply`] changes and never refuses, [`Progress::next`] says what to do now, and
//! [`update_of`] says what a client sees of an event.
//!
//! No async, no IO, no clock, no randomness: ids and times are handed in. `Serialize` on a type here
//! means "stored in the log", never "sent to a client"; only `attache-wire` knows how A2A spells things.

mod access;
mod answer;
mod approval;
mod artifact;
mod bare_words;
mod card;
mod cast;
mod circles;
mod command;
mod conversation;
mod cursor;
mod decide;
mod fact;
mod fault;
mod happening;
mod ids;
mod message;
mod next;
mod operation;
mod progress;
mod proposal;
mod push;
mod question;
mod size;
mod state;
mod summary;
mod update;
mod view;
mod visible;
mod wishes;
mod work;

pub use access::{Access, Level};
pub use approval::{APPROVAL, OPEN_CALLS};
pub use artifact::Artifact;
pub use bare_words::answerer;
pub use card::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation, Binding,
    Capabilities, OAuthFlow, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};
pub use cast::{CallRecord, Cast, MOST_LIVE_BYTES};
pub use circles::Circles;
pub use command::{COMMAND, CommandArgument, CommandCall, CommandSpec};
pub use conversation::{CallId, Content, Exchange, Opaque, Said, ToolCall, ToolResult, Usage, Utterance};
pub use cursor::{Cursor, Gap, GapReason, Sameness, WhenLost};
pub use decide::{Facts, Intent, Opening};
pub use fact::{
    Answer, AnswerEnd, AnswerPlace, CallOutcome, ContextReason, Ending, Event, Fact, FinishedCall,
    GivenContext, ModelAnswer, Opened, Outcome, Presentation, ProposedCall, Reduction, ReplyShape, Verdict,
};
pub use fault::{Fault, Violation};
pub use happening::{CallMove, Happening, StateReason, happening_of};
pub use ids::{ArtifactId, ContextId, Digest, MessageId, PushConfigId, Scope, Seq, TaskId, TaskKey};
pub use message::{Base64, Message, Metadata, Part, PartContent, Role};
pub use next::Step;
pub use operation::{
    Call, CancelTask, DEFAULT_PAGE_SIZE, GetTask, ListCommands, ListTasks, MAX_PAGE_SIZE, Manner, Operation,
    OperationKind, SendConfiguration, SendMessage, SubscribeTask,
};
pub use progress::{Answered, Progress, Stage, TextPhase, Turn, TurnPhase};
pub use proposal::{Effect, Proposal, Shown};
pub use push::{
    KeptPushConfig, ListPushConfigs, PushAuthentication, PushConfig, PushConfigCall, PushConfigPage,
    PushShape, PushStanding, PushState, PushWish,
};
pub use question::{CANCEL, LOST_CHOICES, RUN_AGAIN, SKIP};
pub use state::{TaskState, TaskStatus};
pub use summary::TaskSummary;
pub use update::{Update, closes, is_shown, update_of};
pub use view::{Change, Grant, PlacedExchange, TaskView, Told, Untold};
pub use visible::{
    is_hidden, terminal_safe, terminal_safe_value, visible, visible_again, visible_line, visible_value,
};
pub use wishes::Wishes;
pub use work::{CallPhase, CallProgress, CallStep, Settlement, Work};

/// A moment, always UTC. Stored and shown with millisecond precision.
pub use jiff::Timestamp;
