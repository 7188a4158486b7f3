//! Prints a tool call.

use attache_client::{Part, PartContent, ToolCall};
use attache_domain::visible_line;

use crate::printable::printable;

/// The name and the id of the call.
pub(crate) fn title(call: &ToolCall) -> String {
    format!("{} ({})", visible_line(&call.tool_name), visible_line(&call.id))
}

/// What the call is about; its further lines are indented.
pub(super) fn description(call: &ToolCall) -> String {
    let text = printable(call.description.as_deref().unwrap_or_default());
    text.trim_end().replace('\n', "\n  ")
}

/// What the call gave, made safe for a terminal; empty while it runs and where it gave nothing.
pub(super) fn result(call: &ToolCall) -> String {
    if let Some(error) = &call.error {
        return printable(error.message.trim_end());
    }
    let Some(output) = &call.output else { return String::new() };
    let diff = output.diff.as_ref().map(|diff| diff.formatted_diff.clone());
    let data = || output.structured_data.as_ref().and_then(|data| serde_json::to_string_pretty(data).ok());
    let text = output.text.clone().or(diff).or_else(data).unwrap_or_default();
    printable(text.trim_end())
}

/// The end of `now` that is not in `before`. Both are the ends of one growing text.
pub(super) fn added<'a>(before: &str, now: &'a str) -> &'a str {
    if let Some(more) = now.strip_prefix(before) {
        return more;
    }
    // The beginning has been cut off meanwhile, so the end of `before` is in the middle of `now`.
    let start = before.len().saturating_sub(OVERLAP);
    let start = (start..=before.len()).find(|place| before.is_char_boundary(*place)).unwrap_or(0);
    match now.rfind(&before[start..]) {
        Some(place) => &now[place + before.len() - start..],
        None => now,
    }
}

/// Bytes that are enough to recognise a place in the output of a command.
const OVERLAP: usize = 512;

/// The message's own words say what its calls say.
pub(super) fn is_call(part: &Part) -> bool {
    matches!(part.content, PartContent::Data(_)) && ToolCall::of(part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_in_an_output_is_shown() {
        assert_eq!(added("", "one"), "one");
        assert_eq!(added("one", "one two"), " two");
        assert_eq!(added("one two", "one two"), "");
        let long: String = (0..2000).map(|number| format!("{number}\n")).collect();
        let later = format!("{}new\n", &long[2000..]);
        assert_eq!(added(&long, &later), "new\n");
        assert_eq!(added("ä", "ö"), "ö");
    }
}
