//! Reads a request's body within its limits.
//!
//! A body takes as much memory as it has bytes, in however many pieces it arrives, and all bodies together stay within a
//! budget (`budget`). Compressed bodies are refused, because their decompressed size is not limited here.

pub(crate) mod budget;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;

use attache_domain::Fault;
use attache_wire::json;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::{Limits, large_bodies};
pub use budget::BodyBudget;
use budget::{BodyTransfer, UNIT_BYTES};

/// Bodies up to this size need no budget. Nearly all are smaller, so they never wait for others.
const SMALL_BYTES: usize = 64 * 1024;
/// The whole body, which must be JSON. Too large, too slow and broken off are different faults.
pub(crate) async fn read<B>(headers: &HeaderMap, body: B, limits: &Limits) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes>,
{
    check_encoding(headers)?;
    let body = collect(body, limits, limits.body_bytes).await?;
    // Browsers send other types across sites without a preflight, so a JSON type is required.
    if !body.is_empty() {
        check_type(headers)?;
    }
    let weigh = pin!(async { json::check_decoded_size(&body, limits.parsed_bytes()) });
    large_bodies::run(body.len(), weigh).await?;
    Ok(body)
}

/// The whole body, of whatever type.
pub(crate) async fn collect<B>(body: B, limits: &Limits, limit: usize) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes>,
{
    if body.size_hint().lower() > limit as u64 {
        return Err(Fault::BodyTooLarge { limit });
    }
    receive(body, limits, limit).await
}

/// A decompressed body: `unpack` makes `length` bytes once the budget has room for them.
pub(crate) async fn decompressed(
    length: usize,
    limits: &Limits,
    unpack: impl FnOnce() -> Result<Vec<u8>, Fault>,
) -> Result<Bytes, Fault> {
    if length <= SMALL_BYTES {
        return unpack().map(Bytes::from);
    }
    let waiting = tokio::time::timeout(
        limits.body_timeout,
        limits.body_budget.take(length, min_bytes_per_second(limits), None),
    )
    .await;
    let Ok(Some(room)) = waiting else { return Err(Fault::Overloaded) };
    let bytes = large_bodies::run(length, pin!(async { unpack() })).await?;
    let bytes = BytesMut::from(Bytes::from(bytes));
    Ok(Bytes::from_owner(ReceivedBody { bytes, room: Some(room), _upload: None }))
}

/// Joins the pieces as they arrive; a list of tiny ones would cost far more than their bytes.
///
/// The time to send and the time to wait for the budget are limited separately.
async fn receive<B>(body: B, limits: &Limits, limit: usize) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes>,
{
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut whole = ReceivedBody { bytes: BytesMut::new(), room: None, _upload: None };
    let mut upload: Option<Arc<BodyTransfer>> = None;
    let mut arrives_by = pin!(tokio::time::sleep(limits.body_timeout));
    let mut patience = limits.body_timeout;
    loop {
        if let Some(upload) = &upload {
            upload.awaits_client();
        }
        let piece = tokio::select! {
            biased;
            piece = next_piece(body.as_mut()) => piece?,
            () = evicted(upload.as_deref()) => return Err(Fault::Overloaded),
            () = arrives_by.as_mut() => {
                return Err(Fault::InvalidRequest { what: "the body did not arrive in time".into() });
            }
        };
        if let Some(upload) = &upload {
            upload.received(piece.as_ref().map_or(0, Bytes::len));
        }
        let Some(piece) = piece else { break };
        let length = first.len() + whole.bytes.len() + piece.len();
        if length > limit {
            return Err(Fault::BodyTooLarge { limit });
        }
        // Most bodies are one small piece, which is not copied.
        if length <= SMALL_BYTES && first.is_empty() && whole.bytes.is_empty() {
            first = piece;
            continue;
        }
        if length > whole.bytes.capacity() {
            let began = Instant::now();
            let upload = upload.get_or_insert_with(|| {
                let upload = BodyTransfer::new();
                limits.body_budget.register(&upload);
                upload
            });
            let making = whole.make_room(length, limit, limits, upload);
            tokio::time::timeout(patience, making).await.map_err(|_| Fault::Overloaded)??;
            let waited = began.elapsed();
            patience = patience.saturating_sub(waited);
            let later = arrives_by.deadline() + waited;
            arrives_by.as_mut().reset(later);
        }
        whole.bytes.extend_from_slice(&std::mem::take(&mut first));
        whole.bytes.extend_from_slice(&piece);
    }
    Ok(match whole {
        _ if !first.is_empty() => first,
        ReceivedBody { bytes, room: None, .. } => bytes.freeze(),
        received => Bytes::from_owner(ReceivedBody { _upload: upload, ..received }),
    })
}

/// A body of the largest size that arrives more slowly exceeds its timeout.
fn min_bytes_per_second(limits: &Limits) -> usize {
    limits.body_bytes / usize::try_from(limits.body_timeout.as_secs()).unwrap_or(usize::MAX).max(1)
}

