//! The agent card and the extended card: encoded once, served with the headers that caches need.

use std::sync::OnceLock;

use attache_domain::{AgentCard, Fault, hexadecimal};
use attache_wire::card::{CardForm, write};
use attache_wire::{Encoding, Version, proto, version};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::framing::rest_fault;
use crate::http::{Body, Response};
use crate::{ServerOptions, SignedDocuments, rest};

pub(crate) struct CardDocuments {
    public: PublicDocuments,
    public_proto: ProtoDocument,
    /// For the interface that puts answers into status messages.
    answers: Option<PublicDocuments>,
    /// The form served to every client; the superset gives way to 1.0 for clients that ask for 1.0.
    form: CardForm,
    /// For authenticated callers.
    extended: Option<ExtendedDocuments>,
    /// The public keys that the card is signed with.
    key_set: Option<Bytes>,
    cache_control: HeaderValue,
    last_modified: HeaderValue,
    modified_at: jiff::Timestamp,
}

/// One public card in all its forms.
struct PublicDocuments {
    superset: CardDocument,
    v1_0: CardDocument,
    v0_3: CardDocument,
}

struct CardDocument {
    body: Bytes,
    etag: String,
}

/// A document in protobuf, encoded when a client first asks for it.
type ProtoDocument = OnceLock<Option<Bytes>>;

struct ExtendedDocuments {
    v0_3: Bytes,
    v1_0: Bytes,
    proto: [ProtoDocument; 2],
    cache_control: HeaderValue,
}

impl CardDocuments {
    pub(crate) fn new(options: &ServerOptions) -> Self {
        let signed = options.signed_card.as_ref();
        let key_set = signed.map(|signed| signed.key_set.as_slice()).unwrap_or_default();
        let documents = |card, signed| PublicDocuments::new(card, signed, key_set);
        let signed_answers = signed.and_then(|signed| signed.answers.as_ref());
        let modified_at = jiff::Timestamp::now();
        let http_date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&modified_at);
        let seconds = options.card_max_age.as_secs();
        let signed_extended = signed.and_then(|signed| signed.extended.as_ref());
        Self {
            public: documents(&options.card, signed.map(|signed| &signed.public)),
            public_proto: ProtoDocument::new(),
            answers: options.answers_card.as_ref().map(|card| documents(card, signed_answers)),
            form: options.card_form,
            extended: options.extended_card.as_ref().map(|card| ExtendedDocuments {
                v0_3: extended(card, signed_extended, for_v0_3(options.card_form)),
                v1_0: extended(card, signed_extended, CardForm::V1_0),
                proto: Default::default(),
                cache_control: cache_control("private", seconds),
            }),
            key_set: signed.map(|signed| Bytes::from(signed.key_set.clone())),
            cache_control: cache_control("public", seconds),
            last_modified: HeaderValue::from_str(&http_date.unwrap_or_default())
                .unwrap_or(HeaderValue::from_static("")),
            modified_at,
        }
    }

    pub(crate) fn has_answers(&self) -> bool {
        self.answers.is_some()
    }

    pub(crate) fn has_extended(&self) -> bool {
        self.extended.is_some()
    }

    /// The card for authenticated callers, if there is one.
    pub(crate) fn write_extended(&self, encoding: Encoding, out: &mut Vec<u8>) -> Result<(), Fault> {
        let Some(extended) = &self.extended else { return Ok(()) };
        let (document, proto) = match encoding.version() {
            Version::V0_3 => (&extended.v0_3, &extended.proto[0]),
            Version::V1_0 => (&extended.v1_0, &extended.proto[1]),
        };
        out.extend_from_slice(match encoding {
            Encoding::Json(_) => document,
            Encoding::Proto(version) => to_proto(proto, version, document)?,
        });
        Ok(())
    }

    /// The public card in the protobuf of 0.3; 1.0 has no call for it.
    pub(crate) fn public_proto(&self) -> Result<&Bytes, Fault> {
        to_proto(&self.public_proto, Version::V0_3, &self.public.superset.body)
    }

    /// Marks a response with the extended card as private for caches.
    pub(crate) fn keep_private(&self, mut response: Response) -> Response {
        if let Some(extended) = &self.extended {
            let sent = response.headers_mut();
            sent.insert(header::CACHE_CONTROL, extended.cache_control.clone());
            sent.insert(header::VARY, HeaderValue::from_static("Authorization, A2A-Version"));
        }
        response
    }

    pub(crate) fn are_signed(&self) -> bool {
        self.key_set.is_some()
    }
}

