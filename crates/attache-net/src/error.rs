//! Why a request failed.

use std::error::Error;
use std::io;
use std::time::Duration;

use rustls::AlertDescription;

use crate::ProxyServer;

/// Variants differ by what a caller can do. None holds a header, a body or a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    #[error("that address cannot be used: {what}")]
    Address { what: String },
    /// The request is invalid; a retry would not help.
    #[error("the request cannot be sent: {what}")]
    Request { what: String },
    /// Name resolution or connection failed.
    #[error("no connection: {what}")]
    Connect { what: String },
    /// The server speaks no TLS, or its certificate is not accepted.
    #[error("no safe connection: {what}")]
    Tls { what: String },
    /// The proxy's address is wrong, or it refuses us.
    #[error("the proxy cannot be used: {what}")]
    Proxy { what: String },
    /// The server answers, and not with what gRPC needs. It cannot have taken the request.
    #[error("the server does not speak HTTP/2, which gRPC needs ({what})")]
    NoHttp2 { what: String },
    #[error("no data was received for {} s", after.as_secs())]
    IdleTimeout { after: Duration },
    #[error("the connection broke: {what}")]
    Interrupted { what: String },
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
}

impl NetError {
    /// The same request may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::IdleTimeout { .. } | Self::Interrupted { .. })
    }

    pub(crate) fn of(error: reqwest::Error) -> Self {
        // Drops the URL, which may hold secrets and which the caller knows.
        let error = error.without_url();
        if error.is_builder() && own_cause(&error).is_none() {
            return match tls_cause(&error) {
                Some(what) => Self::Tls { what },
                None => Self::Request { what: causes(&error) },
            };
        }
        Self::of_cause(&error, error.is_connect())
    }

    /// The same for an error of any kind. `is_connect`: it happened before there was a connection.
    pub(crate) fn of_cause(error: &(dyn Error + 'static), is_connect: bool) -> Self {
        if let Some(own) = own_cause(error) {
            return own.clone();
        }
        let what = causes(error);
        if let Some(what) = tls_cause(error).filter(|_| is_connect).or_else(|| refused_certificate(&what)) {
            Self::Tls { what }
        } else if is_connect {
            Self::Connect { what }
        } else {
            Self::Interrupted { what }
        }
    }

    /// The error of a request that went through a proxy.
    pub(crate) fn through(self, proxy: &ProxyServer) -> Self {
        match self {
            Self::Connect { what } if PROXY_WANTS_CREDENTIALS.iter().any(|text| what.contains(text)) => {
                Self::proxy_wants_credentials(proxy)
            }
            Self::Connect { what } if what.contains(TUNNEL_REFUSED) => {
                Self::Connect { what: format!("through the proxy {proxy}: {PROXY_REFUSES}") }
            }
            Self::Connect { what } => Self::Connect { what: format!("through the proxy {proxy}: {what}") },
            other => other,
        }
    }

    /// The error of a request with HTTP/2 to a server without TLS, which may know HTTP/1 only.
    pub(crate) fn of_plain_http2(self) -> Self {
        match self {
            Self::Interrupted { what } if what.contains("frame with invalid size") => Self::NoHttp2 { what },
            other => other,
        }
    }

    pub(crate) fn proxy_wants_credentials(proxy: &ProxyServer) -> Self {
        let what = format!("{proxy} wants a user name and a password in its address, or others");
        Self::Proxy { what }
    }
}

/// What the HTTP library says about a 407 to `CONNECT`, and about a SOCKS proxy that wants a name or another one.
const PROXY_WANTS_CREDENTIALS: [&str; 3] = [
    "proxy authorization required",
    "SOCKS error: credentials not accepted",
    "SOCKS error: server does not support user/pass authentication",
];
/// What it says about any other refusal of `CONNECT`.
const TUNNEL_REFUSED: &str = "tunnel error: unsuccessful";

pub(crate) const PROXY_REFUSES: &str =
    "it does not connect to that host: it cannot reach it, or may not for this user";

/// Our own error among the causes: a name is not allowed, or has no address.
fn own_cause(error: &dyn Error) -> Option<&NetError> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(own) = inner.downcast_ref::<NetError>() {
            return Some(own);
        }
        cause = inner.source();
    }
    None
}

/// The TLS error among the causes.
fn tls_cause(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(inner) = cause {
        if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
            return Some(describe_tls(tls));
        }
        // An error of the operating system passes over the one that it holds.
        cause = match inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => inner.source(),
        };
    }
    None
}

