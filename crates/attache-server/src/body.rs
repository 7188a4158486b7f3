//! Reads a request's body within its limits.

use attache_domain::Fault;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;

use crate::Limits;

/// The whole body. Too large, too slow and broken off are told apart.
pub(crate) async fn read(headers: &HeaderMap, body: Incoming, limits: &Limits) -> Result<Bytes, Fault> {
    let limit = limits.body_bytes;
    if body.size_hint().lower() > limit as u64 {
        return Err(Fault::BodyTooLarge { limit });
    }
    let reading = Limited::new(body, limit).collect();
    let collected = tokio::time::timeout(limits.body_timeout, reading).await;
    let broken = |what: &str| Fault::InvalidRequest { what: what.into() };
    let body = match collected {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(Fault::BodyTooLarge { limit });
        }
        Ok(Err(_)) => return Err(broken("the body broke off")),
        Err(_) => return Err(broken("the body did not arrive in time")),
    };
    // Browsers send other types across sites without asking first, so a change needs a JSON type.
    if !body.is_empty() {
        check_type(headers)?;
    }
    Ok(body)
}

fn check_type(headers: &HeaderMap) -> Result<(), Fault> {
    let value = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or("unreadable"));
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim).unwrap_or_default();
    let is_json = essence.eq_ignore_ascii_case("application/json")
        || (essence.len() > 17
            && essence.as_bytes()[..12].eq_ignore_ascii_case(b"application/")
            && essence.as_bytes()[essence.len() - 5..].eq_ignore_ascii_case(b"+json"));
    if is_json {
        return Ok(());
    }
    let found = if essence.is_empty() { "no content type".to_owned() } else { essence.to_owned() };
    Err(Fault::MediaTypeNotAccepted { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_types_count() {
        for (value, expected) in [
            (Some("application/json"), true),
            (Some("application/json; charset=utf-8"), true),
            (Some("APPLICATION/A2A+JSON"), true),
            (Some("text/plain"), false),
            (Some("application/x-www-form-urlencoded"), false),
            (Some("application/+json"), false),
            (Some("+json"), false),
            (None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
            }
            assert_eq!(check_type(&headers).is_ok(), expected, "{value:?}");
        }
    }
}
