//! A client of a coding agent: uses the development-tool extension and checks every text it receives.
//!
//! Both servers get requests of Gemini CLI's dialect, so that both get the same bytes. The RFC's dialect is for the
//! figures about dialects.

mod approve;
mod converse;
mod stream_summary;

use std::net::SocketAddr;

use clap::ValueEnum;
use serde_json::{Value, json};

pub(super) use approve::{ApproveOptions, run as approve};
pub(super) use converse::{ConverseOptions, run as converse};

use super::bodies::{self, MessageRequest};
use stream_summary::WaitingCall;

/// The extension's name in headers and metadata.
const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

/// The extension's dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExtensionDialect {
    /// The dialect of Gemini CLI's server.
    Gemini,
    /// The dialect of the extension's RFC.
    Rfc,
}

#[derive(Clone, clap::Args)]
struct OpeningMessage {
    #[arg(long, value_enum, default_value_t = ExtensionDialect::Gemini)]
    words: ExtensionDialect,
    #[arg(long, default_value = "Go on.")]
    text: String,
    /// The folder to work in.
    #[arg(long)]
    workspace: String,
    /// Request calls that run without approval.
    #[arg(long)]
    auto_execute: bool,
}

impl OpeningMessage {
    /// The first message of a task.
    fn request(&self, address: SocketAddr) -> MessageRequest {
        let mut settings = match self.words {
            ExtensionDialect::Gemini => json!({ "kind": "agent-settings", "workspacePath": self.workspace }),
            ExtensionDialect::Rfc => json!({ "workspace_path": self.workspace }),
        };
        if self.auto_execute {
            let key = if self.words == ExtensionDialect::Gemini { "autoExecute" } else { "auto_execute" };
            settings[key] = json!(true);
        }
        let key = if self.words == ExtensionDialect::Gemini { "coderAgent" } else { URI };
        let mut message = message(json!({ "kind": "text", "text": self.text }));
        message["metadata"] = json!({ key: settings });
        MessageRequest::over(self.words.stream(address, message))
    }
}

impl ExtensionDialect {
    /// Approves a call.
    fn approval(self, address: SocketAddr, question: &WaitingCall) -> MessageRequest {
        let answer = match self {
            Self::Gemini => json!({ "callId": question.call, "outcome": "proceed_once" }),
            Self::Rfc => json!({ "tool_call_id": question.call, "selected_option_id": "proceed_once" }),
        };
        let mut message = message(json!({ "kind": "data", "data": answer }));
        message["taskId"] = json!(question.task);
        message["contextId"] = json!(question.context);
        MessageRequest::over(self.stream(address, message))
    }

    fn stream(self, address: SocketAddr, message: Value) -> Vec<u8> {
        let headers = match self {
            Self::Gemini => String::new(),
            Self::Rfc => format!("X-A2A-Extensions: {URI}\r\n"),
        };
        bodies::post_with(address, "/", &headers, "message/stream", json!({ "message": message }))
    }
}

fn message(part: Value) -> Value {
    json!({ "kind": "message", "messageId": bodies::message_id(), "role": "user", "parts": [part] })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 80);

    /// The head and the message of what is sent.
    fn sent(mut request: MessageRequest) -> (String, Value) {
        let text = String::from_utf8(request.numbered(7).to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["method"], "message/stream");
        let message = body["params"]["message"].clone();
        assert!(message["messageId"].as_str().unwrap().ends_with("-000000000007"), "{message}");
        (head.to_owned(), message)
    }

    #[test]
    fn each_dialect_asks_for_a_folder_in_its_own_words() {
        let opening =
            |words| OpeningMessage { words, text: "hi".into(), workspace: "/w".into(), auto_execute: true };
        let (head, message) = sent(opening(ExtensionDialect::Gemini).request(ADDRESS));
        let expected = json!({ "kind": "agent-settings", "workspacePath": "/w", "autoExecute": true });
        assert_eq!(message["metadata"]["coderAgent"], expected);
        assert!(!head.contains("Extensions"), "{head}");
        let (head, message) = sent(opening(ExtensionDialect::Rfc).request(ADDRESS));
        assert_eq!(message["metadata"][URI], json!({ "workspace_path": "/w", "auto_execute": true }));
        assert!(head.contains(&format!("X-A2A-Extensions: {URI}")), "{head}");
    }

    #[test]
    fn an_approval_goes_to_the_task_that_asked() {
        let question = WaitingCall { task: "t".into(), context: "c".into(), call: "k".into() };
        for (words, expected) in [
            (ExtensionDialect::Gemini, json!({ "callId": "k", "outcome": "proceed_once" })),
            (ExtensionDialect::Rfc, json!({ "tool_call_id": "k", "selected_option_id": "proceed_once" })),
        ] {
            let (_, message) = sent(words.approval(ADDRESS, &question));
            assert_eq!(message["parts"][0]["data"], expected);
            assert_eq!((&message["taskId"], &message["contextId"]), (&json!("t"), &json!("c")));
        }
    }
}