impl PublicDocuments {
    fn new(card: &AgentCard, signed: Option<&SignedDocuments>, key_set: &[u8]) -> Self {
        let document = |form| {
            let unsigned = write(form, card);
            // Signatures differ with every start, so they do not count; the keys do, so that no cache keeps signatures of
            // a key that is gone.
            let mut hash = Sha256::new_with_prefix(&unsigned);
            hash.update(key_set);
            let hash = hash.finalize();
            let body = signed.map_or(unsigned, |signed| of_form(signed, form).clone());
            let etag = format!("W/\"{}\"", hexadecimal(&hash[..12]));
            CardDocument { body: Bytes::from(body), etag }
        };
        Self {
            superset: document(CardForm::Superset),
            v1_0: document(CardForm::V1_0),
            v0_3: document(CardForm::V0_3),
        }
    }

    fn find(&self, form: CardForm) -> &CardDocument {
        match form {
            CardForm::Superset => &self.superset,
            CardForm::V1_0 => &self.v1_0,
            CardForm::V0_3 => &self.v0_3,
        }
    }
}

/// The form of the extended card for 0.3 clients, where `form` is that of the public one.
fn for_v0_3(form: CardForm) -> CardForm {
    match form {
        CardForm::V0_3 => CardForm::V0_3,
        CardForm::Superset | CardForm::V1_0 => CardForm::Superset,
    }
}

fn of_form(signed: &SignedDocuments, form: CardForm) -> &Vec<u8> {
    match form {
        CardForm::Superset => &signed.superset,
        CardForm::V1_0 => &signed.v1_0,
        CardForm::V0_3 => &signed.v0_3,
    }
}

fn extended(card: &AgentCard, signed: Option<&SignedDocuments>, form: CardForm) -> Bytes {
    let written = signed.map_or_else(|| write(form, card), |signed| of_form(signed, form).clone());
    Bytes::from(written)
}

fn to_proto<'a>(proto: &'a ProtoDocument, version: Version, document: &[u8]) -> Result<&'a Bytes, Fault> {
    let encoded = proto.get_or_init(|| match proto::encode_card(version, document) {
        Ok(card) => Some(card.into()),
        Err(error) => {
            tracing::error!(error, "the card cannot be encoded in protobuf");
            None
        }
    });
    encoded.as_ref().ok_or(Fault::Internal)
}

fn cache_control(whose: &str, seconds: u64) -> HeaderValue {
    HeaderValue::from_str(&format!("{whose}, max-age={seconds}"))
        .unwrap_or(HeaderValue::from_static("no-store"))
}

/// The public keys, cached as long as the card.
pub(crate) fn serve_keys(app: &App) -> Response {
    let mut response = Response::new(Body::from(app.cards.key_set.clone().unwrap_or_default()));
    let sent = response.headers_mut();
    sent.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jwk-set+json"));
    sent.insert(header::CACHE_CONTROL, app.cards.cache_control.clone());
    response
}

/// One of the public cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublicCard {
    Main,
    /// Of the interface `/answers`.
    Answers,
}

/// Serves the 1.0 card to clients that ask for 1.0 and the superset, which both versions read, to all others; or always the
/// form of the options.
pub(crate) fn serve(app: &App, head: &Parts, card: PublicCard) -> Response {
    let documents = match (card, &app.cards.answers) {
        (PublicCard::Answers, Some(answers)) => answers,
        _ => &app.cards.public,
    };
    let headers = &head.headers;
    let requested = version::parse_requested(rest::header(headers, version::HEADER_NAME), head.uri.query());
    let document = match requested {
        Ok(Some(Version::V1_0)) if app.cards.form == CardForm::Superset => documents.find(CardForm::V1_0),
        Ok(_) => documents.find(app.cards.form),
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
