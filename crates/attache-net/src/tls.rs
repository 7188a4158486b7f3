//! Certificates besides the system's: those that are trusted, and the one that proves who we are.

use std::fmt;

use reqwest::{Certificate, ClientBuilder, Identity};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

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

    /// Proves who we are to servers that want a certificate, by a chain that begins with our own certificate.
    pub fn set_client_certificate(
        &mut self,
        (pem, source): (&[u8], &str),
        (key, key_source): (&[u8], &str),
    ) -> Result<(), NetError> {
        certificates(pem, source)?;
        let wrong = |what: &str| NetError::Tls { what: format!("{key_source} {what}") };
        let text = std::str::from_utf8(key).map_err(|_| wrong("holds no private key in PEM form"))?;
        if text.contains("ENCRYPTED") {
            return Err(wrong("holds an encrypted private key; give one without a password"));
        }
        PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("holds no private key in PEM form"))?;
        let client = ClientCertificate { certificates: pem.to_owned(), key: Secret::new(text) };
        self.client = Some(client);
        self.identity().map_err(|_| wrong("holds a private key that cannot be used"))?;
        Ok(())
    }

    /// The authorities that are trusted, without the client's certificate.
    pub fn without_client_certificate(&self) -> Self {
        Self { authorities: self.authorities.clone(), client: None }
    }

    fn identity(&self) -> reqwest::Result<Option<Identity>> {
        let joined = self.client.as_ref().map(|ClientCertificate { certificates, key }| {
            [certificates.as_slice(), b"\n", key.expose().as_bytes()].concat()
        });
        joined.map(|pem| Identity::from_pem(&pem)).transpose()
    }

    pub(crate) fn apply(&self, mut builder: ClientBuilder) -> Result<ClientBuilder, NetError> {
        for pem in &self.authorities {
            builder = builder.tls_certs_merge(Certificate::from_pem_bundle(pem).map_err(NetError::of)?);
        }
        Ok(match self.identity().map_err(NetError::of)? {
            Some(identity) => builder.identity(identity),
            None => builder,
        })
    }
}

/// Fails unless there is at least one.
fn certificates(pem: &[u8], source: &str) -> Result<(), NetError> {
    let found: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(()),
        _ => Err(NetError::Tls { what: format!("{source} holds no certificate in PEM form") }),
    }
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
