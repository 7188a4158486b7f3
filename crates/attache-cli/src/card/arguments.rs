//! The flags of `attache card`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct CardArguments {
    #[command(subcommand)]
    pub(super) command: CardCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum CardCommand {
    /// Show what a card says
    Show(ShowArguments),
    /// Explain every fault of a card, with the rule it breaks
    Lint(LintArguments),
    /// Print a card with signatures
    Sign(SignArguments),
    /// Check the signatures of a card
    Verify(VerifyArguments),
}

/// Which card.
#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// File with a card, - for standard input, or URL of a card or an agent [default: the card of your own settings]
    #[arg(value_name = "FILE|URL")]
    pub(super) card: Option<String>,
    /// Which document: the one for 1.0 only, or the one that clients of 0.3 get, which has both
    #[arg(long, value_name = "VERSION", value_enum)]
    pub(super) a2a_version: Option<DocumentVersion>,
    /// Settings file, for your own card; see docs/settings.md
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The card for callers who have the token, of your own settings
    #[arg(long, conflicts_with = "card")]
    pub(super) extended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocumentVersion {
    #[value(name = "0.3")]
    V0_3,
    #[value(name = "1.0")]
    V1_0,
}

#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// Print the document itself
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct LintArguments {
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// Fail also when there are only warnings
    #[arg(long)]
    pub(super) strict: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct SignArguments {
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// File with a private key; several sign one after the other [default: those of your settings]
    #[arg(long, value_name = "FILE")]
    pub(super) key: Vec<PathBuf>,
    /// Where clients find the public keys
    #[arg(long, value_name = "URL")]
    pub(super) jku: Option<String>,
    /// Keep the signatures that are there already
    #[arg(long)]
    pub(super) keep: bool,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// File or URL with public keys that you trust (JWK Set or JWK)
    #[arg(long, value_name = "FILE|URL")]
    pub(super) keys: Vec<String>,
    /// Host from which keys may be fetched when a signature points there
    #[arg(long, value_name = "HOST")]
    pub(super) allow_jku: Vec<String>,
    /// Fail unless every member is covered by a valid signature
    #[arg(long)]
    pub(super) whole: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
