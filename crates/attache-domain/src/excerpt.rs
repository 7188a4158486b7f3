//! The beginning of a text, at bounded length. What was cut off leaves a `…`.

/// The first `max_chars` characters of `text`.
pub fn excerpt(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first `max_bytes` bytes of `text`, or fewer, so that no character is split.
pub fn excerpt_in_bytes(text: &str, max_bytes: usize) -> String {
    match text.len() > max_bytes {
        true => format!("{}…", &text[..text.floor_char_boundary(max_bytes)]),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_characters_whole() {
        assert_eq!(excerpt("äöü", 3), "äöü");
        assert_eq!(excerpt("äöü", 2), "äö…");
        assert_eq!(excerpt("äöü", 0), "…");
        assert_eq!(excerpt_in_bytes("äöü", 6), "äöü");
        assert_eq!(excerpt_in_bytes("äöü", 5), "äö…");
        assert_eq!(excerpt_in_bytes("äöü", 0), "…");
    }
}
