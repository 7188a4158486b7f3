//! Merges flags, environment, file and defaults, and checks the result.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use attache_document::Node;
use attache_domain::AnswerLocation;
use attache_domain::DuplicateWindow;

use crate::data_folder::{data_folder, user_data};
use crate::environment::{CHILDREN_SEE, Environment, variable};
use crate::file::ConfigFile;
use crate::operator::{self, Provenance};
use crate::operator_agent::OperatorAgentSettings;
use crate::{
    ApprovalMode, CardSettings, ConfigError, ConfinementSettings, DefaultDialect, LimitSettings, LogFormat,
    LogSettings, PushSettings, Settings, StoreChoice, card, client_tokens, token,
};

const DEFAULT_PORT: u16 = 41242;

/// The flags of the command line.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub workspace: Option<PathBuf>,
    pub store: Option<String>,
    pub model: Option<String>,
    pub approval_mode: Option<String>,
    pub answers: Option<String>,
    /// `--compat`
    pub default_dialect: Option<String>,
    /// Enables the live endpoint; the file can enable it, too.
    pub live: bool,
    pub token_file: Option<PathBuf>,
    /// `--a2a-token-file`
    pub a2a_token_file: Option<PathBuf>,
    pub log: Option<String>,
    pub log_format: Option<String>,
}

/// Loads the settings. Relative paths and the default workspace start at `current_dir`.
pub fn load(flags: Flags, environment: Environment<'_>, current_dir: &Path) -> Result<Settings, ConfigError> {
    let provenance_flags = operator::flags_said(&flags);
    let config = flags.config.or_else(|| variable(environment, "ATTACHE_CONFIG").map(PathBuf::from));
    let (file, tree) = match &config {
        Some(path) => read_config(path)?,
        None => (ConfigFile::default(), Node::empty()),
    };
    let path = config.unwrap_or_default();
    let agent = operator_agent(&path, &tree, &file);
    let provenance = Provenance { flags: provenance_flags, environment, path: path.into(), tree };
    let host = pick(flags.host, environment, "--host", "ATTACHE_HOST", file.host, "host");
    let store = pick(flags.store, environment, "--store", "ATTACHE_STORE", file.store, "store");
    let model = pick(flags.model, environment, "--model", "ATTACHE_MODEL", file.model, "model");
    let approval = pick(
        flags.approval_mode,
        environment,
        "--approval-mode",
        "ATTACHE_APPROVAL_MODE",
        file.approval_mode,
        "approval_mode",
    );
    // Checked before the agent's settings are, so that the error names the flag or key that was used.
    check_approval(approval)?;
    let (variable_name, key) = (operator::DUPLICATE_SENDS, "duplicate_sends");
    let duplicate_sends = pick(None, environment, "", variable_name, file.duplicate_sends, key);
    let answers = pick(flags.answers, environment, "--answers", "ATTACHE_ANSWERS", file.answers, "answers");
    let (variable_name, key) = ("ATTACHE_DEFAULT_DIALECT", "default_dialect");
    let dialect =
        pick(flags.default_dialect, environment, "--compat", variable_name, file.default_dialect, key);
    let log = pick(flags.log, environment, "--log", "ATTACHE_LOG", file.log, "log");
    let (variable_name, key) = ("ATTACHE_LOG_FORMAT", "log_format");
    let log_format = pick(flags.log_format, environment, "--log-format", variable_name, file.log_format, key);
    let named = || operator::WORKSPACE.iter().find_map(|name| variable(environment, name)).map(PathBuf::from);
    let workspace = check_workspace(flags.workspace.or_else(named).or(file.workspace), current_dir)?;
    let token_file = flags.token_file.or(token::file_in(environment)?).or(file.token_file);
    let a2a_token_file =
        flags.a2a_token_file.or(client_tokens::file_in(environment)?).or(file.a2a_token_file);
    let token = token::read(token_file.as_deref(), environment)?;
    let mut settings = Settings {
        host: parse_host(host)?,
        port: port(flags.port, environment, file.port)?,
        public_url: file.public_url.map(|url| url.trim_end_matches('/').to_owned()),
        allowed_roots: allowed_roots(environment, file.allowed_roots, &workspace, current_dir)?,
        trusted_folders: trusted_folders(file.trusted_folders, current_dir),
        workspace,
        data_folder: data_folder(environment, current_dir),
        scratch: data_folder(environment, current_dir).join("scratch"),
        child_environment: child_environment(environment),
        store: parse_store(store, environment, current_dir)?,
        synchronous: file.sqlite.synchronous,
        model,
        client_auto_execute: file.client_auto_execute,
        default_dialect: parse_default_dialect(dialect)?,
        clients: client_tokens::read(a2a_token_file.as_deref(), token.as_deref())?,
        a2a_token_file,
        token,
        token_file,
        allowed_hosts: file.allowed_hosts,
        allowed_origins: file.allowed_origins,
        allow_private_addresses: operator::private_addresses(file.allow_private_addresses)?,
        admin_policies: file.admin_policies.unwrap_or_else(|| PathBuf::from(operator::ADMIN_POLICIES)),
        answer_by_context: file.answer_by_context.unwrap_or(true),
        duplicate_sends: parse_duplicate_sends(duplicate_sends)?,
        answers: parse_answers(answers)?,
        answers_interface: file.answers_interface,
        live: flags.live || file.live,
        strict_version: file.strict_version,
        worker_threads: file.worker_threads,
        limits: LimitSettings::of(&file.limits),
        card: CardSettings::of(file.card),
        push: PushSettings::read(file.push, environment)?,
        confinement: ConfinementSettings::read(
            file.confinement,
            variable(environment, "HOME").as_ref().map(Path::new),
        )?,
        log: LogSettings { filter: parse_log_filter(log)?, format: parse_log_format(log_format)? },
        warnings: Vec::new(),
        agent,
        entries: Vec::new(),
    };
    check(&settings)?;
    settings.entries = operator::entries(&settings, &provenance);
    Ok(settings)
}

