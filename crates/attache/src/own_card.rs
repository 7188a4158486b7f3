//! The card that a server with these settings would serve.

use anyhow::Context;
use attache_cli::card::{DocumentVersion, OwnCardRequest};
use attache_config::{Flags, Settings};
use attache_wire::card::{CardForm, write};

use crate::wiring;

#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
pub(crate) fn own_card(request: OwnCardRequest) -> anyhow::Result<(Settings, Option<Vec<u8>>)> {
    let current_dir = std::env::current_dir().context("cannot tell the current folder")?;
    let environment = |name: &str| crate::environment::variable(name);
    let flags = Flags { config: request.config, ..Flags::default() };
    let settings = attache_workspace::load_operator(flags, &environment, &current_dir)?;
    let listening = std::net::SocketAddr::new(settings.host, settings.port);
    let base_url = settings.public_url.clone().unwrap_or_else(|| format!("http://{listening}"));
    let options = wiring::server_options(&settings, &base_url)?;
    let form = match (options.card_form, request.version) {
        (CardForm::Superset, Some(DocumentVersion::V1_0)) => CardForm::V1_0,
        (form, _) => form,
    };
    let (card, signed) = match request.extended {
        false => (Some(options.card), options.signed_card.map(|signed| signed.public)),
        true => (options.extended_card, options.signed_card.and_then(|signed| signed.extended)),
    };
    let text = card.map(|card| match signed {
        Some(signed) => match form {
            CardForm::Superset => signed.superset,
            CardForm::V1_0 => signed.v1_0,
            CardForm::V0_3 => signed.v0_3,
        },
        None => write(form, &card),
    });
    Ok((settings, text))
}