/// Resolves when others wait for the budget that this body holds and it arrives too slowly.
async fn evicted(upload: Option<&BodyTransfer>) {
    match upload {
        Some(upload) => upload.evicted.cancelled().await,
        None => std::future::pending().await,
    }
}

async fn next_piece<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) -> Result<Option<Bytes>, Fault> {
    loop {
        match poll_fn(|context| body.as_mut().poll_frame(context)).await {
            None => return Ok(None),
            // Trailers are ignored.
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if !data.is_empty() => return Ok(Some(data)),
                _ => {}
            },
            Some(Err(_)) => return Err(Fault::InvalidRequest { what: "the body broke off".into() }),
        }
    }
}

/// A body and its share of the budget, released together.
struct ReceivedBody {
    bytes: BytesMut,
    room: Option<OwnedSemaphorePermit>,
    /// Registers the body as a holder of budget.
    _upload: Option<Arc<BodyTransfer>>,
}

impl ReceivedBody {
    /// Grows by doubling, together with its share of the budget.
    async fn make_room(
        &mut self,
        length: usize,
        limit: usize,
        limits: &Limits,
        upload: &BodyTransfer,
    ) -> Result<(), Fault> {
        let capacity = length.next_power_of_two().clamp(SMALL_BYTES, limit.max(SMALL_BYTES));
        let held = self.room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits) * UNIT_BYTES;
        if capacity > SMALL_BYTES && capacity > held {
            upload.awaits_room();
            let more =
                limits.body_budget.take(capacity - held, min_bytes_per_second(limits), Some(upload)).await;
            let more = more.ok_or(Fault::Overloaded)?;
            upload.holds(capacity);
            match &mut self.room {
                Some(room) => room.merge(more),
                None => self.room = Some(more),
            }
        }
        self.bytes.reserve(capacity - self.bytes.len());
        Ok(())
    }
}

impl AsRef<[u8]> for ReceivedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Compressed bodies are refused.
fn check_encoding(headers: &HeaderMap) -> Result<(), Fault> {
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let value = value.to_str().unwrap_or("unreadable").trim();
        if !value.is_empty() && !value.eq_ignore_ascii_case("identity") {
            let found: String = value.chars().take(32).collect();
            return Err(Fault::MediaTypeNotAccepted { found: format!("one packed with {found}") });
        }
    }
    Ok(())
}

/// What `curl -d` and forms on web pages name as the type, whatever they send.
const FORM: &str = "application/x-www-form-urlencoded";

/// The request is from curl and not from a web page: a page can set neither this `User-Agent` nor leave out the headers
/// that a browser adds.
fn is_curl(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).map(|agent| agent.as_bytes());
    let from_page = |name: &http::HeaderName| {
        name.as_str().starts_with("sec-fetch-")
            || [header::ORIGIN, header::REFERER, header::COOKIE].contains(name)
    };
    agent.is_some_and(|agent| agent.starts_with(b"curl/")) && !headers.keys().any(from_page)
}

