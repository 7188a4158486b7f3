//! Chooses among the interfaces of a card.

use attache_domain::Binding;
use attache_net::Url;
use attache_wire::Version;
use attache_wire::client::{Protocol, RemoteInterface};

use crate::discovery::FoundCard;
use crate::endpoint::Endpoint;
use crate::origin::{NamedOrigins, Origin, excerpt};
use crate::{ClientError, ClientOptions, InterfaceHost};

/// Where to call, the best place first, and what the caller should be told.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Never empty. Those after the first take its place if the agent refuses its version, or is not there.
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) notices: Vec<String>,
}

/// The agent's favourite among the interfaces that this client speaks, and that lie where the caller allows.
pub(crate) fn choose(found: &FoundCard, options: &ClientOptions) -> Result<Choice, ClientError> {
    let interfaces = &found.card.supported_interfaces;
    let mut named = NamedOrigins(options.allowed_origins.clone());
    named.0.extend(found.given.as_ref().map(Origin::of));
    let (mut usable, mut elsewhere) = (Vec::new(), Vec::new());
    for (index, interface) in interfaces.iter().enumerate() {
        let Some(protocol) = protocol(interface, options) else { continue };
        let Some(url) = url(interface, protocol, found.url.as_ref()) else { continue };
        let is_at_card = found.url.as_ref().is_some_and(|card| Origin::of(card).is_same(&Origin::of(&url)));
        let url = match (options.interface_host, &found.given) {
            (InterfaceHost::Given, Some(given)) => moved(&url, given),
            _ if is_at_card || named.contains(&url) => url,
            _ => {
                elsewhere.push((index, protocol, Origin::of(&url)));
                continue;
            }
        };
        let sends_credential = named.contains(&url);
        let tenant = interface.tenant.clone().filter(|tenant| !tenant.is_empty());
        usable.push((index, Endpoint { protocol, url, tenant, sends_credential }));
    }
    let first_index = usable.first().map(|(index, _)| *index);
    let usable: Vec<Endpoint> = usable.into_iter().map(|(_, endpoint)| endpoint).collect();
    if usable.is_empty() {
        return Err(nothing_to_call(found, options, elsewhere));
    }
    let notices = elsewhere
        .iter()
        // The agent would rather be called there.
        .filter(|(index, ..)| first_index.is_some_and(|first| *index < first))
        .map(|(_, protocol, origin)| {
            format!(
                "its card names {origin} for {}; the card does not come from there, so it is not called",
                protocol.name()
            )
        })
        .collect();
    Ok(Choice { endpoints: in_order(&usable, options), notices })
}

fn protocol(interface: &RemoteInterface, options: &ClientOptions) -> Option<Protocol> {
    let protocol = interface.protocol().or_else(|| interface.closest_protocol())?;
    let fits = options.binding.is_none_or(|binding| binding == protocol.binding())
        && options.version.is_none_or(|version| version == protocol.version());
    fits.then_some(protocol)
}

/// The URL of an interface. A relative one is below the card's; one of gRPC may be a host and a port.
fn url(interface: &RemoteInterface, protocol: Protocol, card: Option<&Url>) -> Option<Url> {
    let text = Some(interface.url.trim()).filter(|text| !text.is_empty())?;
    let url = match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ if protocol.binding() == Binding::Grpc => {
            let (scheme, rest) = match text.split_once("://") {
                Some(("grpcs", rest)) => ("https", rest),
                Some(("grpc", rest)) => ("http", rest),
                Some(("dns", rest)) => (card.map_or("https", Url::scheme), rest.trim_start_matches('/')),
                Some(_) => return None,
                None => (card.map_or("https", Url::scheme), text.trim_start_matches("dns:")),
            };
            // A path would be that of a socket in the file system.
            if rest.trim_end_matches('/').contains('/') {
                return None;
            }
            Url::parse(&format!("{scheme}://{rest}"))
        }
        Ok(_) => return None,
        Err(_) => card?.join(text),
    };
    url.ok().filter(|url| url.has_host() && url.username().is_empty() && url.password().is_none())
}

