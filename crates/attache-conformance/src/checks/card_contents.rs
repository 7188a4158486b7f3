//! The content of the card: required members, consistency, and what clients rely on.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::check::{Check, CheckResult, choice, ensure, must, not_applicable, quality, should};
use crate::http::HttpRequest;
use crate::pair::Pair;
use crate::protocol::Version;
use crate::text::shown;

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("card-1.0", "the card has every member that 1.0 requires", members_1_0),
        must("card-0.3", "the card has every member that 0.3 requires", members_0_3),
        must("V5", "every interface tells one version", interface_versions),
        should("V1-card", "versions on the card are major and minor only", version_form),
        quality(
            "card-urls",
            "the URLs of interfaces are absolute, those of gRPC are a host and a port",
            urls,
        ),
        must("A1", "interfaces that are not on this machine use TLS", transport_security),
        should("card-bindings", "other bindings than the three are named by URIs", bindings),
        must(
            "card-preferred",
            "the transport at `url` is the preferred one, and one URL has one transport",
            preferred,
        ),
        should("card-repeated", "the main interface is repeated among the additional ones", repeated),
        must("A3", "every requirement names schemes that are declared", requirements),
        must("A2", "every scheme is of one kind and has what that kind needs", schemes),
        quality("card-extended", "both halves of the card agree about the extended card", extended_flags),
        quality("card-skills", "skills have ids of their own, and tags", skills),
        quality("card-modes", "modes are media types", modes),
        must("5.1", "signatures have a protected header with algorithm and key", signatures),
        should("5.1-typ", "and its type is JOSE", signature_type),
        choice("11.4", "a client that asks for 1.0 gets a card without the members of 0.3", pure),
        must("card-extensions", "every extension has a URI", extensions),
    ];
    checks.into_iter().map(Check::once).collect()
}

fn lacking(value: &Value, place: &str, rules: &str, faults: &mut Vec<String>) {
    for rule in rules.split_whitespace() {
        let (name, kind) = rule.split_once(':').unwrap_or((rule, "text"));
        let member = &value[name];
        let good = match kind {
            "text" => member.is_string(),
            "filled" => member.as_str().is_some_and(|text| !text.is_empty()),
            "list" => member.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            "objects" => member.as_array().is_some_and(|items| items.iter().all(Value::is_object)),
            _ => member.is_object(),
        };
        if !good {
            faults.push(format!("{place}{name} is {}", shown(member)));
        }
    }
}

fn each<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value[member].as_array().into_iter().flatten()
}

/// The members that 1.0 requires and a card lacks.
pub(super) fn faults_1_0(card: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let rules = "name:filled description:text version:text capabilities:object supportedInterfaces:objects \
                 defaultInputModes:list defaultOutputModes:list skills:objects";
    lacking(card, "", rules, &mut faults);
    if each(card, "supportedInterfaces").next().is_none() {
        faults.push("supportedInterfaces is empty".into());
    }
    for interface in each(card, "supportedInterfaces") {
        lacking(
            interface,
            "supportedInterfaces.",
            "url:filled protocolBinding:filled protocolVersion:filled",
            &mut faults,
        );
    }
    for skill in each(card, "skills") {
        lacking(skill, "skills.", "id:filled name:filled description:text tags:list", &mut faults);
    }
    if !card["provider"].is_null() {
        lacking(&card["provider"], "provider.", "organization:text url:text", &mut faults);
    }
    faults
}

/// The members that 0.3 requires and a card lacks.
pub(super) fn faults_0_3(card: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let rules = "name:filled description:text url:filled version:text protocolVersion:filled capabilities:object \
                 defaultInputModes:list defaultOutputModes:list skills:objects";
    lacking(card, "", rules, &mut faults);
    for interface in each(card, "additionalInterfaces") {
        lacking(interface, "additionalInterfaces.", "url:filled transport:filled", &mut faults);
    }
    for skill in each(card, "skills") {
        lacking(skill, "skills.", "id:filled name:filled description:text tags:list", &mut faults);
    }
    if !card["provider"].is_null() {
        lacking(&card["provider"], "provider.", "organization:text url:text", &mut faults);
    }
    faults
}

fn offers(pair: &Pair, version: Version) -> bool {
    pair.subject.offers.iter().any(|offer| offer.version == version)
}

async fn members_1_0(pair: Pair) -> CheckResult {
    if !offers(&pair, Version::V1_0) {
        return not_applicable("1.0 is not offered");
    }
    let faults = faults_1_0(&pair.subject.card);
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    Ok(())
}

