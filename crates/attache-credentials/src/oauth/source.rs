//! Stores, refreshes and requests an agent's tokens.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use async_trait::async_trait;
use attache_net::{HttpClient, HttpClientOptions, NetError, Url};
use tokio::sync::{Mutex, OnceCell, oneshot};
use tokio::task::JoinSet;

use super::checked_plan::{FlowPlan, may_have_secret};
use super::endpoints;
use super::flow::BegunSignIn;
use super::settings::{OAuthSettings, SignInFlow};
use super::token_endpoint::{TokenEndpoint, TokenError};
use super::token_file::{TokenFile, TokenKey};
use super::token_set::TokenSet;
use crate::{
    CardSecurity, Clock, Credential, CredentialError, CredentialRequest, CredentialSource, SignIn,
    SignInRequest, SignInStart,
};

/// Gives bearer tokens of one agent.
pub struct OAuthSource {
    shared: Arc<Shared>,
    /// Held while a token is got, so that many calls wait for one sign-in and one refresh.
    state: Mutex<State>,
}

struct Shared {
    settings: OAuthSettings,
    file: TokenFile,
    sign_in: Arc<dyn SignIn>,
    net: HttpClient,
    clock: Clock,
    client_id: OnceCell<String>,
    uses_basic: Arc<AtomicBool>,
}

#[derive(Default)]
struct State {
    tokens: Option<TokenSet>,
    /// The person has signed in for them in this process.
    signed_in: bool,
    pending: Option<PendingSignIn>,
    work: Work,
}

/// Work that must finish although its caller was dropped: a refresh whose answer must be stored, a sign-in that a person is
/// asked for elsewhere. Ends with the source.
#[derive(Default)]
struct Work(JoinSet<()>);

/// A sign-in that a person was asked for elsewhere.
struct PendingSignIn {
    request: SignInRequest,
    ended: oneshot::Receiver<Result<(), CredentialError>>,
}

impl OAuthSource {
    pub fn new(
        settings: OAuthSettings,
        file: TokenFile,
        sign_in: Arc<dyn SignIn>,
        net: &HttpClientOptions,
    ) -> Result<Self, NetError> {
        Self::with_clock(settings, file, sign_in, net, Arc::new(SystemTime::now))
    }

    pub fn with_clock(
        settings: OAuthSettings,
        file: TokenFile,
        sign_in: Arc<dyn SignIn>,
        net: &HttpClientOptions,
        clock: Clock,
    ) -> Result<Self, NetError> {
        let shared = Shared {
            settings,
            file,
            sign_in,
            net: HttpClient::new(net)?,
            clock,
            client_id: OnceCell::new(),
            uses_basic: Arc::default(),
        };
        Ok(Self { shared: Arc::new(shared), state: Mutex::default() })
    }

    /// Signs in again, ignoring stored tokens. `security` is what the agent's card says.
    pub async fn sign_in(&self, security: Option<&CardSecurity>) -> Result<(), CredentialError> {
        let mut state = self.state.lock().await;
        let plan = self.shared.plan(security).await?;
        let key = self.shared.key(Some(&plan)).await?;
        if plan.flow == SignInFlow::ClientCredentials {
            state.tokens = Some(self.shared.client_credentials(&plan).await?);
            return Ok(());
        }
        self.ask_person(&mut state, &plan, &key).await.map(|_| ())
    }

    async fn tokens(
        &self,
        state: &mut State,
        request: CredentialRequest<'_>,
    ) -> Result<Option<TokenSet>, CredentialError> {
        let (shared, now) = (&self.shared, (self.shared.clock)());
        let is_refused =
            |tokens: &TokenSet| request.refused.is_some_and(|it| *it == Credential::bearer(&tokens.access));
        let is_good = |tokens: &&TokenSet| tokens.is_fresh(now) && !is_refused(tokens);
        if let Some(tokens) = state.tokens.as_ref().filter(is_good) {
            return Ok(Some(tokens.clone()));
        }
        let plan = shared.plan(request.security).await;
        if let Ok(plan) = &plan
            && plan.flow == SignInFlow::ClientCredentials
        {
            let tokens = shared.client_credentials(plan).await?;
            state.tokens = Some(tokens.clone());
            return Ok(Some(tokens).filter(|tokens| !is_refused(tokens)));
        }
        // What must not be used for a sign-in must not be used for a stored token either.
        if matches!(plan, Err(CredentialError::Target { .. })) {
            plan?;
            return Ok(None);
        }
        let mut key = shared.key(plan.as_ref().ok()).await?;
        if let Some(mut stored) = shared.file.read(&key)? {
            if stored.is_unnamed {
                shared.file.lock().await?.write(&key, &stored.tokens, now)?;
            }
            // Only the card may know its server, and the card was not read.
            if key.token_url.is_none() && !shared.may_refresh_at(&stored.token_url) {
                stored.tokens.refresh = None;
            }
            key.token_url.get_or_insert(stored.token_url);
            if let Some(tokens) = self.renewed(&mut state.work, &stored.tokens, &key, is_refused).await? {
                state.tokens = Some(tokens.clone());
                state.signed_in = false;
                return Ok(Some(tokens));
            }
        }
        // A person who has just signed in is not asked again.
        if state.signed_in && state.tokens.as_ref().is_some_and(is_refused) {
            return Ok(None);
        }
        self.ask_person(state, &plan?, &key).await.map(Some)
    }