/// The server wants our certificate, or another one. It says so after the handshake, and not every layer above keeps the
/// error that says it, so the text decides.
fn refused_certificate(text: &str) -> Option<String> {
    let (_, alert) = text.split_once("received fatal alert: ")?;
    let alert: String = alert.chars().take_while(char::is_ascii_alphanumeric).collect();
    match alert.as_str() {
        "CertificateRequired" => Some("the server wants a certificate from us, and there is none".into()),
        "BadCertificate"
        | "UnknownCA"
        | "CertificateUnknown"
        | "CertificateExpired"
        | "CertificateRevoked"
        | "UnsupportedCertificate"
        | "AccessDenied" => Some(format!("the server does not accept our certificate ({alert})")),
        _ => None,
    }
}

fn describe_tls(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(_) => {
            format!("what answers there does not speak TLS, is it http:// rather than https://? ({error})")
        }
        rustls::Error::InvalidCertificate(_) => {
            format!("the server's certificate is not accepted on this machine ({error})")
        }
        rustls::Error::InconsistentKeys(_) => {
            "the private key does not belong to the certificate of this client".to_owned()
        }
        rustls::Error::AlertReceived(AlertDescription::HandshakeFailure) => {
            "the server ends the handshake; it may want a certificate from us, or another version of TLS"
                .to_owned()
        }
        error => refused_certificate(&error.to_string()).unwrap_or_else(|| error.to_string()),
    }
}

/// The causes of an error, without repetitions.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use rustls::{CertificateError, InconsistentKeys, InvalidMessage};

    use super::*;

    #[track_caller]
    fn check(error: impl Error + 'static, expected: Option<&str>) {
        match (tls_cause(&error), expected) {
            (Some(found), Some(part)) => assert!(found.contains(part), "{found}"),
            (found, expected) => assert_eq!(found.as_deref(), expected),
        }
    }

    #[test]
    fn tls_is_found_behind_an_error_of_the_system() {
        let behind = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        check(behind(unknown.clone()), Some("certificate is not accepted"));
        check(io::Error::other(behind(unknown.clone())), Some("certificate is not accepted"));
        check(unknown, Some("certificate is not accepted"));
        let plain = rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType);
        check(behind(plain), Some("does not speak TLS"));
        let mixed = rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch);
        check(behind(mixed), Some("does not belong to the certificate"));
        check(behind(rustls::Error::DecryptError), Some("decrypt"));
        check(io::Error::from(io::ErrorKind::ConnectionReset), None);
        check(io::Error::other("certificate"), None);
    }

    #[test]
    fn a_server_that_wants_another_certificate_is_told_from_a_broken_connection() {
        for (alert, part) in [("CertificateRequired", "wants a certificate"), ("UnknownCA", "(UnknownCA)")] {
            let error = io::Error::other(format!("connection error: received fatal alert: {alert}"));
            let error = NetError::of_cause(&error, false);
            assert!(matches!(&error, NetError::Tls { what } if what.contains(part)), "{error:?}");
        }
        let error = NetError::of_cause(&io::Error::other("received fatal alert: InternalError"), false);
        assert!(matches!(error, NetError::Interrupted { .. }), "{error:?}");
    }

    #[test]
    fn a_refusal_of_tls_1_2_and_a_server_without_http_2_are_explained() {
        for (alert, part) in [
            (AlertDescription::UnknownCA, "does not accept our certificate"),
            (AlertDescription::HandshakeFailure, "may want a certificate"),
            (AlertDescription::InternalError, "InternalError"),
        ] {
            check(io::Error::other(rustls::Error::AlertReceived(alert)), Some(part));
        }
        let error = NetError::Interrupted { what: "http2 error: frame with invalid size".into() };
        let error = error.of_plain_http2();
        assert!(matches!(error, NetError::NoHttp2 { .. }) && !error.is_transient(), "{error}");
    }

    #[test]
    fn a_proxy_that_refuses_is_told_from_one_that_is_not_there() {
        let proxy = ProxyServer::parse("http://me:s3cret@p:1", "HTTPS_PROXY").unwrap().unwrap();
        for (what, part) in [
            ("tunnel error: unsuccessful", "does not connect to that host"),
            ("SOCKS error: credentials not accepted", "wants a user name and a password"),
            ("Connection refused", "through the proxy http://p:1 (HTTPS_PROXY): Connection refused"),
        ] {
            let error = NetError::Connect { what: what.into() }.through(&proxy).to_string();
            assert!(error.contains(part) && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn only_what_may_fare_better_later_may_pass() {
        let what = || "why".to_owned();
        assert!(NetError::Connect { what: what() }.is_transient());
        assert!(!NetError::Tls { what: what() }.is_transient());
    }
}
