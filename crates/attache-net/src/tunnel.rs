//! HTTP/2 without TLS through an HTTP proxy, for gRPC.
//!
//! A proxy does not forward such requests one by one, so it is asked for a connection to the host (`CONNECT`), as gRPC
//! libraries do.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use reqwest::header::{HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Method, Url};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address_rules::without_brackets;
use crate::client::NAME;
use crate::error::PROXY_REFUSES;
use crate::{HttpClientOptions, NetError, ProxyServer, Resolver};

/// The largest head of a proxy's answer.
const MAX_HEAD: usize = 8 << 10;

/// Shares the connections to each host.
pub(crate) struct TunnelClient {
    client: Client<TunnelConnector, Full<Bytes>>,
}

impl TunnelClient {
    pub(crate) fn new(server: &ProxyServer, options: &HttpClientOptions, keep_alive: Duration) -> Self {
        let connector = TunnelConnector {
            server: Arc::new(server.clone()),
            resolver: options.resolver.clone(),
            connect_timeout: options.connect_timeout,
        };
        let client = Client::builder(TokioExecutor::new())
            .http2_only(true)
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_keep_alive_interval(keep_alive)
            .build(connector);
        Self { client }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, NetError> {
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(NAME));
        let wrong = |_| NetError::Request { what: "its URL cannot be sent".into() };
        let mut request = http::Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = url.as_str().parse().map_err(wrong)?;
        *request.headers_mut() = headers;
        let response = self.client.request(request).await.map_err(|error| {
            let is_connect = error.is_connect();
            NetError::of_cause(&error, is_connect)
        })?;
        Ok(response.map(reqwest::Body::wrap).into())
    }
}

#[derive(Clone)]
struct TunnelConnector {
    server: Arc<ProxyServer>,
    resolver: Arc<dyn Resolver>,
    connect_timeout: Duration,
}

impl tower_service::Service<Uri> for TunnelConnector {
    type Response = TokioIo<TcpStream>;
    type Error = NetError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NetError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NetError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let after = connector.connect_timeout;
            let opening = timeout(after, connector.open(&target)).await;
            opening.map_err(|_| NetError::IdleTimeout { after })?.map(TokioIo::new)
        })
    }
}

impl TunnelConnector {
    async fn open(&self, target: &Uri) -> Result<TcpStream, NetError> {
        let broken = |error: io::Error| NetError::Connect { what: error.to_string() };
        let mut stream = TcpStream::connect(&*self.addresses().await?).await.map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let place = format!("{}:{}", target.host().unwrap_or_default(), target.port_u16().unwrap_or(80));
        let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n").into_bytes();
        if let Some(value) = self.server.authorization() {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(value.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        stream.write_all(&request).await.map_err(broken)?;
        let head = read_head(&mut stream).await.map_err(broken)?;
        match status(&head) {
            Some(200..=299) => Ok(stream),
            Some(407) => Err(NetError::proxy_wants_credentials(&self.server)),
            Some(status) => Err(NetError::Connect { what: format!("{PROXY_REFUSES} (status {status})") }),
            None => Err(NetError::Connect { what: "the proxy does not answer with HTTP".into() }),
        }
    }

    /// Where the proxy is. The operator named it, so it may be anywhere.
    async fn addresses(&self) -> Result<Vec<SocketAddr>, NetError> {
        let (host, port) = (without_brackets(self.server.host()), self.server.port());
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let unknown = |error: io::Error| NetError::Connect { what: format!("{host}: {error}") };
        let found = self.resolver.resolve(host).await.map_err(unknown)?;
        let dialled = |address| SocketAddr::new(self.resolver.dial_address(address), port);
        Ok(found.into_iter().map(dialled).collect())
    }
}

/// Reads byte by byte, because what follows belongs to the host behind the proxy.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_HEAD {
            return Err(io::Error::other("the proxy's answer is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

/// The status of an answer such as `HTTP/1.1 200 OK`.
fn status(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_an_answer_is_read() {
        assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(200));
        assert_eq!(status(b"HTTP/1.0 407\r\nA: b\r\n\r\n"), Some(407));
        for odd in [&b"HTTP/2 200\r\n\r\n"[..], b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n", b"\xff 1\r\n"] {
            assert_eq!(status(odd), None);
        }
    }
}
