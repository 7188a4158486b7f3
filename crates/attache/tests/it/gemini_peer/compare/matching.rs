//! Which event or message of one server is the like of which of the other.

use serde_json::Value;

use super::{What, fields, pieces};

/// The differences of two streams or histories, in the order of the peer's.
pub(super) fn of(peer: &[Value], ours: &[Value]) -> Vec<(String, What)> {
    let (peer, ours) = (pieces::joined(peer), pieces::joined(ours));
    let left: Vec<_> = peer.iter().map(subject).collect();
    let right: Vec<_> = ours.iter().map(subject).collect();
    let longest = longest_common(&left, &right);
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            found.extend(fields(&peer[i], &ours[j]).into_iter().map(|what| (left[i].clone(), what)));
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            found.push((left[i].clone(), What::Missing));
            i += 1;
        } else {
            found.push((right[j].clone(), What::Added));
            j += 1;
        }
    }
    found
}

/// What an event is about: its kind and, for a tool's, which call is in which status. What a message is about: who says
/// it, and the same.
fn subject(event: &Value) -> String {
    let is_message = event.get("role").is_some();
    let part = if is_message { &event["parts"][0] } else { &event["status"]["message"]["parts"][0] };
    let call = &part["data"];
    let words = [
        &event["event"],
        &event["role"],
        if is_message { &part["kind"] } else { &event["kind"] },
        &event["metadata"]["coderAgent"]["kind"],
        &call["request"]["callId"],
        &call["status"],
        &event["artifact"]["artifactId"],
    ];
    let mut words: Vec<_> = words.into_iter().filter_map(Value::as_str).collect();
    if event["final"] == true {
        words.push("final");
    }
    words.join(" ")
}

/// At `[i][j]`: how many of the words from `i` and from `j` on can be matched in order.
fn longest_common(left: &[String], right: &[String]) -> Vec<Vec<usize>> {
    let mut longest = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            longest[i][j] = if left[i] == right[j] {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    longest
}
