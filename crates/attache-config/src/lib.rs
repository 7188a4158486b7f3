//! Files, environment and flags become one checked value.
//!
//! Later layers win: built-in defaults, the configuration file, the environment, the command line. The
//! environment is handed in, so tests and other callers decide what is in it.

mod card;
mod environment;
mod error;
mod file;
mod layers;
mod model;
mod settings;

pub use card::card_of;
pub use environment::{Environment, VARIABLES};
pub use error::ConfigError;
pub use layers::{Flags, load};
pub use model::{GeminiSettings, Hidden, ModelChoice};
pub use settings::{
    ApprovalMode, CardSettings, LimitSettings, LogFormat, LogSettings, Settings, StoreChoice, Synchronous,
};
