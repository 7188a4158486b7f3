//! The providers over real HTTP against a server that plays what is planned, on a clock moved by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod anthropic;
mod gemini;
mod golden;
mod openai;
mod switching;
mod world;
