//! The suite every store must pass.
