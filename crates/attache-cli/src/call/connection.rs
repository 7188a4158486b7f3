//! Connects to the agent, with advice when that fails.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use attache_client::{
    CardSource, Client, ClientError, ClientOptions, Credential, CredentialSource, FixedCredential,
    InterfaceHost, SignatureCheck,
};
use attache_config::Environment;
use attache_net::{HttpClientOptions, NetError, NetworkSettings};
use attache_workspace::agent_files::missing_authentication;
use attache_workspace::{AgentSignatures, AgentTls};

use super::agent::{self, FileOfAgent};
use super::arguments::CallArguments;
use super::is_at_terminal;
use crate::ProcessContext;
use crate::card_signatures;
use crate::network;
use crate::printable::printable;
use crate::report::{ErrorWithHint, with_hint};
use crate::tasks::token;

/// Agents may be silent for long while they work.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

pub(super) struct Connection {
    pub(super) client: Client,
    /// What the agent's card asks for and its file does not have, in a sentence.
    pub(super) missing: Option<String>,
    pub(super) credential: CredentialOrigin,
}

/// Where the credential of a call comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CredentialOrigin {
    /// There is none, and no file that could hold one.
    None,
    /// What the person gave it with.
    CommandLine(&'static str),
    File(FileOfAgent),
}

pub(super) async fn connect(
    arguments: &CallArguments,
    process: ProcessContext<'_>,
) -> anyhow::Result<Connection> {
    let asks_person = is_at_terminal() && !arguments.json;
    let agent = match &arguments.card {
        Some(_) => None,
        None => {
            // The certificate proves who we are to the agent, and not to a server of tokens.
            let mut network = network(arguments, None, process.environment)?;
            network.tls = network.tls.without_client_certificate();
            agent::resolve(&arguments.url, asks_person, &network.client_options(), process)?
        }
    };
    let tls = agent.as_ref().and_then(|agent| agent.tls.as_ref());
    let has_certificate =
        arguments.client_cert.is_some() || tls.is_some_and(|tls| tls.client_certificate.is_some());
    let network = network(arguments, tls, process.environment)?;
    let net = HttpClientOptions { idle_timeout: IDLE_TIMEOUT, ..network.client_options() };
    // What the command line gives counts before what the agent's file says.
    let given = credential(arguments, agent.is_some(), process.environment)?;
    // The file says nothing about a credential of the command line.
    let auth = agent.as_ref().filter(|_| given.is_none()).map(|agent| agent.auth.clone());
    let file = agent.as_ref().map(|agent| agent.file.clone());
    let origin = match (&given, file.clone()) {
        (Some((flag, _)), _) => CredentialOrigin::CommandLine(flag),
        (None, Some(file)) => CredentialOrigin::File(file),
        (None, None) => CredentialOrigin::None,
    };
    let of_settings = agent.as_ref().and_then(|agent| agent.signatures.as_ref());
    let signatures = signatures(arguments, of_settings, process.environment)?;
    let (mut allowed_origins, mut source, mut of_file) = (arguments.allow_origin.clone(), None, None);
    if let Some(agent) = agent {
        allowed_origins.extend(agent.allowed_origins);
        (source, of_file) = (Some(agent.source), agent.credential);
    }
    let interface_host = if arguments.same_host { InterfaceHost::Given } else { InterfaceHost::FromCard };
    let options = ClientOptions {
        credential: given.map(|(_, credential)| credential).or(of_file),
        extensions: arguments.extensions(),
        binding: arguments.binding.map(Into::into),
        version: arguments.version.map(Into::into),
        allowed_origins,
        interface_host,
        signatures,
        net,
        ..ClientOptions::default()
    };
    let source = match (&arguments.card, source) {
        (Some(path), _) => CardSource::Inline(card_signatures::read(path)?),
        (None, Some(source)) => source,
        (None, None) => CardSource::Address(arguments.url.clone()),
    };
    let client = Client::connect_to(&source, options)
        .await
        .map_err(|error| explained(error, arguments, file.as_ref(), &origin))?;
    let missing =
        auth.and_then(|auth| missing_authentication(auth.as_ref(), has_certificate, client.security()));
    Ok(Connection { client, missing, credential: origin })
}

