//! Files, environment and flags become one checked value.
//!
//! Later layers win: built-in defaults, the configuration file, the environment, the command line. The
//! environment is handed in, so tests and other callers decide what is in it.

mod card;
mod environment;
mod error;
mod file;
mod layers;
mod settings;

pub use card::card_of;
pub use environment::{Environment, VARIABLES};
pub use error::ConfigError;
pub use layers::{Flags, load};
pub use settings::{
    CardSettings, LimitSettings, LogFormat, LogSettings, ModelChoice, Settings, StoreChoice, Synchronous,
};
