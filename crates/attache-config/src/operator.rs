//! The operator's settings with their origins, to be shown.

mod card;

use std::path::Path;
use std::sync::Arc;

use attache_document::Node;
use attache_domain::AnswerLocation;
use attache_domain::DuplicateWindow;
use serde_json::{Value, json};

use crate::client_tokens::FILE_VARIABLE;
use crate::environment::{Environment, variable};
use crate::origin::SettingOrigin;
use crate::push::SIGNING_KEY;
use crate::settings::LimitSettings;
use crate::{ConfigError, Flags, LogFormat, SettingEntry, Settings, StoreChoice, Synchronous};

/// The first source that sets the key counts.
pub(crate) const WORKSPACE: &[&str] = &["ATTACHE_WORKSPACE", "CODER_AGENT_WORKSPACE_PATH"];
pub(crate) const DUPLICATE_SENDS: &str = "ATTACHE_DUPLICATE_SENDS";
pub(crate) const ALLOWED_ROOT: &str = "CODER_AGENT_ALLOWED_ROOT";

/// The folder of an administrator's rules for all users of a machine.
pub(crate) const ADMIN_POLICIES: &str = "/etc/gemini-cli/policies";

/// The possible origins of the settings.
pub(crate) struct Provenance<'a> {
    pub(crate) flags: Vec<&'static str>,
    pub(crate) environment: Environment<'a>,
    pub(crate) path: Arc<Path>,
    pub(crate) tree: Node,
}

impl Provenance<'_> {
    fn of(&self, key: &str, flag: &'static str, variables: &[&str]) -> SettingOrigin {
        if self.flags.contains(&flag) {
            return SettingOrigin::Flag(flag);
        }
        if let Some(name) = variables.iter().find(|name| variable(self.environment, name).is_some()) {
            return SettingOrigin::Variable((*name).to_owned());
        }
        match self.tree.at(key) {
            Some(node) => SettingOrigin::File { path: self.path.clone(), line: node.line },
            None => SettingOrigin::BuiltIn,
        }
    }
}

/// The flags that were given.
pub(crate) fn flags_said(flags: &Flags) -> Vec<&'static str> {
    let flags = [
        ("--answers", flags.answers.is_some()),
        ("--host", flags.host.is_some()),
        ("--port", flags.port.is_some()),
        ("--workspace", flags.workspace.is_some()),
        ("--store", flags.store.is_some()),
        ("--compat", flags.default_dialect.is_some()),
        ("--live", flags.live),
        ("--token-file", flags.token_file.is_some()),
        ("--a2a-token-file", flags.a2a_token_file.is_some()),
        ("--log", flags.log.is_some()),
        ("--log-format", flags.log_format.is_some()),
    ];
    flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
}

pub(crate) fn entries(settings: &Settings, provenance: &Provenance<'_>) -> Vec<SettingEntry> {
    let entry = |key: &str, flag: &'static str, variables: &[&str], value: Value| SettingEntry {
        key: key.to_owned(),
        value,
        origins: vec![provenance.of(key, flag, variables)],
    };
    let store = match &settings.store {
        StoreChoice::Memory => "memory:".to_owned(),
        StoreChoice::Sqlite(path) => format!("sqlite:{}", path.display()),
    };
    let synchronous = match settings.synchronous {
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
        Synchronous::Off => "off",
    };
    let answers = match settings.answers {
        AnswerLocation::Artifact => "artifact",
        AnswerLocation::StatusMessage => "message",
    };
    let format = match settings.log.format {
        LogFormat::Text => "text",
        LogFormat::Json => "json",
    };
    let duplicate_sends = match settings.duplicate_sends {
        DuplicateWindow::InFlight => "in_flight",
        DuplicateWindow::Always => "always",
    };
    // Only the token is secret, not its presence.
    let token = settings.token.as_ref().map(|_| "(hidden)");
    let (push, confinement) = (&settings.push, &settings.confinement);
    let signing_key = push.signing_key.as_ref().map(|_| "(hidden)");
    let mut entries = vec![
        entry(
            "a2a_token_file",
            "--a2a-token-file",
            &[FILE_VARIABLE],
            json!(settings.a2a_token_file.as_ref().map(|path| path.display().to_string())),
        ),
        entry("admin_policies", "", &[], json!(settings.admin_policies.display().to_string())),
        entry("allow_private_addresses", "", &[], json!(settings.allow_private_addresses)),
        entry("allowed_hosts", "", &[], json!(settings.allowed_hosts)),
        entry("allowed_origins", "", &[], json!(settings.allowed_origins)),
        entry("allowed_roots", "", &[ALLOWED_ROOT], json!(settings.allowed_roots)),
        entry("answer_by_context", "", &[], json!(settings.answer_by_context)),
        entry("answers", "--answers", &["ATTACHE_ANSWERS"], json!(answers)),
        entry("answers_interface", "", &[], json!(settings.answers_interface)),
        entry("client_auto_execute", "", &[], json!(settings.client_auto_execute)),
        entry("confinement.cpu_seconds", "", &[], json!(confinement.cpu_seconds)),
        entry("confinement.enabled", "", &[], json!(confinement.enabled)),
        entry("confinement.file_megabytes", "", &[], json!(confinement.file_bytes >> 20)),
        entry("confinement.memory_megabytes", "", &[], json!(confinement.memory_bytes >> 20)),
        entry("confinement.open_files", "", &[], json!(confinement.open_files)),
        entry("confinement.processes", "", &[], json!(confinement.processes)),
        entry("confinement.reads", "", &[], json!(confinement.reads)),
        entry(
            "default_dialect",
            "--compat",
            &["ATTACHE_DEFAULT_DIALECT"],
            json!(settings.default_dialect.name()),
        ),
        entry("duplicate_sends", "", &[DUPLICATE_SENDS], json!(duplicate_sends)),
        entry("host", "--host", &["ATTACHE_HOST"], json!(settings.host)),
        entry("live", "--live", &[], json!(settings.live)),
        entry("log", "--log", &["ATTACHE_LOG"], json!(settings.log.filter)),
        entry("log_format", "--log-format", &["ATTACHE_LOG_FORMAT"], json!(format)),
        entry("port", "--port", &["CODER_AGENT_PORT", "PORT"], json!(settings.port)),
        entry("public_url", "", &[], json!(settings.public_url)),
        entry("push.allow_http", "", &[], json!(push.allow_http)),
        entry("push.allow_private_addresses", "", &[], json!(push.allow_private_addresses)),
        entry("push.artifacts", "", &[], json!(push.artifacts)),
        entry("push.attempts", "", &[], json!(push.attempts)),
        entry("push.enabled", "", &[], json!(push.enabled)),
        entry("push.signing_key_file", "", &[SIGNING_KEY], json!(signing_key)),
        entry("push.timeout_seconds", "", &[], json!(push.timeout.as_secs())),
        entry("sqlite.synchronous", "", &[], json!(synchronous)),
        entry("store", "--store", &["ATTACHE_STORE"], json!(store)),
        entry("strict_version", "", &[], json!(settings.strict_version)),
        entry("token_file", "--token-file", &["ATTACHE_TOKEN_FILE", "ATTACHE_TOKEN"], json!(token)),
        entry("trusted_folders", "", &[], json!(settings.trusted_folders)),
        entry("worker_threads", "", &[], json!(settings.worker_threads)),
        entry("workspace", "--workspace", WORKSPACE, json!(settings.workspace)),
    ];
    entries.extend(limit_entries(&settings.limits, provenance));
    entries.extend(card::entries(&settings.card.file, provenance));
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    entries
}

