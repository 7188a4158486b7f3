//! Credentials for requests to other servers.
//!
//! A [`CredentialSource`] gives the [`Credential`] for a request, and a new one when the server refuses it. A secret appears
//! in no error and no debug text, and goes over https or to this machine only. Not here: which origins a caller may send a
//! credential to (`attache-client`), what agent files say (`attache-workspace`), and reading the environment.

mod card_security;
mod clock;
mod credential;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod google;
pub mod oauth;
mod redact;
mod renewal;
mod sign_in;
mod source;

pub use card_security::{CardSecurity, KeyLocation, OAuthFlow, OAuthFlows, RequiredScheme, SecurityScheme};
pub use clock::Clock;
pub use credential::Credential;
pub use sign_in::{DeviceOffer, NoSignIn, SignIn, SignInLater, SignInMethod, SignInRequest, SignInStart};
pub use source::{CredentialError, CredentialRequest, CredentialSource, FixedCredential};
