//! Certificates besides the system's: those that are trusted, and the one that proves who we are.

use std::fmt;

use reqwest::{Certificate, ClientBuilder, Identity};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, RootCertStore};

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

    /// Proves who we are to servers that want a certificate, by a chain that begins with our own certificate. One that no
    /// server would accept is an error here.
    pub fn set_client_certificate(
        &mut self,
        (pem, source): (&[u8], &str),
        (key, key_source): (&[u8], &str),
    ) -> Result<(), NetError> {
        let chain = certificates(pem, source)?;
        let wrong = |what: &str| NetError::Tls { what: format!("{key_source} {what}") };
        let text = std::str::from_utf8(key).map_err(|_| wrong("holds no private key in PEM form"))?;
        if text.contains("ENCRYPTED") {
            return Err(wrong("holds an encrypted private key; give one without a password"));
        }
        let private =
            PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("holds no private key in PEM form"))?;
        check_client_certificate(chain, private, source, key_source)?;
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

/// The certificates of a file; at least one.
fn certificates(pem: &[u8], source: &str) -> Result<Vec<CertificateDer<'static>>, NetError> {
    match CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>() {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(NetError::Tls { what: format!("{source} holds no certificate in PEM form") }),
    }
}

/// Fails unless the first certificate is valid now, in a form that TLS takes here, and belongs to the key.
fn check_client_certificate(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    source: &str,
    key_source: &str,
) -> Result<(), NetError> {
    let wrong = |what: String| NetError::Tls { what };
    let own = chain.first().cloned().unwrap_or_else(|| Vec::new().into());
    let parsed = ParsedCertificate::try_from(&own)
        .map_err(|error| wrong(format!("{source} {}", unusable_certificate(&error))))?;
    let provider = aws_lc_rs::default_provider();
    CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => wrong(format!(
            "the private key in {key_source} does not belong to the first certificate in {source}"
        )),
        _ => wrong(format!("{key_source} holds a private key that cannot be used")),
    })?;
    // Without authorities to end at, this fails; the dates are checked before that.
    let (authorities, algorithms) = (RootCertStore::empty(), provider.signature_verification_algorithms.all);
    let checked =
        verify_server_cert_signed_by_trust_anchor(&parsed, &authorities, &[], UnixTime::now(), algorithms);
    match checked {
        Err(rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Err(wrong(format!("the certificate in {source} has expired"))),
        Err(rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Err(wrong(format!("the certificate in {source} is not valid yet; is the clock right?"))),
        _ => Ok(()),
    }
}

fn unusable_certificate(error: &rustls::Error) -> String {
    match error.to_string() {
        text if text.contains("UnsupportedCertVersion") => {
            "holds a certificate of X.509 version 1 or 2, and TLS takes version 3 only here; have it issued again with \
             an extension such as basicConstraints"
                .to_owned()
        }
        text => format!("holds a certificate that cannot be read ({text})"),
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
