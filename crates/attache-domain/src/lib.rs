//! The types of attache and the pure functions over them.
//!
//! Everything that happens to a task is a [`Fact`] appended to its log; everything a client sees is read from
//! that log. Four functions are the core: [`Progress::decide`] may refuse and never changes,
//! [`TaskView::apply`] changes and never refuses, [`Progress::next`] says what to do now, and
//! [`update_of`] says what a client sees of an event.
//!
//! No async, no IO, no clock, no randomness: ids and times are handed in. `Serialize` on a type here
//! means "stored in the log", never "sent to a client"; only `attache-wire` knows the formats of A2A.

mod access;
mod answerer;
mod api_key;
mod approval;
mod artifact;
mod bounded_cache;
mod call_records;
mod card;
mod choice;
mod command;
mod conversation;
mod correlation_id;
mod cursor;
mod decide;
pub mod default_limits;
mod devtool_event;
mod excerpt;
mod fact;
mod fault;
mod hidden_characters;
mod ids;
mod ignore_poison;
mod late_answers;
mod match_answers;
mod message;
mod message_answers;
mod next;
mod operation;
mod progress;
mod prompt_state;
mod proposal;
mod push;
mod question;
mod repeat_detector;
mod requested_settings;
mod rights;
mod sender;
mod server_approval;
mod size;
mod state;
mod summary;
mod tool_loop;
mod untrusted;
mod update;
mod view;
mod visible;

pub use access::{Access, AccessLevel};
pub use answerer::Answerer;
pub use api_key::{ApiKey, ApiKeys, OfferedKey};
pub use approval::{APPROVAL, OPEN_CALLS};
pub use artifact::Artifact;
pub use bounded_cache::BoundedCache;
pub use call_records::{CallRecord, CallRecords, MAX_LIVE_BYTES, OpenQuestion};
pub use card::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation, Binding,
    Capabilities, OAuthFlow, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};
pub use choice::{
    ANSWER, CANCEL, LOST_CHOICES, MODIFY, PROCEED_ALWAYS, PROCEED_ALWAYS_AND_SAVE, PROCEED_ALWAYS_SERVER,
    PROCEED_ALWAYS_TOOL, PROCEED_ONCE, QUESTION_CHOICES, RUN_AGAIN, SKIP,
};
pub use command::{COMMAND_MODEL, CommandArgument, CommandCall, CommandSpec};
pub use conversation::{
    CallId, Content, Exchange, ModelPart, ModelPartContent, ProviderData, ToolCall, ToolResult, Usage,
};
pub use cursor::{Cursor, DuplicateRule, DuplicateWindow, GapPolicy, GapReason, ReplayGap};
pub use decide::{Facts, Intent, OpenTask};
pub use devtool_event::{CallChange, DevtoolEvent, PromptChange, StateReason, devtool_event_of};
pub use excerpt::{excerpt, excerpt_in_bytes};
pub use fact::{
    AnswerLocation, CallAnswer, CallOutcome, Compaction, ContextReason, Event, Fact, FinishedCall,
    GivenContext, ModelAnswer, OpenedTask, Presentation, ProposedCall, QuestionKind, ReplyShape, ResponseEnd,
    TaskEnding, ToolQuestion, TurnOutcome, Verdict,
};
pub use fault::{Fault, Violation};
pub use hidden_characters::is_hidden;
pub use ids::{ArtifactId, ContextId, Digest, MessageId, PushConfigId, Scope, Seq, TaskId, TaskKey};
pub use ignore_poison::IgnorePoison;
pub use message::{Base64, Message, Metadata, Part, PartContent, Role};
pub use message_answers::{
    AnswerLine, DataAnswer, GivenChoice, MessageAnswers, NamedAnswer, NamedWords, NewContent, PartAnswers,
    TextAnswers,
};
pub use next::Step;
pub use operation::{
    CALL_TO_CANCEL, CancelTask, DEFAULT_PAGE_SIZE, GetTask, ListCommands, ListTasks, MAX_PAGE_SIZE,
    Operation, OperationKind, SendConfiguration, SendMessage, SendOptions, SubscribeTask,
};
pub use progress::{
    Progress, ReceivedMessage, RecordedAnswer, RecordedLength, TextPhase, Turn, TurnPhase, UpdateContext,
};
pub use prompt_state::{PromptState, TurnResult};
pub use proposal::{Effect, Preview, Proposal};
pub use push::{
    ListPushConfigs, NewPushConfig, PushAuthentication, PushConfig, PushConfigOperation, PushConfigPage,
    PushShape, PushState, PushStatus, StoredPushConfig,
};
pub use repeat_detector::RepeatDetector;
pub use requested_settings::RequestedSettings;
pub use rights::{Right, Rights};
pub use sender::{Interface, Sender};
pub use server_approval::{AGENT_MODEL, CONNECT_SERVER, ServerApproval};
pub use state::{TaskState, TaskStatus};
pub use summary::TaskSummary;
pub use tool_loop::{CallPhase, CallProgress, CallStep, ToolLoop, TurnEnd};
pub use untrusted::{quoted, untrusted};
pub use update::{Update, closes_stream, is_shown, update_of};
pub use view::{CompactedHistory, ConversationItem, FileChange, Grant, PlacedExchange, TaskView};
pub use visible::{terminal_safe, terminal_safe_value, visible, visible_again, visible_line, visible_value};

/// A moment, always UTC. Stored and shown with millisecond precision.
pub use jiff::Timestamp;
