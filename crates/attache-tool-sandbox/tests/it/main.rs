//! Commands that are really confined, by the kernel of this machine.

mod canary;
mod egress;
mod git;
mod limits;
mod walls;
mod world;