async fn members_0_3(pair: Pair) -> CheckResult {
    if !offers(&pair, Version::V0_3) {
        return not_applicable("0.3 is not offered");
    }
    let faults = faults_0_3(&pair.subject.card);
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    Ok(())
}

async fn interface_versions(pair: Pair) -> CheckResult {
    for interface in each(&pair.subject.card, "supportedInterfaces") {
        let version = interface["protocolVersion"].as_str().unwrap_or_default();
        let good = version
            .split('.')
            .all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
        ensure!(good, "the interface {} tells version {version:?}", interface["url"]);
    }
    Ok(())
}

async fn version_form(pair: Pair) -> CheckResult {
    for interface in each(&pair.subject.card, "supportedInterfaces") {
        let version = interface["protocolVersion"].as_str().unwrap_or_default();
        ensure!(
            version.split('.').count() == 2,
            "the interface {} tells version {version:?}",
            interface["url"]
        );
    }
    Ok(())
}

async fn urls(pair: Pair) -> CheckResult {
    for interface in each(&pair.subject.card, "supportedInterfaces") {
        let url = interface["url"].as_str().unwrap_or_default();
        let is_grpc = interface["protocolBinding"] == "GRPC";
        let good = match url::Url::parse(url) {
            Ok(parsed) if parsed.has_host() => true,
            _ => {
                is_grpc
                    && url
                        .rsplit_once(':')
                        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
            }
        };
        ensure!(good, "the URL of {} is {url:?}", interface["protocolBinding"]);
        if is_grpc && interface["protocolVersion"] == "1.0" {
            ensure!(!url.contains("://"), "1.0 wants a host and a port for gRPC, not {url:?}");
        }
    }
    Ok(())
}

