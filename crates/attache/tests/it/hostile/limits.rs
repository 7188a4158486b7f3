//! The limits of the settings are those of the server.

use attache_testkit::{RawConnection, raw_request};

use crate::support::{SCRIPT, launch};

#[tokio::test]
async fn the_limits_of_the_settings_count() {
    let settings = "[limits]\nbody_bytes = 4096\nbody_timeout_seconds = 1\nidle_timeout_seconds = 1\n\
                    header_timeout_seconds = 2\njson_depth = 9\n";
    let server = launch().in_memory().script(SCRIPT).settings(settings).start().await;
    let deep = format!("{}{}", "[".repeat(10), "]".repeat(10));
    for (what, said, expected) in [
        ("idle_timeout_seconds", String::new(), ""),
        ("header_timeout_seconds", "POST / HTTP/1.1\r\nhost: localhost\r\n".to_owned(), ""),
        (
            "body_timeout_seconds",
            raw_request("", "").replace("content-length: 0", "content-length: 9"),
            "in time",
        ),
        ("body_bytes", raw_request("", &" ".repeat(5000)), "HTTP/1.1 413 "),
        ("json_depth", raw_request("connection: close\r\n", &deep), "9"),
    ] {
        let mut connection = RawConnection::open(server.address()).await;
        connection.say(said.as_bytes()).await;
        let answer = connection.text_until_closed().await;
        assert!(answer.contains(expected) && answer.is_empty() == expected.is_empty(), "{what}: {answer}");
    }
}
