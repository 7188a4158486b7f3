//! A fake model provider: it sends planned responses, valid or not, and records the requests.
//!
//! It runs on its own thread, so that a test can pause tokio's clock. [`gemini`], [`openai`] and [`anthropic`] build
//! responses in these formats. The server does not interpret requests.

pub mod anthropic;
mod connection;
pub mod gemini;
pub mod openai;
mod planned_response;
mod received_request;
pub mod scenarios;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

pub(crate) use connection::read_request;
pub use planned_response::{PlannedResponse, ResponseEnd, ResponseStep};
pub use received_request::ReceivedRequest;

/// Listens on a free port of this machine until it is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Chooses the response to a request.
type RequestHandler = dyn Fn(&ReceivedRequest) -> PlannedResponse + Send + Sync;

struct Shared {
    choose: Option<Box<RequestHandler>>,
    planned: Mutex<VecDeque<PlannedResponse>>,
    received: Mutex<Vec<ReceivedRequest>>,
    /// One permit for each [`ResponseStep::Hold`] that may pass.
    released: Semaphore,
    /// One permit for each client that disconnected at a [`ResponseStep::Hold`].
    abandoned: Semaphore,
}

impl ModelServer {
    /// Answers each request with the next response. When none is left, the answer is a 500 that says so.
    pub fn with_responses(answers: impl IntoIterator<Item = impl Into<PlannedResponse>>) -> Self {
        Self::start(None, answers.into_iter().map(Into::into).collect())
    }

    /// Chooses each response by its request.
    pub fn with_handler(
        choose: impl Fn(&ReceivedRequest) -> PlannedResponse + Send + Sync + 'static,
    ) -> Self {
        Self::start(Some(Box::new(choose)), VecDeque::new())
    }

    /// Adds a response at the end of the plan.
    pub fn plan(&self, answer: impl Into<PlannedResponse>) {
        lock(&self.shared.planned).push_back(answer.into());
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, oldest first.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        lock(&self.shared.received).clone()
    }

    /// How many planned responses are left.
    pub fn unused_responses(&self) -> usize {
        lock(&self.shared.planned).len()
    }

    /// Lets one [`ResponseStep::Hold`] pass.
    pub fn release(&self) {
        self.shared.released.add_permits(1);
    }

    /// Waits until a client has disconnected at a [`ResponseStep::Hold`].
    pub async fn until_abandoned(&self) {
        self.shared.abandoned.acquire().await.expect("a semaphore that is never closed").forget();
    }

    fn start(choose: Option<Box<RequestHandler>>, planned: VecDeque<PlannedResponse>) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a listener that does not block");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            choose,
            planned: Mutex::new(planned),
            received: Mutex::default(),
            released: Semaphore::new(0),
            abandoned: Semaphore::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(listener, &serving, stopped));
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn choose(&self, received: ReceivedRequest) -> PlannedResponse {
        let planned = match &self.choose {
            Some(choose) => choose(&received),
            None => lock(&self.planned).pop_front().unwrap_or_else(|| {
                PlannedResponse::text(500, "text/plain", "no answer is planned for this request")
            }),
        };
        lock(&self.received).push(received);
        planned
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
                        connections.spawn(async move { let _ = connection::serve(stream, &shared).await; });
                    }
                }
                Some(_) = connections.join_next() => {}
            }
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
