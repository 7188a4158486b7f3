//! Checks the interfaces.

use serde_json::Value;
use url::{Host, Url};

use super::{CardVersion, Report, Severity, rules};

/// First path segments of HTTP+JSON without a tenant.
const RESERVED_SEGMENTS: &[&str] =
    &[".", "..", ".well-known", "extendedAgentCard", "message:send", "message:stream", "tasks", "v1"];

/// The well-known bindings.
const BINDINGS: &[&str] = &["JSONRPC", "GRPC", "HTTP+JSON"];

pub(super) fn check(report: &mut Report<'_>) {
    if report.has(CardVersion::V1_0) {
        check_listed(report);
    }
    if report.has(CardVersion::V0_3) {
        check_main(report);
    }
}

fn check_listed(report: &mut Report<'_>) {
    let Some(interfaces) = report.document.get("supportedInterfaces").and_then(Value::as_array) else {
        return;
    };
    if interfaces.is_empty() {
        let words = "no interface is listed, so the agent cannot be called";
        report.add(
            &rules::INTERFACES,
            Severity::Error,
            Some(CardVersion::V1_0),
            "supportedInterfaces",
            words,
        );
    }
    let mut older_seen = false;
    for (index, interface) in interfaces.iter().enumerate() {
        let path = format!("supportedInterfaces[{index}]");
        let text = |name: &str| interface.get(name).and_then(Value::as_str);
        if let Some(binding) = text("protocolBinding") {
            check_binding(report, binding, &format!("{path}.protocolBinding"));
        }
        if let Some(url) = text("url") {
            check_url(report, url, text("protocolBinding").unwrap_or_default(), &format!("{path}.url"));
        }
        if let Some(version) = text("protocolVersion") {
            check_version(report, version, &format!("{path}.protocolVersion"));
            let older = version.starts_with("0.");
            if older_seen && !older {
                let words =
                    "comes after an interface of an older version; clients take the first that they speak";
                report.add(
                    &rules::INTERFACES,
                    Severity::Warning,
                    Some(CardVersion::V1_0),
                    path.clone(),
                    words,
                );
            }
            older_seen |= older;
        }
        if let Some(tenant) = text("tenant") {
            let version = text("protocolVersion").unwrap_or_default();
            check_tenant(report, tenant, version, &format!("{path}.tenant"));
        }
        if let Some(earlier) = interfaces[..index].iter().position(|earlier| earlier == interface) {
            let words = format!("is the same as supportedInterfaces[{earlier}]");
            report.add(&rules::INTERFACES, Severity::Warning, Some(CardVersion::V1_0), path, words);
        }
    }
}

/// Clients echo a tenant exactly, and over HTTP+JSON it is the first segment of every path.
fn check_tenant(report: &mut Report<'_>, tenant: &str, version: &str, path: &str) {
    let words = if tenant.is_empty() {
        "is empty; an interface without a tenant does not say one".to_owned()
    } else if version.starts_with("0.") {
        format!("{tenant:?} cannot be named by clients of {version}, which knows no tenants")
    } else if RESERVED_SEGMENTS.contains(&tenant) {
        format!("{tenant:?} is how a path of HTTP+JSON begins that means something else")
    } else if tenant.contains('/') || tenant.trim() != tenant || tenant.chars().any(char::is_control) {
        format!("{tenant:?} does not fit into one segment of a path")
    } else {
        return;
    };
    report.add(&rules::TENANT, Severity::Warning, Some(CardVersion::V1_0), path, words);
}

fn check_version(report: &mut Report<'_>, version: &str, path: &str) {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = version.split('.').collect();
    if parts.len() != 2 || !parts.iter().all(|part| is_number(part)) {
        let words = format!("{version:?} is not written as Major.Minor, such as 1.0");
        report.add(&rules::PROTOCOL_VERSION, Severity::Warning, Some(CardVersion::V1_0), path, words);
    }
}

