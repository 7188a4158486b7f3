//! The one outbound HTTP client.
//!
//! Everything attache dials out for goes through [`Client`]: one TLS stack, no redirects but those that are followed
//! step by step ([`Client::follow`]), and a bound on every wait and every size. Where addresses come from outside,
//! [`AddressRules`] keep it to public ones. What is secret is a [`Secret`], which shows itself in no error, log or
//! debug text, and a [`BaseUrl`] keeps it at the one place it is meant for.
//!
//! Not here: what is sent and what an answer means.

mod addresses;
mod answer;
mod base_url;
mod client;
mod error;
mod follow;
pub mod fuzz;
mod request;
mod resolver;
mod secret;

pub use addresses::AddressRules;
pub use answer::Answer;
pub use base_url::BaseUrl;
pub use client::{Client, ClientOptions, Proxy};
pub use error::NetError;
pub use follow::Followed;
pub use request::Request;
pub use reqwest::Url;
pub use resolver::{Resolver, Resolving, SystemResolver};
pub use secret::Secret;
