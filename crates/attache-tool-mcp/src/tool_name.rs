//! The names of MCP tools: `mcp_SERVER_TOOL`.

/// Some providers refuse longer names.
const MAX_NAME_LENGTH: usize = 63;
/// Replaces the middle of a long name.
const GAP: &str = "___";

/// `mcp_<server>_<tool>` with characters that every provider accepts; the middle of a long name is removed.
pub(crate) fn tool_name(server: &str, tool: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "_.:-".contains(character);
    let clean = |character: char| if allowed(character) { character } else { '_' };
    let name: String = format!("mcp_{server}_{tool}").chars().map(clean).collect();
    if name.len() <= MAX_NAME_LENGTH {
        return name;
    }
    // Tools of one server differ at the end of the name, so more of the end is kept.
    let head = (MAX_NAME_LENGTH - GAP.len()) / 2 - 2;
    let tail = MAX_NAME_LENGTH - GAP.len() - head;
    format!("{}{GAP}{}", &name[..head], &name[name.len() - tail..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(server: &str, tool: &str, expected: &str) {
        assert_eq!(tool_name(server, tool), expected);
    }

    #[test]
    fn names_hold_server_and_tool() {
        check("github", "list_issues", "mcp_github_list_issues");
        check("my server", "do it/now", "mcp_my_server_do_it_now");
        check("a.b:c-d", "é", "mcp_a.b:c-d__");
        check("s", &"x".repeat(57), &format!("mcp_s_{}", "x".repeat(57)));
        let long = format!("{}tail", "y".repeat(70));
        check("s", &long, &format!("mcp_s_{}___{}tail", "y".repeat(22), "y".repeat(28)));
    }

    proptest! {
        #[test]
        fn every_name_fits_every_provider(server in ".{0,80}", tool in ".{0,80}") {
            let name = tool_name(&server, &tool);
            prop_assert!(name.len() <= MAX_NAME_LENGTH);
            prop_assert!(name.starts_with("mcp_"));
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte)));
        }
    }
}
