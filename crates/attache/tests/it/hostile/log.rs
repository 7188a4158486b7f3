//! What a flood leaves in the log.

use attache_testkit::RawConnection;
use attache_testkit::http2_frames::{self as frames, PING, PREFACE, frame};

use crate::operations::until_logged;
use crate::support::{SCRIPT, launch};

/// Far more frames than a flood is let through with, and more than fit into the sockets between.
const MANY: usize = 2_000_000;
const AT_ONCE: usize = 500;

/// A ping that the server never sent is acknowledged: the HTTP/2 library has a line to log about each.
#[tokio::test]
async fn floods_before_authentication_do_not_fill_the_log() {
    const ACK: u8 = 1;
    const CONNECTIONS: usize = 5;
    let server = launch().in_memory().script(SCRIPT).start().await;
    let before = server.log();
    for number in 0..CONNECTIONS {
        let mut connection = RawConnection::open(server.address()).await;
        assert!(connection.say(&[PREFACE, &frames::settings()].concat()).await);
        let pings = frame(PING, ACK, 0, &[number as u8; 8]).repeat(AT_ONCE);
        let mut sent = 0;
        while connection.say(&pings).await {
            sent += AT_ONCE;
            assert!(sent < MANY, "{sent} frames were let through");
        }
        connection.until_closed().await;
    }
    until_logged(&server, |log| log.contains("too many HTTP/2 frames")).await;
    let log = server.log()[before.len()..].to_owned();
    assert!(log.lines().count() <= CONNECTIONS, "{} lines: {log:.2000}", log.lines().count());
}
