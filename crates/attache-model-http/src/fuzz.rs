//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use std::sync::Arc;

use attache_domain::{Content, Exchange};
use attache_model::{Prompt, StopReason};
use attache_net::sse::{SseEvent, SseParser};
use attache_net::{HttpClient, HttpClientOptions};

use crate::answer_request::{AnswerAssembler, Provider, RequestVariation, ResponseHead, StreamEnd};
use crate::{anthropic, gemini, openai};

const LIMIT: usize = 4000;

/// A Gemini answer.
pub fn gemini(stream: &[u8]) {
    gemini::fuzz::answer(stream);
}

/// An answer of an OpenAI-compatible server.
pub fn openai(stream: &[u8]) {
    openai::fuzz::answer(stream);
}

/// An Anthropic answer.
pub fn anthropic(stream: &[u8]) {
    anthropic::fuzz::answer(stream);
}

/// Events of one answer. The decoded answer can be encoded again. Also decodes the same bytes as the body of an error.
pub(crate) fn answer<P: Provider>(provider: &P, stream: &[u8]) {
    let mut assembler = provider.assembler(&Prompt::default());
    for event in read(stream) {
        if let Err(error) = assembler.take(&event, &mut |_| ()) {
            provider.classify_event(&error);
        }
    }
    for end in [StreamEnd::Closed, StreamEnd::Broken] {
        assembler.verdict(end, false);
    }
    assembler.continue_answer();
    let _ = (assembler.has_finished(), assembler.is_over(), assembler.extent(), assembler.usage());
    let parts = assembler.into_parts(&StopReason::Done);
    let exchanges = [Exchange::User(vec![Content::Text("question".into())]), Exchange::Model(parts)];
    let prompt = Prompt { exchanges: Arc::new(exchanges.map(Arc::new).into()), ..Prompt::default() };
    let body = provider.body(&prompt, &RequestVariation::default()).expect("what was said can be said again");
    serde_json::from_slice::<serde_json::Value>(&body).expect("a request is JSON");

    let text = String::from_utf8_lossy(stream);
    let status = stream.first().map_or(500, |byte| 400 + u16::from(*byte));
    let retry_after = text.lines().next().map(str::to_owned);
    let head =
        ResponseHead { status, retry_after_ms: retry_after.clone(), retry_after, ..ResponseHead::default() };
    provider.classify_response(&head, &text);
}

fn read(stream: &[u8]) -> Vec<SseEvent> {
    let mut parser = SseParser::new(LIMIT);
    let _ = parser.push(stream).and_then(|()| parser.finish());
    std::iter::from_fn(|| parser.next_event()).collect()
}

/// A client that never connects.
pub(crate) fn client() -> HttpClient {
    HttpClient::new(&HttpClientOptions::default()).expect("a client")
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] = &[
        "data: ",
        "event: ",
        "\n",
        "\r\n",
        "\n\n",
        "[DONE]",
        r#""candidates":"#,
        r#""content":"#,
        r#""parts":"#,
        r#""text":"#,
        r#""functionCall":"#,
        r#""finishReason":"#,
        r#""choices":"#,
        r#""delta":"#,
        r#""tool_calls":"#,
        r#""type":"#,
        r#""content_block_start""#,
        r#""content_block":"#,
        r#""error":"#,
        r#""usage":"#,
    ];

    fn all(bytes: &[u8]) {
        gemini(bytes);
        openai(bytes);
        anthropic(bytes);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(&[JSON_WORDS, WORDS].concat(), 40, all);
    }
}
