//! Reads a line that a person types.

use std::io::{self, BufRead};

use tokio::sync::oneshot;

/// Reads on a thread of its own, which a program that ends does not wait for.
pub(crate) async fn read_line() -> io::Result<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("answer".into()).spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        // The receiver is gone if the call was stopped meanwhile.
        let _ = sender.send(read.map(|_| line));
    })?;
    receiver.await.unwrap_or_else(|_| Ok(String::new()))
}
