//! A server that takes TLS connections and passes their bytes on to a server without TLS.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::certificates::{TestAuthority, TestCertificate, read};

/// Listens on a free port of this machine until it is dropped.
pub struct TlsFront {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TlsFront {
    /// `clients`: the authority whose certificates clients need; none: they need no certificate.
    pub fn start(backend: SocketAddr, own: &TestCertificate, clients: Option<&TestAuthority>) -> Self {
        Self::with_protocols(backend, own, clients, &[])
    }

    /// For a backend that speaks HTTP/2 without TLS too.
    pub fn with_http2(backend: SocketAddr, own: &TestCertificate, clients: Option<&TestAuthority>) -> Self {
        Self::with_protocols(backend, own, clients, &["h2", "http/1.1"])
    }

    fn with_protocols(
        backend: SocketAddr,
        own: &TestCertificate,
        clients: Option<&TestAuthority>,
        protocols: &[&str],
    ) -> Self {
        let mut config = config(own, clients);
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a listener that does not block");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(listener, backend, &acceptor, stopped));
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

fn config(own: &TestCertificate, clients: Option<&TestAuthority>) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("protocol versions");
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(chain(&authority.certificate()));
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("a verifier"))
        }
    };
    let key = PrivateKeyDer::from_pem_slice(&read(&own.key)).expect("a key");
    builder.with_single_cert(chain(&own.certificate), key).expect("a key that fits")
}

fn chain(path: &Path) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(&read(path)).map(|it| it.expect("a certificate")).collect()
}

fn serve(
    listener: std::net::TcpListener,
    backend: SocketAddr,
    acceptor: &TlsAcceptor,
    mut stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).expect("a listener");
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                accepted = listener.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    let acceptor = acceptor.clone();
                    // Tests close connections on purpose.
                    connections.spawn(async move { let _ = pass_on(stream, backend, acceptor).await; });
                }
                Some(_) = connections.join_next() => {}
            }
        }
    });
}

async fn pass_on(stream: TcpStream, backend: SocketAddr, acceptor: TlsAcceptor) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut backend = TcpStream::connect(backend).await?;
    tokio::io::copy_bidirectional(&mut stream, &mut backend).await.map(|_| ())
}
