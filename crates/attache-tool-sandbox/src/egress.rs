//! A proxy in the server that connects a confined command to approved hosts only. The command reaches the proxy on its
//! own loopback device and has no other network.

mod listener;
mod proxy;
mod request;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::IgnorePoison;
use attache_net::{AddressRules, Resolver, SystemResolver};
use tokio::task::JoinSet;

use proxy::Proxy;

/// Refusals kept for one command.
const MAX_REFUSED: usize = 32;

/// Limits on all approved hosts.
#[derive(Debug, Clone)]
pub struct EgressOptions {
    /// The allowed addresses.
    pub rules: AddressRules,
    pub resolver: Arc<dyn Resolver>,
}

impl Default for EgressOptions {
    fn default() -> Self {
        Self { rules: AddressRules::public_only(), resolver: Arc::new(SystemResolver) }
    }
}

/// The proxy of one command. Dropping it closes all connections.
#[derive(Debug)]
pub(crate) struct Egress {
    refused: RefusedHosts,
    _tasks: JoinSet<()>,
}

/// Refused requests, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusedHosts(Arc<Mutex<Vec<String>>>);

impl RefusedHosts {
    pub(crate) fn add(&self, what: String) {
        let mut refused = self.lock();
        if refused.len() < MAX_REFUSED && !refused.contains(&what) {
            refused.push(what);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().ignore_poison()
    }
}

impl Egress {
    /// Starts the proxy for a command. The returned handle becomes the standard input of the confined copy, which sends
    /// the listening socket through it.
    pub(crate) fn start(hosts: &[String], options: &EgressOptions) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let refused = RefusedHosts::default();
        let proxy = Proxy { hosts: hosts.to_vec(), options: options.clone(), refused: refused.clone() };
        let mut tasks = JoinSet::new();
        let ours = tokio::net::UnixStream::from_std(ours)?;
        tasks.spawn(async move {
            match listener::receive(&ours).await {
                Ok(listener) => proxy.serve(listener).await,
                // The command was not started or has ended already.
                Err(error) => tracing::debug!(%error, "a confined command has sent no socket"),
            }
        });
        Ok((Self { refused, _tasks: tasks }, theirs.into()))
    }

    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.lock().clone()
    }
}
