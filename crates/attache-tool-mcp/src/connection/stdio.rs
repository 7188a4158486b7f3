//! Messages as lines over the standard input and output of a program.

#[cfg(feature = "fuzz")]
pub(super) mod fuzz;

use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::MAX_MESSAGE_BYTES;
use super::connection_end::ConnectionEnd;

pub(super) struct StdioTransport<R, W> {
    from: BufReader<R>,
    /// The incomplete last line. Kept here so that receiving is cancel-safe.
    begun: Vec<u8>,
    to: Arc<Mutex<Option<W>>>,
    ending: ConnectionEnd,
    largest: usize,
}

impl<R: AsyncRead + Unpin, W> StdioTransport<R, W> {
    pub(super) fn new(from: R, to: W, ending: ConnectionEnd) -> Self {
        let to = Arc::new(Mutex::new(Some(to)));
        Self { from: BufReader::new(from), begun: Vec::new(), to, ending, largest: MAX_MESSAGE_BYTES }
    }

    /// The next line without its line end; none at the end of the output.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            let available = match self.from.fill_buf().await {
                Ok([]) => return None,
                Ok(available) => available,
                Err(error) => {
                    self.ending.because(&format!("it cannot be read from: {error}"));
                    return None;
                }
            };
            let newline = memchr::memchr(b'\n', available);
            let part = &available[..newline.unwrap_or(available.len())];
            if self.begun.len() + part.len() > self.largest {
                let why = format!("the server sent a message larger than {} bytes", self.largest);
                self.ending.because(&why);
                return None;
            }
            self.begun.extend_from_slice(part);
            let used = part.len() + usize::from(newline.is_some());
            self.from.consume(used);
            if newline.is_some() {
                return Some(std::mem::take(&mut self.begun));
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for StdioTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let to = self.to.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut to = to.lock().await;
            let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            to.write_all(&line).await?;
            to.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = self.line().await?;
            match serde_json::from_slice(&line) {
                Ok(message) => return Some(message),
                // Many programs log to their standard output, which does no harm. The text is not shown, because it
                // may contain anything.
                Err(_) => {
                    tracing::debug!(bytes = line.len(), "an MCP server wrote a line that is no message")
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Does not wait for a write to a program that does not read: the program is about to be killed.
        if let Ok(mut to) = self.to.try_lock() {
            to.take();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn receive(bytes: &[u8], largest: usize) -> (usize, ConnectionEnd) {
        let ending = ConnectionEnd::default();
        let mut lines = StdioTransport::new(bytes, tokio::io::sink(), ending.clone());
        lines.largest = largest;
        let mut count = 0;
        while lines.receive().await.is_some() {
            count += 1;
        }
        (count, ending)
    }

    #[tokio::test]
    async fn what_is_no_message_is_passed_over() {
        let message = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let text = format!("Welcome!\n\n{message}\r\n{{\"half\n\x00\x7f\n{message}\nunfinished");
        assert_eq!(receive(text.as_bytes(), 1_000).await.0, 2);
    }

    #[tokio::test]
    async fn a_line_without_end_is_not_kept() {
        let (count, ending) = receive(&vec![b'x'; 5_000], 1_000).await;
        assert_eq!(count, 0);
        assert_eq!(ending.why(), "the server sent a message larger than 1000 bytes");
    }
}
