//! Follows redirects and checks each hop like the first request.

use reqwest::header::LOCATION;
use reqwest::{Method, Url};

use crate::{HttpClient, HttpRequest, HttpResponse, NetError};

const MAX_REDIRECTS: usize = 5;

/// The end of a chain of redirects.
#[derive(Debug)]
pub struct RedirectedResponse {
    pub response: HttpResponse,
    /// The URL that sent the response.
    pub url: Url,
    /// The next redirect, if it was not allowed.
    pub next_url: Option<Url>,
}

impl HttpClient {
    /// Sends a GET and follows redirects while `may` allows the step from one URL to the next.
    ///
    /// Drops secrets when the origin changes, and refuses redirects from https to http.
    pub async fn get_with_redirects(
        &self,
        mut request: HttpRequest,
        may: impl Fn(&Url, &Url) -> bool,
    ) -> Result<RedirectedResponse, NetError> {
        if request.method != Method::GET {
            return Err(NetError::Request { what: "only a GET can follow redirects".into() });
        }
        for _ in 0..=MAX_REDIRECTS {
            let (url, headers) = (request.url.clone(), request.headers.clone());
            let answer = self.send(request).await?;
            let Some(next) = redirect_target(&url, &answer)? else {
                return Ok(RedirectedResponse { response: answer, url, next_url: None });
            };
            if !may(&url, &next) {
                return Ok(RedirectedResponse { response: answer, url, next_url: Some(next) });
            }
            let same_origin = url.origin() == next.origin();
            request = HttpRequest::get(next);
            request.headers = headers;
            if !same_origin {
                remove_secrets(&mut request);
            }
        }
        Err(NetError::Request {
            what: format!("it leads on and on, through more than {MAX_REDIRECTS} redirects"),
        })
    }
}

/// The redirect target of a response; `None` if it is no redirect.
fn redirect_target(url: &Url, answer: &HttpResponse) -> Result<Option<Url>, NetError> {
    let (301 | 302 | 303 | 307 | 308, Some(location)) = (answer.status(), answer.header(LOCATION.as_str()))
    else {
        return Ok(None);
    };
    resolve_location(url, location).map(Some)
}

/// Resolves the `location` of a response from `url`.
pub(crate) fn resolve_location(url: &Url, location: &str) -> Result<Url, NetError> {
    let refuse = |what: &str| Err(NetError::Address { what: format!("a redirect leads {what}") });
    match url.join(location) {
        Err(_) => refuse("to what is no URL"),
        Ok(next) if !matches!(next.scheme(), "http" | "https") => refuse("away from the web"),
        Ok(next) if url.scheme() == "https" && next.scheme() == "http" => refuse("from https to http"),
        Ok(next) if !next.username().is_empty() || next.password().is_some() => {
            refuse("to an address with a password in it")
        }
        Ok(mut next) => {
            next.set_fragment(None);
            Ok(next)
        }
    }
}

fn remove_secrets(request: &mut HttpRequest) {
    let secret: Vec<_> = request
        .headers
        .iter()
        .filter(|(name, value)| value.is_sensitive() || matches!(name.as_str(), "authorization" | "cookie"))
        .map(|(name, _)| name.clone())
        .collect();
    for name in secret {
        request.headers.remove(name);
    }
}
