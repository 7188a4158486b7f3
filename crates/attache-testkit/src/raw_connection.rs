//! A connection without a client: any bytes out, and all that comes back until the server closes it.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::WAIT_TIMEOUT;

/// One connection on which anything can be sent.
#[derive(Debug)]
pub struct RawConnection {
    stream: TcpStream,
}

impl RawConnection {
    /// To the server at `HOST:PORT`.
    pub async fn open(address: &str) -> Self {
        Self { stream: TcpStream::connect(address).await.expect("the server accepts") }
    }

    /// Says it, as far as the server listens; whether it took all.
    pub async fn say(&mut self, bytes: &[u8]) -> bool {
        timeout(WAIT_TIMEOUT, self.stream.write_all(bytes)).await.is_ok_and(|written| written.is_ok())
    }

    /// As much as the server takes within a moment.
    pub async fn push(&mut self, bytes: &[u8]) -> bool {
        timeout(Duration::from_millis(200), self.stream.write_all(bytes))
            .await
            .is_ok_and(|written| written.is_ok())
    }

    pub async fn finish_writing(&mut self) {
        // It may be closed by now.
        let _ = self.stream.shutdown().await;
    }

    /// All that comes until the server closes the connection.
    pub async fn until_closed(&mut self) -> Vec<u8> {
        let mut answer = Vec::new();
        // A reset ends it as well as an end does.
        let _ =
            timeout(WAIT_TIMEOUT, self.stream.read_to_end(&mut answer)).await.expect("the server closes it");
        answer
    }

    pub async fn text_until_closed(&mut self) -> String {
        String::from_utf8_lossy(&self.until_closed().await).into_owned()
    }

    /// The next bytes; none when the server closed the connection.
    pub async fn some(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 64 << 10];
        match timeout(WAIT_TIMEOUT, self.stream.read(&mut buffer)).await.expect("something in time") {
            Ok(0) | Err(_) => None,
            Ok(length) => Some(buffer[..length].to_vec()),
        }
    }
}

/// A request that changes something, as text.
pub fn raw_request(extra_headers: &str, body: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{extra_headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// One refusal in words, or none at all, before the connection was closed. JSON-RPC says its errors with status 200.
#[track_caller]
pub fn check_refused(what: &str, answer: &str) {
    let said = answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.contains("\"error\"");
    assert!(said && !answer.contains("\"result\""), "{what}: {answer}");
    assert!(answer.matches("HTTP/1.1 ").count() <= 1, "{what}: more than one answer: {answer}");
}
