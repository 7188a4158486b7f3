//! Checks the settings of the card.
//!
//! The binary checks that no tenant is called like a path of the server; `attache card lint` checks cards in general.

use std::collections::BTreeSet;

use crate::file::{BindingFile, CardFile, ExtendedFile, InterfaceFile, VersionFile};
use crate::{ConfigError, Settings};

pub(crate) fn check(settings: &Settings) -> Result<(), ConfigError> {
    let file = &settings.card.file;
    tenants("card.tenants", &file.tenants, &mut BTreeSet::new())?;
    match &file.extended {
        None => Ok(()),
        Some(_) if !settings.needs_token() => Err(ConfigError::ExtendedCardWithoutToken),
        Some(extended) => check_extended(file, extended),
    }
}

fn check_extended(file: &CardFile, extended: &ExtendedFile) -> Result<(), ConfigError> {
    let mut known: BTreeSet<&str> = file.tenants.iter().map(String::as_str).collect();
    tenants("card.extended.tenants", &extended.tenants, &mut known)?;
    let mut ids: BTreeSet<&str> = file.skills.iter().map(|skill| skill.id.as_str()).collect();
    for skill in &extended.skills {
        if !ids.insert(&skill.id) {
            let expected = "an id that no other skill has; the skills of the public card are there anyway";
            return Err(bad("card.extended.skills.id", &skill.id, expected));
        }
    }
    extended.interfaces.iter().try_for_each(check_interface)
}

fn check_interface(interface: &InterfaceFile) -> Result<(), ConfigError> {
    let (scheme, rest) = match interface.url.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, interface.url.as_str()),
    };
    let named = !rest.is_empty() && !rest.starts_with(['/', ':']) && !rest.contains(char::is_whitespace);
    let web = matches!(scheme, Some("http" | "https"));
    let bare = matches!(interface.binding, BindingFile::Grpc) && scheme.is_none();
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !(named && (web || bare && has_port)) {
        let expected = match interface.binding {
            BindingFile::Grpc => "host:port, or a URL that begins with http:// or https://",
            _ => "a URL that begins with http:// or https://",
        };
        return Err(bad("card.extended.interfaces.url", &interface.url, expected));
    }
    match &interface.tenant {
        Some(tenant) if interface.version == VersionFile::V0_3 => {
            let expected = "something that 0.3 knows; interfaces with a tenant are of 1.0";
            Err(bad("card.extended.interfaces.tenant", tenant, expected))
        }
        _ => Ok(()),
    }
}

fn tenants<'a>(key: &str, names: &'a [String], known: &mut BTreeSet<&'a str>) -> Result<(), ConfigError> {
    for name in names {
        let shaped = !name.is_empty() && name.trim() == name && !name.contains(['/', '\\']);
        if !shaped || name.chars().any(char::is_control) {
            return Err(bad(key, name, "a name without slashes and without blanks around it"));
        }
        if !known.insert(name) {
            return Err(bad(key, name, "a name that is not there already"));
        }
    }
    Ok(())
}

fn bad(key: &str, value: &str, expected: &str) -> ConfigError {
    let (value, expected) = (value.to_owned(), expected.to_owned());
    ConfigError::BadValue { origin: format!("the setting `{key}`"), value, expected }
}
