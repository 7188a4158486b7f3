//! The options of a server: its transport, limits and confinement.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use attache_domain::default_limits::DEFAULT_MCP_CALL_TIMEOUT;
use attache_net::{AddressRules, NetworkSettings, Secret, Url};
use attache_tool::{Access, Confiner};

/// A server of the settings or of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServerOptions {
    pub name: String,
    pub transport: Transport,
    /// The timeout of a call.
    pub timeout: Duration,
    /// Whether the server's claims about its tools count.
    pub trust: bool,
    /// Only these tools are used; empty: all.
    pub include: Option<Vec<String>>,
    /// These tools are not used, even if they are included.
    pub exclude: Vec<String>,
    pub description: Option<String>,
    /// The access of a started program.
    pub access: Access,
    /// A client added the server, so approvals show its address.
    pub named_by_client: bool,
    /// A person must agree before anything is sent to the server.
    pub needs_approval: bool,
}

impl McpServerOptions {
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            timeout: DEFAULT_MCP_CALL_TIMEOUT,
            trust: false,
            include: None,
            exclude: Vec::new(),
            description: None,
            access: Access::open(),
            named_by_client: false,
            needs_approval: false,
        }
    }

    /// The URL for an approval, without user name and password.
    pub(crate) fn approval_address(&self) -> Option<String> {
        let url = match &self.transport {
            Transport::Http { url, .. } | Transport::Sse { url, .. } | Transport::Detect { url, .. } => url,
            Transport::Stdio { .. } => return None,
        };
        let mut url = Url::parse(url).ok().filter(|_| self.needs_approval)?;
        url.set_username("").and_then(|()| url.set_password(None)).ok()?;
        Some(url.into())
    }

    /// The address of a client's server, without secrets.
    pub(crate) fn client_address(&self) -> Option<String> {
        match &self.transport {
            Transport::Http { url, .. } | Transport::Sse { url, .. } | Transport::Detect { url, .. } => {
                self.named_by_client.then(|| without_secrets(url))
            }
            Transport::Stdio { .. } => None,
        }
    }
}

/// The transport of a server.
#[derive(Clone, PartialEq)]
pub enum Transport {
    /// A started program with messages on its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables in addition to those of every program.
        env: Vec<(String, Secret)>,
        /// Relative to the folder of the [`ConnectContext`], which is also the default.
        directory: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http { url: String, headers: Vec<(String, Secret)> },
    /// The legacy HTTP+SSE transport.
    Sse { url: String, headers: Vec<(String, Secret)> },
    /// Streamable HTTP, or the legacy transport if the server refuses it.
    Detect { url: String, headers: Vec<(String, Secret)> },
}

impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, url, headers) = match self {
            Self::Stdio { command, args, env, directory } => {
                let names: Vec<_> = env.iter().map(|(name, _)| name).collect();
                return formatter
                    .debug_struct("Stdio")
                    .field("command", command)
                    // Arguments are not shown, because they may be secrets.
                    .field("args", &args.len())
                    .field("env", &names)
                    .field("directory", directory)
                    .finish();
            }
            Self::Http { url, headers } => ("Http", url, headers),
            Self::Sse { url, headers } => ("Sse", url, headers),
            Self::Detect { url, headers } => ("Detect", url, headers),
        };
        let names: Vec<_> = headers.iter().map(|(name, _)| name).collect();
        formatter.debug_struct(kind).field("url", &without_secrets(url)).field("headers", &names).finish()
    }
}

/// Scheme, host and path; the rest may contain a password or a key.
fn without_secrets(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "(not a URL)".into() };
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// The options that all servers share.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectContext {
    /// The environment of started programs.
    pub environment: Vec<(String, String)>,
    /// The workspace: the working folder of programs, and the root that servers get.
    pub directory: PathBuf,
    /// The timeout for the start, the handshake and the first list of tools.
    pub connect_timeout: Duration,
    /// The proxy and the certificates for servers on HTTP.
    pub network: NetworkSettings,
    /// The network addresses that servers may have.
    pub addresses: AddressRules,
    /// Confines programs; none: programs that need confinement are not started.
    pub confinement: Option<ServerConfinement>,
    /// The mark of every started program, by which leftovers of a crash are found.
    pub mark: Option<String>,
}

/// The confinement of servers, and their temporary folder.
#[derive(Debug, Clone)]
pub struct ServerConfinement {
    pub confiner: Arc<dyn Confiner>,
    pub scratch: PathBuf,
}

impl PartialEq for ServerConfinement {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.confiner, &other.confiner) && self.scratch == other.scratch
    }
}

impl ConnectContext {
    pub fn new(directory: impl Into<PathBuf>, environment: Vec<(String, String)>) -> Self {
        Self {
            environment,
            directory: directory.into(),
            // A program may have to be downloaded from a package registry first.
            connect_timeout: Duration::from_secs(60),
            network: NetworkSettings::default(),
            addresses: AddressRules::any(),
            confinement: None,
            mark: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_show_no_secret() {
        let secret = || Secret::new("s3cret");
        let transports = [
            Transport::Stdio {
                command: "server".into(),
                args: vec!["--key=s3cret".into()],
                env: vec![("KEY".into(), secret())],
                directory: None,
            },
            Transport::Http {
                url: "https://me:s3cret@example.com/mcp?key=s3cret".into(),
                headers: vec![("X-Key".into(), secret())],
            },
            Transport::Sse { url: "s3cret".into(), headers: vec![] },
        ];
        for transport in transports {
            let shown = format!("{:?}", McpServerOptions::new("a", transport));
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }
}
