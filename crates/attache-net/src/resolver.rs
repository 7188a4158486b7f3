//! Finds the addresses of names, and hands out only those that may be dialled.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving as Resolved};

use crate::{AddressRules, NetError};

pub type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Says where names are.
pub trait Resolver: fmt::Debug + Send + Sync + 'static {
    /// The addresses of a host; an error when it has none.
    fn resolve(&self, host: &str) -> ResolveFuture;

    /// Where an address that passed the rules is dialled. A test that plays the internet stays on this machine with
    /// this, also when the rules are broken.
    fn dial_address(&self, address: IpAddr) -> IpAddr {
        address
    }
}

/// Asks the system.
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

/// A resolver behind rules. The connection is made to what it returns and nothing else, so what was checked is what
/// is dialled.
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
        // A name that has an inner address among others means no good, or is a mistake that should be seen.
        found.iter().try_for_each(|address| self.rules.check(host, *address))?;
        Ok(found)
    }

    async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, NetError> {
        let found = self.allowed_addresses(host).await?;
        Ok(found.into_iter().map(|address| SocketAddr::new(self.resolver.dial_address(address), 0)).collect())
    }
}
