//! The flags of `attache tasks`.

use std::path::PathBuf;

use attache_client::{TaskState, state_name};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct TasksArguments {
    #[command(flatten)]
    pub(crate) server: ServerArguments,
    #[command(subcommand)]
    pub(crate) command: TasksCommand,
}

/// The server whose tasks are meant.
#[derive(Debug, Args)]
pub(crate) struct ServerArguments {
    /// Where the server is
    #[arg(
        long,
        value_name = "URL",
        env = "ATTACHE_SERVER",
        default_value = "http://127.0.0.1:41242",
        global = true
    )]
    pub(crate) server: String,
    /// File that holds the bearer token; without one, ATTACHE_TOKEN counts
    #[arg(long, value_name = "FILE", env = "ATTACHE_TOKEN_FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// List tasks, the latest first, with what they ask
    List(ListArguments),
    /// Show a task: what was said, what it made, what it asks
    Show(ShowArguments),
    /// Print what happens to a task until it settles, across restarts of the server
    Follow(FollowArguments),
    /// Start a task, or go on with one, and print what happens until it settles
    Send(SendArguments),
    /// Stop a task
    Cancel(CancelArguments),
    /// Answer what a task asks
    Answer(AnswerArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Only tasks in this state, e.g. working or input-required
    #[arg(long, value_parser = parse_state)]
    pub(crate) state: Option<TaskState>,
    /// Only tasks of this conversation; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) context: Option<String>,
    /// At most this many
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The task's id, or its beginning
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FollowArguments {
    /// The task's id, or its beginning
    pub(crate) id: String,
    /// Begin with the task's first event
    #[arg(long)]
    pub(crate) from_start: bool,
    /// Print each event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// What the agent should do; without any words, what is piped in
    pub(crate) text: Vec<String>,
    /// A file to send along; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// In this conversation, by its id or the beginning of it [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) context: Option<String>,
    /// To this task, by its id or the beginning of it [default: a new one]
    #[arg(long, value_name = "ID", conflicts_with = "context")]
    pub(crate) task: Option<String>,
    /// An answer to what the agent asks, the first for the first question; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) answer: Vec<String>,
    /// After a question that is not answered here, wait until another client answers it
    #[arg(long)]
    pub(crate) follow: bool,
    /// Return as soon as the task exists
    #[arg(long, conflicts_with_all = ["follow", "answer"])]
    pub(crate) detach: bool,
    /// Run a command of the agent, such as "memory add", with the text as its arguments
    #[arg(long, value_name = "NAME", conflicts_with_all = ["detach", "file"])]
    pub(crate) command: Option<String>,
    /// Show thoughts and tool calls too
    #[arg(long)]
    pub(crate) development: bool,
    /// Print each event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Give up after so many seconds; the task goes on
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArguments {
    /// The task's id, or its beginning
    pub(crate) id: String,
    /// Only this call of the task, by the id that `tasks show` prints; the task goes on
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArguments {
    /// The task's id, or its beginning
    pub(crate) id: String,
    /// CALL=CHOICE for each call, as `tasks show` prints it; a choice is yes, no, always or one of those shown. At a terminal the call can be left out, or be `all`. A question takes any text
    pub(crate) answer: Vec<String>,
    /// File with what an edit should write instead; agrees to the edit unless another answer is given
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Then print what happens until the task settles
    #[arg(long)]
    pub(crate) follow: bool,
}

fn parse_state(text: &str) -> Result<TaskState, String> {
    let wanted = text.to_ascii_lowercase().replace('_', "-");
    TaskState::ALL.into_iter().find(|state| state_name(*state) == wanted).ok_or_else(|| {
        let names = TaskState::ALL.map(state_name);
        format!("a state is one of {}", names.join(", "))
    })
}
