//! What people are asked about calls of every kind, and that every option does what it says.

mod commands;
mod edits;
mod questions;
mod servers;

use serde_json::Value;

/// The options of a call, by their ids; each has a name and says what it does.
#[track_caller]
fn options(call: &Value) -> Vec<&str> {
    let options = call["confirmation_request"]["options"].as_array().unwrap();
    for option in options {
        for member in ["name", "description"] {
            assert!(option[member].as_str().is_some_and(|text| !text.is_empty()), "{option:#}");
        }
    }
    options.iter().map(|option| option["id"].as_str().unwrap()).collect()
}

/// What a call gave, as text.
#[track_caller]
fn output(call: &Value) -> &str {
    call["output"]["text"].as_str().unwrap_or_else(|| panic!("no text in {call:#}"))
}
