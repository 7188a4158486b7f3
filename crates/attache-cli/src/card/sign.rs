//! `attache card sign`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::anyhow;
use attache_card::{ExistingSignatures, SigningKey};

use super::arguments::SignArguments;
use super::source::{self, CardContext, CardOrigin};
use crate::report::with_hint;
use crate::signing_keys;
use crate::standard_streams::stdout;

pub(super) async fn run(arguments: SignArguments, context: CardContext<'_>) -> anyhow::Result<ExitCode> {
    let found = source::find(&arguments.source, context).await?;
    let document = found.document()?;
    let keys = keys(&arguments, &found.origin)?;
    if let Some(jku) = arguments.jku.as_deref().filter(|jku| !signing_keys::may_be_fetched(jku)) {
        return Err(with_hint(
            anyhow!("--jku {jku:?} is an address that no client would fetch keys from"),
            "give an https URL, or http on this machine",
        ));
    }
    let existing = if arguments.keep { ExistingSignatures::Keep } else { ExistingSignatures::Replace };
    let signed =
        attache_card::sign(&document, &keys, arguments.jku.as_deref(), existing).map_err(|error| {
            with_hint(
                anyhow!("{}", super::shown(&error.to_string())),
                "attache card lint tells all that is wrong with it",
            )
        })?;
    let mut out = stdout().lock();
    serde_json::to_writer_pretty(&mut out, &signed)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}

fn keys(arguments: &SignArguments, origin: &CardOrigin) -> anyhow::Result<Vec<SigningKey>> {
    let keys: Vec<SigningKey> = match origin {
        CardOrigin::Own(settings) if arguments.key.is_empty() => signing_keys::configured(settings)?,
        _ => arguments.key.iter().map(|path| signing_keys::read_key(path)).collect::<Result<_, _>>()?,
    };
    if keys.is_empty() {
        return Err(with_hint(
            anyhow!("no key to sign with"),
            "give one with --key FILE; attache keys new --out FILE makes one",
        ));
    }
    Ok(keys)
}