    /// What is stored, refreshed where that is needed; `None` if it is of no use any more.
    async fn renewed(
        &self,
        work: &mut Work,
        stored: &TokenSet,
        key: &TokenKey,
        is_refused: impl Fn(&TokenSet) -> bool,
    ) -> Result<Option<TokenSet>, CredentialError> {
        let now = (self.shared.clock)();
        if stored.is_fresh(now) && !is_refused(stored) {
            return Ok(Some(stored.clone()));
        }
        let is_usable = !stored.is_expired(now) && !is_refused(stored);
        if stored.refresh.is_none() {
            return Ok(Some(stored.clone()).filter(|_| is_usable));
        }
        let (shared, stale, key) = (Arc::clone(&self.shared), stored.clone(), key.clone());
        match work.finish(async move { shared.refresh(&stale, &key).await }).await {
            Ok(tokens) => Ok(tokens.filter(|tokens| !is_refused(tokens))),
            // The server may be back before the token ends.
            Err(error) if is_usable => {
                tracing::debug!(%error, agent = self.shared.settings.agent, "a token was not refreshed");
                Ok(Some(stored.clone()))
            }
            Err(error) => Err(error),
        }
    }

    async fn ask_person(
        &self,
        state: &mut State,
        plan: &FlowPlan,
        key: &TokenKey,
    ) -> Result<TokenSet, CredentialError> {
        let shared = &self.shared;
        if let Some(refusal) = shared.sign_in.refusal(&shared.settings.agent) {
            return Err(refusal);
        }
        let mut failed = None;
        if let Some(mut pending) = state.pending.take() {
            match pending.ended.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => {
                    let required = required(&pending.request, None);
                    state.pending = Some(pending);
                    return Err(required);
                }
                Ok(Err(error)) => failed = Some(error),
                Ok(Ok(())) | Err(oneshot::error::TryRecvError::Closed) => {}
            }
        }
        let endpoint = shared.endpoint(plan.token.clone()).await?;
        let begun = BegunSignIn::begin(endpoint, plan, &shared.settings, &*shared.sign_in).await?;
        let request = begun.request.clone();
        match shared.sign_in.start(&request).await? {
            SignInStart::Wait => {
                let (shared, key) = (Arc::clone(shared), key.clone());
                let finishing = async move { shared.finish(begun, &key).await };
                let tokens = state.work.finish(finishing).await?;
                (state.tokens, state.signed_in) = (Some(tokens.clone()), true);
                Ok(tokens)
            }
            SignInStart::Later => {
                let (sender, ended) = oneshot::channel();
                let (shared, key) = (Arc::clone(shared), key.clone());
                state.work.spawn(async move {
                    let finished = shared.finish(begun, &key).await.map(|_| ());
                    // The source may be gone.
                    let _ = sender.send(finished);
                });
                let error = required(&request, failed.as_ref());
                state.pending = Some(PendingSignIn { request, ended });
                // Later calls look at what is stored by then.
                state.tokens = None;
                Err(error)
            }
        }
    }
}

impl Work {
    /// Runs `work` to its end, also if the caller stops waiting.
    async fn finish<T: Send + 'static>(
        &mut self,
        work: impl Future<Output = Result<T, CredentialError>> + Send + 'static,
    ) -> Result<T, CredentialError> {
        let (sender, receiver) = oneshot::channel();
        self.spawn(async move {
            let _ = sender.send(work.await);
        });
        receiver.await.unwrap_or(Err(CredentialError::Cancelled))
    }

    fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        while self.0.try_join_next().is_some() {}
        self.0.spawn(work);
    }
}

fn required(request: &SignInRequest, failed: Option<&CredentialError>) -> CredentialError {
    let instruction = request.instruction();
    let what = match failed {
        Some(error) => format!("{instruction} (before: {error})"),
        None => instruction,
    };
    CredentialError::SignInRequired { what, url: Some(request.method.url().to_owned()) }
}

