//! Numbers and durations of the script, or of the caller through a placeholder.

use std::time::Duration;

use super::limits::{MAX_LABEL_BYTES, MAX_WAIT};
use super::placeholder_values::PlaceholderValues;
use super::template::Template;
use super::yaml::{Kind, Node};

#[derive(Debug)]
pub(super) enum Count {
    Fixed(u32),
    Written(Template),
}

impl Count {
    /// The number, or why the caller's text is no valid one.
    pub(super) fn resolve(
        &self,
        words: &PlaceholderValues,
        key: &str,
        allowed: (u32, u32),
    ) -> Result<u32, String> {
        match self {
            Self::Fixed(count) => Ok(*count),
            Self::Written(template) => {
                let text = template.expand(words, MAX_LABEL_BYTES);
                parse_count(&text, allowed)
                    .ok_or_else(|| format!("`{key}` is {}", not_a_count(&text, allowed)))
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum Pause {
    Fixed(Duration),
    Written(Template),
}

impl Pause {
    pub(super) fn resolve(&self, words: &PlaceholderValues, key: &str) -> Result<Duration, String> {
        match self {
            Self::Fixed(duration) => Ok(*duration),
            Self::Written(template) => {
                let text = template.expand(words, MAX_LABEL_BYTES);
                parse_duration(&text).ok_or_else(|| format!("`{key}` is {}", not_a_duration(&text)))
            }
        }
    }
}

/// A whole number of YAML, or a quoted one.
pub(super) fn count_of(node: &Node, allowed: (u32, u32)) -> Option<u32> {
    match &node.kind {
        Kind::Number(number) => number.as_u64().and_then(|number| within(number, allowed)),
        Kind::Text(text) => parse_count(text, allowed),
        Kind::Null | Kind::Bool(_) | Kind::List(_) | Kind::Map(_) => None,
    }
}

fn parse_count(text: &str, allowed: (u32, u32)) -> Option<u32> {
    text.trim().parse::<u64>().ok().and_then(|number| within(number, allowed))
}

fn within(number: u64, (least, most): (u32, u32)) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| (least..=most).contains(number))
}

pub(super) fn a_count((least, most): (u32, u32)) -> String {
    format!("a whole number from {least} to {most}")
}

fn not_a_count(text: &str, allowed: (u32, u32)) -> String {
    format!("{:?}, which is not {}", shortened(text), a_count(allowed))
}

pub(super) const A_DURATION: &str = "a time of at most 24 hours such as `200ms`, `1.5s` or `2m`";

fn not_a_duration(text: &str) -> String {
    format!("{:?}, which is not {A_DURATION}", shortened(text))
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

pub(super) fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0)];
    let (number, unit) = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let number = number.trim_end();
    // Only digits and a point: `parse` would also accept `inf`, `1e300` and a sign.
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let duration = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()?;
    (duration <= MAX_WAIT).then_some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_a_bound() {
        let good =
            [("200ms", 200), ("2s", 2000), ("1.5s", 1500), ("2m", 120_000), (" 0ms ", 0), ("3 s", 3000)];
        for (text, milliseconds) in good {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "2", "s", "-1s", "infs", "1e3s", "1441m", "2h", "1.2.3s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
