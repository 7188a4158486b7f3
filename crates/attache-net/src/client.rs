//! Sends requests.

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HOST, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use tokio::time::timeout;

use crate::address_rules::without_brackets;
use crate::resolver::GuardedResolver;
use crate::tunnel::TunnelClient;
use crate::{
    AddressRules, HttpRequest, HttpResponse, NetError, ProxyServer, ProxySettings, Resolver, SystemResolver,
    TlsSettings,
};

/// The user agent of every request.
pub(crate) const NAME: &str = concat!("attache/", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone)]
pub struct HttpClientOptions {
    /// Covers name resolution, connection and TLS.
    pub connect_timeout: Duration,
    /// The longest silence before the head of a response, and between two pieces of its body.
    pub idle_timeout: Duration,
    pub proxy: ProxySettings,
    pub tls: TlsSettings,
    /// Where requests may go. A proxy is asked only for hosts whose addresses, as they are known here, may be dialled.
    pub addresses: AddressRules,
    pub resolver: Arc<dyn Resolver>,
}

impl Default for HttpClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(15),
            // A model may think for minutes before its first token.
            idle_timeout: Duration::from_secs(300),
            proxy: ProxySettings::none(),
            tls: TlsSettings::default(),
            addresses: AddressRules::any(),
            resolver: Arc::new(SystemResolver),
        }
    }
}

type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, NetError>> + Send + 'a>>;

/// Cheap to clone; clones share their connections.
///
/// Loads the system's certificates at the first request, so a program that sends none does not pay for them.
#[derive(Clone)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

struct Shared {
    options: HttpClientOptions,
    direct: OnceLock<reqwest::Client>,
    /// Through the proxy for http, and the one for https.
    http_proxied: OnceLock<reqwest::Client>,
    https_proxied: OnceLock<reqwest::Client>,
    /// Speak HTTP/2 without TLS, for gRPC: directly, through a SOCKS proxy, and through an HTTP proxy.
    plain_http2: OnceLock<reqwest::Client>,
    plain_http2_proxied: OnceLock<reqwest::Client>,
    plain_http2_tunnelled: OnceLock<TunnelClient>,
}

/// Detects a dead connection long before the idle timeout.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);

impl HttpClient {
    pub fn new(options: &HttpClientOptions) -> Result<Self, NetError> {
        let shared = Shared {
            options: options.clone(),
            direct: OnceLock::new(),
            http_proxied: OnceLock::new(),
            https_proxied: OnceLock::new(),
            plain_http2: OnceLock::new(),
            plain_http2_proxied: OnceLock::new(),
            plain_http2_tunnelled: OnceLock::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The client for `url`, which goes through `proxy`.
    fn client_for(
        &self,
        url: &Url,
        is_plain_http2: bool,
        proxy: Option<&ProxyServer>,
    ) -> Result<&reqwest::Client, NetError> {
        let shared = self.shared.as_ref();
        let made = match (proxy.is_some(), is_plain_http2, url.scheme()) {
            (false, false, _) => &shared.direct,
            (false, true, _) => &shared.plain_http2,
            (true, true, _) => &shared.plain_http2_proxied,
            (true, false, "http") => &shared.http_proxied,
            (true, false, _) => &shared.https_proxied,
        };
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let builder = Self::builder(&shared.options, proxy.is_some());
        let builder = match proxy {
            Some(proxy) => builder.proxy(proxy.to_reqwest()?),
            None => builder.no_proxy(),
        };
        let builder = if is_plain_http2 { builder.http2_prior_knowledge() } else { builder };
        let client = shared.options.tls.apply(builder)?.build().map_err(NetError::of)?;
        Ok(made.get_or_init(|| client))
    }

    fn tunnel_client(&self, proxy: &ProxyServer) -> Result<&TunnelClient, NetError> {
        if proxy.is_https() {
            let what =
                format!("gRPC without TLS cannot go through {proxy}; use a proxy with http: or socks5:");
            return Err(NetError::Proxy { what });
        }
        let Shared { options, plain_http2_tunnelled, .. } = self.shared.as_ref();
        Ok(plain_http2_tunnelled.get_or_init(|| TunnelClient::new(proxy, options, KEEP_ALIVE_INTERVAL)))
    }

    fn builder(options: &HttpClientOptions, by_proxy: bool) -> reqwest::ClientBuilder {
        // Only the proxy itself is dialled then. The operator named it, so it may be anywhere.
        let rules = if by_proxy { AddressRules::any() } else { options.addresses.clone() };
        let resolver = options.resolver.clone();
        reqwest::Client::builder()
            .dns_resolver(GuardedResolver { resolver, rules })
            .user_agent(NAME)
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
    ///
    /// The future is boxed here, so that the HTTP stack below it is compiled once and not in every crate that awaits it.
    pub fn send(&self, request: HttpRequest) -> SendFuture<'_> {
        Box::pin(self.send_checked(request))
    }

    async fn send_checked(&self, request: HttpRequest) -> Result<HttpResponse, NetError> {
        // For an address in a URL the resolver is not asked.
        self.check_url(&request.url)?;
        let Shared { options, .. } = self.shared.as_ref();
        let idle_timeout = options.idle_timeout;
        let sending = async {
            match options.proxy.server_for(&request.url) {
                Some(proxy) => self.send_through(proxy, request).await,
                None => self.send_directly(request).await,
            }
        };
        match timeout(idle_timeout, sending).await {
            Ok(response) => Ok(HttpResponse::new(response?, idle_timeout)),
            Err(_) => Err(NetError::IdleTimeout { after: idle_timeout }),
        }
    }

    async fn send_directly(&self, request: HttpRequest) -> Result<reqwest::Response, NetError> {
        let is_plain_http2 = request.is_plain_http2();
        let HttpRequest { method, mut url, mut headers, body, .. } = request;
        self.apply_dial_address(&mut url, &mut headers);
        let client = self.client_for(&url, is_plain_http2, None)?;
        let sent = client.request(method, url).headers(headers).body(body).send().await;
        sent.map_err(
            |error| if is_plain_http2 { NetError::of(error).of_plain_http2() } else { NetError::of(error) },
        )
    }

    async fn send_through(
        &self,
        proxy: &ProxyServer,
        request: HttpRequest,
    ) -> Result<reqwest::Response, NetError> {
        // The proxy resolves the name by itself. It is asked only for a name that leads to allowed addresses from here.
        if self.shared.options.addresses.is_restrictive() {
            self.resolve_addresses(&request.url).await?;
        }
        let is_plain_http2 = request.is_plain_http2();
        let HttpRequest { method, url, headers, body, .. } = request;
        let is_forwarded = url.scheme() == "http" && proxy.speaks_http();
        let sent = if is_plain_http2 && is_forwarded {
            self.tunnel_client(proxy)?.send(method, &url, headers, body).await
        } else {
            let client = self.client_for(&url, is_plain_http2, Some(proxy))?;
            client.request(method, url).headers(headers).body(body).send().await.map_err(NetError::of)
        };
        match sent {
            Ok(response) if is_forwarded && !is_plain_http2 && response.status() == 407 => {
                Err(NetError::proxy_wants_credentials(proxy))
            }
            sent if is_plain_http2 => sent.map_err(|error| error.of_plain_http2().through(proxy)),
            sent => sent.map_err(|error| error.through(proxy)),
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
