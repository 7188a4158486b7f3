//! Why a request failed, from whatever the peer sent.

use serde_json::Value;

/// Characters of details, beside the message.
const MAX_DETAILS: usize = 400;
/// Faults of a request that an explanation names.
const MAX_FAULTS: usize = 3;

/// The message of an error object, or of a body that is no error of A2A.
pub(super) fn message_of(error: &Value) -> Option<&str> {
    let names = ["message", "error_description", "error", "detail"];
    let texts = names.iter().filter_map(|name| error.get(name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

/// `message` and what the details of the error add to it.
pub(super) fn with_details(message: &str, details: Option<&Value>) -> String {
    match details.map(faults).filter(|faults| !faults.is_empty()) {
        Some(faults) => {
            let faults: String = faults.join("; ").chars().take(MAX_DETAILS).collect();
            format!("{}: {faults}", message.trim_end_matches(['.', ':']))
        }
        None => message.to_owned(),
    }
}

/// `data` of JSON-RPC and `details` of HTTP+JSON: a text, or a list of faults.
fn faults(details: &Value) -> Vec<String> {
    match details {
        Value::String(text) if !text.trim().is_empty() => vec![text.trim().to_owned()],
        Value::Array(items) => items.iter().flat_map(faults_in).take(MAX_FAULTS).collect(),
        Value::Object(_) => message_of(details).map(str::to_owned).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The violations of a `BadRequest`, or the fault that a validator such as pydantic describes.
fn faults_in(item: &Value) -> Vec<String> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let describe =
        |place: String, what: String| if place.is_empty() { what } else { format!("{place} {what}") };
    if let Some(violations) = item.get("fieldViolations").and_then(Value::as_array) {
        let violation =
            |it: &Value| Some(describe(text(it, "field").unwrap_or_default(), text(it, "description")?));
        return violations.iter().filter_map(violation).collect();
    }
    match (item, text(item, "msg")) {
        (Value::String(fault), _) => vec![fault.clone()],
        (_, Some(fault)) => vec![describe(place(item.get("loc")), fault)],
        _ => Vec::new(),
    }
}

/// The path of a fault: its names and indexes with dots between them.
fn place(path: Option<&Value>) -> String {
    let steps = path.and_then(Value::as_array).into_iter().flatten();
    let step = |step: &Value| step.as_str().map_or_else(|| step.to_string(), str::to_owned);
    steps.map(step).collect::<Vec<_>>().join(".")
}

/// A body for people: of a page its title, or else its text.
pub(super) fn readable(body: &str) -> String {
    if !body.trim_start().starts_with('<') {
        return body.to_owned();
    }
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").map(|start| start + "<title>".len());
    let title = title.and_then(|start| Some(&body[start..start + lower[start..].find("</title>")?]));
    let title = title.map(str::trim).filter(|title| !title.is_empty());
    title.map_or_else(|| without_tags(body), str::to_owned)
}

fn without_tags(page: &str) -> String {
    let pieces = page.split('<').map(|piece| piece.split_once('>').map_or("", |(_, text)| text));
    pieces.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Why `body` is no JSON.
pub(super) fn not_json(body: &[u8], error: &serde_json::Error) -> String {
    if body.iter().all(u8::is_ascii_whitespace) {
        return "it is empty".to_owned();
    }
    let beginning: String =
        String::from_utf8_lossy(&body[..body.len().min(200)]).trim().chars().take(60).collect();
    format!("it is not JSON ({error}) and begins with {beginning:?}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_details_of_an_error_say_what_was_wrong() {
        for (details, expected) in [
            (
                json!([{"@type": "x/google.rpc.BadRequest", "fieldViolations": [{"field": "a.b", "description": "is odd"}]}]),
                "Invalid: a.b is odd",
            ),
            (
                json!([{"loc": ["params", 0, "x"], "msg": "Field required"}]),
                "Invalid: params.0.x Field required",
            ),
            (json!("a member is missing"), "Invalid: a member is missing"),
            (json!({"message": "deeper"}), "Invalid: deeper"),
            (json!([{"reason": "INVALID_PARAMS"}]), "Invalid."),
            (json!(null), "Invalid."),
        ] {
            assert_eq!(with_details("Invalid.", Some(&details)), expected);
        }
        assert!(with_details("x", Some(&json!("y".repeat(9000)))).len() < 500);
    }

    #[test]
    fn a_page_for_people_is_told_by_its_title() {
        for (body, expected) in [
            (
                "<html>\r\n<head><title>400 No certificate was sent</title></head>",
                "400 No certificate was sent",
            ),
            ("<HTML><TITLE> \n</TITLE><h1>Bad\n gateway</h1>", "Bad gateway"),
            ("{\"a\":1}", "{\"a\":1}"),
            ("<title>\u{130}", "\u{130}"),
        ] {
            assert_eq!(readable(body), expected);
        }
    }
}
