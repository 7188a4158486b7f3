//! The names of tools in the file of a local agent.

use attache_tool::is_tool_name;

/// A tool, all tools, or those of MCP servers. Tools that a program or a server offers are known only when it runs.
pub(super) fn is_valid(name: &str) -> bool {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.:".contains(letter))
    };
    if name == "*" {
        return true;
    }
    if let Some(tool) = name.strip_prefix("discovered_tool_") {
        return is_plain(tool);
    }
    let Some(tool) = name.strip_prefix("mcp_") else { return is_tool_name(name) };
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
