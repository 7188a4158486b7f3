//! The Gemini provider over real HTTP against a server that plays what is planned, on a clock moved by hand.

mod answers;
mod credentials;
mod failures;
mod requests;
mod retries;
mod world;
