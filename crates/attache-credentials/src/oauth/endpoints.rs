//! Chooses the endpoints of an authorization server.
//!
//! The configuration counts first. What it leaves open is taken from the document of its `issuer`, from the agent's card, or
//! from the document that the card names. [`checked_plan`] decides which of these addresses may be used together.

use attache_net::{HttpClient, HttpRequest, Url};
use serde_json::Value;

use super::checked_plan::{Address, DraftPlan, ExpectedIssuer, FlowPlan, NamedBy, checked, checked_url};
use super::settings::{OAuthSettings, SignInFlow};
use crate::{CardSecurity, CredentialError, OAuthFlow, OAuthFlows, SecurityScheme};

const MAX_DOCUMENT_BYTES: usize = 256 << 10;

pub(super) async fn plan(
    settings: &OAuthSettings,
    security: Option<&CardSecurity>,
    uses_device: bool,
    net: &HttpClient,
) -> Result<FlowPlan, CredentialError> {
    let known = KnownEndpoints::new(settings, security);
    let document = match known.choose(uses_device, None) {
        Some(plan) => return checked(plan, settings),
        None => known.document(net).await?,
    };
    match known.choose(uses_device, document.as_ref()) {
        Some(plan) => checked(plan, settings),
        None => Err(known.nothing(uses_device)),
    }
}

/// What the configuration and the card say.
struct KnownEndpoints<'a> {
    settings: &'a OAuthSettings,
    flows: Option<&'a OAuthFlows>,
    /// Scopes that the card asks for.
    required_scopes: &'a [String],
    open_id: Option<&'a str>,
    has_card: bool,
}

impl<'a> KnownEndpoints<'a> {
    fn new(settings: &'a OAuthSettings, security: Option<&'a CardSecurity>) -> Self {
        let schemes = || security.into_iter().flat_map(CardSecurity::by_preference);
        let flows = schemes().find_map(|scheme| match scheme {
            SecurityScheme::OAuth2(flows) => Some(&**flows),
            _ => None,
        });
        let open_id = schemes().find_map(|scheme| match scheme {
            SecurityScheme::OpenIdConnect { url } => Some(url.as_str()),
            _ => None,
        });
        let is_ours = |scheme: Option<&SecurityScheme>| {
            matches!(scheme, Some(SecurityScheme::OAuth2(_) | SecurityScheme::OpenIdConnect { .. }))
        };
        let required = security.into_iter().flat_map(|security| {
            let required = security.requirements.iter().flatten();
            required.filter(move |required| is_ours(security.scheme(&required.name)))
        });
        let required_scopes = required.map(|required| required.scopes.as_slice()).next().unwrap_or_default();
        Self { settings, flows, required_scopes, open_id, has_card: security.is_some() }
    }

    fn choose(&self, uses_device: bool, document: Option<&Document>) -> Option<DraftPlan> {
        use SignInFlow::{AuthorizationCode, ClientCredentials, DeviceCode};
        let order = match self.settings.flow {
            Some(flow) => vec![flow],
            None if uses_device => vec![DeviceCode],
            None => vec![AuthorizationCode, DeviceCode, ClientCredentials],
        };
        order.into_iter().find_map(|flow| self.draft(flow, document))
    }

    fn draft(&self, flow: SignInFlow, document: Option<&Document>) -> Option<DraftPlan> {
        let own = |text: &Option<String>| text.clone().map(|text| Address { text, by: NamedBy::File });
        let (settings, flows) = (self.settings, self.flows);
        let found = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (of_card, authorization, described) = match flow {
            SignInFlow::AuthorizationCode => (
                flows.and_then(|flows| flows.authorization_code.as_ref()),
                own(&settings.authorization_url),
                document.and_then(|document| document.address("authorization_endpoint")),
            ),
            SignInFlow::DeviceCode => (
                flows.and_then(|flows| flows.device_code.as_ref()),
                own(&settings.device_authorization_url),
                document.and_then(|document| document.address("device_authorization_endpoint")),
            ),
            SignInFlow::ClientCredentials => {
                (flows.and_then(|flows| flows.client_credentials.as_ref()), None, None)
            }
        };
        let of_flow = |text: fn(&OAuthFlow) -> &String| {
            // The issuer says what its addresses are.
            let text = found(text(of_card.filter(|_| settings.issuer.is_none())?))?;
            Some(Address { text, by: NamedBy::Card })
        };
        let token = own(&settings.token_url)
            .or_else(|| of_flow(|flow| &flow.token_url))
            .or_else(|| document.and_then(|document| document.address("token_endpoint")))?;
        let authorization = authorization.or_else(|| of_flow(|flow| &flow.authorization_url)).or(described);
        let authorization = authorization.filter(|_| flow != SignInFlow::ClientCredentials);
        let is_possible = match flow {
            SignInFlow::AuthorizationCode | SignInFlow::DeviceCode => authorization.is_some(),
            // Without a secret, a program proves nothing.
            SignInFlow::ClientCredentials => {
                let offered = of_card.is_some() || settings.flow == Some(flow) || flows.is_none();
                settings.client_secret.is_some() && offered
            }
        };
        let of_flow = of_card.map(|flow| flow.scopes.as_slice()).unwrap_or_default();
        // A person signs in to the same, with or without a browser.
        let with_browser = flows.and_then(|flows| flows.authorization_code.as_ref());
        let with_browser = with_browser.filter(|_| flow == SignInFlow::DeviceCode);
        let with_browser = with_browser.map(|flow| flow.scopes.as_slice()).unwrap_or_default();
        let scopes = [settings.scopes.as_slice(), self.required_scopes, of_flow, with_browser];
        let scopes = scopes.into_iter().find(|scopes| !scopes.is_empty()).unwrap_or_default().to_vec();
        let issuer = document.and_then(Document::issuer).or_else(|| {
            let text = settings.issuer.clone()?;
            Some(ExpectedIssuer { text, is_always_sent: false })
        });
        is_possible.then_some(DraftPlan { flow, authorization, token, scopes, issuer })
    }

