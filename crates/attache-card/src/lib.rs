//! The agent card as a document: parsing, canonical form, signatures, and lint.
//!
//! Works on JSON as received, because signatures cover exactly that. Pure except for the randomness of keys and
//! signatures. Not here: building a card (`attache-config`, `attache-wire`).

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
mod upgrade;
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
pub use upgrade::to_v1_0;
pub use verify::{CheckedSignature, SignatureOutcome, Verification, verify};
