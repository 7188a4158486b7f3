//! Webhook addresses, and the errors that callers see about them.

use std::net::IpAddr;

use attache_net::{NetError, Url};

/// Parses a webhook URL, or says what is wrong with it.
pub(super) fn read(text: &str) -> Result<Url, String> {
    let Ok(url) = Url::parse(text) else {
        return Err("is not a URL such as https://example.com/hook".into());
    };
    if !matches!(url.scheme(), "https" | "http") {
        return Err("must begin with https://".into());
    }
    if url.host_str().unwrap_or_default().is_empty() {
        return Err("names no host".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user name or password; give them as `authentication`".into());
    }
    Ok(url)
}

/// Only over TLS, or to this machine.
pub(super) fn may_receive_secrets(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    url.scheme() == "https" || host == "localhost" || loopback
}

/// Why an address is refused. Does not reveal what a name resolves to.
pub(super) fn refused(url: &Url, error: &NetError) -> String {
    let host = url.host_str().unwrap_or_default();
    let is_address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    let why = match error {
        NetError::Address { what } if is_address => what.split(';').next().unwrap_or_default().to_owned(),
        _ => format!("{host} leads to an address that is not public"),
    };
    format!(
        "cannot be used: {why}; the operator can allow it with the setting `push.allow_private_addresses`"
    )
}

/// The error of an attempt, for the owner of the configuration.
pub(super) fn describe_error(error: &NetError) -> String {
    match error {
        NetError::Address { what } if what.contains("not public") => {
            "it leads to an address that is not public".into()
        }
        error => error.to_string(),
    }
}
