//! The tools that change files, used as the agent uses them: propose, perhaps let a person look, run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "edit/confinement.rs"]
mod confinement;
#[path = "edit/form.rs"]
mod form;
#[path = "edit/guards.rs"]
mod guards;
#[path = "edit/race.rs"]
mod race;
#[path = "edit/replace.rs"]
mod replace;
#[path = "edit/world.rs"]
mod world;
#[path = "edit/write_file.rs"]
mod write_file;
