//! Finds the card to work on: a file, a URL, or the card of this server.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use attache_card::MAX_BYTES;
use attache_config::{Environment, Settings};
use attache_net::Url;

use super::arguments::{DocumentVersion, SourceArguments};
use super::fetch::{CardRefusal, fetch};
use crate::report::with_hint;

/// Where agents keep their card.
const WELL_KNOWN: &str = ".well-known/agent-card.json";
/// Where agents older than 0.3 have it.
const OLD_WELL_KNOWN: &str = ".well-known/agent.json";

pub(super) struct LoadedCard {
    pub(super) text: Vec<u8>,
    pub(super) origin: CardOrigin,
}

pub(super) enum CardOrigin {
    File,
    Url(Url),
    Own(Box<Settings>),
}

impl LoadedCard {
    pub(super) fn document(&self) -> anyhow::Result<attache_card::CardDocument> {
        Ok(attache_card::parse(&self.text)?)
    }
}

pub(super) async fn find(
    arguments: &SourceArguments,
    context: CardContext<'_>,
) -> anyhow::Result<LoadedCard> {
    match arguments.card.as_deref() {
        None => own(arguments, context.own_card),
        Some(text) if text.starts_with("http://") || text.starts_with("https://") => {
            let urls = card_urls(text)?;
            let version = arguments.a2a_version.map(|version| match version {
                DocumentVersion::V0_3 => ("A2A-Version", "0.3"),
                DocumentVersion::V1_0 => ("A2A-Version", "1.0"),
            });
            let mut refused = None;
            for url in urls {
                match fetch(&url, version.as_slice(), context).await {
                    Ok(text) => return Ok(LoadedCard { text, origin: CardOrigin::Url(url) }),
                    Err(error) if error.is::<CardRefusal>() => refused = refused.or(Some(error)),
                    Err(error) => return Err(error),
                }
            }
            Err(refused.unwrap_or_else(|| anyhow!("there is no card")))
        }
        Some("-") => {
            Ok(LoadedCard { text: capped(io::stdin().lock(), "standard input")?, origin: CardOrigin::File })
        }
        Some(path) => Ok(LoadedCard { text: read_file(path)?, origin: CardOrigin::File }),
    }
}

pub(super) fn read_file(path: &str) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| {
        let hint = "give a file, - for standard input, or a URL that begins with http:// or https://";
        with_hint(anyhow!("cannot read {path}: {error}"), hint)
    })?;
    capped(file, path)
}

fn capped(source: impl Read, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    source.take(limit).read_to_end(&mut text).with_context(|| format!("cannot read {name}"))?;
    if text.len() > MAX_BYTES {
        bail!("{name} is larger than {MAX_BYTES} bytes, which no card is");
    }
    Ok(text)
}

/// An address that names no document is an agent's, and its card is at one of the well-known places below it.
fn card_urls(text: &str) -> anyhow::Result<Vec<Url>> {
    let url = Url::parse(text).with_context(|| format!("{text:?} is no URL"))?;
    if url.path().ends_with(".json") {
        return Ok(vec![url]);
    }
    let base = url.path().trim_end_matches('/').to_owned();
    let below = |name: &str| {
        let mut url = url.clone();
        url.set_path(&format!("{base}/{name}"));
        url
    };
    Ok([WELL_KNOWN, OLD_WELL_KNOWN].map(below).into())
}

/// What the commands need of the program.
#[derive(Clone, Copy)]
pub struct CardContext<'a> {
    pub own_card: OwnCard<'a>,
    pub environment: Environment<'a>,
}

/// Makes the card that a server with the settings in this file would serve; the binary knows how. There may be no extended
/// card.
pub type OwnCard<'a> = &'a dyn Fn(OwnCardRequest) -> anyhow::Result<(Settings, Option<Vec<u8>>)>;

pub struct OwnCardRequest {
    /// The operator's file.
    pub config: Option<PathBuf>,
    pub version: Option<DocumentVersion>,
    pub extended: bool,
}

fn own(arguments: &SourceArguments, own_card: OwnCard<'_>) -> anyhow::Result<LoadedCard> {
    let (settings, text) = own_card(OwnCardRequest {
        config: arguments.config.clone(),
        version: arguments.a2a_version,
        extended: arguments.extended,
    })?;
    let Some(text) = text else {
        return Err(with_hint(
            anyhow!("the settings have no extended card"),
            "docs/card.md shows how to write one",
        ));
    };
    Ok(LoadedCard { text, origin: CardOrigin::Own(Box::new(settings)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_of_an_older_agent_is_at_the_older_place() {
        let urls = card_urls("https://a.example/base").unwrap();
        assert_eq!(urls[1].as_str(), "https://a.example/base/.well-known/agent.json");
    }

    #[test]
    fn the_card_of_an_agent_is_at_the_well_known_place() {
        for (text, expected) in [
            ("https://a.example", "https://a.example/.well-known/agent-card.json"),
            ("https://a.example/", "https://a.example/.well-known/agent-card.json"),
            ("https://a.example/base/", "https://a.example/base/.well-known/agent-card.json"),
            ("https://a.example/.well-known/agent.json", "https://a.example/.well-known/agent.json"),
            ("https://a.example/cards/one.json?x=1", "https://a.example/cards/one.json?x=1"),
        ] {
            assert_eq!(card_urls(text).unwrap()[0].as_str(), expected);
        }
    }
}
