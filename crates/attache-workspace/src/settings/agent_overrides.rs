//! `agents.overrides`: disabled agents, and certificates for agents.
//!
//! An agent is enabled unless a layer disables it. A project can disable an agent, but cannot enable one that its user
//! has disabled. It cannot choose certificates.

use std::collections::BTreeMap;

use attache_config::SettingOrigin;
use attache_document::{Node, NodeKind};

use super::agent_signatures::{self, AgentSignatures};
use super::agent_tls::{self, AgentTls};
use super::layer::Layer;
use super::nearest::{nearest, shown};

const ENABLED: &str = "enabled";
const TLS: &str = "tls";
const SIGNATURES: &str = "signatures";
/// Known members that change how an agent runs. Only their types are checked.
const FOR_LOCAL_AGENTS: &[&str] = &["runConfig", "modelConfig", "tools", "mcpServers"];

/// The settings of one layer for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentOverride {
    pub(crate) layer: Layer,
    pub(crate) name: String,
    pub(crate) enabled: Option<(bool, SettingOrigin)>,
    pub(crate) tls: Option<AgentTls>,
    pub(crate) signatures: Option<AgentSignatures>,
    /// Members that have no effect here, each with its place.
    pub(crate) unused: Vec<(&'static str, SettingOrigin)>,
}

