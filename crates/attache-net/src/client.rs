//! Sends requests.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HOST, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use tokio::time::timeout;

use crate::address_rules::without_brackets;
use crate::base_url::is_loopback;
use crate::resolver::GuardedResolver;
use crate::{AddressRules, HttpRequest, HttpResponse, NetError, Resolver, SystemResolver};

#[derive(Debug, Clone)]
pub struct HttpClientOptions {
    pub user_agent: String,
    /// Covers name resolution, connection and TLS.
    pub connect_timeout: Duration,
    /// The longest silence before the head of a response, and between two pieces of its body.
    pub idle_timeout: Duration,
    pub proxy: Proxy,
    /// Where requests may go. Restrictive rules bypass the proxy: it would resolve names by itself, so its targets
    /// could not be checked.
    pub addresses: AddressRules,
    pub resolver: Arc<dyn Resolver>,
}

/// Whether to use a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proxy {
    /// The proxy of the environment or the system; never for this machine.
    System,
    Never,
}

impl Default for HttpClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("attache/", env!("CARGO_PKG_VERSION")).into(),
            connect_timeout: Duration::from_secs(15),
            // A model may think for minutes before its first token.
            idle_timeout: Duration::from_secs(300),
            proxy: Proxy::System,
            addresses: AddressRules::any(),
            resolver: Arc::new(SystemResolver),
        }
    }
}

/// Cheap to clone; clones share their connections.
///
/// Loads the system's certificates at the first request, so a program that sends none does not pay for them.
#[derive(Clone)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

struct Shared {
    options: HttpClientOptions,
    /// Uses the system's proxy.
    proxied: OnceLock<reqwest::Client>,
    /// Connects directly: for this machine, and where no proxy is allowed.
    direct: OnceLock<reqwest::Client>,
    /// Speaks HTTP/2 without TLS, for gRPC. Connects directly: an HTTP proxy forwards no such connection.
    plain_http2: OnceLock<reqwest::Client>,
}

/// Detects a dead connection long before the idle timeout.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);

impl HttpClient {
    pub fn new(options: &HttpClientOptions) -> Result<Self, NetError> {
        let shared = Shared {
            options: options.clone(),
            proxied: OnceLock::new(),
            direct: OnceLock::new(),
            plain_http2: OnceLock::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The client for `url`.
    fn client_for(&self, url: &Url, expects_http2: bool) -> Result<&reqwest::Client, NetError> {
        let Shared { options, proxied, direct, plain_http2 } = self.shared.as_ref();
        let is_plain_http2 = expects_http2 && url.scheme() == "http";
        let by_proxy = !is_plain_http2
            && options.proxy == Proxy::System
            && !options.addresses.is_restrictive()
            && !is_loopback(url);
        let made = match (is_plain_http2, by_proxy) {
            (true, _) => plain_http2,
            (false, true) => proxied,
            (false, false) => direct,
        };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let builder = Self::builder(options);
        let builder = if by_proxy { builder } else { builder.no_proxy() };
        let builder = if is_plain_http2 { builder.http2_prior_knowledge() } else { builder };
        let client = builder.build().map_err(NetError::of)?;
        Ok(made.get_or_init(|| client))
    }

    fn builder(options: &HttpClientOptions) -> reqwest::ClientBuilder {
        let (resolver, rules) = (options.resolver.clone(), options.addresses.clone());
        reqwest::Client::builder()
            .dns_resolver(GuardedResolver { resolver, rules })
            .user_agent(&options.user_agent)
            .connect_timeout(options.connect_timeout)
            // A redirect would take credentials and prompts to another place.
            .redirect(Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .tcp_keepalive(KEEP_ALIVE_INTERVAL)
            .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
    }

    /// The longest silence of a server.
    pub fn idle_timeout(&self) -> Duration {
        self.shared.options.idle_timeout
    }

    /// Whether `url` may be dialled, without resolving its name. Names are checked when their addresses are known.
    pub fn check_url(&self, url: &Url) -> Result<(), NetError> {
        let host = url.host_str().unwrap_or_default();
        match without_brackets(host).parse::<IpAddr>() {
            Ok(address) => self.shared.options.addresses.check(host, address),
            Err(_) => Ok(()),
        }
    }

    /// Replaces an address in the URL by the one that the resolver dials.
    fn apply_dial_address(&self, url: &mut Url, headers: &mut HeaderMap) {
        let Ok(address) = without_brackets(url.host_str().unwrap_or_default()).parse::<IpAddr>() else {
            return;
        };
        let dialled = self.shared.options.resolver.dial_address(address);
        let host = url.host_str().unwrap_or_default().to_owned();
        let asked = url.port().map_or(host.clone(), |port| format!("{host}:{port}"));
        if dialled != address
            && url.set_ip_host(dialled).is_ok()
            && let Ok(host) = HeaderValue::from_str(&asked)
        {
            headers.entry(HOST).or_insert(host);
        }
    }

    /// The current addresses of `url`, if all of them are allowed.
    ///
    /// Requests resolve and check the name again.
    pub async fn resolve_addresses(&self, url: &Url) -> Result<Vec<IpAddr>, NetError> {
        let Shared { options, .. } = self.shared.as_ref();
        let host = url.host_str().unwrap_or_default();
        if let Ok(address) = without_brackets(host).parse::<IpAddr>() {
            return options.addresses.check(host, address).map(|()| vec![address]);
        }
        let guarded =
            GuardedResolver { resolver: options.resolver.clone(), rules: options.addresses.clone() };
        let found = timeout(options.connect_timeout, guarded.allowed_addresses(host)).await;
        found.map_err(|_| NetError::IdleTimeout { after: options.connect_timeout })?
    }

    /// Sends a request and waits for the head of the response, whatever its status.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, NetError> {
        // For an address in a URL the resolver is not asked.
        self.check_url(&request.url)?;
        let HttpRequest { method, mut url, mut headers, body, expects_http2 } = request;
        self.apply_dial_address(&mut url, &mut headers);
        let idle_timeout = self.shared.options.idle_timeout;
        let client = self.client_for(&url, expects_http2)?;
        let sending = client.request(method, url).headers(headers).body(body).send();
        match timeout(idle_timeout, sending).await {
            Ok(Ok(response)) => Ok(HttpResponse::new(response, idle_timeout)),
            Ok(Err(error)) => Err(NetError::of(error)),
            Err(_) => Err(NetError::IdleTimeout { after: idle_timeout }),
        }
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Hides the contents: a proxy may have a password.
        let idle_timeout = &self.shared.options.idle_timeout;
        formatter.debug_struct("Client").field("idle_timeout", idle_timeout).finish_non_exhaustive()
    }
}
