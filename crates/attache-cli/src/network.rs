//! The proxy and the certificates of commands.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail};
use attache_config::Environment;
use attache_net::{NetError, NetworkSettings, ProxySettings, TlsSettings};
use attache_workspace::{AgentTls, ProxySetting};

use crate::report::with_hint;

/// The variable of Node.js programs that names a file of further authorities.
const EXTRA_AUTHORITIES: &str = "NODE_EXTRA_CA_CERTS";

/// A bundle of authorities is not larger than this.
const MAX_BYTES: u64 = 4 << 20;

/// What the user's settings and the environment say.
pub(crate) fn of_user(environment: Environment<'_>) -> anyhow::Result<NetworkSettings> {
    let setting = attache_workspace::user_proxy(environment)?;
    settings(setting.as_ref(), environment)
}

/// `general.proxy` for everything, if it is set; else the proxies of the environment. Both leave out `NO_PROXY`.
pub fn settings(
    proxy: Option<&ProxySetting>,
    environment: Environment<'_>,
) -> anyhow::Result<NetworkSettings> {
    let named = proxy.map(|it| (it.address.as_str(), format!("general.proxy in {}", it.origin)));
    let named = named.as_ref().map(|(address, source)| (*address, source.as_str()));
    let proxy = ProxySettings::from_setting_or_environment(named, environment).map_err(|error| {
        with_hint(described(error), "give it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
    })?;
    let mut tls = TlsSettings::default();
    if let Some(path) = environment(EXTRA_AUTHORITIES).filter(|path| !path.is_empty()) {
        let path = Path::new(&path);
        trust(&mut tls, path).with_context(|| format!("{EXTRA_AUTHORITIES} cannot be used"))?;
    }
    Ok(NetworkSettings { proxy, tls })
}

/// The same for one agent, with the certificates that the settings may name for it.
pub fn for_agent(
    mut network: NetworkSettings,
    agent: Option<&AgentTls>,
    environment: Environment<'_>,
) -> anyhow::Result<NetworkSettings> {
    let Some(agent) = agent else { return Ok(network) };
    let expand = |path: &PathBuf| with_home(path, environment);
    if let Some(path) = &agent.ca {
        trust(&mut network.tls, &expand(path))?;
    }
    if let Some(path) = &agent.client_certificate {
        let key = agent.client_key.as_ref().map(expand);
        prove(&mut network.tls, &expand(path), key.as_deref())?;
    }
    Ok(network)
}

/// The path, with the home folder in the place of `~`.
pub(crate) fn with_home(path: &Path, environment: Environment<'_>) -> PathBuf {
    match (path.strip_prefix("~"), environment("HOME")) {
        (Ok(below), Some(home)) => Path::new(&home).join(below),
        _ => path.to_owned(),
    }
}

/// Accepts servers with certificates of the authorities in a file.
pub fn trust(tls: &mut TlsSettings, path: &Path) -> anyhow::Result<()> {
    tls.trust(&read(path)?, &path.display().to_string()).map_err(described)
}

/// Sends a certificate to servers that want one. The key may be in the same file.
pub fn prove(tls: &mut TlsSettings, certificate: &Path, key: Option<&Path>) -> anyhow::Result<()> {
    let key = key.unwrap_or(certificate);
    let names = [certificate, key].map(|path| path.display().to_string());
    let (own, key) = (read(certificate)?, read(key)?);
    tls.set_client_certificate((&own, &names[0]), (&key, &names[1]), SystemTime::now()).map_err(described)
}

fn described(error: NetError) -> anyhow::Error {
    match error {
        NetError::Tls { what } => anyhow!(what),
        other => anyhow!("{other}"),
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let cannot = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    File::open(path)
        .with_context(cannot)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("{} is larger than {} MiB", path.display(), MAX_BYTES >> 20);
    }
    Ok(bytes)
}