fn check_main(report: &mut Report<'_>) {
    let v0_3 = Some(CardVersion::V0_3);
    let document = report.document;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    if let Some(version) = text("protocolVersion").filter(|version| !version.starts_with("0.3")) {
        let words = format!("{version:?} is not a version of 0.3, whose members this card has; write 0.3.0");
        report.add(&rules::PROTOCOL_VERSION, Severity::Warning, v0_3, "protocolVersion", words);
    }
    // The empty text of protobuf.
    let preferred = text("preferredTransport").filter(|transport| !transport.is_empty());
    match preferred {
        Some(transport) => check_binding(report, transport, "preferredTransport"),
        None => {
            let words = "is not said; clients take JSONRPC, and the text of 0.3 wants it said";
            report.add(&rules::TRANSPORTS, Severity::Warning, v0_3, "preferredTransport", words);
        }
    }
    let preferred = preferred.unwrap_or("JSONRPC");
    let Some(main) = text("url") else { return };
    check_url(report, main, preferred, "url");
    let Some(additional) = document.get("additionalInterfaces").and_then(Value::as_array) else { return };
    let mut pairs: Vec<(&str, &str)> = vec![(main, preferred)];
    for (index, interface) in additional.iter().enumerate() {
        let text = |name: &str| interface.get(name).and_then(Value::as_str);
        let (Some(url), Some(transport)) = (text("url"), text("transport")) else { continue };
        let path = format!("additionalInterfaces[{index}]");
        check_binding(report, transport, &format!("{path}.transport"));
        check_url(report, url, transport, &format!("{path}.url"));
        let conflict =
            pairs.iter().find(|(known, other)| *known == url && !other.eq_ignore_ascii_case(transport));
        if let Some((_, other)) = conflict {
            let words = format!("{url} is said to speak {transport} here and {other} elsewhere");
            report.add(&rules::TRANSPORTS, Severity::Error, v0_3, path, words);
        }
        pairs.push((url, transport));
    }
    let repeated =
        |(url, transport): &(&str, &str)| *url == main && transport.eq_ignore_ascii_case(preferred);
    if !additional.is_empty() && !pairs[1..].iter().any(repeated) {
        let words = "does not repeat url with preferredTransport";
        report.add(&rules::TRANSPORTS, Severity::Warning, v0_3, "additionalInterfaces", words);
    }
}

fn check_binding(report: &mut Report<'_>, binding: &str, path: &str) {
    if BINDINGS.contains(&binding) || Url::parse(binding).is_ok() {
        return;
    }
    let words = match BINDINGS.iter().find(|known| known.eq_ignore_ascii_case(binding)) {
        Some(known) => format!("{binding:?} is usually written {known}"),
        None => format!("{binding:?} is none of {}, and no URI of another binding", BINDINGS.join(", ")),
    };
    report.warning(&rules::BINDING, path, words);
}

fn check_url(report: &mut Report<'_>, text: &str, binding: &str, path: &str) {
    let grpc = binding.eq_ignore_ascii_case("GRPC");
    if grpc && is_host_and_port(text) {
        return;
    }
    let Some(url) = Url::parse(text).ok().filter(Url::has_host) else {
        let example = if grpc { "agent.example:443" } else { "https://agent.example/" };
        report.error(&rules::INTERFACE_URL, path, format!("{text:?} is no absolute URL such as {example}"));
        return;
    };
    if !url.username().is_empty() || url.password().is_some() {
        report.error(&rules::INTERFACE_URL, path, "has credentials in it, and the card is public");
    }
    if url.scheme() != "https" && !is_local(&url) {
        let words = format!(
            "begins with {}:, and everything on the way can read and change it; use https",
            url.scheme()
        );
        report.warning(&rules::INTERFACE_URL, path, words);
    }
}

fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host_is_name = !host.is_empty() && !host.contains(['/', '@', '?', '#']);
    host_is_name && Host::parse(host).is_ok() && port.parse::<u16>().is_ok()
}

/// The URL never leaves the machine.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
