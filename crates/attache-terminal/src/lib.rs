//! A session at a terminal: one task in this process that stays open between prompts.
//!
//! Two halves that know little of each other. [`OpenSession`] and [`SessionEvents`] are the session: typed inputs go in,
//! typed events of all clients come out. [`run_line_screen`] is a screen over it that prints lines and reads lines.
//! Another screen can take its place.
//!
//! [`SessionPlace`] finds the file in which a session is kept; which store it is, the binary says.
//!
//! No text from outside reaches the terminal unescaped: every text passes through [`Line`](line::Line), which writes out
//! what could control a terminal.

mod answer_keys;
mod completer;
mod draft;
mod key_filter;
mod keyboard;
mod line;
mod line_screen;
mod open_session;
mod question;
mod restore_terminal;
mod session_event;
mod session_files;
mod session_input;
mod session_renderer;
mod session_retention;
mod signals;
mod silence;
mod text_wrapper;
mod unfinished_line;

pub use line_screen::{LineScreen, PromptCheck, ScreenEnd, run_line_screen};
pub use open_session::{OpenSession, OpenSessionError, SessionEvents, SessionStart, unused_session_id};
pub use session_event::{Participant, SessionEvent};
pub use session_files::{SessionFileError, SessionPlace, SessionRequest};
pub use session_input::{InputRefusal, SessionInput, TypedAnswer};
pub use session_retention::{RetentionLimits, delete_old_sessions};
