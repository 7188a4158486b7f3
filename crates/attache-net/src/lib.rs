//! The one outbound HTTP client.
//!
//! All outbound requests go through [`HttpClient`]: one TLS stack, redirects only step by step
//! ([`HttpClient::get_with_redirects`]), and bounds on every wait and every size. [`AddressRules`] restrict untrusted
//! addresses to public ones. [`NetworkSettings`] say which proxy to use and which certificates. A [`Secret`] appears in
//! no error, log or debug text, and a [`BaseUrl`] keeps it at its one destination. A [`Redactor`] takes secrets out of text
//! that leaves the process.
//!
//! [`sse`] has the one parser for server-sent events. Not here: the meaning of requests and responses.

mod address_rules;
mod base_url;
mod certificate_facts;
mod client;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod network;
mod proxy;
mod redactor;
mod redirect;
mod request;
mod resolver;
mod response;
mod secret;
pub mod sse;
mod tls;
mod tunnel;

pub use address_rules::AddressRules;
pub use base_url::{BaseUrl, is_loopback};
pub use client::{HttpClient, HttpClientOptions};
pub use error::NetError;
pub use network::NetworkSettings;
pub use proxy::{ProxyServer, ProxySettings};
pub use redactor::Redactor;
pub use redirect::RedirectedResponse;
pub use request::HttpRequest;
pub use reqwest::Url;
pub use resolver::{ResolveFuture, Resolver, SystemResolver};
pub use response::HttpResponse;
pub use secret::Secret;
pub use tls::TlsSettings;