/// The parts of the file about the agent: its two tables, and keys at the top.
fn operator_agent(path: &Path, tree: &Node, file: &ConfigFile) -> OperatorAgentSettings {
    let table = |name: &str| tree.at(name).cloned().unwrap_or_else(Node::empty);
    let line = |name: &str| tree.at(name).map_or(0, |node| node.line);
    let sourced = [
        ("model.name", file.model.as_ref(), line("model")),
        ("general.defaultApprovalMode", file.approval_mode.as_ref(), line("approval_mode")),
    ];
    OperatorAgentSettings {
        path: path.to_owned(),
        enforced: table("enforced"),
        defaults: table("defaults"),
        named: sourced
            .into_iter()
            .filter_map(|(key, value, line)| Some((key, value?.clone(), line)))
            .collect(),
    }
}

/// A folder that does not exist is kept: it may be created later.
fn trusted_folders(named: Vec<PathBuf>, current_dir: &Path) -> Vec<PathBuf> {
    let resolve = |folder: PathBuf| {
        let folder = current_dir.join(folder);
        folder.canonicalize().unwrap_or(folder)
    };
    named.into_iter().map(resolve).collect()
}

/// The workspace itself, unless others are named.
fn allowed_roots(
    environment: Environment<'_>,
    file: Vec<PathBuf>,
    workspace: &Path,
    current_dir: &Path,
) -> Result<Vec<PathBuf>, ConfigError> {
    let named = variable(environment, operator::ALLOWED_ROOT)
        .map(|value| value.split(':').filter(|path| !path.is_empty()).map(PathBuf::from).collect::<Vec<_>>());
    let named = named.unwrap_or(file);
    if named.is_empty() {
        return Ok(vec![workspace.to_owned()]);
    }
    let resolve = |root: PathBuf| {
        let path = current_dir.join(root);
        let unreadable =
            |source| ConfigError::Unreadable { what: "allowed root", path: path.clone(), source };
        check_recordable("allowed root", fs::canonicalize(&path).map_err(unreadable)?)
    };
    named.into_iter().map(resolve).collect()
}

/// A value and its origin.
#[derive(Debug, Clone)]
pub struct SourcedValue {
    pub value: String,
    pub origin: String,
}

impl SourcedValue {
    /// The error that says what the value should have been.
    pub fn instead_of(self, expected: &str) -> ConfigError {
        ConfigError::BadValue { origin: self.origin, value: self.value, expected: expected.to_owned() }
    }
}

fn pick(
    flag: Option<String>,
    environment: Environment<'_>,
    flag_name: &str,
    variable_name: &str,
    file: Option<String>,
    key: &str,
) -> Option<SourcedValue> {
    let sourced = |value: String, origin: &str| SourcedValue { value, origin: origin.to_owned() };
    flag.map(|value| sourced(value, flag_name))
        .or_else(|| variable(environment, variable_name).map(|value| sourced(value, variable_name)))
        .or_else(|| file.map(|value| sourced(value, &format!("the setting `{key}`"))))
}