/// The merged settings of all agents, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentOverrides {
    agents: BTreeMap<String, ResolvedOverride>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ResolvedOverride {
    /// The value of the strongest layer.
    enabled: Option<(bool, SettingOrigin)>,
    tls: Option<AgentTls>,
    signatures: Option<AgentSignatures>,
    unused: Vec<(&'static str, SettingOrigin)>,
}

/// Line, key, and the expected value.
pub(super) type OverrideMistake = (u32, String, String);

/// Reads the table of one agent.
pub(crate) fn read(
    (layer, name): (Layer, &str),
    node: &Node,
    origin: impl Fn(u32) -> SettingOrigin,
    warnings: &mut Vec<String>,
) -> Result<AgentOverride, OverrideMistake> {
    let path = format!("agents.overrides.{}", shown(name));
    let NodeKind::Table(entries) = &node.kind else {
        return Err((node.line, path, format!("must be a table, not {}", node.describe())));
    };
    let mut read = AgentOverride {
        layer,
        name: name.to_owned(),
        enabled: None,
        tls: None,
        signatures: None,
        unused: Vec::new(),
    };
    for (key, node) in entries.iter().filter(|(_, node)| node.kind != NodeKind::Null) {
        if key == ENABLED {
            let NodeKind::Bool(enabled) = node.kind else {
                let message = format!("must be true or false, not {}", node.describe());
                return Err((node.line, format!("{path}.{ENABLED}"), message));
            };
            read.enabled = Some((enabled, origin(node.line)));
        } else if (key == TLS || key == SIGNATURES) && layer.is_project() {
            warnings.push(format!("{}: {path}.{key} is not for a project to say", origin(node.line)));
        } else if key == SIGNATURES {
            read.signatures = Some(agent_signatures::read(&path, node)?);
        } else if key == TLS {
            read.tls = Some(agent_tls::read(&path, node)?);
        } else if let Some(known) = FOR_LOCAL_AGENTS.iter().find(|known| *known == key) {
            let fits = match *known {
                "tools" => matches!(node.kind, NodeKind::List(_)),
                _ => matches!(node.kind, NodeKind::Table(_)),
            };
            if !fits {
                let expected = if *known == "tools" { "a list" } else { "a table" };
                let message = format!("must be {expected}, not {}", node.describe());
                return Err((node.line, format!("{path}.{known}"), message));
            }
            read.unused.push((known, origin(node.line)));
        } else {
            let known = [ENABLED, TLS, SIGNATURES].into_iter().chain(FOR_LOCAL_AGENTS.iter().copied());
            let near = nearest(key, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            warnings.push(format!("{}: unknown key {path}.{}{near}", origin(node.line), shown(key)));
        }
    }
    Ok(read)
}

impl AgentOverrides {
    pub(crate) fn resolve(overrides: &[AgentOverride]) -> Self {
        let mut overrides: Vec<&AgentOverride> = overrides.iter().collect();
        overrides.sort_by_key(|one| one.layer);
        let mut agents: BTreeMap<String, ResolvedOverride> = BTreeMap::new();
        for AgentOverride { layer, name, enabled, tls, signatures, unused } in overrides {
            let resolved = agents.entry(name.clone()).or_default();
            resolved.unused.extend(unused.iter().cloned());
            resolved.tls = tls.clone().or(resolved.tls.take());
            resolved.signatures = signatures.clone().or(resolved.signatures.take());
            match enabled {
                // A project can only disable.
                Some((true, _)) if layer.is_project() => {}
                Some(enabled) => resolved.enabled = Some(enabled.clone()),
                None => {}
            }
        }
        Self { agents }
    }

    pub fn is_enabled(&self, name: &str) -> bool {
        self.disabled_in(name).is_none()
    }

    /// The origin of the setting that disables the agent, if it is disabled.
    pub fn disabled_in(&self, name: &str) -> Option<&SettingOrigin> {
        match &self.agents.get(name)?.enabled {
            Some((false, origin)) => Some(origin),
            _ => None,
        }
    }

    /// The certificates for an agent, if the settings name some.
    pub fn tls(&self, name: &str) -> Option<&AgentTls> {
        self.agents.get(name)?.tls.as_ref()
    }

    /// The required signatures of an agent's card.
    pub fn signatures(&self, name: &str) -> Option<&AgentSignatures> {
        self.agents.get(name)?.signatures.as_ref()
    }

    /// Members that are set for the agent and have no effect, each with its place.
    pub(crate) fn unused(&self, name: &str) -> &[(&'static str, SettingOrigin)] {
        self.agents.get(name).map(|resolved| resolved.unused.as_slice()).unwrap_or_default()
    }

    /// Names, values and origins of the settings that apply.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, bool, &SettingOrigin)> {
        let entry = |(name, resolved)| match resolved {
            &ResolvedOverride { enabled: Some((enabled, ref origin)), .. } => Some((name, enabled, origin)),
            _ => None,
        };
        self.agents.iter().map(|(name, resolved)| (name.as_str(), resolved)).filter_map(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::super::agent_signatures::AgentSignaturePolicy;
    use super::super::tests::World;

    fn enabled_setting(enabled: bool) -> String {
        format!(r#"{{"agents": {{"overrides": {{"helper": {{"enabled": {enabled}}}}}, "browser": {{}}}}}}"#)
    }

    #[test]
    fn a_project_can_switch_an_agent_off_and_not_on() {
        for (user, project, expected) in [
            (None, None, true),
            (Some(false), None, false),
            (Some(true), None, true),
            (None, Some(false), false),
            (None, Some(true), true),
            (Some(true), Some(false), false),
            (Some(false), Some(true), false),
        ] {
            for trusted in [true, false] {
                let mut world = World::new();
                world = user.map_or(world, |_| World::new().user(&enabled_setting(user == Some(true))));
                if let Some(enabled) = project {
                    world = world.project(&enabled_setting(enabled));
                }
                let world = if trusted { world } else { world.untrusted() };
                let settings = world.load().unwrap();
                let found = settings.agent_overrides.is_enabled("helper");
                assert_eq!(found, expected, "{user:?} {project:?} {trusted}");
                assert_eq!(settings.warnings, Vec::<String>::new());
                assert!(settings.agent_overrides.is_enabled("other"));
            }
        }
    }

    #[test]
    fn the_operator_decides_before_all_others() {
        let file = |table: &str, enabled| format!("[{table}.agents.overrides.helper]\nenabled = {enabled}\n");
        let world = World::new().user(&enabled_setting(true)).operator(&file("enforced", false));
        let settings = world.load().unwrap();
        let origin = settings.agent_overrides.disabled_in("helper").unwrap().to_string();
        assert!(origin.ends_with("attache.toml:2"), "{origin}");
        let world = World::new().user(&enabled_setting(true)).operator(&file("defaults", false));
        assert!(world.load().unwrap().agent_overrides.is_enabled("helper"));
    }

    #[test]
    fn other_members_are_accepted_and_reported() {
        let world = World::new().user(
            r#"{"agents": {"overrides": {"helper": {"runConfig": {"maxTurns": 3}, "tools": ["x"], "enable": true}}}}"#,
        );
        let settings = world.load().unwrap();
        let unused: Vec<&str> =
            settings.agent_overrides.unused("helper").iter().map(|(name, _)| *name).collect();
        assert_eq!(unused, ["runConfig", "tools"]);
        assert_eq!(settings.warnings.len(), 1, "{:?}", settings.warnings);
        assert!(
            settings.warnings[0].ends_with(
                "settings.json:1: unknown key agents.overrides.helper.enable; did you mean enabled?"
            )
        );
    }

    #[test]
    fn certificates_are_the_users_to_choose() {
        let tls = r#"{"agents": {"overrides": {"helper": {"tls": {"ca": "/etc/ca.pem", "clientCert": "~/me.pem"}}}}}"#;
        let settings = World::new().user(tls).load().unwrap();
        let found = settings.agent_overrides.tls("helper").unwrap();
        assert_eq!(found.ca.as_deref(), Some(std::path::Path::new("/etc/ca.pem")));
        assert_eq!((found.client_certificate.is_some(), found.client_key.is_some()), (true, false));
        let settings = World::new().project(tls).load().unwrap();
        assert_eq!(settings.agent_overrides.tls("helper"), None);
        assert!(settings.warnings[0].contains("is not for a project to say"), "{:?}", settings.warnings);
    }

    #[test]
    fn signatures_are_the_users_to_require() {
        let said = |signatures: &str| {
            format!(r#"{{"agents": {{"overrides": {{"helper": {{"signatures": {signatures}}}}}}}}}"#)
        };
        let settings =
            World::new().user(&said(r#"{"policy": "warn", "keys": "~/keys.json"}"#)).load().unwrap();
        let found = settings.agent_overrides.signatures("helper").unwrap();
        assert_eq!(found.policy, AgentSignaturePolicy::Warn);
        assert_eq!(found.keys.as_deref(), Some(std::path::Path::new("~/keys.json")));
        let settings = World::new().user(&said(r#"{"keys": "/k.json"}"#)).load().unwrap();
        let found = settings.agent_overrides.signatures("helper").unwrap();
        assert_eq!(found.policy, AgentSignaturePolicy::Require, "who names keys wants them used");
        let settings = World::new().project(&said(r#"{"policy": "ignore"}"#)).load().unwrap();
        assert_eq!(settings.agent_overrides.signatures("helper"), None);
        assert!(settings.warnings[0].contains("is not for a project to say"), "{:?}", settings.warnings);
        for (wrong, expected) in [
            (r#"{"policy": "maybe"}"#, "signatures.policy: must be"),
            (r#"{"keys": "keys.json"}"#, "signatures.keys: must be the path of a file"),
            (r#""require""#, "signatures: must be a table"),
            (r#"{"key": "/k"}"#, "has no member \"key\"; it has policy, keys"),
        ] {
            let error = World::new().user(&said(wrong)).load().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_wrong_value_is_an_error_with_its_place() {
        for (text, expected) in [
            (
                r#"{"agents": {"overrides": {"helper": {"enabled": "no"}}}}"#,
                "agents.overrides.helper.enabled: must be true or false",
            ),
            (r#"{"agents": {"overrides": {"helper": true}}}"#, "agents.overrides.helper: must be a table"),
            (
                r#"{"agents": {"overrides": {"helper": {"tls": {"ca": "ca.pem"}}}}}"#,
                "agents.overrides.helper.tls.ca: must be the path of a file",
            ),
            (
                r#"{"agents": {"overrides": {"helper": {"tls": {"clientKey": "/k"}}}}}"#,
                "agents.overrides.helper.tls: has a clientKey without its clientCert",
            ),
            (
                r#"{"agents": {"overrides": {"helper": {"tls": {"insecure": true}}}}}"#,
                "has no member \"insecure\"; it has ca, clientCert, clientKey",
            ),
            (r#"{"agents": {"overrides": []}}"#, "agents.overrides: must be a table of agents"),
            (
                r#"{"agents": {"overrides": {"helper": {"tools": {}}}}}"#,
                "agents.overrides.helper.tools: must be a list",
            ),
        ] {
            let error = World::new().user(text).load().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
