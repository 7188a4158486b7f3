//! Receives push notifications, records them, and responds as a test requires.
//!
//! It runs on its own thread, so it outlives a killed server. It keeps connections open, as real receivers do.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::WAIT_TIMEOUT;
use crate::model_server::{ReceivedRequest, read_request};

/// What a receiver does with a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushReaction {
    Take,
    /// Answers with this status and these headers.
    Answer(u16, Vec<(&'static str, String)>),
    /// Never answers.
    Hang,
    /// Closes the connection without an answer.
    Drop,
}

/// Listens on a free port of this machine until it is dropped.
pub struct PushReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    react: Box<PushHandler>,
    received: Mutex<Vec<ReceivedRequest>>,
}

/// Decides by the notification and the number of earlier ones.
type PushHandler = dyn Fn(&ReceivedRequest, usize) -> PushReaction + Send + Sync;

impl PushReceiver {
    /// Accepts everything.
    pub fn accepting() -> Self {
        Self::with_handler(|_, _| PushReaction::Take)
    }

    pub fn with_handler(
        react: impl Fn(&ReceivedRequest, usize) -> PushReaction + Send + Sync + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a listener that does not block");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared { react: Box::new(react), received: Mutex::default() });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(listener, &serving, stopped));
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT` with a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All notifications so far, oldest first.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The notifications for one path.
    pub fn at(&self, path: &str) -> Vec<ReceivedRequest> {
        let received = self.shared.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.iter().filter(|received| received.target == path).cloned().collect()
    }

    /// Waits until this many notifications have arrived for a path.
    pub async fn until(&self, path: &str, count: usize) -> Vec<ReceivedRequest> {
        let waiting = async {
            while self.at(path).len() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        assert!(waited.is_ok(), "{} of {count} notifications came for {path}", self.at(path).len());
        self.at(path)
    }
}

impl Drop for PushReceiver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

fn serve(listener: std::net::TcpListener, shared: &Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).expect("a listener");
        let mut connections = JoinSet::new();
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        let shared = Arc::clone(shared);
                        // Tests close connections on purpose.
                        connections.spawn(async move { let _ = connection(stream, &shared).await; });
                    }
                }
                Some(_) = connections.join_next() => {}
            }
        }
    });
}

async fn connection(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = BufReader::new(stream);
    while let Some(received) = read_request(&mut connection).await? {
        let reaction = {
            let mut known = shared.received.lock().unwrap_or_else(PoisonError::into_inner);
            let reaction = (shared.react)(&received, known.len());
            known.push(received);
            reaction
        };
        let (status, headers) = match reaction {
            PushReaction::Take => (204, Vec::new()),
            PushReaction::Answer(status, headers) => (status, headers),
            PushReaction::Hang => std::future::pending().await,
            PushReaction::Drop => return Ok(()),
        };
        let mut head = format!("HTTP/1.1 {status} Planned\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if status != 204 {
            head.push_str("content-length: 0\r\n");
        }
        head.push_str("\r\n");
        connection.write_all(head.as_bytes()).await?;
    }
    Ok(())
}
