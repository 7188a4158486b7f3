//! Follows redirects by hand: each hop is checked like the first.

use reqwest::header::LOCATION;
use reqwest::{Method, Url};

use crate::{Answer, Client, NetError, Request};

/// More hops than that lead nowhere.
const MOST_HOPS: usize = 5;

/// Where a chain of redirects ended.
#[derive(Debug)]
pub struct Followed {
    pub answer: Answer,
    /// What the answer is an answer of.
    pub url: Url,
    /// Where it would have gone on, had it been let.
    pub onward: Option<Url>,
}

impl Client {
    /// Sends a GET and follows where it leads, as long as `may` lets it go from the one to the other.
    ///
    /// Whatever is secret stays with the origin it was meant for, and nobody is led from https to http.
    pub async fn follow(
        &self,
        mut request: Request,
        may: impl Fn(&Url, &Url) -> bool,
    ) -> Result<Followed, NetError> {
        if request.method != Method::GET {
            return Err(NetError::Request { what: "only a GET can follow redirects".into() });
        }
        for _ in 0..=MOST_HOPS {
            let (url, headers) = (request.url.clone(), request.headers.clone());
            let answer = self.send(request).await?;
            let Some(next) = next(&url, &answer)? else {
                return Ok(Followed { answer, url, onward: None });
            };
            if !may(&url, &next) {
                return Ok(Followed { answer, url, onward: Some(next) });
            }
            let same_origin = url.origin() == next.origin();
            request = Request::get(next);
            request.headers = headers;
            if !same_origin {
                forget_secrets(&mut request);
            }
        }
        Err(NetError::Request {
            what: format!("it leads on and on, through more than {MOST_HOPS} redirects"),
        })
    }
}

/// Where an answer sends its reader; none when it is the end.
fn next(url: &Url, answer: &Answer) -> Result<Option<Url>, NetError> {
    let (301 | 302 | 303 | 307 | 308, Some(location)) = (answer.status(), answer.header(LOCATION.as_str()))
    else {
        return Ok(None);
    };
    onward(url, location).map(Some)
}

/// Where `location`, in an answer from `url`, leads.
pub(crate) fn onward(url: &Url, location: &str) -> Result<Url, NetError> {
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

fn forget_secrets(request: &mut Request) {
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
