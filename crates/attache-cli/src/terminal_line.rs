//! Reads a line that a person types.

use std::io::{self, BufRead};

use tokio::sync::oneshot;

/// Whether a line is empty, as when a person only presses Enter. The end of input has no line.
pub(crate) fn is_empty_line(line: &str) -> bool {
    !line.is_empty() && line.trim().is_empty()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_input_is_no_line() {
        assert!(is_empty_line("\n") && !is_empty_line("") && !is_empty_line("y\n"));
    }
}
