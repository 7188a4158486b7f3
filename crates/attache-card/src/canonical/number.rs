//! Numbers in ECMAScript's form, which treats every JSON number as a double.

use serde_json::Number;

pub(super) fn write(number: &Number, out: &mut String) {
    // Integers too: beyond 2^53, neighbours become one number, as for other readers.
    let double = number.as_f64().filter(|double| double.is_finite());
    out.push_str(&format_double(double.unwrap_or_default()));
}

/// Formats a finite number.
pub(super) fn format_double(number: f64) -> String {
    // Covers minus zero, which has no sign.
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let scientific = shortest_digits(number.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = digits.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    format!("{sign}{}", place_decimal_point(&digits, exponent))
}

/// The shortest digits that identify the number; of these the closest, and of two equally close ones the even one, as
/// the RFC asks. The standard library guarantees only the first two.
fn shortest_digits(number: f64) -> String {
    let fewest = format!("{number:e}");
    let mantissa = fewest.split('e').next().unwrap_or_default();
    let behind_the_point = mantissa.len().saturating_sub(2);
    let rounded = format!("{number:.behind_the_point$e}");
    if rounded.parse() == Ok(number) { rounded } else { fewest }
}

/// The digits have one before the point and are multiplied by ten to the power of `exponent`.
fn place_decimal_point(digits: &str, exponent: i32) -> String {
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let length = i32::try_from(digits.len()).unwrap_or_default();
    match exponent {
        // Whole numbers up to 21 digits are written in full.
        0..=20 if length <= exponent + 1 => format!("{digits}{}", zeros(exponent + 1 - length)),
        0..=20 => {
            let (whole, rest) = digits.split_at(usize::try_from(exponent + 1).unwrap_or_default());
            format!("{whole}.{rest}")
        }
        -6..=-1 => format!("0.{}{digits}", zeros(-exponent - 1)),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{sign}{}", exponent.abs())
        }
    }
}
