//! A sign-in in progress.

use attache_net::{Secret, Url};

use super::callback::Callback;
use super::checked_plan::{ExpectedIssuer, FlowPlan, origin};
use super::device::DeviceSignIn;
use super::pkce::Proof;
use super::settings::{OAuthSettings, SignInFlow};
use super::token_endpoint::TokenEndpoint;
use super::token_set::TokenSet;
use crate::{CredentialError, DeviceOffer, SignIn, SignInMethod, SignInRequest};

pub(super) struct BegunSignIn {
    pub(super) request: SignInRequest,
    wait: Wait,
}

enum Wait {
    Browser { endpoint: TokenEndpoint, callback: Callback, proof: Proof, issuer: Option<ExpectedIssuer> },
    Device(DeviceSignIn),
}

impl BegunSignIn {
    /// Sends nothing before the person has agreed.
    pub(super) async fn begin(
        endpoint: TokenEndpoint,
        plan: &FlowPlan,
        settings: &OAuthSettings,
        sign_in: &dyn SignIn,
    ) -> Result<Self, CredentialError> {
        let agent = endpoint.agent.clone();
        let token_origin = origin(&plan.token);
        let (method, wait) = if plan.flow == SignInFlow::DeviceCode {
            sign_in.agree(&offer(&agent, plan)).await?;
            let device = DeviceSignIn::begin(endpoint, plan).await?;
            let (url, complete_url) = (device.url.clone(), device.complete_url.clone());
            (SignInMethod::Device { url, complete_url, code: device.user_code.clone() }, Wait::Device(device))
        } else {
            let callback = Callback::bind(settings.callback_port, settings.redirect_uri.as_ref()).await?;
            let proof = Proof::new()?;
            let page = plan.authorization.as_ref().ok_or(CredentialError::Cancelled)?;
            let redirect_uri = callback.redirect_uri();
            let url = authorization_url(page, &endpoint.client_id, &redirect_uri, &plan.scopes, &proof);
            (
                SignInMethod::Browser { url: url.into() },
                Wait::Browser { endpoint, callback, proof, issuer: plan.issuer.clone() },
            )
        };
        let is_named_by_card = plan.is_named_by_card;
        Ok(Self { request: SignInRequest { agent, method, token_origin, is_named_by_card }, wait })
    }

    /// Waits for the person, and gets the tokens.
    pub(super) async fn finish(self) -> Result<TokenSet, CredentialError> {
        match self.wait {
            Wait::Device(device) => device.finish().await,
            Wait::Browser { endpoint, callback, proof, issuer } => {
                let redirect_uri = callback.redirect_uri();
                let code = callback.code(&proof.state, issuer).await.map_err(|error| match error {
                    CredentialError::Unavailable { what } => {
                        CredentialError::unavailable(format!("{}: {what}", endpoint.agent))
                    }
                    other => other,
                })?;
                exchange(&endpoint, &code, &redirect_uri, &proof.verifier).await
            }
        }
    }
}

fn offer(agent: &str, plan: &FlowPlan) -> DeviceOffer {
    let token_origin = origin(&plan.token);
    DeviceOffer {
        agent: agent.to_owned(),
        origin: plan.authorization.as_ref().map_or_else(|| token_origin.clone(), origin),
        token_origin,
        is_named_by_card: plan.is_named_by_card,
        is_elsewhere: plan.is_elsewhere,
    }
}

fn authorization_url(
    page: &Url,
    client_id: &str,
    redirect_uri: &str,
    scopes: &[String],
    proof: &Proof,
) -> Url {
    let mut url = page.clone();
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("state", &proof.state)
            .append_pair("code_challenge", &proof.challenge)
            .append_pair("code_challenge_method", "S256");
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.join(" "));
        }
        // Without it, some servers give no refresh token.
        if scopes.iter().any(|scope| scope == "offline_access") {
            query.append_pair("prompt", "consent");
        }
    }
    url
}

async fn exchange(
    endpoint: &TokenEndpoint,
    code: &Secret,
    redirect_uri: &str,
    verifier: &Secret,
) -> Result<TokenSet, CredentialError> {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.expose()),
        ("redirect_uri", redirect_uri),
        ("code_verifier", verifier.expose()),
    ];
    Ok(endpoint.grant(&fields).await?)
}