/// The path of `url` at the host of `given`.
fn moved(url: &Url, given: &Url) -> Url {
    let mut moved = given.clone();
    moved.set_path(url.path());
    moved.set_query(url.query());
    moved
}

/// More interfaces than these are not tried.
const MAX_ENDPOINTS: usize = 8;

/// The order in which interfaces are tried: that of the card, each binding in the latest version that it is offered in, and
/// then in the other one.
fn in_order(usable: &[Endpoint], options: &ClientOptions) -> Vec<Endpoint> {
    let (mut rest, mut ordered) = (usable.to_vec(), Vec::new());
    while let Some(next) = preferred(&rest).cloned() {
        ordered.push(next.clone());
        if options.version.is_none() {
            let other = other_version(&next, usable);
            ordered.extend(Some(other).filter(|other| !ordered.contains(other)));
        }
        rest.retain(|endpoint| !ordered.contains(endpoint));
        if ordered.len() >= MAX_ENDPOINTS {
            break;
        }
    }
    ordered.truncate(MAX_ENDPOINTS);
    ordered
}

/// The first one, in the latest version that its binding is offered in.
fn preferred(usable: &[Endpoint]) -> Option<&Endpoint> {
    let first = usable.first()?;
    let same_binding = |endpoint: &&Endpoint| endpoint.protocol.binding() == first.protocol.binding();
    let latest = |endpoint: &&Endpoint| endpoint.protocol.version() == Version::V1_0;
    usable.iter().filter(same_binding).find(latest).or(Some(first))
}

/// What to try if the agent refuses the version of `endpoint`: the interface that the card lists, or the same address.
fn other_version(endpoint: &Endpoint, usable: &[Endpoint]) -> Endpoint {
    let other = match endpoint.protocol.version() {
        Version::V0_3 => Version::V1_0,
        Version::V1_0 => Version::V0_3,
    };
    let protocol = Protocol::new(other, endpoint.protocol.binding());
    let listed = usable.iter().find(|endpoint| endpoint.protocol == protocol).cloned();
    listed.unwrap_or_else(|| Endpoint { protocol, ..endpoint.clone() })
}

fn nothing_to_call(
    found: &FoundCard,
    options: &ClientOptions,
    elsewhere: Vec<(usize, Protocol, Origin)>,
) -> ClientError {
    if let Some((_, _, origin)) = elsewhere.first() {
        return match &found.url {
            Some(card) => ClientError::OtherOrigin {
                what: "its card names",
                named: origin.to_string(),
                came_from: Origin::of(card).to_string(),
            },
            None => ClientError::UnnamedOrigin { named: origin.to_string() },
        };
    }
    let unusable = found.card.supported_interfaces.iter().find(|it| protocol(it, options).is_some());
    if let Some(RemoteInterface { url, .. }) = unusable {
        // A password in it is not shown.
        let url = if url.contains('@') { "an address with a user name" } else { url.as_str() };
        let url = if url.is_empty() { "an empty address" } else { url };
        return ClientError::UnusableInterface { url: excerpt(url) };
    }
    let named = |it: &RemoteInterface| format!("{} {}", it.protocol_binding, it.protocol_version);
    let offered: Vec<_> = found.card.supported_interfaces.iter().take(8).map(named).collect();
    let offered = if offered.is_empty() { "none".to_owned() } else { excerpt(&offered.join(", ")) };
    let binding = options.binding.map_or("JSONRPC, HTTP+JSON or GRPC", |binding| match binding {
        Binding::JsonRpc => "JSONRPC",
        Binding::HttpJson => "HTTP+JSON",
        Binding::Grpc => "GRPC",
    });
    let version = options.version.map_or("0.3 or 1.0", Version::as_str);
    ClientError::NoInterface { wanted: format!("{binding}, version {version}"), offered }
}

#[cfg(test)]
mod tests {
    use attache_wire::client::RemoteCard;
    use serde_json::{Value, json};

    use super::*;

    const CARD: &str = "https://a.example/.well-known/agent-card.json";