fn read_config(path: &Path) -> Result<(ConfigFile, Node), ConfigError> {
    let text = read(path, "configuration file")?;
    let file = toml::from_str(&text)
        .map_err(|source| ConfigError::BadFile { path: path.to_owned(), source: Box::new(source) })?;
    Ok((file, Node::from_toml(&text)))
}

fn read(path: &Path, what: &'static str) -> Result<String, ConfigError> {
    fs::read_to_string(path).map_err(|source| ConfigError::Unreadable { what, path: path.to_owned(), source })
}

fn parse_host(sourced: Option<SourcedValue>) -> Result<IpAddr, ConfigError> {
    let Some(sourced) = sourced else { return Ok(IpAddr::from([127, 0, 0, 1])) };
    if sourced.value == "localhost" {
        return Ok(IpAddr::from([127, 0, 0, 1]));
    }
    let bare = sourced.value.trim_start_matches('[').trim_end_matches(']');
    bare.parse().map_err(|_| sourced.instead_of("an IP address such as 127.0.0.1, ::1 or 0.0.0.0"))
}

fn parse_default_dialect(sourced: Option<SourcedValue>) -> Result<DefaultDialect, ConfigError> {
    let Some(sourced) = sourced else { return Ok(DefaultDialect::default()) };
    DefaultDialect::from_name(&sourced.value).ok_or_else(|| sourced.instead_of("plain, gemini or developer"))
}

fn port(flag: Option<u16>, environment: Environment<'_>, file: Option<u16>) -> Result<u16, ConfigError> {
    if let Some(port) = flag {
        return Ok(port);
    }
    for name in ["CODER_AGENT_PORT", "PORT"] {
        if let Some(value) = variable(environment, name) {
            let sourced = SourcedValue { value, origin: name.to_owned() };
            return sourced.value.parse().map_err(|_| sourced.instead_of("a port between 0 and 65535"));
        }
    }
    Ok(file.unwrap_or(DEFAULT_PORT))
}

fn check_workspace(path: Option<PathBuf>, current_dir: &Path) -> Result<PathBuf, ConfigError> {
    let path = path.map_or_else(|| current_dir.to_owned(), |path| current_dir.join(path));
    let unreadable = |source| ConfigError::Unreadable { what: "workspace", path: path.clone(), source };
    let resolved = fs::canonicalize(&path).map_err(unreadable)?;
    fs::read_dir(&resolved).map_err(unreadable)?;
    check_recordable("workspace", resolved)
}

/// The log records paths as text, so the path must be UTF-8.
fn check_recordable(what: &'static str, folder: PathBuf) -> Result<PathBuf, ConfigError> {
    if folder.to_str().is_some() { Ok(folder) } else { Err(ConfigError::Unrecordable { what, path: folder }) }
}

fn parse_store(
    sourced: Option<SourcedValue>,
    environment: Environment<'_>,
    current_dir: &Path,
) -> Result<StoreChoice, ConfigError> {
    let Some(sourced) = sourced else {
        // Without a home, no file is known to be the user's own. A store in the folder may have come with the project, and
        // its tasks would be resumed.
        let own = user_data(environment).map(|data| StoreChoice::Sqlite(data.join("attache/tasks.db")));
        return Ok(own.unwrap_or(StoreChoice::Memory));
    };
    match sourced.value.split_once(':') {
        Some(("memory", "")) => Ok(StoreChoice::Memory),
        Some(("sqlite", path)) if !path.is_empty() => Ok(StoreChoice::Sqlite(current_dir.join(path))),
        _ => Err(sourced.instead_of("memory: or sqlite:PATH")),
    }
}

/// Only variables that are known to be harmless. Any other may hold a secret.
fn child_environment(environment: Environment<'_>) -> Vec<(String, String)> {
    let seen =
        CHILDREN_SEE.iter().filter_map(|name| Some(((*name).to_owned(), variable(environment, name)?)));
    seen.collect()
}

fn check_approval(sourced: Option<SourcedValue>) -> Result<(), ConfigError> {
    match sourced {
        Some(sourced) if ApprovalMode::from_name(&sourced.value).is_none() => {
            Err(sourced.instead_of("default, auto_edit, confined, yolo or plan"))
        }
        _ => Ok(()),
    }
}

fn parse_answers(sourced: Option<SourcedValue>) -> Result<AnswerLocation, ConfigError> {
    match sourced {
        None => Ok(AnswerLocation::Artifact),
        Some(sourced) => match sourced.value.as_str() {
            "artifact" => Ok(AnswerLocation::Artifact),
            "message" => Ok(AnswerLocation::StatusMessage),
            _ => Err(sourced.instead_of("artifact or message")),
        },
    }
}

