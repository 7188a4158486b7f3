//! A session at a real terminal: the real binary on a pty, with a scripted model.

mod approving;
mod clients;
mod hostile;
mod keeping;
mod one_prompt;
mod resuming;
mod starting;
mod stopping;
mod talking;
mod world;
