//! A task with many receivers of push notifications: measures the rate and checks the order.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::Target;
use super::bodies::{self, MessageRequest, ProtocolVersion, SendPurpose};
use super::connection::Connection;
use super::report::Stopwatch;
use super::requests::task_id;

#[derive(clap::Args)]
pub(super) struct PushOptions {
    #[arg(long, default_value_t = 32)]
    configs: usize,
    /// Makes a task that waits for the next message.
    #[arg(long)]
    opening_text: String,
    /// Makes it go on, and end.
    #[arg(long)]
    text: String,
    /// The state that ends it.
    #[arg(long)]
    until: String,
}

pub(super) async fn run(target: Target, options: PushOptions) -> anyhow::Result<Value> {
    ensure!(target.version == ProtocolVersion::V1, "receivers are registered in 1.0 here");
    let receiver = Arc::new(Receiver::new(options.configs, options.until));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let mut serving = JoinSet::new();
    let accepting = receiver.clone();
    serving.spawn(async move { accepting.accept(listener).await });

    let mut sender = Connection::open(target.address).await?;
    let message = |text: &str, task: Option<&str>| {
        MessageRequest::new(target.address, "/", target.version, SendPurpose::Detached, text, task)
    };
    let mut opening = message(&options.opening_text, None);
    let head = sender.request(opening.numbered(1)).await?;
    let task = task_id(sender.body(head).await?)?;
    for number in 0..options.configs {
        let create = create(target.address, &task, number, address);
        let head = sender.request(&create).await?;
        let answer = String::from_utf8_lossy(sender.body(head).await?).into_owned();
        ensure!(answer.contains("\"result\""), "a receiver is refused: {answer}");
    }

    let mut going_on = message(&options.text, Some(&task));
    let stopwatch = Stopwatch::start()?;
    let head = sender.request(going_on.numbered(2)).await?;
    task_id(sender.body(head).await?).context("the task did not go on")?;
    let done = tokio::time::timeout(target.time_limit, receiver.until_all_are_done()).await.is_ok();
    stopwatch.stop(json!({
        "configs": options.configs,
        "deliveries": receiver.taken.load(Ordering::Relaxed),
        "errors": receiver.out_of_place.load(Ordering::Relaxed) + u64::from(!done),
        "done": receiver.done.load(Ordering::Relaxed),
    }))
}

fn create(server: SocketAddr, task: &str, number: usize, receiver: SocketAddr) -> Vec<u8> {
    let params =
        json!({ "taskId": task, "id": number.to_string(), "url": format!("http://{receiver}/{number}") });
    let method = "CreateTaskPushNotificationConfig";
    bodies::post_with(server, "/", "A2A-Version: 1.0\r\n", method, params)
}

struct Receiver {
    /// The position of the latest notification for each receiver.
    last: Mutex<Vec<u64>>,
    until: String,
    taken: AtomicU64,
    out_of_place: AtomicU64,
    done: AtomicUsize,
    all_done: Notify,
}

impl Receiver {
    fn new(configs: usize, until: String) -> Self {
        Self {
            last: Mutex::new(vec![0; configs]),
            until,
            taken: AtomicU64::new(0),
            out_of_place: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            all_done: Notify::new(),
        }
    }

    async fn until_all_are_done(&self) {
        let configs = self.last.lock().unwrap_or_else(PoisonError::into_inner).len();
        while self.done.load(Ordering::Relaxed) < configs {
            self.all_done.notified().await;
        }
    }

    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let mut connections = JoinSet::new();
        while let Ok((socket, _)) = listener.accept().await {
            let receiver = self.clone();
            connections.spawn(async move { receiver.serve(socket).await });
        }
    }

    async fn serve(&self, mut socket: TcpStream) -> anyhow::Result<()> {
        socket.set_nodelay(true)?;
        let mut unread: Vec<u8> = Vec::with_capacity(8192);
        loop {
            let end = loop {
                if let Some(end) = memchr::memmem::find(&unread, b"\r\n\r\n") {
                    break end + 4;
                }
                if socket.read_buf(&mut unread).await? == 0 {
                    return Ok(());
                }
            };
            let head = std::str::from_utf8(&unread[..end])?.to_ascii_lowercase();
            let header = |name: &str| -> Option<usize> {
                let (_, after) = head.split_once(&format!("\r\n{name}: "))?;
                after.split_once("\r\n")?.0.parse().ok()
            };
            let length = header("content-length").context("a notification without a length")?;
            let seq = header("a2a-event-seq").context("a notification without a place")?;
            let number = head.split(' ').nth(1).and_then(|path| path.trim_start_matches('/').parse().ok());
            while unread.len() < end + length {
                ensure!(socket.read_buf(&mut unread).await? > 0, "a notification broke off");
            }
            let body = &unread[end..end + length];
            self.take(number.context("a notification for no receiver")?, seq as u64, body);
            unread.drain(..end + length);
            socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?;
        }
    }

    fn take(&self, number: usize, seq: u64, body: &[u8]) {
        self.taken.fetch_add(1, Ordering::Relaxed);
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            match last.get_mut(number) {
                Some(last) if *last < seq => *last = seq,
                _ => {
                    self.out_of_place.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        if memchr::memmem::find(body, self.until.as_bytes()).is_some() {
            self.done.fetch_add(1, Ordering::Relaxed);
            self.all_done.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_out_of_order_or_without_a_receiver_is_counted() {
        let receiver = Receiver::new(2, "END".into());
        for (number, seq) in [(0, 3), (0, 5), (1, 4), (0, 5), (2, 1)] {
            receiver.take(number, seq, b"END");
        }
        assert_eq!(receiver.out_of_place.load(Ordering::Relaxed), 2);
        assert_eq!((receiver.taken.load(Ordering::Relaxed), receiver.done.load(Ordering::Relaxed)), (5, 5));
    }
}
