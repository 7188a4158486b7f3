//! The actions of the offline model, and the tool calls that carry them out.

use attache_domain::excerpt;
use serde_json::{Map, Value, json};

/// One action.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    List {
        folder: String,
    },
    /// `lines`: the first and the last line to read, counted from one.
    Read {
        file: String,
        lines: Option<(u32, u32)>,
    },
    /// Files by their names.
    Find {
        pattern: String,
        folder: Option<String>,
    },
    /// Text in files.
    Search {
        text: String,
        folder: Option<String>,
    },
    Write {
        file: String,
        text: String,
    },
    Replace {
        file: String,
        old: String,
        new: String,
        all: bool,
    },
    /// Takes two steps: reads the file, then writes it.
    Append {
        file: String,
        text: String,
    },
    Run {
        command: String,
        folder: Option<String>,
    },
    /// Gives the prompt to another agent.
    Ask {
        agent: String,
        prompt: String,
    },
}

/// The file that was named before; the plan replaces it with the name.
pub(super) const IT: &str = "";

/// A tool and its input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolUse {
    pub(super) tool: &'static str,
    pub(super) input: Map<String, Value>,
}

impl Action {
    /// Whether it changes nothing, so that several can run together.
    pub(super) fn only_looks(&self) -> bool {
        match self {
            Self::List { .. } | Self::Read { .. } | Self::Find { .. } | Self::Search { .. } => true,
            Self::Write { .. }
            | Self::Replace { .. }
            | Self::Append { .. }
            | Self::Run { .. }
            | Self::Ask { .. } => false,
        }
    }

    pub(super) fn file(&mut self) -> Option<&mut String> {
        match self {
            Self::Read { file, .. }
            | Self::Write { file, .. }
            | Self::Replace { file, .. }
            | Self::Append { file, .. } => Some(file),
            Self::List { .. }
            | Self::Find { .. }
            | Self::Search { .. }
            | Self::Run { .. }
            | Self::Ask { .. } => None,
        }
    }

    /// The unquoted text at the end of the action; more words could belong to it.
    pub(super) fn free_text(&self) -> Option<&str> {
        match self {
            Self::Write { text, .. } | Self::Append { text, .. } => Some(text.trim_end()),
            Self::Replace { new, .. } => Some(new),
            // A bare "and" is no part of a command.
            Self::List { .. }
            | Self::Read { .. }
            | Self::Find { .. }
            | Self::Search { .. }
            | Self::Run { .. }
            | Self::Ask { .. } => None,
        }
    }

    /// The first call of the action.
    pub(super) fn first_use(&self) -> ToolUse {
        match self {
            Self::List { folder } => with("list_directory", json!({ "dir_path": folder })),
            Self::Read { file, lines: None } | Self::Append { file, .. } => {
                with("read_file", json!({ "file_path": file }))
            }
            Self::Read { file, lines: Some((first, last)) } => {
                with("read_file", json!({ "file_path": file, "start_line": first, "end_line": last }))
            }
            Self::Find { pattern, folder } => {
                within("glob", json!({ "pattern": pattern }), folder.as_deref())
            }
            Self::Search { text, folder } => {
                let input = json!({ "pattern": text, "fixed_strings": true });
                within("grep_search", input, folder.as_deref())
            }
            Self::Write { file, text } => write(file, text),
            Self::Replace { file, old, new, all } => {
                let instruction =
                    format!("Replace {:?} with {:?}, as the user asked.", excerpt(old, 60), excerpt(new, 60));
                let mut input = json!({
                    "file_path": file, "instruction": instruction, "old_string": old, "new_string": new,
                });
                if *all {
                    input["allow_multiple"] = true.into();
                }
                with("replace", input)
            }
            Self::Run { command, folder } => {
                let description = "Run the command that the user asked for";
                let input = json!({ "command": command, "description": description });
                within("run_shell_command", input, folder.as_deref())
            }
            Self::Ask { agent, prompt } => {
                with("invoke_agent", json!({ "agent_name": agent, "prompt": prompt }))
            }
        }
    }
}

pub(super) fn write(file: &str, content: &str) -> ToolUse {
    with("write_file", json!({ "file_path": file, "content": content }))
}

fn within(tool: &'static str, mut input: Value, folder: Option<&str>) -> ToolUse {
    if let Some(folder) = folder {
        input["dir_path"] = folder.into();
    }
    with(tool, input)
}

fn with(tool: &'static str, input: Value) -> ToolUse {
    let input = match input {
        Value::Object(input) => input,
        _ => Map::new(),
    };
    ToolUse { tool, input }
}
