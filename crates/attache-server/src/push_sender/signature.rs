//! Signs notifications with HMAC-SHA256 and a timestamp.

use attache_domain::hexadecimal;
use attache_net::Secret;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

pub(super) const HEADER: &str = "a2a-notification-signature";

pub(super) struct Signer(Hmac<Sha256>);

impl Signer {
    pub(super) fn new(key: &Secret) -> Self {
        // HMAC takes keys of any length.
        let keyed = Hmac::new_from_slice(key.expose().as_bytes());
        Self(keyed.unwrap_or_else(|_| Hmac::new(&Default::default())))
    }

    /// `t=SECONDS,v1=HEX`: an HMAC-SHA256 of the seconds since 1970, a dot and the body.
    pub(super) fn sign(&self, at: Timestamp, body: &[u8]) -> String {
        let seconds = at.as_second();
        let mut keyed = self.0.clone();
        keyed.update(seconds.to_string().as_bytes());
        keyed.update(b".");
        keyed.update(body);
        format!("t={seconds},v1={}", hexadecimal(&keyed.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_anybody_can_compute() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'sixteen-characters'
        let signer = Signer::new(&Secret::new("sixteen-characters"));
        let at = Timestamp::from_second(1_700_000_000).unwrap();
        let expected = "t=1700000000,v1=c8cda093887ac9bc494105ca17d80786a2b6c147393e5cbdf20015865bfa7f4f";
        assert_eq!(signer.sign(at, br#"{"a":1}"#), expected);
    }
}
