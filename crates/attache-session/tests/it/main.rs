//! The session with a scripted agent and stores that can be held back, broken and shared.

mod durability;
mod following;
mod running;
mod world;