const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// A level for everything, and levels of parts of the program, separated by commas.
fn parse_log_filter(sourced: Option<SourcedValue>) -> Result<String, ConfigError> {
    let Some(sourced) = sourced else { return Ok("info".to_owned()) };
    let is_target =
        |target: &str| !target.is_empty() && target.chars().all(|c| c.is_alphanumeric() || "_:-".contains(c));
    let is_directive = |directive: &str| {
        let (target, level) =
            directive.split_once('=').map_or((None, directive), |(target, level)| (Some(target), level));
        target.is_none_or(is_target) && LOG_LEVELS.contains(&level.to_ascii_lowercase().as_str())
    };
    match sourced.value.split(',').all(is_directive) {
        true => Ok(sourced.value),
        false => Err(sourced.instead_of(
            "a level such as info or debug, or levels of parts such as info,attache_server=debug",
        )),
    }
}

fn parse_log_format(sourced: Option<SourcedValue>) -> Result<LogFormat, ConfigError> {
    match sourced {
        None => Ok(LogFormat::Text),
        Some(sourced) => match sourced.value.as_str() {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err(sourced.instead_of("text or json")),
        },
    }
}

fn parse_duplicate_sends(sourced: Option<SourcedValue>) -> Result<DuplicateWindow, ConfigError> {
    match sourced {
        None => Ok(DuplicateWindow::InFlight),
        Some(sourced) => match sourced.value.as_str() {
            "in_flight" => Ok(DuplicateWindow::InFlight),
            "always" => Ok(DuplicateWindow::Always),
            _ => Err(sourced.instead_of("in_flight or always")),
        },
    }
}

fn check(settings: &Settings) -> Result<(), ConfigError> {
    if !settings.host.is_loopback() && !settings.needs_token() {
        return Err(ConfigError::OpenToTheWorld { host: settings.host.to_string() });
    }
    let in_range = |name: &str, value: usize, range: std::ops::RangeInclusive<usize>| {
        if range.contains(&value) {
            return Ok(());
        }
        Err(ConfigError::BadValue {
            origin: format!("the setting `{name}`"),
            value: value.to_string(),
            expected: format!("between {} and {}", range.start(), range.end()),
        })
    };
    in_range("limits.body_bytes", settings.limits.body_bytes, 1024..=1 << 30)?;
    // With less than one whole body, no request could be received.
    let least_room = settings.limits.body_bytes;
    in_range("limits.body_room_bytes", settings.limits.body_room_bytes, least_room..=1 << 40)?;
    in_range("limits.answer_room_bytes", settings.limits.answer_room_bytes, 1 << 20..=1 << 40)?;
    in_range("limits.header_bytes", settings.limits.header_bytes, 8192..=1 << 20)?;
    in_range("limits.json_depth", settings.limits.json_depth, 8..=120)?;
    in_range("limits.task_events", settings.limits.task_events, 100..=100_000_000)?;
    in_range("limits.task_megabytes", settings.limits.task_megabytes, 1..=1_000_000)?;
    in_range("limits.connections", settings.limits.connections, 1..=1_000_000)?;
    for (name, value) in [
        ("limits.connections_per_address", settings.limits.connections_per_address),
        ("limits.streams_per_address", settings.limits.streams_per_address),
        ("limits.streams_per_caller", settings.limits.streams_per_caller),
    ] {
        in_range(name, value, 1..=1_000_000)?;
    }
    let streams = settings.limits.streams_per_connection as usize;
    in_range("limits.streams_per_connection", streams, 1..=100_000)?;
    if let Some(workers) = settings.worker_threads {
        in_range("worker_threads", workers, 1..=1024)?;
    }
    for (name, limit) in [
        ("limits.header_timeout_seconds", settings.limits.header_timeout),
        ("limits.body_timeout_seconds", settings.limits.body_timeout),
        ("limits.idle_timeout_seconds", settings.limits.idle_timeout),
        ("limits.stall_timeout_seconds", settings.limits.stall_timeout),
    ] {
        in_range(name, limit.as_secs() as usize, 1..=24 * 3600)?;
    }
    in_range("limits.heartbeat_seconds", settings.limits.heartbeat_interval.as_secs() as usize, 1..=3600)?;
    if let Some(url) = &settings.public_url
        && !(url.starts_with("http://") || url.starts_with("https://"))
    {
        return Err(ConfigError::BadValue {
            origin: "the setting `public_url`".into(),
            value: url.clone(),
            expected: "a URL that begins with http:// or https://".into(),
        });
    }
    card::check(settings)
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
