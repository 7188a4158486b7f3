//! Why a request failed.

use std::error::Error;
use std::io;
use std::time::Duration;

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
    #[error("nothing came for {} s", after.as_secs())]
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
        if let Some(own) = own_cause(&error) {
            return own.clone();
        }
        let what = causes(&error);
        if error.is_builder() {
            Self::Request { what }
        } else if let Some(what) = tls_cause(&error).filter(|_| error.is_connect()) {
            Self::Tls { what }
        } else if error.is_connect() {
            Self::Connect { what }
        } else {
            Self::Interrupted { what }
        }
    }
}

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

fn describe_tls(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(_) => {
            format!("what answers there does not speak TLS, is it http:// rather than https://? ({error})")
        }
        rustls::Error::InvalidCertificate(_) => {
            format!("the server's certificate is not accepted on this machine ({error})")
        }
        error => error.to_string(),
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
    use rustls::{CertificateError, InvalidMessage};

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
        check(behind(rustls::Error::DecryptError), Some("decrypt"));
        check(io::Error::from(io::ErrorKind::ConnectionReset), None);
        check(io::Error::other("certificate"), None);
    }

    #[test]
    fn only_what_may_fare_better_later_may_pass() {
        let what = || "why".to_owned();
        assert!(NetError::Connect { what: what() }.is_transient());
        assert!(!NetError::Tls { what: what() }.is_transient());
    }
}
