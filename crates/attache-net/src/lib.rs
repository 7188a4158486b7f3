//! The one outbound HTTP client.
