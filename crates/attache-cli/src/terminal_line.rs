//! Reads a line that a person types.

use std::io::{self, BufRead};

use tokio::sync::oneshot;

/// Whether a line says yes or no; `None` for everything else, which an empty line and the end of input are too.
pub(crate) fn yes_or_no(line: &str) -> Option<bool> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

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
        for (line, expected, empty) in [
            ("Yes\n", Some(true), false),
            (" y", Some(true), false),
            ("NO\n", Some(false), false),
            ("perhaps\n", None, false),
            ("\n", None, true),
            ("", None, false),
        ] {
            assert_eq!((yes_or_no(line), is_empty_line(line)), (expected, empty), "{line:?}");
        }
    }
}