/// The credential of the command line, and what it was given with. An agent of a file gets no token of the environment, which
/// was not meant for it.
fn credential(
    arguments: &CallArguments,
    has_file: bool,
    environment: Environment<'_>,
) -> anyhow::Result<Option<(&'static str, Arc<dyn CredentialSource>)>> {
    if let Some(file) = &arguments.api_key_file {
        let key = token(Some(file), None)?;
        let name = arguments.api_key_header.clone();
        let source = |value| Arc::new(FixedCredential(Credential::Header { name, value })) as _;
        return Ok(key.map(|value| ("--api-key-file", source(value))));
    }
    let flag = if arguments.token_file.is_some() { "--token-file" } else { "ATTACHE_CALL_TOKEN" };
    let of_environment = environment("ATTACHE_CALL_TOKEN").filter(|_| !has_file);
    let token = token(arguments.token_file.as_deref(), of_environment)?;
    Ok(token.as_ref().map(|token| (flag, FixedCredential::bearer(token))))
}

/// What the settings say about the agent, and then what the flags say.
fn network(
    arguments: &CallArguments,
    agent: Option<&AgentTls>,
    environment: Environment<'_>,
) -> anyhow::Result<NetworkSettings> {
    let mut network = network::for_agent(network::of_user(environment)?, agent, environment)?;
    for path in &arguments.ca {
        network::trust(&mut network.tls, path)?;
    }
    if let Some(path) = &arguments.client_cert {
        network::prove(&mut network.tls, path, arguments.client_key.as_deref())?;
    }
    Ok(network)
}

/// What the flags say, and else the settings. The keys of both count.
fn signatures(
    arguments: &CallArguments,
    agent: Option<&AgentSignatures>,
    environment: Environment<'_>,
) -> anyhow::Result<SignatureCheck> {
    let mut check = card_signatures::for_agent(agent, environment)?;
    let policy = arguments.signatures.map_or(check.policy, Into::into);
    let given = card_signatures::check(policy, &arguments.keys)?;
    check.keys.extend(given.keys);
    Ok(SignatureCheck { keys: check.keys, ..given })
}

/// The words of an error, which may be the agent's: further lines cannot be taken for lines of ours.
fn of_agent(error: &ClientError) -> String {
    printable(&error.to_string()).replace('\n', "\n  ")
}

/// An error of a call, whose words are the agent's.
pub(super) fn refused(error: ClientError) -> anyhow::Error {
    let mut text = of_agent(&error);
    if let ClientError::Refused(remote) = &error {
        let reason = remote.reason.as_deref().map(|name| format!(" {}", printable(name).replace('\n', " ")));
        let code = format!("error {}{}", remote.code, reason.unwrap_or_default());
        text = format!("the agent refused the request ({code}): {text}");
    }
    match &error {
        error if error.is_refused_credential() => anyhow::Error::new(CredentialRefused(text)),
        ClientError::Unsupported(_)
        | ClientError::NoCommands { .. }
        | ClientError::CommandNotStarted { .. } => {
            anyhow!("{text}")
        }
        _ => anyhow::Error::new(CallFailed(text)),
    }
}

/// The same for a message. If the connection broke, it may have arrived.
pub(super) fn unanswered(error: ClientError) -> anyhow::Error {
    let is_open =
        matches!(&error, ClientError::Net(NetError::Interrupted { .. } | NetError::IdleTimeout { .. }));
    let error = refused(error);
    match is_open {
        true => with_hint(
            error,
            "the message may have arrived; it is not sent again, because this agent would take it for another one",
        ),
        false => error,
    }
}

/// The agent did not answer, or not with what was asked for.
#[derive(Debug)]
struct CallFailed(String);

impl std::fmt::Display for CallFailed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CallFailed {}

