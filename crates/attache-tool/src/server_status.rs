//! The status of an MCP server.

/// One server, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    pub description: Option<String>,
    pub state: ServerState,
    /// The prefix of its tools' names.
    pub tools: Vec<String>,
    /// The ignored parts of its lists, with reasons.
    pub notes: Vec<String>,
    /// The server's own instructions; untrusted.
    pub instructions: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// A person must agree before anything is sent to it.
    Unapproved,
    Connecting,
    Connected,
    /// It could not be reached, or the connection was lost. The next call of one of its tools retries.
    Failed {
        why: String,
    },
}
