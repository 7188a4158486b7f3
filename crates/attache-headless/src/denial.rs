//! Calls that were denied because no person can be asked, and the flags that would have allowed them.

use std::collections::HashMap;

use attache_domain::terminal_safe;
use attache_domain::{CallId, CallOutcome, FinishedCall, ToolCall};
use attache_tool::ruling::NO_APPROVER;
use attache_tool::{INVOKE_AGENT, ToolErrorKind};

/// Characters of what a call would have done.
const MAX_WORDS: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Denials {
    /// The folder is trusted, so an approval mode can allow more.
    pub(crate) trusted: bool,
    calls: HashMap<CallId, ToolCall>,
}

impl Denials {
    pub(crate) fn remember(&mut self, call: &ToolCall) {
        self.calls.insert(call.id.clone(), call.clone());
    }

    /// What to tell about a call that is over, if it was denied.
    pub(crate) fn warning(&mut self, finished: &FinishedCall) -> Option<String> {
        let call = self.calls.remove(&finished.call)?;
        let CallOutcome::Failed { kind } = &finished.outcome else { return None };
        if *kind != ToolErrorKind::PolicyViolation.name() {
            return None;
        }
        let denied = format!("{} was denied", title(&call));
        if !finished.summary.contains(NO_APPROVER) {
            return Some(format!("{denied}: {}", finished.summary));
        }
        let flags = self.flags(&call);
        Some(format!(
            "{denied}: it needs an approval, which cannot be asked for here; {flags} would allow it"
        ))
    }

    fn flags(&self, call: &ToolCall) -> String {
        // In a folder that is not trusted, no mode is freer than the default one.
        let trust = if self.trusted { "" } else { " --trust" };
        // Rules name an agent as they name a tool.
        if let Some(agent) = agent(call) {
            return format!("--allowed-tools {} or --yolo{trust}", terminal_safe(agent));
        }
        let tool = match (call.name.as_str(), call.input.get("command").and_then(|line| line.as_str())) {
            ("write_file" | "replace", _) => {
                return format!("--approval-mode auto_edit{trust} (a protected file: --yolo{trust})");
            }
            // It writes a protected file, which no rule allows.
            ("save_memory", _) => return format!("--yolo{trust}"),
            ("run_shell_command", Some(line)) => match program(line) {
                Some(program) => format!("'run_shell_command({program})'"),
                None => return format!("--yolo{trust}"),
            },
            (name, _) => name.to_owned(),
        };
        format!("--allowed-tools {tool} or --yolo{trust}")
    }
}

/// The program of a line that starts one and nothing else.
fn program(line: &str) -> Option<&str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " ._/-=:,@+".contains(letter);
    line.split(' ')
        .next()
        .filter(|program| !program.is_empty() && line.chars().all(plain) && !program.contains('='))
}

/// The agent that would have got a task.
fn agent(call: &ToolCall) -> Option<&str> {
    let name = call.input.get("agent_name").filter(|_| call.name == INVOKE_AGENT)?.as_str()?;
    Some(name.trim().trim_start_matches('@'))
}

/// The name of the tool, and what it would have done.
fn title(call: &ToolCall) -> String {
    if let Some(agent) = agent(call) {
        let prompt = call.input.get("prompt").and_then(|prompt| prompt.as_str()).unwrap_or_default();
        return format!("{} ({}: {})", terminal_safe(&call.name), terminal_safe(agent), words(prompt));
    }
    let about = ["command", "file_path", "path", "url", "prompt", "query", "fact"];
    let about = about.iter().find_map(|name| call.input.get(*name)?.as_str());
    let Some(about) = about else { return terminal_safe(&call.name).into_owned() };
    format!("{} ({})", terminal_safe(&call.name), words(about))
}

fn words(text: &str) -> String {
    terminal_safe(text).replace('\n', " ").chars().take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use attache_domain::Content;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(trusted: bool, name: &str, input: serde_json::Value, expected: &str) {
        let mut denials = Denials { trusted, ..Denials::default() };
        let id = CallId("c".into());
        let input = input.as_object().unwrap().clone();
        denials.remember(&ToolCall { id: id.clone(), name: name.into(), input });
        let finished = FinishedCall {
            call: id,
            outcome: CallOutcome::Failed { kind: ToolErrorKind::PolicyViolation.name().to_owned() },
            output: vec![Content::Text(String::new())],
            summary: format!("{name} is not allowed: {NO_APPROVER}"),
            diff: None,
        };
        let warning = denials.warning(&finished).unwrap();
        assert!(warning.ends_with(expected), "{warning}");
    }

    #[test]
    fn each_call_is_told_with_the_flag_that_allows_it() {
        let touch = json!({"command": "touch made"});
        check(
            true,
            "run_shell_command",
            touch,
            "; --allowed-tools 'run_shell_command(touch)' or --yolo would allow it",
        );
        check(false, "run_shell_command", json!({"command": "a && b"}), "; --yolo --trust would allow it");
        let file = json!({"file_path": "a.txt"});
        check(
            true,
            "write_file",
            file,
            "; --approval-mode auto_edit (a protected file: --yolo) would allow it",
        );
        check(true, "web_fetch", json!({}), "; --allowed-tools web_fetch or --yolo would allow it");
        let call = json!({"agent_name": "@helper", "prompt": "Work!"});
        check(
            true,
            "invoke_agent",
            call,
            "invoke_agent (helper: Work!) was denied: it needs an approval, which cannot be asked for here; --allowed-tools \
             helper or --yolo would allow it",
        );
    }
}
