//! Certificates besides the system's: those that are trusted, and the one that proves who we are.

use std::fmt;
use std::time::SystemTime;

use reqwest::{Certificate, ClientBuilder, Identity};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::certificate_facts::CertificateFacts;
use crate::{NetError, Secret};

/// Certificates and keys as PEM text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TlsSettings {
    authorities: Vec<Vec<u8>>,
    client: Option<ClientCertificate>,
}

#[derive(Clone, PartialEq, Eq)]
struct ClientCertificate {
    certificates: Vec<u8>,
    key: Secret,
}

impl TlsSettings {
    /// Accepts servers with certificates of these authorities too. `source` names the file, for error messages.
    pub fn trust(&mut self, pem: &[u8], source: &str) -> Result<(), NetError> {
        certificates(pem, source)?;
        self.authorities.push(pem.to_owned());
        Ok(())
    }

    /// Proves who we are to servers that want a certificate, by a chain that begins with our own certificate. What a server
    /// would refuse is refused here, with the name of the file.
    pub fn set_client_certificate(
        &mut self,
        (pem, source): (&[u8], &str),
        (key, key_source): (&[u8], &str),
        now: SystemTime,
    ) -> Result<(), NetError> {
        let wrong = |source: &str, what: &str| NetError::Tls { what: format!("{source} {what}") };
        let own = certificates(pem, source)?;
        let text =
            std::str::from_utf8(key).map_err(|_| wrong(key_source, "holds no private key in PEM form"))?;
        if text.contains("ENCRYPTED") {
            return Err(wrong(key_source, "holds an encrypted private key; give one without a password"));
        }
        PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| wrong(key_source, "holds no private key in PEM form"))?;
        let facts = CertificateFacts::read(&own).ok_or("that is not in the form of X.509".to_owned());
        facts
            .and_then(|facts| facts.check(now))
            .map_err(|what| wrong(source, &format!("holds a certificate {what}")))?;
        let client = ClientCertificate { certificates: pem.to_owned(), key: Secret::new(text) };
        let identity =
            client.identity().map_err(|_| wrong(key_source, "holds a private key that cannot be used"))?;
        // The TLS library compares them only here.
        let built = reqwest::Client::builder().tls_certs_only([]).identity(identity).build();
        built.map_err(|error| match NetError::of(error) {
            NetError::Tls { what } => {
                wrong(key_source, &format!("and {source} cannot be used together: {what}"))
            }
            other => other,
        })?;
        self.client = Some(client);
        Ok(())
    }

    /// The authorities that are trusted, without the client's certificate.
    pub fn without_client_certificate(&self) -> Self {
        Self { authorities: self.authorities.clone(), client: None }
    }

    pub(crate) fn apply(&self, mut builder: ClientBuilder) -> Result<ClientBuilder, NetError> {
        for pem in &self.authorities {
            builder = builder.tls_certs_merge(Certificate::from_pem_bundle(pem).map_err(NetError::of)?);
        }
        Ok(match &self.client {
            Some(client) => builder.identity(client.identity().map_err(NetError::of)?),
            None => builder,
        })
    }
}

impl ClientCertificate {
    fn identity(&self) -> reqwest::Result<Identity> {
        let pem = [self.certificates.as_slice(), b"\n", self.key.expose().as_bytes()].concat();
        Identity::from_pem(&pem)
    }
}

/// The first certificate. Fails if there is none, or one that cannot be read.
fn certificates(pem: &[u8], source: &str) -> Result<CertificateDer<'static>, NetError> {
    let found: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let first = found.ok().and_then(|found| found.into_iter().next());
    let none = || NetError::Tls { what: format!("{source} holds no certificate in PEM form") };
    first.map(CertificateDer::into_owned).ok_or_else(none)
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TlsSettings")
            .field("authorities", &self.authorities.len())
            .field("client_certificate", &self.client.is_some())
            .finish()
    }
}
