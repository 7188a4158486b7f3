//! Who sent a message, for the other clients of its task.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// The caller, as the server knows it.
    pub by: String,
    /// What the client calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
}

/// The way by which a message arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// A2A over JSON-RPC.
    JsonRpc,
    /// A2A over HTTP+JSON.
    HttpJson,
    Grpc,
    /// The REST API.
    Rest,
    /// `POST` to the live endpoint.
    LiveHttp,
    #[serde(rename = "websocket")]
    WebSocket,
    Terminal,
    /// A prompt on the command line.
    CommandLine,
}

impl Interface {
    /// The name that clients see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "json-rpc",
            Self::HttpJson => "http-json",
            Self::Grpc => "grpc",
            Self::Rest => "rest",
            Self::LiveHttp => "live-http",
            Self::WebSocket => "websocket",
            Self::Terminal => "terminal",
            Self::CommandLine => "command-line",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_see_the_stored_name() {
        use Interface::{CommandLine, Grpc, HttpJson, JsonRpc, LiveHttp, Rest, Terminal, WebSocket};
        for interface in [JsonRpc, HttpJson, Grpc, Rest, LiveHttp, WebSocket, Terminal, CommandLine] {
            assert_eq!(serde_json::to_value(interface).unwrap(), interface.as_str());
        }
    }
}
