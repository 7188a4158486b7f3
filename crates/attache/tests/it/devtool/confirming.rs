//! What people are asked about calls of every kind, and that every option does what it says.

mod permanent;
mod servers;
