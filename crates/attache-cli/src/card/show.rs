//! `attache card show`.

use std::io::{self, Write};
use std::process::ExitCode;

use attache_card::{CardDocument, headers};
use serde_json::Value;

use super::arguments::ShowArguments;
use super::shown;
use super::source::{self, CardContext};

use crate::standard_streams::stdout;

pub(super) async fn run(arguments: ShowArguments, context: CardContext<'_>) -> anyhow::Result<ExitCode> {
    let document = source::find(&arguments.source, context).await?.document()?;
    let mut out = stdout().lock();
    if arguments.json {
        crate::printable::write_pretty_json(&mut out, &document)?;
        writeln!(out)?;
    } else {
        write(&mut out, &document)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(out: &mut impl Write, document: &CardDocument) -> io::Result<()> {
    let said = |name: &str| document.get(name).and_then(Value::as_str).map(shown).unwrap_or_default();
    writeln!(out, "{} {}", said("name"), said("version"))?;
    line(out, "", &said("description"))?;
    let provider = document.get("provider").cloned().unwrap_or_default();
    line(out, "provider", format!("{} {}", text(&provider, "organization"), text(&provider, "url")).trim())?;
    line(out, "docs", &said("documentationUrl"))?;
    for interface in interfaces(document) {
        line(out, "interface", &interface)?;
    }
    let capabilities = document.get("capabilities").and_then(Value::as_object);
    let flags = capabilities.into_iter().flatten().filter(|(_, value)| **value == true);
    line(out, "can", &flags.map(|(name, _)| shown(name)).collect::<Vec<_>>().join(", "))?;
    let extensions = capabilities.and_then(|it| it.get("extensions"));
    for extension in list(extensions) {
        line(out, "extension", &text(extension, "uri"))?;
    }
    for (label, name) in [("takes", "defaultInputModes"), ("gives", "defaultOutputModes")] {
        let modes: Vec<String> =
            list(document.get(name)).iter().filter_map(Value::as_str).map(shown).collect();
        line(out, label, &modes.join(", "))?;
    }
    for skill in list(document.get("skills")) {
        line(
            out,
            "skill",
            &format!("{} ({}): {}", text(skill, "name"), text(skill, "id"), text(skill, "description")),
        )?;
    }
    for (name, _) in document.get("securitySchemes").and_then(Value::as_object).into_iter().flatten() {
        line(out, "scheme", &shown(name))?;
    }
    for header in headers(document) {
        let signer = match header {
            Ok(header) => format!("{} by {}", shown(&header.algorithm), shown(&header.kid)),
            Err(why) => format!("unreadable: {}", shown(&why)),
        };
        line(out, "signature", &signer)?;
    }
    Ok(())
}

/// Those of 1.0, else those of 0.3.
fn interfaces(document: &CardDocument) -> Vec<String> {
    let listed = list(document.get("supportedInterfaces"));
    if !listed.is_empty() {
        let describe = |it: &Value| {
            let tenant = text(it, "tenant");
            let tenant = if tenant.is_empty() { tenant } else { format!(" for tenant {tenant}") };
            format!(
                "{} {} at {}{tenant}",
                text(it, "protocolBinding"),
                text(it, "protocolVersion"),
                text(it, "url")
            )
        };
        return listed.iter().map(describe).collect();
    }
    let top = Value::Object(document.clone());
    let main = format!("{} 0.3 at {}", text(&top, "preferredTransport"), text(&top, "url"));
    let others = list(document.get("additionalInterfaces")).iter();
    let others = others.map(|it| format!("{} 0.3 at {}", text(it, "transport"), text(it, "url")));
    [main].into_iter().filter(|_| document.contains_key("url")).chain(others).collect()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).map(shown).unwrap_or_default()
}

fn line(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    if text.is_empty() { Ok(()) } else { writeln!(out, "  {label:<10} {text}") }
}
