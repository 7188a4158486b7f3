//! How large and how deep a glob pattern may be.
//!
//! The glob library recurses once per level of braces and panics when the regular expression behind a pattern is too
//! large. Every pattern that a model, a project or a person writes is checked here before the library parses it.

/// Longer than any pattern that people write.
const MAX_BYTES: usize = 4096;
/// Levels of `{a,{b,c}}`. Patterns that people write have one or two.
const MAX_NESTED_BRACES: usize = 16;

/// Refuses a pattern that is too long or nests its braces too deeply, and says which.
pub fn check_glob(pattern: &str) -> Result<(), String> {
    if pattern.len() > MAX_BYTES {
        return Err(format!("the pattern has {} bytes; it may have {MAX_BYTES}", pattern.len()));
    }
    let mut depth = 0_usize;
    let mut escaped = false;
    for byte in pattern.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTED_BRACES {
            return Err(format!(
                "the pattern nests its braces more than {MAX_NESTED_BRACES} levels deep; write the alternatives side \
                 by side, as in {{a,b,c}}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_patterns_pass_and_huge_or_deep_ones_are_refused_in_words() {
        for pattern in ["", "**/*.rs", "{a,{b,c}}/[!x]*", &"{a,b}".repeat(100), &r"\{".repeat(500)] {
            assert_eq!(check_glob(pattern), Ok(()), "{pattern}");
        }
        let nested = |levels: usize| "{".repeat(levels) + "a" + &"}".repeat(levels);
        assert_eq!(check_glob(&nested(MAX_NESTED_BRACES)), Ok(()));
        for (pattern, why) in
            [(nested(MAX_NESTED_BRACES + 1), "braces"), ("a".repeat(MAX_BYTES + 1), "bytes")]
        {
            let refused = check_glob(&pattern).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
