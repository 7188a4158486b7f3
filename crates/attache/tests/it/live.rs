//! The live endpoint of the real binary.

use std::time::Duration;

pub(crate) use attache_testkit::live_session::{approval, asking_session, is_question, message};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;

pub(crate) async fn read_until(
    socket: &mut WebSocketStream<TcpStream>,
    enough: impl Fn(&Value) -> bool,
) -> Value {
    let reading = async {
        loop {
            let frame = socket.next().await.unwrap().unwrap();
            if let Frame::Text(text) = frame
                && let Ok(event) = serde_json::from_str(&text)
                && enough(&event)
            {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.expect("it comes in time")
}