    fn found(interfaces: &[(&str, &str, &str)]) -> FoundCard {
        let interfaces: Vec<Value> = interfaces
            .iter()
            .map(|(url, binding, version)| json!({"url": url, "protocolBinding": binding, "protocolVersion": version}))
            .collect();
        let card = RemoteCard::from_value(json!({ "supportedInterfaces": interfaces })).unwrap();
        let url = Url::parse(CARD).unwrap();
        FoundCard {
            card,
            security: Default::default(),
            given: Some(url.clone()),
            url: Some(url),
            notices: Vec::new(),
        }
    }

    #[track_caller]
    fn check(interfaces: &[(&str, &str, &str)], options: &ClientOptions, expected: Result<&str, &str>) {
        match (choose(&found(interfaces), options), expected) {
            (Ok(choice), Ok(expected)) => {
                let first = &choice.endpoints[0];
                assert_eq!(format!("{} {}", first.protocol.name(), first.url), expected);
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => panic!("{found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn the_first_interface_that_is_spoken_is_chosen_in_its_latest_version() {
        let options = ClientOptions::default();
        let at = "https://a.example/x";
        check(&[(at, "GRPC", "1.0"), (at, "JSONRPC", "1.0")], &options, Ok("GRPC 1.0 https://a.example/x"));
        check(
            &[(at, "SOAP", "1.0"), (at, "http+json", "1.0.3")],
            &options,
            Ok("HTTP+JSON 1.0 https://a.example/x"),
        );
        check(
            &[(at, "JSONRPC", "0.3"), (at, "GRPC", "1.0"), (at, "JSONRPC", "1.0")],
            &options,
            Ok("JSONRPC 1.0 https://a.example/x"),
        );
        check(&[(at, "JSONRPC", "0.2.6")], &options, Ok("JSONRPC 0.3 https://a.example/x"));
        check(&[(at, "JSONRPC", "")], &options, Ok("JSONRPC 0.3 https://a.example/x"));
        check(&[(at, "JSONRPC", "1.7")], &options, Ok("JSONRPC 1.0 https://a.example/x"));
        check(&[(at, "JSONRPC", "2.0")], &options, Err("it offers JSONRPC 2.0"));
        check(&[("../rpc", "JSONRPC", "1.0")], &options, Ok("JSONRPC 1.0 https://a.example/rpc"));
        check(&[], &options, Err("it offers none"));
    }

    #[test]
    fn an_empty_tenant_is_none() {
        let mut found = found(&[("https://a.example/x", "HTTP+JSON", "1.0")]);
        found.card.supported_interfaces[0].tenant = Some(String::new());
        assert_eq!(choose(&found, &ClientOptions::default()).unwrap().endpoints[0].tenant, None);
    }

    #[test]
    fn the_caller_may_ask_for_a_binding_and_a_version() {
        let at = "https://a.example/x";
        let all = [(at, "JSONRPC", "1.0"), (at, "GRPC", "0.3"), (at, "GRPC", "1.0")];
        let grpc = ClientOptions { binding: Some(Binding::Grpc), ..ClientOptions::default() };
        check(&all, &grpc, Ok("GRPC 1.0 https://a.example/x"));
        let older = ClientOptions { version: Some(Version::V0_3), ..ClientOptions::default() };
        check(&all, &older, Ok("GRPC 0.3 https://a.example/x"));
        check(&all[..1], &grpc, Err("(GRPC, version 0.3 or 1.0); it offers JSONRPC 1.0"));
        assert_eq!(choose(&found(&all), &older).unwrap().endpoints.len(), 1, "no other version is tried");
    }

    #[test]
    fn interfaces_are_tried_in_the_order_of_the_card_each_in_both_versions() {
        let (one, two) = ("https://a.example/x", "https://a.example/y");
        let card =
            [(one, "JSONRPC", "0.3"), (two, "GRPC", "1.0"), (one, "JSONRPC", "1.0"), (two, "JSONRPC", "1.0")];
        let names = |options: &ClientOptions| -> Vec<String> {
            choose(&found(&card), options).unwrap().endpoints.iter().map(Endpoint::name).collect()
        };
        assert_eq!(
            names(&ClientOptions::default()),
            [
                format!("JSONRPC 1.0 at {one}"),
                format!("JSONRPC 0.3 at {one}"),
                format!("GRPC 1.0 at {two}"),
                format!("GRPC 0.3 at {two}"),
                format!("JSONRPC 1.0 at {two}"),
            ]
        );
        let only = ClientOptions {
            binding: Some(Binding::Grpc),
            version: Some(Version::V1_0),
            ..ClientOptions::default()
        };
        assert_eq!(names(&only), [format!("GRPC 1.0 at {two}")]);
        let many = vec![(one, "JSONRPC", "1.0"); 1000];
        assert_eq!(choose(&found(&many), &ClientOptions::default()).unwrap().endpoints.len(), 2);
    }

    #[test]
    fn an_address_of_grpc_needs_no_scheme() {
        let options = ClientOptions::default();
        for (written, read) in [
            ("a.example:443", "https://a.example/"),
            ("grpcs://a.example", "https://a.example"),
            ("dns:///a.example:443", "https://a.example/"),
            ("https://a.example", "https://a.example/"),
        ] {
            let read = read.trim_end_matches('/');
            let choice = choose(&found(&[(written, "GRPC", "1.0")]), &options).unwrap();
            assert_eq!(choice.endpoints[0].url.as_str().trim_end_matches('/'), read, "{written}");
        }
        check(&[("grpc://a.example", "GRPC", "1.0")], &options, Err("http://a.example"));
    }

    #[test]
    fn what_is_no_address_on_the_web_is_not_called() {
        let options = ClientOptions::default();
        for odd in [
            "file:///etc/passwd",
            "unix:/run/agent.sock",
            "unix:///run/agent.sock",
            "unix-abstract:agent",
            "vsock:2:50051",
            "javascript:alert(1)",
            "https://me:word@a.example/",
            "//me:word@a.example/x",
            "http://[fe80::1%25eth0]/",
            "http://[fe80::1%eth0]/",
            "https://a.example:99999/",
            "https://",
        ] {
            check(
                &[(odd, "GRPC", "1.0"), (odd, "JSONRPC", "1.0")],
                &options,
                Err("and that cannot be called"),
            );
            let error = choose(&found(&[(odd, "JSONRPC", "1.0")]), &options).unwrap_err().to_string();
            assert!(!error.contains("word"), "{error}");
        }
        check(&[("", "JSONRPC", "1.0")], &options, Err("its card names an empty address"));
        check(&[("https://", "JSONRPC", "1.0")], &options, Err("its card names https:// for what is spoken"));
    }

    #[test]
    fn another_origin_is_told_and_not_followed_unless_it_is_allowed() {
        let mut options = ClientOptions::default();
        let evil = ("https://evil.example/x", "JSONRPC", "1.0");
        check(
            &[evil],
            &options,
            Err("its card names https://evil.example, but comes from https://a.example"),
        );
        let own = ("https://a.example/x", "HTTP+JSON", "1.0");
        check(&[evil, own], &options, Ok("HTTP+JSON 1.0 https://a.example/x"));
        let choice = choose(&found(&[evil, own]), &options).unwrap();
        assert!(choice.notices[0].contains("https://evil.example for JSONRPC 1.0"), "{:?}", choice.notices);
        let choice = choose(&found(&[own, evil]), &options).unwrap();
        assert!(choice.notices.is_empty(), "it would not have been called anyway: {:?}", choice.notices);
        options.allowed_origins = vec![Origin::parse("https://evil.example").unwrap()];
        check(&[evil, own], &options, Ok("JSONRPC 1.0 https://evil.example/x"));
        options = ClientOptions { interface_host: InterfaceHost::Given, ..ClientOptions::default() };
        check(&[evil], &options, Ok("JSONRPC 1.0 https://a.example/x"));
    }

    #[test]
    fn an_inline_card_needs_its_origin_named() {
        let mut inline = found(&[("https://b.example/x", "JSONRPC", "1.0")]);
        (inline.url, inline.given) = (None, None);
        let error = choose(&inline, &ClientOptions::default()).unwrap_err().to_string();
        assert!(error.contains("https://b.example"), "{error}");
        let allowed_origins = vec![Origin::parse("https://b.example").unwrap()];
        let options = ClientOptions { allowed_origins, ..ClientOptions::default() };
        assert!(choose(&inline, &options).unwrap().endpoints[0].sends_credential);
    }
}
