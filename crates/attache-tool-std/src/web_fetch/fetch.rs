//! Fetches one URL.

use std::time::Duration;

use attache_net::{HttpClient, HttpRequest, HttpResponse, NetError, Url};

use super::WebFetchOptions;
use super::body::{PageBody, understand};
use super::urls::MAX_URL;
use crate::read_only::blocking;

/// The result for one URL.
#[derive(Debug)]
pub(super) enum FetchOutcome {
    Body(PageBody),
    /// The server returned an error with this text.
    Failed {
        status: u16,
        message: String,
    },
    /// A redirect to a host that was not approved.
    Moved(Url),
}

/// Prefers Markdown.
const ACCEPT: &str =
    "text/markdown, text/plain;q=0.9, application/json;q=0.9, text/html;q=0.8, image/*;q=0.5, */*;q=0.4";
/// Characters of an error's body and of its headers that are reported.
const MAX_FAILURE: usize = 10_000;
const MAX_HEADERS: usize = 4_000;

/// The content of `url`, or why it could not be fetched.
pub(super) async fn fetch(
    client: &HttpClient,
    url: &Url,
    options: &WebFetchOptions,
) -> Result<FetchOutcome, String> {
    let fetching = fetch_in_time(client, url, options);
    match tokio::time::timeout(options.timeout, fetching).await {
        Ok(fetched) => fetched,
        Err(_) => Err(format!("it took longer than {}", seconds(options.timeout))),
    }
}

async fn fetch_in_time(
    client: &HttpClient,
    url: &Url,
    options: &WebFetchOptions,
) -> Result<FetchOutcome, String> {
    let message = |error: NetError| error.to_string();
    let request = HttpRequest::get(url.clone()).header("accept", ACCEPT).map_err(message)?;
    let followed = client.get_with_redirects(request, same_site).await.map_err(message)?;
    if let Some(onward) = followed.next_url {
        let too_long = onward.as_str().len() > MAX_URL;
        return if too_long {
            Err("it leads to an address that is too long".into())
        } else {
            Ok(FetchOutcome::Moved(onward))
        };
    }
    let (answer, mut url) = (followed.response, followed.url);
    if answer.status() >= 400 {
        return Ok(failed(answer).await);
    }
    let content_type = answer.header("content-type").map(str::to_owned);
    let bytes = answer.read(options.most_bytes).await.map_err(message)?;
    if url.as_str().len() > MAX_URL {
        // Every link of the page is resolved against this URL.
        url.set_path("/");
        url.set_query(None);
    }
    let limit = options.most_characters;
    let understood = blocking(move || Ok(understand(&url, content_type.as_deref(), &bytes, limit))).await;
    understood.map_err(|error| error.message)?.map(FetchOutcome::Body)
}

async fn failed(answer: HttpResponse) -> FetchOutcome {
    let status = answer.status();
    let cookies = |name: &&str| !name.eq_ignore_ascii_case("set-cookie");
    let headers =
        answer.headers().filter(|(name, _)| cookies(name)).map(|(name, value)| format!("{name}: {value}\n"));
    let headers: String =
        headers.flat_map(|line| line.chars().collect::<Vec<_>>()).take(MAX_HEADERS).collect();
    let body = answer.read_prefix(MAX_FAILURE * 4).await;
    let body: String = String::from_utf8_lossy(&body).chars().take(MAX_FAILURE).collect();
    FetchOutcome::Failed { status, message: format!("{headers}\n{body}") }
}

/// Whether the host is the same, except for `www.` and an upgrade to https.
fn same_site(from: &Url, to: &Url) -> bool {
    let host = |url: &Url| url.host_str().map(|host| host.strip_prefix("www.").unwrap_or(host).to_owned());
    host(from) == host(to) && from.port() == to.port()
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f32())
}
