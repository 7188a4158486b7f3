//! The built-in models, seen from outside.

mod offline;
mod script_any_text;
mod script_examples;
mod script_matching;
mod script_mistakes;
mod script_resumption;
mod script_steps;
mod script_time;
mod world;
