//! `@agent-name` in a prompt: the person requests this agent.

use attache_domain::Content;

/// The agents that a prompt names, and the prompt without these mentions, in which other mentions are looked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AgentMentions {
    pub(crate) agents: Vec<String>,
    pub(crate) rest: String,
}

/// A mention of an agent is one of a name in `agents`. A longer word, such as `@name.md`, may be a file.
pub(crate) fn find(text: &str, agents: &[String]) -> AgentMentions {
    let mut found = AgentMentions { agents: Vec::new(), rest: String::new() };
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let (before, from) = rest.split_at(at);
        found.rest.push_str(before);
        let previous = found.rest.chars().next_back();
        let begins = previous.is_none_or(|it| it.is_whitespace() || "([{<\"'`,;:".contains(it));
        match mentioned(&from[1..]).filter(|name| begins && agents.iter().any(|agent| agent == name)) {
            Some(name) => {
                if !found.agents.iter().any(|known| known == name) {
                    found.agents.push(name.to_owned());
                }
                found.rest.push_str(name);
                rest = &from[1 + name.len()..];
            }
            None => {
                found.rest.push('@');
                rest = &from[1..];
            }
        }
    }
    found.rest.push_str(rest);
    found
}

/// The word after `@`, if it ends like a name.
fn mentioned(after: &str) -> Option<&str> {
    let is_part = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    let end = after.find(|letter: char| !is_part(letter)).unwrap_or(after.len());
    let (name, behind) = after.split_at(end);
    let mut behind = behind.chars();
    let goes_on = match behind.next() {
        Some('.') => behind.next().is_some_and(char::is_alphanumeric),
        Some(next) => next.is_alphanumeric() || matches!(next, '/' | '\\' | '@'),
        None => false,
    };
    (!name.is_empty() && !goes_on).then_some(name)
}

/// The note about them for the model.
pub(crate) fn note(agents: &[String]) -> Content {
    let names = agents.join(", ");
    Content::Text(format!(
        "The person wants this to be done by the agent they named: {names}. Delegate to it with the tool invoke_agent \
         (agent_name as written here), with a prompt that holds everything the agent needs to know."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, agents: &[&str], rest: &str) {
        let known = ["helper", "web-search"].map(str::to_owned);
        let agents = agents.iter().map(|agent| (*agent).to_owned()).collect();
        assert_eq!(find(text, &known), AgentMentions { agents, rest: rest.to_owned() }, "{text}");
    }

    #[test]
    fn an_agent_is_mentioned_by_its_whole_name() {
        check("@helper what?", &["helper"], "helper what?");
        check(
            "ask @web-search, then (@helper).",
            &["web-search", "helper"],
            "ask web-search, then (helper).",
        );
        check("@helper @helper", &["helper"], "helper helper");
        check("let @helper: do it", &["helper"], "let helper: do it");
    }

    #[test]
    fn files_and_addresses_stay_what_they_are() {
        for text in [
            "@helper.md",
            "@helper/a",
            "@helpers",
            "@src/helper",
            "me@helper",
            "@Helper",
            "@other",
            "a @ b",
            "@",
            "@helper@x",
            "@helperé",
        ] {
            check(text, &[], text);
        }
    }
}