/// Says which agent it was, and where.
pub(super) fn named(error: anyhow::Error, (agent, url): (&str, &str)) -> anyhow::Error {
    let error = match error.downcast::<ErrorWithHint>() {
        Ok(ErrorWithHint { error, hint }) => return with_hint(named(error, (agent, url)), hint),
        Err(error) => error,
    };
    let place = match url.starts_with(agent) {
        true => printable(url),
        false => format!("{}: {}", printable(agent), printable(url)),
    };
    match (error.downcast_ref::<CallFailed>(), error.downcast_ref::<CredentialRefused>()) {
        (Some(CallFailed(what)), _) => anyhow!("{place}: {what}"),
        (_, Some(CredentialRefused(what))) => {
            anyhow::Error::new(CredentialRefused(format!("{place}: {what}")))
        }
        _ => error,
    }
}

/// The agent wants another credential, or none of this caller.
#[derive(Debug)]
struct CredentialRefused(String);

impl std::fmt::Display for CredentialRefused {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CredentialRefused {}

/// Adds what to do about a credential that was refused.
pub(crate) fn with_credential_hint(error: anyhow::Error, origin: &CredentialOrigin) -> anyhow::Error {
    match error.is::<CredentialRefused>() {
        true => with_hint(error, origin.hint()),
        false => error,
    }
}

impl CredentialOrigin {
    fn hint(&self) -> String {
        match self {
            Self::None => CREDENTIAL.to_owned(),
            Self::CommandLine(flag) => format!("the agent does not take the credential of {flag} for this"),
            Self::File(FileOfAgent { path, has_auth: true, .. }) => format!("check the auth block in {path}"),
            Self::File(FileOfAgent { path, .. }) => {
                format!("give the agent a credential in an auth block in {path}, or with --token-file FILE")
            }
        }
    }
}

/// The address as a person gave it, without a user name and a password.
fn without_password(address: &str) -> String {
    match address.split_once("://").map(|(scheme, rest)| (scheme, rest.split(['/', '?', '#']).next())) {
        Some((scheme, Some(authority))) if authority.contains('@') => {
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{}", &address[scheme.len() + "://".len() + authority.len()..])
        }
        _ => address.to_owned(),
    }
}

const CREDENTIAL: &str =
    "give a token with --token-file FILE or in ATTACHE_CALL_TOKEN, or a key with --api-key-file FILE";

fn explained(
    error: ClientError,
    arguments: &CallArguments,
    file: Option<&FileOfAgent>,
    credential: &CredentialOrigin,
) -> anyhow::Error {
    let address = &without_password(&arguments.url);
    let of_file = file.and_then(|file| agent::file_hint(&error, file));
    let hint = match &error {
        error if error.is_refused_credential() => credential.hint(),
        ClientError::OtherOrigin { named, .. } | ClientError::UnnamedOrigin { named }
            if of_file.is_some() =>
        {
            let of_file = of_file.unwrap_or_default();
            format!("{of_file}; for one call, say --allow-origin {}", printable(named))
        }
        _ if of_file.is_some() => of_file.unwrap_or_default(),
        ClientError::Net(NetError::Connect { what })
            if what.contains("through the proxy") && !what.contains("it does not connect") =>
        {
            "is the proxy running? general.proxy in the settings or HTTP_PROXY and HTTPS_PROXY name it"
                .to_owned()
        }
        ClientError::Net(NetError::Connect { what }) if !what.contains("through the proxy") => {
            "no connection to that address; is the agent running?".to_owned()
        }
        ClientError::Net(NetError::Tls { what }) if what.contains("UnknownIssuer") => {
            "--ca FILE trusts the authority that made the certificate".to_owned()
        }
        ClientError::Net(NetError::Tls { what })
            if what.contains("from us") || what.contains("our certificate") =>
        {
            "--client-cert FILE and --client-key FILE prove who calls".to_owned()
        }
        ClientError::Net(NetError::TooLarge { .. }) => "a card is at most 1 MiB large".to_owned(),
        // nginx says so in a page.
        ClientError::Status { status: 400, text } if text.contains("SSL certificate") => {
            "--client-cert FILE and --client-key FILE prove who calls".to_owned()
        }
        // Over HTTP/2 nothing else is left of the refusal of a certificate.
        ClientError::Net(NetError::Interrupted { .. }) if address.starts_with("https:") => {
            "if the agent wants a certificate, --client-cert FILE and --client-key FILE prove who calls"
                .to_owned()
        }
        ClientError::Address { .. } if file.is_none() => {
            "give it as https://HOST, or as the URL of a card".to_owned()
        }
        ClientError::OtherOrigin { named, what, .. } => {
            let named = printable(named);
            match what.contains("redirect") {
                true => format!("if you trust it: --allow-origin {named}"),
                false => format!(
                    "if you trust it: --allow-origin {named}; or --same-host, if the agent does not know its own \
                     address"
                ),
            }
        }
        ClientError::UnnamedOrigin { named } => format!("name it with --allow-origin {}", printable(named)),
        ClientError::Unsigned { .. } => "name the keys that you trust with --keys FILE".to_owned(),
        ClientError::NoCard { .. } | ClientError::Malformed { .. } => {
            "is that the address of an A2A agent, or the URL of its card?".to_owned()
        }
        ClientError::NoInterface { .. } if arguments.binding.is_some() || arguments.version.is_some() => {
            "leave out --binding or --version to take what it offers".to_owned()
        }
        _ => return anyhow!("{}: {}", printable(address), of_agent(&error)),
    };
    with_hint(anyhow!("{}: {}", printable(address), of_agent(&error)), hint)
}

#[cfg(test)]
mod tests {
    use attache_client::RemoteError;

    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        for (address, expected) in [
            ("https://me:s3cret@a.example/x?y", "https://a.example/x?y"),
            ("https://me@s3cret@a.example", "https://a.example"),
            ("https://a.example/x@y", "https://a.example/x@y"),
            ("my-agent", "my-agent"),
        ] {
            assert_eq!(without_password(address), expected);
        }
    }

