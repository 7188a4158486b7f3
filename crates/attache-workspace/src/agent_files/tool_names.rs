//! The names of tools in the file of a local agent.

/// Those of Gemini CLI and of attache. Agent files are written for both.
const KNOWN: &[&str] = &[
    "activate_skill",
    "ask_user",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "glob",
    "google_web_search",
    "grep_search",
    "invoke_agent",
    "list_directory",
    "list_mcp_resources",
    "read_background_output",
    "read_file",
    "read_many_files",
    "read_mcp_resource",
    "replace",
    "run_shell_command",
    "save_memory",
    // The earlier name of grep_search.
    "search_file_content",
    "stop_background_process",
    "tracker_add_dependency",
    "tracker_create_task",
    "tracker_get_task",
    "tracker_list_tasks",
    "tracker_update_task",
    "tracker_visualize",
    "update_topic",
    "web_fetch",
    "write_file",
    "write_todos",
];

/// A tool, all tools, or those of MCP servers. Tools that a program or a server offers are known only when it runs.
pub(super) fn is_valid(name: &str) -> bool {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.:".contains(letter))
    };
    if name == "*" || KNOWN.contains(&name) {
        return true;
    }
    if let Some(tool) = name.strip_prefix("discovered_tool_") {
        return is_plain(tool);
    }
    let Some(tool) = name.strip_prefix("mcp_") else { return false };
    tool == "*" || tool.strip_suffix("_*").is_some_and(is_plain) || is_plain(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_or_of_a_server() {
        for name in [
            "read_file",
            "search_file_content",
            "*",
            "mcp_*",
            "mcp_docs_*",
            "mcp_docs_find",
            "discovered_tool_x",
        ] {
            assert!(is_valid(name), "{name}");
        }
        for name in ["read_fil", "read_*", "mcp_", "mcp_a b", "discovered_tool_", "rm -rf", "", "mcp_*_x*"] {
            assert!(!is_valid(name), "{name}");
        }
    }
}
