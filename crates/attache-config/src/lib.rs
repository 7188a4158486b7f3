//! The operator's settings: flags, the environment and `attache.toml` become one checked value.
//!
//! They say where to listen, who may call and what is kept. What a folder and its user say about the agent is in
//! `attache-workspace`. The environment is handed in, so callers and tests decide what it holds.

mod card;
mod client_tokens;
mod confinement;
mod data_folder;
mod environment;
mod error;
mod file;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod layers;
mod operator;
mod operator_agent;
mod origin;
mod push;
mod secret_text;
mod setting_entry;
mod settings;
mod token;

pub use card::{answers_card_of, card_of, extended_card_of};
pub use client_tokens::ClientToken;
pub use confinement::ConfinementSettings;
pub use environment::{Environment, VARIABLES, variable};
pub use error::ConfigError;
pub use file::CardFormSetting;
pub use layers::{Flags, SourcedValue, load};
pub use operator_agent::OperatorAgentSettings;
pub use origin::SettingOrigin;
pub use push::PushSettings;
pub use secret_text::SecretText;
pub use setting_entry::SettingEntry;
pub use settings::{
    ApprovalMode, CardSettings, DefaultDialect, LimitSettings, LogFormat, LogSettings, Settings, StoreChoice,
    Synchronous,
};
