//! Why there is no answer.

use std::error::Error;
use std::time::Duration;

/// By what can be done about it. None of them holds a header, a body or a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    #[error("that address cannot be used: {what}")]
    Address { what: String },
    /// It could not be put together; sending it again would not help.
    #[error("the request cannot be sent: {what}")]
    Request { what: String },
    /// Nobody was reached: name, connection or TLS.
    #[error("no connection: {what}")]
    Connect { what: String },
    #[error("nothing came for {} s", after.as_secs())]
    Silent { after: Duration },
    #[error("the connection broke: {what}")]
    Broken { what: String },
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
}

impl NetError {
    /// May the same request fare better a moment later?
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::Silent { .. } | Self::Broken { .. })
    }

    pub(crate) fn of(error: reqwest::Error) -> Self {
        // The address may hold what is nobody's business; whoever asked knows it anyway.
        let error = error.without_url();
        if let Some(own) = own_cause(&error) {
            return own.clone();
        }
        let what = causes(&error);
        if error.is_builder() {
            Self::Request { what }
        } else if error.is_connect() {
            Self::Connect { what }
        } else {
            Self::Broken { what }
        }
    }
}

/// What our own code said, deep inside: that a name may not be dialled, or has no address.
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

/// The causes of an error, without those that say only what the one before has said.
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
