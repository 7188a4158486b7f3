//! A forward proxy that records its requests.
//!
//! It connects to one address for every requested host, so tests can use names that do not exist.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Listens on a free port of this machine until it is dropped.
pub struct ForwardProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    backend: SocketAddr,
    /// The required value of `Proxy-Authorization`.
    password: Option<String>,
    asked: Mutex<Vec<ProxyRequest>>,
    stopped: AtomicBool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRequest {
    /// The method and the target, such as `CONNECT agent.test:443`.
    pub line: String,
    pub authorization: Option<String>,
}

impl ForwardProxy {
    pub fn to(backend: SocketAddr) -> Self {
        Self::start(backend, None)
    }

    /// Refuses requests without this value of `Proxy-Authorization`.
    pub fn with_password(backend: SocketAddr, password: &str) -> Self {
        Self::start(backend, Some(password.to_owned()))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, oldest first.
    pub fn asked(&self) -> Vec<ProxyRequest> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The methods and targets of all requests so far.
    pub fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|request| request.line).collect()
    }

    fn start(backend: SocketAddr, password: Option<String>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared =
            Arc::new(Shared { backend, password, asked: Mutex::default(), stopped: AtomicBool::new(false) });
        let serving = shared.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared) = (stream, serving.clone()) else { continue };
                // Ends with its connection.
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared, thread: Some(thread) }
    }
}

impl Drop for ForwardProxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Tests close connections on purpose.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if line.trim_end().is_empty() {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let Some((line, headers)) = head.split_first() else { return Ok(()) };
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let authorization = headers.iter().find_map(|header| {
            let (name, value) = header.split_once(':')?;
            name.eq_ignore_ascii_case("proxy-authorization").then(|| value.trim().to_owned())
        });
        let asked = ProxyRequest { line: format!("{method} {target}"), authorization: authorization.clone() };
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let mut stream = stream;
        if self.password.is_some() && authorization != self.password {
            return stream.write_all(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            );
        }
        let mut backend = TcpStream::connect(self.backend)?;
        if method == "CONNECT" {
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        } else {
            backend.write_all(origin_form(method, target, headers).as_bytes())?;
        }
        let (answers, client) = (backend.try_clone()?, stream.try_clone()?);
        let back = std::thread::spawn(move || copy(answers, client));
        let _ = copy(reader, backend);
        let _ = back.join();
        Ok(())
    }
}

/// The request head for the host. The connection ends with the response.
fn origin_form(method: &str, target: &str, headers: &[String]) -> String {
    let path = target.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| rest[at..].to_owned()));
    let kept = headers.iter().filter(|header| {
        let name = header.split(':').next().unwrap_or_default().to_ascii_lowercase();
        !name.starts_with("proxy-") && name != "connection"
    });
    let kept: String = kept.map(|header| format!("{header}\r\n")).collect();
    format!("{method} {} HTTP/1.1\r\n{kept}connection: close\r\n\r\n", path.unwrap_or("/".into()))
}

/// Copies bytes as they arrive, and forwards the end of the input.
fn copy(mut from: impl Read, mut to: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 16 << 10];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return to.shutdown(Shutdown::Write);
        }
        to.write_all(&buffer[..length])?;
    }
}