    /// What the server says about itself, if it is known where.
    async fn document(&self, net: &HttpClient) -> Result<Option<Document>, CredentialError> {
        if let Some(issuer) = &self.settings.issuer {
            return Document::of_issuer(issuer, self.settings, net).await.map(Some);
        }
        let named = self.flows.and_then(|flows| flows.metadata_url.as_deref()).or(self.open_id);
        let Some(text) = named.filter(|text| !text.is_empty()) else { return Ok(None) };
        let url = checked_url(&Address { text: text.to_owned(), by: NamedBy::Card }, self.settings)?;
        Document::fetch(&url, self.settings, net).await.map(Some)
    }

    fn nothing(&self, uses_device: bool) -> CredentialError {
        let agent = &self.settings.agent;
        let own = match self.settings.flow {
            Some(SignInFlow::DeviceCode) => "device_authorization_url and token_url",
            Some(SignInFlow::ClientCredentials) => "client_secret and token_url",
            None if uses_device => "device_authorization_url and token_url",
            Some(SignInFlow::AuthorizationCode) | None => "authorization_url and token_url",
        };
        let card = match (self.has_card, self.flows) {
            (false, _) => "its card is shown to known callers only",
            (true, None) => "its card has no oauth2 scheme",
            (true, Some(_)) => "the oauth2 scheme of its card does not name them",
        };
        CredentialError::unavailable(format!("{agent}: add {own} to its auth: {card}"))
    }
}

/// The metadata of a server (RFC 8414, OpenID Connect Discovery).
struct Document {
    value: Value,
    /// Who named the addresses in it.
    by: NamedBy,
}

impl Document {
    fn address(&self, name: &str) -> Option<Address> {
        let text = self.value.get(name)?.as_str().filter(|text| !text.is_empty())?.to_owned();
        Some(Address { text, by: self.by.clone() })
    }

    fn issuer(&self) -> Option<ExpectedIssuer> {
        let text = self.value.get("issuer")?.as_str().filter(|text| !text.is_empty())?.to_owned();
        let sent = &self.value["authorization_response_iss_parameter_supported"];
        Some(ExpectedIssuer { text, is_always_sent: *sent == Value::Bool(true) })
    }

    async fn of_issuer(
        issuer: &str,
        settings: &OAuthSettings,
        net: &HttpClient,
    ) -> Result<Self, CredentialError> {
        let address = Address { text: issuer.to_owned(), by: NamedBy::File };
        let base = checked_url(&address, settings)?;
        let path = base.path().trim_end_matches('/').to_owned();
        let mut last = None;
        for path in [
            format!("{path}/.well-known/openid-configuration"),
            format!("/.well-known/oauth-authorization-server{path}"),
        ] {
            let mut url = base.clone();
            url.set_path(&path);
            match Self::fetch(&url, settings, net).await {
                Ok(document) if document.issuer().is_some_and(|named| named.is(issuer)) => {
                    return Ok(Self { by: NamedBy::File, ..document });
                }
                Ok(_) => {
                    let what = format!("{}: the server at {issuer} names another issuer", settings.agent);
                    return Err(CredentialError::Target { what });
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or(CredentialError::Cancelled))
    }

    async fn fetch(url: &Url, settings: &OAuthSettings, net: &HttpClient) -> Result<Self, CredentialError> {
        let request = HttpRequest::get(url.clone()).header("accept", "application/json")?;
        let end = net.get_with_redirects(request, |from, to| from.origin() == to.origin()).await?;
        let status = end.response.status();
        let failed = |what: String| CredentialError::unavailable(format!("{}: {url} {what}", settings.agent));
        if status != 200 {
            return Err(failed(format!("answers {status}, and should describe an authorization server")));
        }
        let body = end.response.read(MAX_DOCUMENT_BYTES).await?;
        match serde_json::from_slice(&body) {
            Ok(value @ Value::Object(_)) => {
                Ok(Self { value, by: NamedBy::Document(url.origin().ascii_serialization()) })
            }
            _ => Err(failed("is no description of an authorization server".to_owned())),
        }
    }
}

#[cfg(test)]
#[path = "endpoints_tests.rs"]
mod tests;
