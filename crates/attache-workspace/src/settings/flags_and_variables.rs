//! The agent's keys in flags, variables and at the top of the operator's file.

use std::path::Path;

use attache_config::{ConfigError, Environment, SettingOrigin, variable};
use attache_document::{Node, NodeKind};

use super::AgentFlags;
use super::gather::GatheredSettings;
use crate::settings::layer::Layer;
use crate::{EnvFile, ModelCredentials};

const MODEL: &str = "model.name";
const MODE: &str = "general.defaultApprovalMode";

pub(super) fn flags(gathered: &mut GatheredSettings, flags: &AgentFlags) -> Result<(), ConfigError> {
    let text = |value: &Option<String>| value.clone().map(NodeKind::Text);
    for (flag, key, kind) in [
        ("--model", MODEL, text(&flags.model)),
        ("--approval-mode", MODE, text(&flags.approval_mode)),
        ("--allowed-tools", "tools.allowed", list(&flags.allowed_tools)),
        ("--allowed-mcp-server-names", "mcp.allowed", list(&flags.allowed_mcp_server_names)),
        ("--include-directories", "context.includeDirectories", list(&flags.include_directories)),
        ("--output-format", "output.format", text(&flags.output_format)),
    ] {
        if let Some(kind) = kind {
            gathered.value(Layer::Flags, SettingOrigin::Flag(flag), key, kind)?;
        }
    }
    Ok(())
}

fn list(texts: &[String]) -> Option<NodeKind> {
    let nodes: Vec<Node> = texts.iter().map(|text| Node::new(0, NodeKind::Text(text.clone()))).collect();
    (!nodes.is_empty()).then_some(NodeKind::List(nodes))
}

/// A key at the top of the operator's file counts as enforced, because it was set explicitly.
pub(super) fn named(
    gathered: &mut GatheredSettings,
    path: &Path,
    named: &[(&'static str, String, u32)],
) -> Result<(), ConfigError> {
    for (key, value, line) in named {
        let origin = SettingOrigin::File { path: path.into(), line: *line };
        gathered.value(Layer::OperatorEnforced, origin, key, NodeKind::Text(value.clone()))?;
    }
    Ok(())
}

/// The environment, and the user's `.env` file with lower precedence.
pub(crate) fn variables(
    gathered: &mut GatheredSettings,
    environment: Environment<'_>,
    env_file: Option<&EnvFile>,
    keys: &ModelCredentials,
) -> Result<(), ConfigError> {
    if let Some(file) = env_file {
        let lookup = |name: &str| file.get(name).map(|(value, origin)| (value.to_owned(), origin));
        layer_of_variables(gathered, Layer::HomeEnvFile, &lookup, keys)?;
    }
    let lookup = |name: &str| {
        variable(environment, name).map(|value| (value, SettingOrigin::Variable(name.to_owned())))
    };
    layer_of_variables(gathered, Layer::Environment, &lookup, keys)
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<(String, SettingOrigin)>;

/// Of two variables for the same key, the one with lower precedence comes first.
fn layer_of_variables(
    gathered: &mut GatheredSettings,
    layer: Layer,
    lookup: Lookup<'_>,
    keys: &ModelCredentials,
) -> Result<(), ConfigError> {
    // It names a Gemini model, so it is ignored if only other providers are configured.
    for name in ["GEMINI_MODEL", "ATTACHE_MODEL"] {
        if let Some((value, origin)) = lookup(name).filter(|_| name != "GEMINI_MODEL" || keys.has_gemini()) {
            gathered.value(layer, origin, MODEL, NodeKind::Text(value))?;
        }
    }
    if let Some((value, origin)) = lookup("GEMINI_YOLO_MODE")
        && truth(&value, &origin)?
    {
        gathered.value(layer, origin, MODE, NodeKind::Text("yolo".into()))?;
    }
    if let Some((value, origin)) = lookup("ATTACHE_APPROVAL_MODE") {
        gathered.value(layer, origin, MODE, NodeKind::Text(value))?;
    }
    if let Some((value, origin)) = lookup("ATTACHE_CONTEXT_WINDOW") {
        let number = value.parse::<u64>().map(|number| NodeKind::Number(number.into()));
        let kind = number.map_err(|_| ConfigError::BadValue {
            origin: origin.to_string(),
            value,
            expected: "a number of tokens such as 32768".to_owned(),
        })?;
        gathered.value(layer, origin, "model.contextWindow", kind)?;
    }
    if let Some((value, origin)) = lookup("GEMINI_FOLDER_TRUST") {
        let enabled = truth(&value, &origin)?;
        gathered.value(layer, origin, "security.folderTrust.enabled", NodeKind::Bool(enabled))?;
    }
    if let Some((value, origin)) = lookup("CUSTOM_IGNORE_FILE_PATHS") {
        let paths: Vec<String> =
            value.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect();
        if let Some(kind) = list(&paths) {
            gathered.value(layer, origin, "context.fileFiltering.customIgnoreFilePaths", kind)?;
        }
    }
    Ok(())
}

/// Whether the variable is set to true.
pub(crate) fn truth(value: &str, origin: &SettingOrigin) -> Result<bool, ConfigError> {
    match value {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(ConfigError::BadValue {
            origin: origin.to_string(),
            value: value.to_owned(),
            expected: "true or false".to_owned(),
        }),
    }
}
