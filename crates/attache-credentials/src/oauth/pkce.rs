//! PKCE (RFC 7636): proves that the program that requested a code is the one that exchanges it.

use attache_net::Secret;
use aws_lc_rs::{digest, rand};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::CredentialError;

pub(super) struct Proof {
    pub(super) verifier: Secret,
    /// Public: the hash of the verifier.
    pub(super) challenge: String,
    /// What the answer has to repeat.
    pub(super) state: String,
}

impl Proof {
    pub(super) fn new() -> Result<Self, CredentialError> {
        let verifier = random::<64>()?;
        let challenge = challenge(&verifier);
        Ok(Self { verifier: Secret::new(verifier), challenge, state: random::<16>()? })
    }
}

pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()))
}

fn random<const LENGTH: usize>() -> Result<String, CredentialError> {
    let mut bytes = [0; LENGTH];
    rand::fill(&mut bytes).map_err(|_| CredentialError::unavailable("the system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_the_hash_of_its_verifier() {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn each_proof_is_another() {
        let (one, other) = (Proof::new().unwrap(), Proof::new().unwrap());
        assert_ne!(one.state, other.state);
        assert_ne!(one.verifier, other.verifier);
        assert_eq!(one.verifier.expose().len(), 86);
        assert_eq!(one.challenge, challenge(one.verifier.expose()));
    }
}
