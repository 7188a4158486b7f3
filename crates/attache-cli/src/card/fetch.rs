//! Fetches cards and keys.

use std::time::Duration;

use anyhow::{anyhow, bail};
use attache_card::MAX_BYTES;
use attache_net::{HttpClient, HttpClientOptions, HttpRequest, NetError, Url};

use super::source::CardContext;
use crate::network;
use crate::report::with_hint;
use crate::signing_keys::may_be_fetched;

/// A card is a small file; a server that sends nothing for so long has none.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// The server has no such document, or refuses it to this caller. Another address may have it.
#[derive(Debug)]
pub(super) struct CardRefusal(String);

impl std::fmt::Display for CardRefusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CardRefusal {}

/// Does not follow redirects: the caller chose this address, and no other, as a source of keys.
pub(super) async fn fetch(
    url: &Url,
    headers: &[(&str, &str)],
    context: CardContext<'_>,
) -> anyhow::Result<Vec<u8>> {
    let network = network::of_user(context.environment)?;
    let options = HttpClientOptions { idle_timeout: FETCH_TIMEOUT, ..network.client_options() };
    let mut request = HttpRequest::get(url.clone()).header("accept", "application/json")?;
    for (name, value) in headers {
        request = request.header(name, value)?;
    }
    let shown = super::shown(url.as_str());
    let with_address = |error: NetError| anyhow!("{shown}: {error}");
    let answer =
        HttpClient::new(&options).map_err(with_address)?.send(request).await.map_err(with_address)?;
    match answer.status() {
        200 => answer.read(MAX_BYTES).await.map_err(with_address),
        status @ 300..=399 => {
            let place = answer.header("location").map(super::shown).unwrap_or_default();
            Err(with_hint(
                anyhow!("{shown}: answered with {status} and points to {place:?}"),
                "redirects are not followed; give the last address itself if you trust it",
            ))
        }
        status => Err(CardRefusal(format!("{shown}: answered with {status}")).into()),
    }
}

/// Public keys, over https or from this machine.
pub(super) async fn fetch_keys(url: &str, context: CardContext<'_>) -> anyhow::Result<Vec<u8>> {
    if !may_be_fetched(url) {
        bail!("{}: keys are fetched over https only, this machine apart", super::shown(url));
    }
    fetch(&Url::parse(url)?, &[], context).await
}
