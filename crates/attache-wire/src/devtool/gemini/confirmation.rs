//! What a person sees before deciding about a call.

use std::path::Path;

use attache_domain::{CallRecord, Preview, terminal_safe_value, visible, visible_line};
use serde_json::{Value, json};

use super::file_diff::{self, Labels};
use super::tool;
use crate::devtool::call_text::{access_text, hidden_characters_warning, preview};

pub(super) fn encode(record: &CallRecord) -> Value {
    let mut details = match preview(record) {
        Some(Preview::Edit { path, diff, original, new_content, .. }) => json!({
            "type": "edit",
            "title": format!("Confirm {}: {}", edit_word(&record.call.name), file_name(path)),
            "fileName": file_name(path),
            "filePath": visible_line(&path.to_string_lossy()),
            "fileDiff": file_diff::encode(&file_name(path), diff, Labels::PROPOSED),
            "originalContent": original.as_deref().unwrap_or_default(),
            "newContent": new_content,
        }),
        Some(Preview::Exec { command, programs, .. }) => json!({
            "type": "exec",
            "title": "Confirm Shell Command",
            "command": visible(command),
            "rootCommand": visible_line(&programs.join(", ")),
            "rootCommands": programs.iter().map(|program| visible_line(program)).collect::<Vec<_>>(),
        }),
        Some(Preview::Mcp { server, tool, address, .. }) => json!({
            "type": "mcp",
            "title": match address {
                Some(address) => {
                    format!("Confirm MCP Tool Execution at {}, named by the client", visible_line(address))
                }
                None => "Confirm MCP Tool Execution".to_owned(),
            },
            "serverName": visible_line(server),
            "toolName": visible_line(tool),
            "toolDisplayName": tool::mcp_display_name(tool, server),
        }),
        Some(Preview::Info { prompt, urls }) => info(record, prompt, urls),
        Some(Preview::Questions { questions }) => {
            let agent = record.proposal.as_ref().and_then(|proposal| proposal.agent());
            let title = match agent.filter(|_| record.asks.is_some()) {
                Some((agent, _)) => format!("The agent {} asks", visible_line(agent)),
                None => "Ask User".to_owned(),
            };
            json!({ "type": "ask_user", "title": title, "questions": terminal_safe_value(questions) })
        }
        Some(Preview::Agent { agent, url, prompt, files }) => {
            let files: String = files.iter().map(|file| format!("\nwith {file}")).collect();
            json!({
                "type": "info",
                "title": format!("Call Remote Agent: {}", visible_line(agent)),
                "prompt": visible(&format!("{prompt}{files}")),
                "urls": [visible_line(url)],
            })
        }
        Some(Preview::Plain { summary }) => info(record, summary, &[]),
        None => info(record, &record.why, &[]),
    };
    if let Some(access) = access_text(record) {
        details["access"] = access.into();
    }
    // Our addition: what each lasting answer would allow, by its id.
    if !record.grants.is_empty() {
        details["grants"] = json!(record.grants);
    }
    let title = details["title"].as_str().unwrap_or_default();
    let lost =
        if record.lost { "It was cut off while it ran, and may have taken effect. Run again? " } else { "" };
    details["title"] = format!("{lost}{title}{}", hidden_characters_warning(record)).into();
    details
}

/// The last component of a path, on one line.
pub(super) fn file_name(path: &Path) -> String {
    visible_line(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()).into_owned()
}

fn info(record: &CallRecord, prompt: &str, urls: &[String]) -> Value {
    let title = match record.call.name.as_str() {
        "web_fetch" => "Confirm Web Fetch".to_owned(),
        _ => format!("Confirm: {}", tool::display_name(record)),
    };
    let mut details = json!({ "type": "info", "title": title, "prompt": visible(prompt) });
    if !urls.is_empty() {
        details["urls"] = urls.iter().map(|url| visible_line(url)).collect();
    }
    details
}

fn edit_word(tool: &str) -> &'static str {
    match tool {
        "write_file" => "Write",
        "save_memory" => "Memory Save",
        _ => "Edit",
    }
}
