//! Where credentials come from.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use attache_net::{NetError, Secret, Url};

use crate::{CardSecurity, Credential};

/// Gives the credential for requests, and a new one when it is refused. Keeps what it has got, so asking is cheap.
#[async_trait]
pub trait CredentialSource: Send + Sync + Debug {
    /// The credential for a request. `None`: the request goes without one; after a refusal, that there is nothing else to
    /// try.
    async fn credential(&self, request: CredentialRequest<'_>)
    -> Result<Option<Credential>, CredentialError>;
}

/// What a credential is for.
#[derive(Debug, Clone, Copy)]
pub struct CredentialRequest<'a> {
    /// Where the request goes.
    pub target: &'a Url,
    /// The credential that was just refused there with 401 or 403: it is not given again.
    pub refused: Option<&'a Credential>,
    /// What the agent's card says about authentication, once it is known.
    pub security: Option<&'a CardSecurity>,
}

/// Why there is no credential. No variant holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// It cannot be got; the text says why and what would help.
    #[error("{what}")]
    Unavailable { what: String },
    /// Such a credential does not go to that address.
    #[error("{what}")]
    Target { what: String },
    /// A person has to sign in first.
    #[error("{what}")]
    SignInRequired {
        what: String,
        /// Where to sign in, if that can be done right now.
        url: Option<String>,
    },
    /// The person did not want to sign in.
    #[error("the sign-in was cancelled")]
    Cancelled,
    #[error(transparent)]
    Net(#[from] NetError),
}

impl CredentialError {
    pub fn unavailable(what: impl Into<String>) -> Self {
        Self::Unavailable { what: what.into() }
    }
}

/// Always the same credential.
#[derive(Debug, Clone)]
pub struct FixedCredential(pub Credential);

impl FixedCredential {
    pub fn bearer(token: &Secret) -> Arc<dyn CredentialSource> {
        Arc::new(Self(Credential::bearer(token)))
    }
}

#[async_trait]
impl CredentialSource for FixedCredential {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Credential>, CredentialError> {
        Ok(Some(&self.0).filter(|credential| request.refused != Some(*credential)).cloned())
    }
}
