//! The coding agent in a real session, with a model that plays a script and tools that remember what they did.

mod asking;
mod conversations;
mod restarts;
mod rounds;
mod world;