async fn transport_security(pair: Pair) -> CheckResult {
    for interface in each(&pair.subject.card, "supportedInterfaces") {
        let url = interface["url"].as_str().unwrap_or_default();
        let Ok(parsed) = url::Url::parse(url) else { continue };
        let is_here = match parsed.host() {
            Some(url::Host::Ipv4(address)) => address.is_loopback() || address.is_private(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            None => true,
        };
        ensure!(is_here || parsed.scheme() == "https", "an interface is at {url}");
    }
    Ok(())
}

async fn bindings(pair: Pair) -> CheckResult {
    for interface in each(&pair.subject.card, "supportedInterfaces") {
        let binding = interface["protocolBinding"].as_str().unwrap_or_default();
        let good = matches!(binding, "JSONRPC" | "GRPC" | "HTTP+JSON") || url::Url::parse(binding).is_ok();
        ensure!(good, "a binding is called {binding:?}");
    }
    Ok(())
}

async fn preferred(pair: Pair) -> CheckResult {
    let card = &pair.subject.card;
    let (Some(url), transport) =
        (card["url"].as_str(), card["preferredTransport"].as_str().unwrap_or("JSONRPC"))
    else {
        return not_applicable("the card has no members of 0.3");
    };
    let mut known = BTreeMap::from([(url, transport)]);
    for interface in each(card, "additionalInterfaces") {
        let (url, transport) =
            (interface["url"].as_str().unwrap_or_default(), interface["transport"].as_str());
        let transport = transport.unwrap_or_default();
        let first = *known.entry(url).or_insert(transport);
        ensure!(first == transport, "{url} is both {first} and {transport}");
    }
    Ok(())
}

async fn repeated(pair: Pair) -> CheckResult {
    let card = &pair.subject.card;
    if each(card, "additionalInterfaces").next().is_none() {
        return not_applicable("there are no additional interfaces");
    }
    let main = (&card["url"], card["preferredTransport"].as_str().unwrap_or("JSONRPC"));
    let there = each(card, "additionalInterfaces")
        .any(|interface| (&interface["url"], interface["transport"].as_str().unwrap_or_default()) == main);
    ensure!(there, "{main:?} is not among them");
    Ok(())
}

async fn requirements(pair: Pair) -> CheckResult {
    let card = &pair.subject.card;
    let declared: BTreeSet<&str> = card["securitySchemes"]
        .as_object()
        .into_iter()
        .flat_map(|schemes| schemes.keys())
        .map(String::as_str)
        .collect();
    let new = each(card, "securityRequirements").map(|entry| &entry["schemes"]);
    let old = each(card, "security")
        .map(|entry| if entry["schemes"].is_object() { &entry["schemes"] } else { entry });
    for name in new.chain(old).filter_map(Value::as_object).flat_map(|schemes| schemes.keys()) {
        ensure!(declared.contains(name.as_str()), "{name:?} is required, declared are {declared:?}");
    }
    Ok(())
}

async fn schemes(pair: Pair) -> CheckResult {
    let kinds = [
        ("apiKeySecurityScheme", "location:filled name:filled"),
        ("httpAuthSecurityScheme", "scheme:filled"),
        ("oauth2SecurityScheme", "flows:object"),
        ("openIdConnectSecurityScheme", "openIdConnectUrl:filled"),
        ("mtlsSecurityScheme", ""),
    ];
    for (name, scheme) in pair.subject.card["securitySchemes"].as_object().into_iter().flatten() {
        let found: Vec<_> = kinds.iter().filter(|(kind, _)| scheme[kind].is_object()).collect();
        if found.is_empty() {
            ensure!(scheme["type"].is_string(), "{name} is of no kind: {}", shown(scheme));
            continue;
        }
        ensure!(found.len() == 1, "{name} is of {} kinds", found.len());
        let mut faults = Vec::new();
        lacking(&scheme[found[0].0], &format!("{name}."), found[0].1, &mut faults);
        ensure!(faults.is_empty(), "{}", faults.join("; "));
    }
    Ok(())
}

async fn extended_flags(pair: Pair) -> CheckResult {
    let card = &pair.subject.card;
    if !offers(&pair, Version::V0_3) || !offers(&pair, Version::V1_0) {
        return not_applicable("only one version is offered");
    }
    let old = card["supportsAuthenticatedExtendedCard"] == true;
    let new = card["capabilities"]["extendedAgentCard"] == true;
    ensure!(old == new, "0.3 says {old}, 1.0 says {new}");
    Ok(())
}

async fn skills(pair: Pair) -> CheckResult {
    let mut seen = BTreeSet::new();
    for skill in each(&pair.subject.card, "skills") {
        let id = skill["id"].as_str().unwrap_or_default();
        ensure!(seen.insert(id), "two skills are called {id:?}");
        ensure!(skill["tags"].as_array().is_some_and(|tags| !tags.is_empty()), "{id:?} has no tags");
    }
    Ok(())
}

async fn modes(pair: Pair) -> CheckResult {
    let card = &pair.subject.card;
    for mode in each(card, "defaultInputModes").chain(each(card, "defaultOutputModes")) {
        let good = mode.as_str().is_some_and(|mode| mode.matches('/').count() == 1);
        ensure!(good, "a mode is {mode}");
    }
    Ok(())
}

fn protected_headers(card: &Value) -> CheckResult<Vec<Value>> {
    let headers: Vec<Value> = each(card, "signatures")
        .map(|signature| {
            let protected = signature["protected"].as_str().unwrap_or_default();
            let decoded = URL_SAFE_NO_PAD.decode(protected).unwrap_or_default();
            serde_json::from_slice(&decoded).unwrap_or_default()
        })
        .collect();
    if headers.is_empty() {
        return not_applicable("the card is not signed");
    }
    Ok(headers)
}

async fn signatures(pair: Pair) -> CheckResult {
    for header in protected_headers(&pair.subject.card)? {
        ensure!(header["alg"].is_string() && header["kid"].is_string(), "a protected header is {header}");
        ensure!(header["alg"] != "none", "a signature has no algorithm");
    }
    Ok(())
}

async fn signature_type(pair: Pair) -> CheckResult {
    for header in protected_headers(&pair.subject.card)? {
        ensure!(header["typ"] == "JOSE", "a protected header is {header}");
    }
    Ok(())
}

async fn pure(pair: Pair) -> CheckResult {
    if !offers(&pair, Version::V1_0) || !offers(&pair, Version::V0_3) {
        return not_applicable("only one version is offered");
    }
    let request = HttpRequest::new(http::Method::GET, pair.subject.card_url()).header("A2A-Version", "1.0");
    let card = pair.subject.http.call(request).await?.json()?;
    for member in ["url", "preferredTransport", "additionalInterfaces", "protocolVersion", "security"] {
        ensure!(card.get(member).is_none(), "it has `{member}`");
    }
    let faults = faults_1_0(&card);
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    Ok(())
}

async fn extensions(pair: Pair) -> CheckResult {
    for extension in pair.subject.extensions() {
        ensure!(extension["uri"].as_str().is_some_and(|uri| !uri.is_empty()), "one is {}", shown(extension));
    }
    Ok(())
}
