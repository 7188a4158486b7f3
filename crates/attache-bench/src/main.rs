//! Tools for benchmarks: bare axum servers to compare attache with, a model that answers at once, and a load generator.
//!
//! `cargo xtask bench` starts these as processes of their own, so that the CPU of the server, of the
//! comparison and of the load generator can be told apart. Nothing here is part of the product.

mod bare;
mod gemini;
mod load;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The allocator of attache, so that the comparison does not depend on the allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "attache-bench", about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a JSON echo and a channel-fed SSE stream with nothing but axum.
    Bare(bare::Options),
    /// Answer like Gemini, immediately and by a plan.
    Gemini(gemini::Options),
    /// Put load on a server and print the results as one JSON object.
    Load(load::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bare(options) => bare::run(options),
        Command::Gemini(options) => gemini::run(options),
        Command::Load(options) => load::run(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the one place that tells a person what went wrong")]
            {
                eprintln!("error: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}
