//! OAuth 2.0: tokens that a person signs in for, or that a program gets for itself.
//!
//! Authorization code with PKCE, device code and client credentials. Tokens are kept in a file, refreshed five minutes
//! before they end, and a refresh token that is replaced is stored before the new access token is used. Processes that
//! share the file take turns.

mod callback;
mod checked_plan;
mod device;
mod endpoints;
mod flow;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod pkce;
mod settings;
mod source;
mod token_endpoint;
mod token_file;
mod token_set;

pub use callback::RedirectUri;
pub use settings::{OAuthSettings, SecretValue, SignInFlow};
pub use source::OAuthSource;
pub use token_file::TokenFile;
