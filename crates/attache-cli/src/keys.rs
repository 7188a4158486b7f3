//! `attache keys`: generates the keys that sign cards. Private keys are only written to files.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use attache_card::{Algorithm, KeyLifetime, SigningKey};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::report::with_hint;
use crate::signing_keys;
use crate::standard_streams::stdout;

#[derive(Debug, Args)]
pub struct KeysArguments {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Create a key that signs cards
    New(NewArguments),
    /// Print the public keys of private ones, as a JWK Set to publish
    Public(PublicArguments),
}

#[derive(Debug, Args)]
struct NewArguments {
    /// File to write the private key to; it must not be there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// es256 or eddsa
    #[arg(long, default_value = "es256")]
    algorithm: Algorithm,
    /// Days after which the key expires [default: never]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// Print the public key only
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct PublicArguments {
    /// Files with private keys
    #[arg(value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
}

pub fn run(arguments: KeysArguments) -> anyhow::Result<()> {
    match arguments.command {
        KeysCommand::New(arguments) => new(&arguments),
        KeysCommand::Public(arguments) => public(&arguments),
    }
}

fn new(arguments: &NewArguments) -> anyhow::Result<()> {
    let days = arguments.days.map(|days| SignedDuration::from_hours(24 * i64::from(days)));
    let expires = days.and_then(|days| Timestamp::now().checked_add(days).ok());
    let key = SigningKey::generate(arguments.algorithm, KeyLifetime { expires, ..KeyLifetime::default() })?;
    let shown = arguments.out.display();
    // Never over another key, and never readable by others, not even for a moment.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&arguments.out);
    let mut file = file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => with_hint(
            anyhow!("{shown} is there already, and a key that is lost is lost"),
            "choose another name",
        ),
        _ => anyhow!("cannot write {shown}: {error}"),
    })?;
    let written = file.write_all(key.private_jwk()?.expose().as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.and_then(|()| file.sync_all()).with_context(|| format!("cannot write {shown}"))?;
    let mut out = stdout().lock();
    let public = Value::Object(key.public().to_jwk());
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &public)?;
        writeln!(out)?;
    } else {
        writeln!(out, "private key  {shown}")?;
        writeln!(out, "kid          {}", key.kid())?;
        writeln!(out, "public key   {public}")?;
    }
    Ok(())
}

fn public(arguments: &PublicArguments) -> anyhow::Result<()> {
    let keys =
        arguments.keys.iter().map(|path| signing_keys::read_key(path)).collect::<Result<Vec<_>, _>>()?;
    let mut out = stdout().lock();
    serde_json::to_writer_pretty(&mut out, &signing_keys::public(&keys).to_json())?;
    Ok(writeln!(out)?)
}
