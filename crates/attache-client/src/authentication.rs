//! The credential of one request, and another one when it is refused.

use attache_credentials::{CardSecurity, Credential, CredentialRequest, CredentialSource};
use attache_net::{HttpRequest, Url, is_loopback};

use crate::ClientError;
use crate::sent_secrets::SentSecrets;

/// How often a request is sent again with a new credential.
const MAX_RENEWALS: u32 = 2;

pub(crate) struct Authentication<'a> {
    /// None: the request goes without a credential.
    purpose: Option<Purpose<'a>>,
    current: Option<Credential>,
    renewals: u32,
}

/// The source of the credential, and what it is for.
struct Purpose<'a> {
    source: &'a dyn CredentialSource,
    secrets: &'a SentSecrets,
    target: &'a Url,
    security: Option<&'a CardSecurity>,
}

/// Fails where a credential would travel in the clear, before anyone is asked for it.
pub(crate) fn check_may_hold_credential(target: &Url) -> Result<(), ClientError> {
    if target.scheme() == "https" || is_loopback(target) {
        return Ok(());
    }
    let what = "a credential goes over https only, or to this machine; nothing was sent".into();
    Err(ClientError::Address { what })
}

impl<'a> Authentication<'a> {
    pub(crate) fn none() -> Self {
        Self { purpose: None, current: None, renewals: 0 }
    }

    pub(crate) async fn new(
        source: &'a dyn CredentialSource,
        secrets: &'a SentSecrets,
        target: &'a Url,
        security: Option<&'a CardSecurity>,
    ) -> Result<Self, ClientError> {
        check_may_hold_credential(target)?;
        let mut authentication =
            Self { purpose: Some(Purpose { source, secrets, target, security }), ..Self::none() };
        authentication.current = authentication.ask(None).await?;
        Ok(authentication)
    }

    pub(crate) fn add_to(&self, request: HttpRequest) -> Result<HttpRequest, ClientError> {
        match &self.current {
            Some(credential) => Ok(credential.add_to(request)?),
            None => Ok(request),
        }
    }

    /// Takes another credential after a refusal; false if there is none to try.
    pub(crate) async fn renew(&mut self) -> Result<bool, ClientError> {
        if self.renewals >= MAX_RENEWALS || self.current.is_none() {
            return Ok(false);
        }
        self.renewals += 1;
        let next = self.ask(self.current.as_ref()).await?;
        // The same one would be refused again.
        let is_new = next.is_some() && next != self.current;
        if is_new {
            self.current = next;
        }
        Ok(is_new)
    }

    async fn ask(&self, refused: Option<&Credential>) -> Result<Option<Credential>, ClientError> {
        let Some(Purpose { source, secrets, target, security }) = &self.purpose else { return Ok(None) };
        let found = source.credential(CredentialRequest { target, refused, security: *security }).await?;
        found.iter().for_each(|credential| secrets.note(credential));
        Ok(found)
    }
}