fn limit_entries(limits: &LimitSettings, provenance: &Provenance<'_>) -> Vec<SettingEntry> {
    let entry = |key: &str, value: Value| SettingEntry {
        key: key.to_owned(),
        value,
        origins: vec![provenance.of(key, "", &[])],
    };
    vec![
        entry("limits.answer_room_bytes", json!(limits.answer_room_bytes)),
        entry("limits.body_bytes", json!(limits.body_bytes)),
        entry("limits.body_room_bytes", json!(limits.body_room_bytes)),
        entry("limits.body_timeout_seconds", json!(limits.body_timeout.as_secs())),
        entry("limits.connections", json!(limits.connections)),
        entry("limits.connections_per_address", json!(limits.connections_per_address)),
        entry("limits.header_bytes", json!(limits.header_bytes)),
        entry("limits.header_timeout_seconds", json!(limits.header_timeout.as_secs())),
        entry("limits.heartbeat_seconds", json!(limits.heartbeat_interval.as_secs())),
        entry("limits.idle_timeout_seconds", json!(limits.idle_timeout.as_secs())),
        entry("limits.json_depth", json!(limits.json_depth)),
        entry("limits.shutdown_seconds", json!(limits.shutdown_timeout.as_secs())),
        entry("limits.stall_timeout_seconds", json!(limits.stall_timeout.as_secs())),
        entry("limits.streams_per_address", json!(limits.streams_per_address)),
        entry("limits.streams_per_caller", json!(limits.streams_per_caller)),
        entry("limits.streams_per_connection", json!(limits.streams_per_connection)),
        entry("limits.task_events", json!(limits.task_events)),
        entry("limits.task_megabytes", json!(limits.task_megabytes)),
    ]
}

/// Hosts, addresses and networks, such as `wiki.internal`, `10.1.2.3`, `10.0.0.0/8` or `fd00::/8`.
pub(crate) fn private_addresses(entries: Vec<String>) -> Result<Vec<String>, ConfigError> {
    address_list("allow_private_addresses", entries)
}

pub(crate) fn address_list(key: &str, entries: Vec<String>) -> Result<Vec<String>, ConfigError> {
    match entries.iter().find(|text| !is_address(text)) {
        None => Ok(entries),
        Some(wrong) => Err(ConfigError::BadValue {
            origin: format!("the setting `{key}`"),
            value: wrong.clone(),
            expected: "a host name, an address or a network such as 10.0.0.0/8".into(),
        }),
    }
}

fn is_address(text: &str) -> bool {
    use std::net::IpAddr;
    if let Some((address, length)) = text.split_once('/') {
        let max_prefix = match address.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => 32,
            Ok(IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        return length.parse::<u8>().is_ok_and(|length| length <= max_prefix);
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
    };
    text.parse::<IpAddr>().is_ok() || (text.len() <= 253 && text.split('.').all(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_hosts_addresses_and_networks() {
        for (text, expected) in [
            ("wiki.internal", true),
            ("10.1.2.3", true),
            ("10.0.0.0/8", true),
            ("fd00::/8", true),
            ("::1", true),
            ("10.0.0.0/33", false),
            ("wiki/8", false),
            ("http://wiki", false),
            ("a..b", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(is_address(text), expected, "{text}");
        }
    }
}
