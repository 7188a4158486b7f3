//! Names a refused setting as the client wrote it: each dialect calls the settings by names of its own.

use std::borrow::Cow;

use attache_domain::{Fault, RequestedSettings};

use super::incoming::{GEMINI, OWN};

/// Settings of `POST /tasks`: the member that named the workspace. The other members stand beside it.
pub(crate) const IN_WORKSPACE_ROOT: &str = "agentSettings.workspaceRoot";
pub(crate) const IN_WORKSPACE_PATH: &str = "agentSettings.workspacePath";

/// `fault`; in place of a refused setting, the invalid member of the request.
pub fn name_setting(fault: &Fault) -> Cow<'_, Fault> {
    let Fault::SettingRefused { metadata_key, setting, what } = fault else { return Cow::Borrowed(fault) };
    if let Some(workspace) = metadata_key.strip_prefix(IN_CREATE) {
        let member = if *setting == "workspace" { workspace } else { setting };
        return Cow::Owned(Fault::invalid(format!("{IN_CREATE}{member}"), what));
    }
    let (above, key) = match metadata_key.strip_prefix(RequestedSettings::IN_REQUEST) {
        Some(key) => ("metadata", key),
        None => ("message.metadata", metadata_key.as_str()),
    };
    let member = match (key, *setting) {
        (OWN, setting) => setting.to_owned(),
        (GEMINI, "workspace") => "workspacePath".to_owned(),
        (GEMINI, setting) => setting.to_owned(),
        (_, "workspace") => "workspace_path".to_owned(),
        (_, setting) => snake_case(setting),
    };
    Cow::Owned(Fault::invalid(format!("{above}.{key}.{member}"), what))
}

const IN_CREATE: &str = "agentSettings.";

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(metadata_key: &str, setting: &'static str, expected: &str) {
        let fault =
            Fault::SettingRefused { metadata_key: metadata_key.into(), setting, what: "is wrong".into() };
        assert_eq!(name_setting(&fault).to_string(), format!("invalid parameters: {expected} is wrong"));
    }

    #[test]
    fn each_dialect_has_its_own_names() {
        check("attache", "workspace", "message.metadata.attache.workspace");
        check("coderAgent", "workspace", "message.metadata.coderAgent.workspacePath");
        check("coderAgent", "approvalMode", "message.metadata.coderAgent.approvalMode");
        check("metadata.coderAgent", "model", "metadata.coderAgent.model");
        check(IN_WORKSPACE_ROOT, "workspace", "agentSettings.workspaceRoot");
        check(IN_WORKSPACE_PATH, "workspace", "agentSettings.workspacePath");
        check(IN_WORKSPACE_PATH, "approvalMode", "agentSettings.approvalMode");
        check("https://x/v1", "workspace", "message.metadata.https://x/v1.workspace_path");
        check("https://x/v1", "approvalMode", "message.metadata.https://x/v1.approval_mode");
    }

    #[test]
    fn other_faults_stay() {
        assert_eq!(*name_setting(&Fault::Internal), Fault::Internal);
    }
}
