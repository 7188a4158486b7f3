//! Estimates token counts; only the provider knows the exact number.

use attache_domain::{Content, Exchange, ModelPart, ModelPartContent};

const PER_MESSAGE: u64 = 5;
const IMAGE: u64 = 3000;
const DOCUMENT: u64 = 25_800;
/// Longer texts are estimated by their length.
const LOOKED_AT: usize = 100_000;

pub(crate) fn of_exchange(exchange: &Exchange) -> u64 {
    PER_MESSAGE
        + match exchange {
            Exchange::User(contents) => contents.iter().map(of_content).sum::<u64>(),
            Exchange::Model(parts) => parts.iter().map(of_part).sum(),
            Exchange::Results(results) => {
                let of = |content| of_content(content) + PER_MESSAGE;
                results.iter().flat_map(|result| &result.output).map(of).sum()
            }
        }
}

pub(crate) fn of_content(content: &Content) -> u64 {
    match content {
        Content::Text(text) => of_text(text),
        Content::Bytes { media_type, .. } if media_type == "application/pdf" => DOCUMENT,
        Content::Bytes { .. } => IMAGE,
        Content::Link { url, .. } => of_text(url),
    }
}

fn of_part(part: &ModelPart) -> u64 {
    match &part.what {
        ModelPartContent::Text(text) => of_text(text),
        ModelPartContent::Call(call) => {
            let input: usize =
                call.input.iter().map(|(name, value)| name.len() + value.to_string().len()).sum();
            (input as u64) / 4 + PER_MESSAGE
        }
        // Providers do not count the thoughts of earlier turns.
        ModelPartContent::Thought(_) | ModelPartContent::Hidden => 0,
    }
}

/// A quarter of a token for each ASCII character, one and a half for any other.
pub(crate) fn of_text(text: &str) -> u64 {
    if text.len() > LOOKED_AT {
        return text.len() as u64 / 4;
    }
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().count() as u64 - ascii;
    (ascii + 6 * others).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_weighed_by_their_characters() {
        for (text, expected) in [("", 0), ("abcd", 1), ("abcde", 2), ("äöüß", 6), ("日本", 3)] {
            assert_eq!(of_text(text), expected, "{text}");
        }
        assert_eq!(of_text(&"x".repeat(400_000)), 100_000);
    }

    #[test]
    fn pictures_and_documents_have_a_price() {
        let bytes = |media_type: &str| Content::Bytes {
            media_type: media_type.into(),
            bytes: attache_domain::Base64(String::new()),
            name: None,
        };
        assert_eq!(of_content(&bytes("image/png")), 3000);
        assert_eq!(of_content(&bytes("application/pdf")), 25_800);
    }
}
