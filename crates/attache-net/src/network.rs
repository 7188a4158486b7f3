//! What all outbound clients of a process have in common.

use crate::{HttpClientOptions, ProxySettings, TlsSettings};

/// How this process reaches other machines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkSettings {
    pub proxy: ProxySettings,
    pub tls: TlsSettings,
}

impl NetworkSettings {
    /// The options of a client; everything else has its default.
    pub fn client_options(&self) -> HttpClientOptions {
        HttpClientOptions { proxy: self.proxy.clone(), tls: self.tls.clone(), ..HttpClientOptions::default() }
    }
}
