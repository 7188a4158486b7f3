//! The agent card: written once at start, served with everything a cache needs.

use std::time::Duration;

use attache_domain::AgentCard;
use attache_wire::card::{CardForm, write};
use attache_wire::{Version, version};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::framing::rest_fault;
use crate::http::{Body, Request, Response};
use crate::rest;

pub(crate) struct CardDocuments {
    superset: CardDocument,
    pure: CardDocument,
    cache_control: HeaderValue,
    last_modified: HeaderValue,
    modified_at: jiff::Timestamp,
}

struct CardDocument {
    body: Bytes,
    etag: String,
}

impl CardDocuments {
    pub(crate) fn new(card: &AgentCard, max_age: Duration) -> Self {
        let document = |form| {
            let body = write(form, card);
            let hash = Sha256::digest(&body);
            let hex: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
            CardDocument { body: Bytes::from(body), etag: format!("W/\"{hex}\"") }
        };
        let modified_at = jiff::Timestamp::now();
        let http_date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&modified_at);
        let fallback = HeaderValue::from_static("no-cache");
        Self {
            superset: document(CardForm::Superset),
            pure: document(CardForm::Pure),
            cache_control: HeaderValue::from_str(&format!("public, max-age={}", max_age.as_secs()))
                .unwrap_or(fallback),
            last_modified: HeaderValue::from_str(&http_date.unwrap_or_default())
                .unwrap_or(HeaderValue::from_static("")),
            modified_at,
        }
    }
}

/// The pure 1.0 card for those who ask for 1.0, the superset that both versions read for everyone else.
pub(crate) fn serve(app: &App, request: &Request) -> Response {
    let headers = request.headers();
    let requested = version::parse_requested(rest::header(headers, version::NAME), request.uri().query());
    let document = match requested {
        Ok(Some(Version::V1_0)) => &app.cards.pure,
        Ok(_) => &app.cards.superset,
        Err(fault) => return rest_fault(Version::V1_0, &fault),
    };
    let unchanged = is_unchanged(headers, &document.etag, app.cards.modified_at);
    let body = if unchanged { Bytes::new() } else { document.body.clone() };
    let mut response = Response::new(Body::from(body));
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let sent = response.headers_mut();
    sent.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    sent.insert(header::CACHE_CONTROL, app.cards.cache_control.clone());
    sent.insert(header::LAST_MODIFIED, app.cards.last_modified.clone());
    sent.insert(header::VARY, HeaderValue::from_static("A2A-Version"));
    if let Ok(etag) = HeaderValue::from_str(&document.etag) {
        sent.insert(header::ETAG, etag);
    }
    response
}

/// `If-None-Match` counts before `If-Modified-Since`; tags are compared weakly.
fn is_unchanged(headers: &HeaderMap, etag: &str, modified_at: jiff::Timestamp) -> bool {
    let tags: Vec<&str> =
        headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).collect();
    if !tags.is_empty() {
        let opaque = etag.trim_start_matches("W/");
        let mut listed = tags.iter().flat_map(|tags| tags.split(',')).map(str::trim);
        return listed.any(|tag| tag == "*" || tag.trim_start_matches("W/") == opaque);
    }
    let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let since = since.and_then(|value| jiff::fmt::rfc2822::parse(value).ok());
    since.is_some_and(|since| since.timestamp().as_second() >= modified_at.as_second())
}
