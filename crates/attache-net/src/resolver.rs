//! Resolves names to allowed addresses.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving as Resolved};

use crate::{AddressRules, NetError};

pub type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Resolves host names.
pub trait Resolver: fmt::Debug + Send + Sync + 'static {
    /// The addresses of a host; an error when it has none.
    fn resolve(&self, host: &str) -> ResolveFuture;

    /// The address to dial for one that passed the rules. Tests redirect it to this machine, so they stay there even
    /// if the rules fail.
    fn dial_address(&self, address: IpAddr) -> IpAddr {
        address
    }
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str) -> ResolveFuture {
        let host = host.to_owned();
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver with rules. Connections go only to the addresses that it returns, so the checked address is the dialled
/// one.
#[derive(Debug, Clone)]
pub(crate) struct GuardedResolver {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) rules: AddressRules,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolved {
        let guarded = self.clone();
        Box::pin(async move {
            let addresses = guarded.addresses(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

impl GuardedResolver {
    /// All addresses of a name, if all of them may be dialled.
    pub(crate) async fn allowed_addresses(&self, host: &str) -> Result<Vec<IpAddr>, NetError> {
        let unknown =
            |what: String| NetError::Connect { what: format!("{host} has no address that is known: {what}") };
        let found = self.resolver.resolve(host).await.map_err(|error| unknown(error.to_string()))?;
        if found.is_empty() {
            return Err(unknown("none was found".into()));
        }
        // A name with both public and internal addresses is an attack or a mistake.
        found.iter().try_for_each(|address| self.rules.check(host, *address))?;
        Ok(found)
    }

    async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, NetError> {
        let found = self.allowed_addresses(host).await?;
        Ok(found.into_iter().map(|address| SocketAddr::new(self.resolver.dial_address(address), 0)).collect())
    }
}
