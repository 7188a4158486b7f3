//! The status of an MCP server.

/// One server, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    pub description: Option<String>,
    pub state: ServerState,
    /// What models call its tools.
    pub tools: Vec<String>,
    /// What was left out of its offer, and why.
    pub notes: Vec<String>,
    /// The server's own instructions; untrusted.
    pub instructions: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// A person has to agree before anything is sent to it.
    Unapproved,
    Connecting,
    Connected,
    /// It could not be reached, or is gone; the next call of one of its tools tries again.
    Failed {
        why: String,
    },
}
