//! The agent card as a document: read with suspicion, brought into its canonical form, signed, verified, and explained
//! where it is wrong.
//!
//! Works on JSON as it was received, because a signature is about exactly that. Pure but for the randomness of new keys
//! and signatures: files, addresses and clocks are handed in. Not here: making a card (`attache-config`, `attache-wire`).

mod canonical;
mod document;
mod error;
mod form;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod header;
mod jwk;
mod key;
pub mod lint;
mod normalize;
mod python_v0_3;
mod shape;
mod sign;
mod verify;

pub use canonical::canonical;
pub use document::{CardDocument, MAX_BYTES, parse};
pub use error::{DocumentError, InvalidCard, KeyError};
pub use form::{SignedForm, signed_forms};
pub use header::{SignatureHeader, headers};
pub use jwk::{KeyLifetime, KeySet, PublicKey};
pub use key::{Algorithm, PrivateKeyText, SigningKey};
pub use normalize::{NormalizedCard, normalize};
pub use sign::{ExistingSignatures, SignError, sign};
pub use verify::{CheckedSignature, SignatureOutcome, Verification, verify};
