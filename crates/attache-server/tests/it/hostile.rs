//! Clients that mean harm: each gets a clear answer or a closed connection, the others are served meanwhile, and
//! afterwards nothing of it is left in memory.

mod bodies;
mod crowd;
mod early;
mod exhausted;
mod faults;
mod floods;
mod heads;
mod readers;
mod room;
mod slow;
mod weight;
mod world;
