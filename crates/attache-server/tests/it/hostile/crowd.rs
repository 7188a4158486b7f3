//! Very many connections at once.

use super::world::World;
use attache_testkit::http2_frames::{self as frames, PREFACE};

/// The bench has ten times as many.
const CROWD: usize = 1000;

#[tokio::test]
async fn idle_connections_disturb_no_other_and_leave_nothing() {
    let world = World::start().await;
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        let mut connection = world.connect().await;
        let said = match number % 4 {
            0 => Vec::new(),
            1 => b"POST / HTTP/1.1\r\nhost: localhost\r\nx-a: ".to_vec(),
            2 => b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n".to_vec(),
            _ => [PREFACE, &frames::settings()].concat(),
        };
        connection.say(&said).await;
        crowd.push(connection);
        if number % 200 == 0 {
            world.others_are_served().await;
        }
    }
    world.others_are_served().await;
    world.holds_little();
    // They stay connected until the server closes them.
    world.is_unharmed().await;
    drop(crowd);
}