fn check_type(headers: &HeaderMap) -> Result<(), Fault> {
    let value = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("unreadable"));
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim).unwrap_or_default();
    let is_json = essence.eq_ignore_ascii_case("application/json")
        || (essence.len() > 17
            && essence.as_bytes()[..12].eq_ignore_ascii_case(b"application/")
            && essence.as_bytes()[essence.len() - 5..].eq_ignore_ascii_case(b"+json"));
    if is_json || (essence.eq_ignore_ascii_case(FORM) && is_curl(headers)) {
        return Ok(());
    }
    let found = if essence.is_empty() { "no content type".to_owned() } else { essence.to_owned() };
    Err(Fault::MediaTypeNotAccepted { found })
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full, StreamBody};

    use super::*;

    fn json_headers() -> HeaderMap {
        [(header::CONTENT_TYPE, "application/json".parse().unwrap())].into_iter().collect()
    }

    fn pieces(count: usize, size: usize) -> impl Body<Data = Bytes> {
        let piece = Bytes::from(vec![b' '; size]);
        let frames = (0..count).map(move |_| Ok::<_, std::io::Error>(http_body::Frame::data(piece.clone())));
        StreamBody::new(futures_util::stream::iter(frames))
    }

    #[tokio::test]
    async fn a_body_is_the_same_however_it_was_cut() {
        let limits = Limits { body_bytes: 1 << 20, ..Limits::default() };
        for (count, size) in [(1, 0), (1, 10), (10, 1), (1, 1 << 20), (1 << 14, 64), (3, SMALL_BYTES)] {
            let body = read(&json_headers(), pieces(count, size), &limits).await.unwrap();
            assert_eq!(body.len(), count * size);
            assert!(body.iter().all(|byte| *byte == b' '));
        }
        for (count, size) in [(1, (1 << 20) + 1), (2, 1 << 20), ((1 << 20) + 1, 1)] {
            let refused = read(&json_headers(), pieces(count, size).boxed(), &limits).await;
            assert_eq!(refused, Err(Fault::BodyTooLarge { limit: 1 << 20 }));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_for_room_and_small_ones_do_not() {
        let limits = Limits { body_budget: BodyBudget::new(1 << 20), ..Limits::default() };
        let large = || Full::new(Bytes::from(vec![b' '; 600 << 10]));
        let first = read(&json_headers(), large(), &limits).await.unwrap();
        assert_eq!(read(&json_headers(), large(), &limits).await, Err(Fault::Overloaded));
        let silent = StreamBody::new(futures_util::stream::pending::<std::io::Result<_>>());
        let late = Fault::InvalidRequest { what: "the body did not arrive in time".into() };
        assert_eq!(read(&json_headers(), silent, &limits).await, Err(late));
        assert!(read(&json_headers(), pieces(64, 1024), &limits).await.is_ok());
        drop(first);
        assert!(read(&json_headers(), large(), &limits).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn time_spent_waiting_for_room_is_not_held_against_the_client() {
        let limits = Limits { body_budget: BodyBudget::new(1 << 20), ..Limits::default() };
        let large = || Full::new(Bytes::from(vec![b' '; 600 << 10]));
        let first = read(&json_headers(), large(), &limits).await.unwrap();
        // Arrives in two pieces, the second shortly before the timeout.
        let (seconds, headers) = (limits.body_timeout.as_secs(), json_headers());
        let frames = futures_util::stream::unfold(0, |sent| async move {
            let pause = std::time::Duration::from_secs(if sent == 1 { seconds - 10 } else { 0 });
            tokio::time::sleep(pause).await;
            let piece = http_body::Frame::data(Bytes::from(vec![b' '; 300 << 10]));
            (sent < 2).then_some((Ok::<_, std::io::Error>(piece), sent + 1))
        });
        let second = read(&headers, StreamBody::new(frames), &limits);
        let gone = async {
            tokio::time::sleep(limits.body_timeout / 2).await;
            drop(first);
        };
        let (second, ()) = tokio::join!(second, gone);
        assert_eq!(second.map(|body| body.len()), Ok(600 << 10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_as_large_as_all_the_room_finds_it() {
        for bytes in [1 << 20, 100_001, 70_000] {
            let limits = Limits { body_budget: BodyBudget::new(bytes), ..Limits::default() };
            let frame = 5;
            assert!(collect(pieces(bytes + frame, 1), &limits, bytes + frame).await.is_ok(), "{bytes}");
        }
    }

    #[tokio::test]
    async fn packed_bodies_are_refused() {
        for (encoding, expected) in [("identity", true), ("", true), ("gzip", false), ("identity, br", false)]
        {
            let mut headers = json_headers();
            headers.insert(header::CONTENT_ENCODING, encoding.parse().unwrap());
            let read = read(&headers, pieces(1, 10), &Limits::default()).await;
            assert_eq!(read.is_ok(), expected, "{encoding}: {read:?}");
        }
    }

    #[test]
    fn only_json_types_count() {
        for (value, expected) in [
            (Some("application/json"), true),
            (Some("application/json; charset=utf-8"), true),
            (Some("APPLICATION/A2A+JSON"), true),
            (Some("text/plain"), false),
            (Some("application/x-www-form-urlencoded"), false),
            (Some("application/+json"), false),
            (Some("+json"), false),
            (None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
            }
            assert_eq!(check_type(&headers).is_ok(), expected, "{value:?}");
        }
    }

    #[test]
    fn curl_may_leave_the_type_to_its_default_and_a_page_may_not() {
        let check = |agent: &str, more: Option<(&'static str, &str)>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, FORM.parse().unwrap());
            headers.insert(header::USER_AGENT, agent.parse().unwrap());
            if let Some((name, value)) = more {
                headers.insert(name, value.parse().unwrap());
            }
            check_type(&headers).is_ok()
        };
        assert!(check("curl/8.5.0", None));
        assert!(check("curl/8.5.0", Some(("accept", "*/*"))));
        for browser in ["Mozilla/5.0 (X11; Linux x86_64)", "", "not curl/8"] {
            assert!(!check(browser, None), "{browser}");
        }
        // Even if a browser called itself curl.
        for header in [
            ("origin", "null"),
            ("origin", "https://evil.example"),
            ("referer", "https://evil.example/"),
            ("cookie", "a=b"),
            ("sec-fetch-site", "same-origin"),
            ("sec-fetch-mode", "no-cors"),
        ] {
            assert!(!check("curl/8.5.0", Some(header)), "{header:?}");
        }
    }

    #[test]
    fn a_page_has_to_name_a_type() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, "http://localhost:3000".parse().unwrap());
        assert!(check_type(&headers).is_err());
    }
}
