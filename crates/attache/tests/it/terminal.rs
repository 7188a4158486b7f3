//! A session at a real terminal: the real binary on a pty, with a scripted model.

mod approving;
mod clients;
mod hostile;
mod one_prompt;
mod resuming;
mod session_retention;
mod starting;
mod stopping;
mod talking;
mod world;
