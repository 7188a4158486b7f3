//! `attache card verify`: checks the signatures of a card.
//!
//! Keys are those the caller names. Where a signature points to keys (`jku`), they are fetched only from hosts that the
//! caller allows, and from the place that the card itself came from, which proves only where the card came from.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use attache_card::{CheckedSignature, KeySet, SignatureOutcome, Verification, headers};
use attache_net::Url;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::arguments::VerifyArguments;
use super::fetch::fetch_keys;
use super::shown;
use super::source::{self, CardContext, CardOrigin, LoadedCard};
use crate::signing_keys;
use crate::standard_streams::stdout;

/// More places than a card has reason to point to.
const MAX_PLACES: usize = 4;

pub(super) async fn run(arguments: VerifyArguments, context: CardContext<'_>) -> anyhow::Result<ExitCode> {
    let found = source::find(&arguments.source, context).await?;
    let document = found.document()?;
    let mut notes = Vec::new();
    let keys = gather(&arguments, &found, &document, &mut notes, context).await?;
    let verification = attache_card::verify(&document, &keys, Timestamp::now());
    notes.extend(missing(&arguments, &found, &verification, keys.is_empty()));
    let mut out = stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &to_json(&verification, &notes))?;
        writeln!(out)?;
    } else {
        write(&mut out, &verification, &notes)?;
    }
    let good = if arguments.whole { verification.covers_everything() } else { verification.is_valid() };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn gather(
    arguments: &VerifyArguments,
    found: &LoadedCard,
    document: &attache_card::CardDocument,
    notes: &mut Vec<String>,
    context: CardContext<'_>,
) -> anyhow::Result<KeySet> {
    let mut keys = KeySet::default();
    for place in &arguments.keys {
        let is_url = place.starts_with("http://") || place.starts_with("https://");
        let text = if is_url { fetch_keys(place, context).await? } else { source::read_file(place)? };
        let set = KeySet::parse(&text)
            .map_err(|error| anyhow::anyhow!("cannot use the keys in {place}: {error}"))?;
        keys.extend(set);
    }
    if let CardOrigin::Own(settings) = &found.origin
        && arguments.keys.is_empty()
    {
        keys.extend(signing_keys::public(&signing_keys::configured(settings)?));
        return Ok(keys);
    }
    let places: BTreeSet<String> = headers(document).into_iter().flatten().filter_map(|it| it.jku).collect();
    for place in places.into_iter().take(MAX_PLACES) {
        match trust(&place, arguments, &found.origin) {
            KeyTrust::Allowed => {}
            KeyTrust::SameOrigin => notes.push(format!(
                "the keys of {} come from where the card came from: they prove that it is unchanged since, and not whose it is",
                shown(&place)
            )),
            KeyTrust::No => {
                let note = "were not fetched; allow the host with --allow-jku, or name keys with --keys";
                notes.push(format!("keys at {} {note}", shown(&place)));
                continue;
            }
        }
        match fetch_keys(&place, context).await.map(|text| KeySet::parse(&text)) {
            Ok(Ok(set)) => keys.extend(set),
            Ok(Err(error)) => notes.push(format!("keys at {} cannot be used: {error}", shown(&place))),
            Err(error) => notes.push(format!("keys cannot be fetched: {error:#}")),
        }
    }
    Ok(keys)
}

/// What is missing so that nothing can be verified; `None` if there is enough.
fn missing(
    arguments: &VerifyArguments,
    found: &LoadedCard,
    verification: &Verification,
    no_keys: bool,
) -> Option<String> {
    let unsigned = verification.signatures.is_empty();
    match &found.origin {
        CardOrigin::Own(_) if unsigned => Some(
            "your settings name no key that signs the card: `attache keys new --out FILE` makes one, and \
             `card.signing_keys` names it (docs/card.md)"
                .to_owned(),
        ),
        _ if no_keys && !unsigned && arguments.allow_jku.is_empty() => Some(
            "there is no key to check the signatures with: name the keys that you trust with --keys FILE|URL, or the \
             host that may tell them with --allow-jku HOST"
                .to_owned(),
        ),
        _ => None,
    }
}

enum KeyTrust {
    Allowed,
    SameOrigin,
    No,
}

fn trust(place: &str, arguments: &VerifyArguments, origin: &CardOrigin) -> KeyTrust {
    let Ok(url) = Url::parse(place) else { return KeyTrust::No };
    let host = url.host_str().unwrap_or_default();
    if arguments.allow_jku.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)) {
        return KeyTrust::Allowed;
    }
    match origin {
        // Keys that the caller did not name are added only if the caller asks for it.
        CardOrigin::Url(card) if arguments.keys.is_empty() && card.origin() == url.origin() => {
            KeyTrust::SameOrigin
        }
        _ => KeyTrust::No,
    }
}

fn write(out: &mut impl Write, verification: &Verification, notes: &[String]) -> io::Result<()> {
    for (index, signature) in verification.signatures.iter().enumerate() {
        let header = signature.header.clone().unwrap_or_default();
        let named = format!("{} {}", shown(&header.algorithm), shown(&header.kid));
        writeln!(out, "signature {}  {}  {}", index + 1, named.trim(), shown(&words(signature)))?;
    }
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    if verification.signatures.is_empty() {
        return writeln!(out, "not verified: the card has no signatures");
    }
    if !verification.is_valid() {
        return writeln!(out, "not verified: no signature is valid");
    }
    if !verification.uncovered.is_empty() {
        let places: Vec<String> = verification.uncovered.iter().map(|place| shown(place)).collect();
        writeln!(out, "note: no valid signature says anything about {}", places.join(", "))?;
    }
    if verification.empty_values_uncovered {
        writeln!(out, "note: empty values, such as requirements without scopes, are not covered")?;
    }
    writeln!(out, "verified")
}

fn words(signature: &CheckedSignature) -> String {
    match &signature.outcome {
        SignatureOutcome::Valid(form) => format!("valid: {form}"),
        SignatureOutcome::Invalid => "not valid: the card is not the one that was signed".to_owned(),
        SignatureOutcome::UnknownKey => "not checked: no key has this name".to_owned(),
        SignatureOutcome::KeyRefused { why } => format!("not valid: its key may not be used, {why}"),
        SignatureOutcome::AlgorithmRefused { why } | SignatureOutcome::Unreadable { why } => {
            format!("not valid: {why}")
        }
        _ => "not valid".to_owned(),
    }
}

fn to_json(verification: &Verification, notes: &[String]) -> Value {
    let signature = |signature: &CheckedSignature| {
        let header = signature.header.clone().unwrap_or_default();
        json!({
            "algorithm": header.algorithm,
            "kid": header.kid,
            "jku": header.jku,
            "valid": matches!(signature.outcome, SignatureOutcome::Valid(_)),
            "words": words(signature),
        })
    };
    json!({
        "valid": verification.is_valid(),
        "whole": verification.covers_everything(),
        "signatures": verification.signatures.iter().map(signature).collect::<Vec<_>>(),
        "uncovered": verification.uncovered,
        "emptyValuesUncovered": verification.empty_values_uncovered,
        "notes": notes,
    })
}
