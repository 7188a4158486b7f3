//! `agents.overrides.NAME.tls`: the certificates for one agent.

use std::path::PathBuf;

use attache_document::{Node, NodeKind};

use super::agent_overrides::OverrideMistake;

/// Files in PEM form, each absolute or beginning with `~/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentTls {
    /// Authorities to trust besides the system's.
    pub ca: Option<PathBuf>,
    /// The client certificate.
    pub client_certificate: Option<PathBuf>,
    /// Its private key; none: in the same file.
    pub client_key: Option<PathBuf>,
}

const MEMBERS: [&str; 3] = ["ca", "clientCert", "clientKey"];

pub(super) fn read(path: &str, node: &Node) -> Result<AgentTls, OverrideMistake> {
    let path = format!("{path}.tls");
    let NodeKind::Table(entries) = &node.kind else {
        return Err((node.line, path, format!("must be a table, not {}", node.describe())));
    };
    let mut tls = AgentTls::default();
    for (key, node) in entries.iter().filter(|(_, node)| node.kind != NodeKind::Null) {
        let Some(place) = MEMBERS.iter().position(|member| member == key) else {
            let message = format!("has no member {key:?}; it has {}", MEMBERS.join(", "));
            return Err((node.line, path, message));
        };
        let file = match &node.kind {
            NodeKind::Text(text) if text.starts_with('/') || text.starts_with("~/") => PathBuf::from(text),
            _ => {
                let message = "must be the path of a file, absolute or beginning with ~/".to_owned();
                return Err((node.line, format!("{path}.{key}"), message));
            }
        };
        match place {
            0 => tls.ca = Some(file),
            1 => tls.client_certificate = Some(file),
            _ => tls.client_key = Some(file),
        }
    }
    if tls.client_key.is_some() && tls.client_certificate.is_none() {
        return Err((node.line, path, "has a clientKey without its clientCert".to_owned()));
    }
    Ok(tls)
}
