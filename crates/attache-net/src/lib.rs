//! The one outbound HTTP client.
//!
//! Everything attache dials out for goes through [`Client`]: one TLS stack, no redirects but those that are followed
//! step by step ([`Client::follow`]), and a bound on every wait and every size. Where addresses come from outside,
//! [`AddressRules`] keep it to public ones. What is secret is a [`Secret`], which shows itself in no error, log or
//! debug text, and a [`BaseUrl`] keeps it at the one place it is meant for.
//!
//! Not here: what is sent and what an answer means.

mod address_rules;
mod base_url;
mod client;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod redirect;
mod request;
mod resolver;
mod response;
mod secret;

pub use address_rules::AddressRules;
pub use base_url::BaseUrl;
pub use client::{HttpClient, HttpClientOptions, Proxy};
pub use error::NetError;
pub use redirect::RedirectedResponse;
pub use request::HttpRequest;
pub use reqwest::Url;
pub use resolver::{ResolveFuture, Resolver, SystemResolver};
pub use response::HttpResponse;
pub use secret::Secret;
