//! The agent card as a document: read with suspicion, brought into its canonical form, signed, verified, and explained
//! where it is wrong.
//!
//! Works on JSON as it was received, because a signature is about exactly that. Pure but for the randomness of new keys
//! and signatures: files, addresses and clocks are handed in. Not here: making a card (`attache-config`, `attache-wire`).

mod canonical;
mod document;
mod error;
mod form;
pub mod fuzz;
mod header;
mod jwk;
mod key;
pub mod lint;
mod normal;
mod older;
mod shape;
mod sign;
mod verify;

pub use canonical::canonical;
pub use document::{Document, MOST_BYTES, parse};
pub use error::{DocumentError, KeyError, NotACard};
pub use form::{Form, forms};
pub use header::{SignatureHeader, headers};
pub use jwk::{KeySet, Lifetime, PublicKey};
pub use key::{Algorithm, PrivateText, SigningKey};
pub use normal::{Normal, normal};
pub use sign::{Existing, SignError, sign};
pub use verify::{CheckedSignature, Outcome, Verification, verify};
