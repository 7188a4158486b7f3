//! A2A in protobuf. Messages are put together and looked at as JSON, by the definitions, so that the golden files of
//! the JSON forms count here, too.

mod cards;
mod events;
mod pushes;
mod rejections;
mod replies;
mod requests;
mod statuses;
mod transcoded;
