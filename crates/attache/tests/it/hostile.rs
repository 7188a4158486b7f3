//! Clients that mean harm, where more than the server takes part: the system's limits and the log. What the server alone does
//! about them is tested in `attache-server`.

mod files;
mod limits;
mod log;
