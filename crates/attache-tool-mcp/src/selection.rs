//! Selects the tools of a server.

use crate::McpServerOptions;

/// Exclusion wins. An entry may have arguments in parentheses, which matter only to rules.
pub(crate) fn wanted(options: &McpServerOptions, tool: &str) -> bool {
    let named = |entries: &[String]| entries.iter().any(|entry| bare(entry) == tool);
    !named(&options.exclude) && options.include.as_deref().is_none_or(named)
}

fn bare(entry: &str) -> &str {
    entry.split_once('(').map_or(entry, |(name, _)| name).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transport;

    #[track_caller]
    fn check(include: Option<&[&str]>, exclude: &[&str], tool: &str, expected: bool) {
        let owned = |entries: &[&str]| entries.iter().map(|entry| String::from(*entry)).collect();
        let transport = Transport::Http { url: String::new(), headers: vec![] };
        let mut options = McpServerOptions::new("a", transport);
        options.include = include.map(owned);
        options.exclude = owned(exclude);
        assert_eq!(wanted(&options, tool), expected, "{include:?} {exclude:?} {tool}");
    }

    #[test]
    fn exclusion_wins_over_inclusion() {
        check(None, &[], "read", true);
        check(Some(&[]), &[], "read", false);
        check(Some(&["read"]), &[], "read", true);
        check(Some(&["read"]), &[], "write", false);
        check(Some(&["read"]), &["read"], "read", false);
        check(None, &["read"], "read", false);
        check(Some(&["read(docs/*)"]), &[], "read", true);
        check(None, &["read (x)"], "read", false);
        check(None, &["READ", "re"], "read", true);
    }
}
