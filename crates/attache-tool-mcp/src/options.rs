//! How a server is reached, and what it may do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use attache_net::{AddressRules, NetworkSettings, Secret, Url};
use attache_tool::{Access, Confiner};

/// How long a call may take unless the server's options say otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// One server of the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerOptions {
    pub name: String,
    pub transport: Transport,
    /// For one call.
    pub timeout: Duration,
    /// What the server claims about its tools is believed.
    pub trust: bool,
    /// Only these tools, if any are named.
    pub include: Option<Vec<String>>,
    /// None of these, even if they are included.
    pub exclude: Vec<String>,
    pub description: Option<String>,
    /// How far a program may reach that is started.
    pub access: Access,
    /// The client of the conversation named it, and not the settings: people are shown where it is.
    pub named_by_client: bool,
    /// Nothing is sent to the server before a person has agreed.
    pub needs_approval: bool,
}

impl ServerOptions {
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            timeout: DEFAULT_TIMEOUT,
            trust: false,
            include: None,
            exclude: Vec::new(),
            description: None,
            access: Access::open(),
            named_by_client: false,
            needs_approval: false,
        }
    }

    /// The whole URL that a person agrees to connect to, but for a name and password in it.
    pub(crate) fn approval_address(&self) -> Option<String> {
        let url = match &self.transport {
            Transport::Http { url, .. } | Transport::Sse { url, .. } | Transport::Detect { url, .. } => url,
            Transport::Stdio { .. } => return None,
        };
        let mut url = Url::parse(url).ok().filter(|_| self.needs_approval)?;
        url.set_username("").and_then(|()| url.set_password(None)).ok()?;
        Some(url.into())
    }

    /// Where a server is that the client named, without what may be secret.
    pub(crate) fn client_address(&self) -> Option<String> {
        match &self.transport {
            Transport::Http { url, .. } | Transport::Sse { url, .. } | Transport::Detect { url, .. } => {
                self.named_by_client.then(|| without_secrets(url))
            }
            Transport::Stdio { .. } => None,
        }
    }
}

/// How to speak with a server.
#[derive(Clone, PartialEq)]
pub enum Transport {
    /// A program that is started and spoken with over its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Added to what every program may see.
        env: Vec<(String, Secret)>,
        /// Relative to the folder of the [`ConnectContext`], and that folder when there is none.
        directory: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http { url: String, headers: Vec<(String, Secret)> },
    /// The older HTTP with one stream of server-sent events.
    Sse { url: String, headers: Vec<(String, Secret)> },
    /// Streamable HTTP, and the older way if the server refuses it.
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
                    // An argument may be a key.
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

/// Scheme, host and path: what comes before and after may be a password or a key.
fn without_secrets(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "(not a URL)".into() };
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// What all servers have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectContext {
    /// All that a started program sees of our environment.
    pub environment: Vec<(String, String)>,
    /// The workspace: where programs start, and what a server that asks is told to work in.
    pub directory: PathBuf,
    /// For starting a server, shaking hands and reading its first list of tools.
    pub connect_timeout: Duration,
    /// The proxy for servers that are reached over HTTP, and whose certificates count.
    pub network: NetworkSettings,
    /// Where servers may be.
    pub addresses: AddressRules,
    /// What confines programs that are to be confined; none: they are not started.
    pub confinement: Option<ServerConfinement>,
    /// The mark on every program that is started, by which what is left of them after a crash is found.
    pub mark: Option<String>,
}

/// The confinement of servers, and the folder of their temporary files.
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
            // A program may have to be fetched from a package registry first.
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
            let shown = format!("{:?}", ServerOptions::new("a", transport));
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }
}
