//! Connects a confined command to the hosts on its list.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use attache_net::AddressRules;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::request::{self, ProxyRequest};
use super::{EgressOptions, RefusedHosts};

const MAX_CONNECTIONS: usize = 256;
const MAX_HEAD_BYTES: usize = 16 * 1024;
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub(super) struct Proxy {
    pub(super) hosts: Vec<String>,
    pub(super) options: EgressOptions,
    pub(super) refused: RefusedHosts,
}

impl Proxy {
    /// Accepts connections until it is dropped.
    pub(super) async fn serve(self, listener: TcpListener) {
        let (proxy, places) = (Arc::new(self), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
        let mut connections = JoinSet::new();
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let Ok((stream, _)) = listener.accept().await else { return };
            let proxy = proxy.clone();
            connections.spawn(async move {
                // The command handles a broken connection.
                let _ = proxy.connection(stream).await;
                drop(place);
            });
            while connections.try_join_next().is_some() {}
        }
    }

    async fn connection(&self, mut stream: TcpStream) -> io::Result<()> {
        let (head, rest) = match timeout(HEAD_TIMEOUT, read_head(&mut stream)).await {
            Ok(read) => read?,
            Err(_) => return Ok(()),
        };
        match self.connect(&head).await {
            Err(why) => {
                self.refused.add(why.clone());
                let body = format!("attache: {why}\n");
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
                     Connection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).await
            }
            Ok((mut host, ProxyRequest { forwarded, .. })) => {
                match forwarded {
                    None => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
                    Some(head) => host.write_all(&head).await?,
                }
                host.write_all(&rest).await?;
                copy_bidirectional(&mut stream, &mut host).await.map(drop)
            }
        }
    }

    /// Explains a refusal in the response.
    async fn connect(&self, head: &[u8]) -> Result<(TcpStream, ProxyRequest), String> {
        let head = request::parse(head)?;
        let (host, port) = (head.host.as_str(), head.port);
        if !request::allows(&self.hosts, host, port) {
            return Err(format!("network access to {host}:{port} was not approved"));
        }
        let found = self.addresses(host).await?;
        for address in found {
            let address = SocketAddr::new(self.options.resolver.dial_address(address), port);
            if let Ok(Ok(stream)) = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                return Ok((stream, head));
            }
        }
        Err(format!("{host}:{port} cannot be reached"))
    }

    /// The addresses of the host, if all of them are allowed.
    async fn addresses(&self, host: &str) -> Result<Vec<std::net::IpAddr>, String> {
        let rules: &AddressRules = &self.options.rules;
        let found = match host.parse() {
            Ok(address) => vec![address],
            Err(_) => self
                .options
                .resolver
                .resolve(host)
                .await
                .map_err(|error| format!("{host} has no address that is known: {error}"))?,
        };
        for address in &found {
            rules.check(host, *address).map_err(|error| error.to_string())?;
        }
        Ok(found)
    }
}

/// The head, and the bytes after it.
async fn read_head(stream: &mut TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut buffer = Vec::new();
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = buffer.split_off(end + 4);
            return Ok((buffer, rest));
        }
        if buffer.len() > MAX_HEAD_BYTES {
            return Err(io::Error::other("the request's head is too long"));
        }
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
