//! Names that are those of tools, whether a conversation has the tool or not.
//!
//! Rules name agents as they name tools, so no agent may have such a name.

/// Those of Gemini CLI and of attache, because rules and agent files are written for both.
const TOOLS: &[&str] = &[
    "activate_skill",
    "ask_user",
    "complete_task",
    "configure_agent",
    "connect_mcp_server",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "glob",
    "google_web_search",
    "grep_search",
    "invoke_agent",
    "list_background_processes",
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
    "share_file",
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

/// The beginnings of names that servers and programs give their tools.
const PREFIXES: &[&str] = &["mcp_", "discovered_tool_"];

/// Whether `name` is that of a tool that is built in, or one that a server or a program may give a tool.
pub fn is_tool_name(name: &str) -> bool {
    TOOLS.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
