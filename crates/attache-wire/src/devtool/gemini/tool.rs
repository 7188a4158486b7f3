//! A short description of a call's tool for clients.

use std::borrow::Cow;

use attache_domain::{CallOutcome, CallRecord, Preview, visible_line};
use serde_json::{Value, json};

use crate::devtool::call_text::preview;

/// `None` if there is no such tool.
pub(super) fn encode(record: &CallRecord) -> Option<Value> {
    if matches!(&record.outcome, Some(CallOutcome::Failed { kind }) if kind == "tool_not_registered") {
        return None;
    }
    let name = record.call.name.as_str();
    let shown = preview(record);
    let description = match (find_tool(name), shown) {
        (Some(known), _) => known.description.to_owned(),
        (None, Some(Preview::Mcp { server, tool, .. })) => {
            visible_line(&format!("{tool} of the MCP server {server}")).into_owned()
        }
        (None, _) => String::new(),
    };
    let known = find_tool(name);
    Some(json!({
        "name": self::name(record),
        "displayName": display_name(record),
        "description": description,
        "kind": known.map_or("other", |known| known.kind),
        "isOutputMarkdown": name != SHELL,
        // Progress reports of servers are shown too.
        "canUpdateOutput": name == SHELL || matches!(shown, Some(Preview::Mcp { .. })),
    }))
}

/// The name of a call's tool. Models know MCP tools by names that include the server's.
pub(super) fn name(record: &CallRecord) -> Cow<'_, str> {
    match preview(record) {
        Some(Preview::Mcp { server, tool, .. }) => mcp_name(server, tool).into(),
        _ => record.call.name.as_str().into(),
    }
}

/// The name of an MCP tool on Gemini CLI's server: the tool's own, with the server's name before it if one of our own
/// tools has the same name.
pub(crate) fn mcp_name(server: &str, tool: &str) -> String {
    /// The maximum length, and how much of a longer name stays on either side of `___`.
    const MAX_NAME: usize = 63;
    const KEPT_PREFIX: usize = 28;
    const KEPT_SUFFIX: usize = 32;
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
    let name: String = tool.chars().map(|letter| if is_fine(letter) { letter } else { '_' }).collect();
    if name.is_empty() || find_tool(&name).is_some() {
        return qualified_mcp_name(server, tool);
    }
    match name.len() {
        ..=MAX_NAME => name,
        length => format!("{}___{}", &name[..KEPT_PREFIX], &name[length - KEPT_SUFFIX..]),
    }
}

/// The name of a tool whose own name is taken.
pub(crate) fn qualified_mcp_name(server: &str, tool: &str) -> String {
    visible_line(&format!("{server}__{tool}")).into_owned()
}

pub(super) const SHELL: &str = "run_shell_command";

/// The tool's name for people.
pub(super) fn display_name(record: &CallRecord) -> String {
    let name = record.call.name.as_str();
    match (find_tool(name), preview(record)) {
        (Some(known), _) => known.display_name.to_owned(),
        (None, Some(Preview::Mcp { server, tool, .. })) => mcp_display_name(tool, server),
        (None, _) => visible_line(name).into_owned(),
    }
}

pub(super) fn mcp_display_name(tool: &str, server: &str) -> String {
    visible_line(&format!("{tool} ({server} MCP Server)")).into_owned()
}

struct ToolInfo {
    name: &'static str,
    display_name: &'static str,
    kind: &'static str,
    description: &'static str,
}

fn find_tool(name: &str) -> Option<&'static ToolInfo> {
    TOOLS.iter().find(|known| known.name == name)
}

const fn tool_info(
    name: &'static str,
    display_name: &'static str,
    kind: &'static str,
    description: &'static str,
) -> ToolInfo {
    ToolInfo { name, display_name, kind, description }
}

/// The tools of `attache-tool-std`, and those that read resources of MCP servers.
const TOOLS: &[ToolInfo] = &[
    tool_info("ask_user", "Ask User", "communicate", "Asks the user questions."),
    tool_info("glob", "FindFiles", "search", "Finds files by a pattern."),
    tool_info("google_web_search", "GoogleSearch", "search", "Searches the web."),
    tool_info("grep_search", "SearchText", "search", "Searches the text of files."),
    // The same tool, under the name that models trained on Gemini CLI use.
    tool_info("invoke_agent", "Agent", "communicate", "Gives a task to another agent."),
    tool_info("search_file_content", "SearchText", "search", "Searches the text of files."),
    tool_info("list_background_processes", "List Background Processes", "read", "Lists commands that go on."),
    tool_info("list_directory", "ReadFolder", "search", "Lists a folder."),
    tool_info("list_mcp_resources", "List MCP resources", "read", "Lists what MCP servers let read."),
    tool_info(
        "stop_background_process",
        "Stop Background Process",
        "execute",
        "Ends a command in the background.",
    ),
    tool_info(
        "read_background_output",
        "Read Background Output",
        "read",
        "Reads what a command has written.",
    ),
    tool_info("read_file", "ReadFile", "read", "Reads a file."),
    tool_info("read_mcp_resource", "Read MCP resource", "read", "Reads a resource of an MCP server."),
    tool_info("replace", "Edit", "edit", "Replaces a piece of a file's text."),
    tool_info(SHELL, "Shell", "execute", "Runs a command in a shell."),
    tool_info("save_memory", "SaveMemory", "think", "Remembers a fact for later conversations."),
    tool_info("share_file", "ShareFile", "read", "Hands a file over."),
    tool_info("web_fetch", "WebFetch", "fetch", "Fetches web pages."),
    tool_info("write_file", "WriteFile", "edit", "Writes a whole file."),
    tool_info("write_todos", "WriteTodos", "other", "Keeps a list of what is to be done."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_servers_go_by_their_own_names() {
        let long = format!("{}{}", "a".repeat(40), "b".repeat(40));
        let short = format!("{}___{}", "a".repeat(28), "b".repeat(32));
        for (tool, expected) in [
            ("list_issues", "list_issues"),
            ("do it/now", "do_it_now"),
            ("\u{202e}x", "_x"),
            ("read_file", "files__read_file"),
            ("", "files__"),
            (&long, &short),
        ] {
            assert_eq!(mcp_name("files", tool), expected, "{tool}");
        }
    }
}
