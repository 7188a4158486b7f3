//! An age such as `30d` in settings.

use std::time::Duration;

const HOUR: u64 = 60 * 60;

/// The units, each with its hours.
const UNITS: &[(char, u64)] = &[('h', 1), ('d', 24), ('w', 7 * 24), ('m', 30 * 24)];

pub(crate) const EXPECTED: &str =
    "a number with h, d, w or m for hours, days, weeks or months, such as \"30d\"";

/// None for any other text, and for zero.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let (_, hours) = UNITS.iter().find(|(letter, _)| *letter == unit)?;
    let number = text.strip_suffix(unit)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    Some(Duration::from_secs(number.checked_mul(*hours)?.checked_mul(HOUR)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_number_and_a_unit() {
        for (text, hours) in [("1h", 1), ("30d", 720), ("2w", 336), ("1m", 720), ("007d", 168)] {
            assert_eq!(parse(text), Some(Duration::from_secs(hours * HOUR)), "{text}");
        }
        for text in
            ["", "d", "30", "0d", "-1d", "+1d", "1.5d", "30 d", "30D", "1y", "99999999999999999999d", "é"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
