//! What the crate promises, seen from outside. Golden files are written by hand from the protocol,
//! never recorded from our own output.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests, too")]

mod approval_words;
mod card;
mod client;
mod client_golden;
mod devtool;
mod envelope;
mod extensions;
mod faults;
mod fixture;
mod gemini_dialect;
mod golden;
mod proto;
mod push;
mod rejections;
mod replies;
mod requests;
mod round_trip;
mod routes;
mod versions;