impl Shared {
    async fn plan(&self, security: Option<&CardSecurity>) -> Result<FlowPlan, CredentialError> {
        endpoints::plan(&self.settings, security, self.sign_in.uses_device(), &self.net).await
    }

    async fn client_id(&self) -> Result<&str, CredentialError> {
        let agent = &self.settings.agent;
        let get = || async {
            let value = self.settings.client_id.as_ref().ok_or_else(|| {
                CredentialError::unavailable(format!(
                    "{agent}: auth.client_id is missing; the authorization server gives one"
                ))
            })?;
            let found = value.get().await;
            let found = found
                .map_err(|what| CredentialError::unavailable(format!("{agent}: auth.client_id: {what}")))?;
            Ok::<_, CredentialError>(found.expose().to_owned())
        };
        self.client_id.get_or_try_init(get).await.map(String::as_str)
    }

    /// Whether a refresh token, with the secret of the client, may go to an address that only a stored token names.
    fn may_refresh_at(&self, token_url: &str) -> bool {
        self.settings.client_secret.is_none()
            || Url::parse(token_url).is_ok_and(|url| may_have_secret(&self.settings, &url))
    }

    async fn key(&self, plan: Option<&FlowPlan>) -> Result<TokenKey, CredentialError> {
        Ok(TokenKey {
            agent: self.settings.agent.clone(),
            token_url: plan.map(|plan| plan.token.to_string()),
            takes_unnamed: self.settings.is_users_own && plan.is_some_and(|plan| !plan.is_elsewhere),
            client_id: self.client_id().await?.to_owned(),
            agent_origin: self.settings.agent_url.as_ref().map(|url| url.origin().ascii_serialization()),
        })
    }

    async fn endpoint(&self, url: Url) -> Result<TokenEndpoint, CredentialError> {
        Ok(TokenEndpoint {
            agent: self.settings.agent.clone(),
            net: self.net.clone(),
            url,
            client_id: self.client_id().await?.to_owned(),
            client_secret: self.settings.client_secret.clone(),
            clock: self.clock.clone(),
            uses_basic: Arc::clone(&self.uses_basic),
        })
    }

    async fn client_credentials(&self, plan: &FlowPlan) -> Result<TokenSet, CredentialError> {
        let endpoint = self.endpoint(plan.token.clone()).await?;
        let scope = plan.scopes.join(" ");
        let mut fields = vec![("grant_type", "client_credentials")];
        if !scope.is_empty() {
            fields.push(("scope", &scope));
        }
        Ok(endpoint.grant(&fields).await?)
    }

    /// Gets the tokens of a sign-in, and stores them.
    async fn finish(&self, begun: BegunSignIn, key: &TokenKey) -> Result<TokenSet, CredentialError> {
        let tokens = begun.finish().await?;
        self.file.lock().await?.write(key, &tokens, (self.clock)())?;
        Ok(tokens)
    }

    /// New tokens for stale ones; `None` if the server refuses to refresh them. What another process has refreshed
    /// meanwhile is taken, for its refresh token is the only one that counts.
    async fn refresh(&self, stale: &TokenSet, key: &TokenKey) -> Result<Option<TokenSet>, CredentialError> {
        let locked = self.file.lock().await?;
        let Some(stored) = self.file.read(key)? else { return Ok(None) };
        let (current, token_url) = (stored.tokens, stored.token_url);
        if current.access != stale.access && current.is_fresh((self.clock)()) {
            return Ok(Some(current));
        }
        let Some(refresh) = &current.refresh else { return Ok(None) };
        let url = Url::parse(key.token_url.as_deref().unwrap_or(&token_url)).map_err(|_| {
            CredentialError::unavailable(format!("{}: its stored token has no token endpoint", key.agent))
        })?;
        match self.endpoint(url).await?.refresh(&current, refresh).await {
            Ok(tokens) => {
                locked.write(key, &tokens, (self.clock)())?;
                Ok(Some(tokens))
            }
            Err(TokenError::Refused { code, what }) if is_final(&code) => {
                tracing::debug!(what, "a refresh token was refused");
                locked.remove(key)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The refresh token will not be accepted any more.
fn is_final(code: &str) -> bool {
    matches!(code, "invalid_grant" | "invalid_token" | "unauthorized_client" | "unsupported_grant_type")
}

#[async_trait]
impl CredentialSource for OAuthSource {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Credential>, CredentialError> {
        let mut state = self.state.lock().await;
        let tokens = self.tokens(&mut state, request).await?;
        Ok(tokens.map(|tokens| Credential::bearer(&tokens.access)))
    }
}

impl fmt::Debug for OAuthSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OAuthSource")
            .field("agent", &self.shared.settings.agent)
            .finish_non_exhaustive()
    }
}
