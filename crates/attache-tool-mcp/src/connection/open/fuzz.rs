//! Opens a connection over a pipe with an arbitrary peer.

use tokio::io::{AsyncRead, AsyncWrite};

use super::*;

/// Performs the handshake as with a newly started program. None if another handshake should be tried with a new
/// process.
pub(crate) async fn over(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    context: &ConnectContext,
    again: bool,
) -> Option<Result<Connection, ConnectError>> {
    let attempt = ConnectAttempt::new(context);
    let parts = ConnectionParts::default();
    let transport = StdioTransport::new(from, to, parts.ending.clone());
    match attempt.shake_hands(transport, &parts, if again { newer() } else { older() }).await {
        Ok(service) => Some(Ok(parts.connection(service, None))),
        Err(HandshakeError::OfThisHandshake(_)) if !again => None,
        Err(refusal) => Some(Err(refusal.error())),
    }
}