    #[test]
    fn an_error_of_a_call_names_the_agent_and_a_refusal_its_code() {
        let reason = Some("METHOD_NOT_FOUND".to_owned());
        let error = RemoteError { code: -32601, reason, message: "no such\nmethod".into() };
        let shown = |place| named(refused(ClientError::Refused(error.clone())), place).to_string();
        assert_eq!(
            shown(("https://a.example", "https://a.example/rpc")),
            "https://a.example/rpc: the agent refused the request (error -32601 METHOD_NOT_FOUND): no such\n  method"
        );
        assert!(
            shown(("my-agent", "https://a.example/rpc")).starts_with("my-agent: https://a.example/rpc: the")
        );
        let hinted = with_hint(refused(ClientError::Refused(error)), "what to do");
        let hinted = named(hinted, ("https://a.example", "https://a.example/rpc"));
        let ErrorWithHint { error, hint } = hinted.downcast::<ErrorWithHint>().unwrap();
        assert!(error.to_string().starts_with("https://a.example/rpc: ") && hint == "what to do");
    }

    #[test]
    fn a_refused_credential_is_told_with_the_place_the_code_and_what_to_do() {
        for (code, reason) in [(7, Some("PERMISSION_DENIED".to_owned())), (403, None)] {
            let error = RemoteError { code, reason: reason.clone(), message: "not you".into() };
            let place = ("https://a.example", "https://a.example/rpc");
            let error = with_credential_hint(
                named(refused(ClientError::Refused(error)), place),
                &CredentialOrigin::None,
            );
            let hinted = error.downcast_ref::<crate::report::ErrorWithHint>().unwrap();
            let text = hinted.to_string();
            assert!(
                text.starts_with("https://a.example/rpc: the agent refused the request (error "),
                "{text}"
            );
            assert!(
                text.contains(&reason.unwrap_or_default()) && hinted.hint.contains("--token-file"),
                "{text}"
            );
        }
    }
}
