//! Reaches the agent, with advice where that fails.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use attache_card::KeySet;
use attache_client::{
    CardSource, Client, ClientError, ClientOptions, Credential, InterfaceHost, SignatureCheck,
};
use attache_config::Environment;
use attache_net::{HttpClientOptions, NetError};
use jiff::Timestamp;

use super::agent;
use super::arguments::CallArguments;
use crate::ProcessContext;
use crate::printable::printable;
use crate::report::with_hint;
use crate::tasks::token;

/// Agents may be silent for long while they work.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const MAX_FILE_BYTES: u64 = 1 << 20;

pub(super) async fn connect(
    arguments: &CallArguments,
    process: ProcessContext<'_>,
) -> anyhow::Result<Client> {
    let agent = match &arguments.card {
        Some(_) => None,
        None => agent::resolve(&arguments.url, process).await?,
    };
    // What the command line gives counts before what the agent's file says.
    let given = credential(arguments, process.environment)?;
    let (found, of_file) = agent.map_or((None, None), |agent| (Some(agent.source), agent.credential));
    let credential = given.or(of_file);
    let has_credential = credential.is_some();
    let interface_host = if arguments.same_host { InterfaceHost::Given } else { InterfaceHost::FromCard };
    let options = ClientOptions {
        credential,
        extensions: arguments.extension.clone(),
        binding: arguments.binding.map(Into::into),
        version: arguments.version.map(Into::into),
        allowed_origins: arguments.allow_origin.clone(),
        interface_host,
        signatures: signatures(arguments)?,
        net: HttpClientOptions { idle_timeout: IDLE_TIMEOUT, ..HttpClientOptions::default() },
        ..ClientOptions::default()
    };
    let source = match (&arguments.card, found) {
        (Some(path), _) => CardSource::Inline(read(path)?),
        (None, Some(source)) => source,
        (None, None) => CardSource::Address(arguments.url.clone()),
    };
    Client::connect_to(&source, options)
        .await
        .map_err(|error| explained(error, &arguments.url, has_credential))
}

fn credential(arguments: &CallArguments, environment: Environment<'_>) -> anyhow::Result<Option<Credential>> {
    if let Some(file) = &arguments.api_key_file {
        let key = token(Some(file), None)?;
        let header = arguments.api_key_header.clone();
        return Ok(key.map(|key| Credential::ApiKey { header, key }));
    }
    let token = token(arguments.token_file.as_deref(), environment("ATTACHE_CALL_TOKEN"))?;
    Ok(token.map(Credential::Bearer))
}

fn signatures(arguments: &CallArguments) -> anyhow::Result<SignatureCheck> {
    let mut keys = KeySet::default();
    for path in &arguments.keys {
        let set = KeySet::parse(read(path)?.as_bytes())
            .map_err(|error| anyhow!("cannot use the keys in {}: {error}", path.display()))?;
        keys.extend(set);
    }
    Ok(SignatureCheck { keys, policy: arguments.signatures.into(), now: Timestamp::now() })
}

fn read(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let mut text = String::new();
    File::open(path)
        .with_context(cannot)?
        .take(MAX_FILE_BYTES)
        .read_to_string(&mut text)
        .with_context(cannot)?;
    Ok(text)
}

/// An error of a call, whose words are the agent's.
pub(super) fn refused(error: ClientError) -> anyhow::Error {
    let text = anyhow!("{}", printable(&error.to_string()));
    match error {
        ClientError::Unauthenticated { .. } => with_hint(text, CREDENTIAL),
        _ => text,
    }
}

const CREDENTIAL: &str =
    "give a token with --token-file FILE or in ATTACHE_CALL_TOKEN, or a key with --api-key-file FILE";

fn explained(error: ClientError, address: &str, has_credential: bool) -> anyhow::Error {
    let hint = match &error {
        ClientError::Net(NetError::Connect { .. }) => {
            "no connection to that address; is the agent running?".to_owned()
        }
        ClientError::Address { .. } => "give it as https://HOST, or as the URL of a card".to_owned(),
        ClientError::OtherOrigin { named, .. } => format!(
            "if you trust it: --allow-origin {}; or --same-host, if the agent does not know its own address",
            printable(named)
        ),
        ClientError::UnnamedOrigin { named } => format!("name it with --allow-origin {}", printable(named)),
        ClientError::Unsigned { .. } => "name the keys that you trust with --keys FILE".to_owned(),
        ClientError::Unauthenticated { .. } if has_credential => {
            "the agent does not take this credential".to_owned()
        }
        ClientError::Unauthenticated { .. } => CREDENTIAL.to_owned(),
        ClientError::NoCard { .. } | ClientError::Malformed { .. } => {
            "is that the address of an A2A agent, or the URL of its card?".to_owned()
        }
        ClientError::NoInterface { .. } => {
            "leave out --binding or --version to take what it offers".to_owned()
        }
        _ => return anyhow!("{}: {}", printable(address), printable(&error.to_string())),
    };
    with_hint(anyhow!("{}: {}", printable(address), printable(&error.to_string())), hint)
}
