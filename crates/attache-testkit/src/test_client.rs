//! A small HTTP/1.1 client over one connection per call.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::{SseStream, WAIT_TIMEOUT};

/// Sends any request to one server, valid or not.
#[derive(Debug, Clone)]
pub struct TestClient {
    address: String,
    headers: Vec<(String, String)>,
}

/// A whole HTTP response.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpResponse {
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body, or the data of the only event if it is a stream of one.
    #[track_caller]
    pub fn json(&self) -> Value {
        let mut body = self.body.as_slice();
        if self.header("content-type") == Some("text/event-stream") {
            body = body.strip_prefix(b"event: error\n").unwrap_or(body);
            body = body.strip_prefix(b"data: ").unwrap_or(body);
        }
        serde_json::from_slice(body)
            .unwrap_or_else(|error| panic!("{error} in {} {:?}", self.status, self.text()))
    }
}

impl TestClient {
    pub fn of(address: &str) -> Self {
        Self { address: address.into(), headers: Vec::new() }
    }

    /// The same client with one more header on every call.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        client.headers.push((name.into(), value.into()));
        client
    }

    pub async fn get(&self, path: &str) -> HttpResponse {
        self.call("GET", path, b"").await
    }

    /// Posts JSON.
    pub async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.with_json().call("POST", path, body.to_string().as_bytes()).await
    }

    /// One JSON-RPC call with id 1; returns the whole response.
    pub async fn rpc(&self, method: &str, params: Value) -> Value {
        let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post("/", &request).await.json()
    }

    /// As [`rpc`](Self::rpc), but `None` when the server does not listen or closes the connection.
    pub async fn try_rpc(&self, method: &str, params: Value) -> Option<Value> {
        let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let client = self.with_json();
        let calling = async {
            let mut connection = client.try_send("POST", "/", request.to_string().as_bytes()).await?;
            let (_, headers) = try_read_head(&mut connection).await?;
            serde_json::from_slice(&read_body(&mut connection, &headers).await).ok()
        };
        timeout(WAIT_TIMEOUT, calling).await.expect("an answer or none in time")
    }

    /// One JSON-RPC call that opens a stream.
    pub async fn rpc_stream(&self, method: &str, params: Value) -> SseStream {
        let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post_stream("/", &request).await
    }

    /// As [`rpc_stream`](Self::rpc_stream), but `None` when the server does not listen.
    pub async fn try_rpc_stream(&self, method: &str, params: Value) -> Option<SseStream> {
        let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let client = self.with_json();
        let opening = client.try_stream("POST", "/", request.to_string());
        timeout(WAIT_TIMEOUT, opening).await.expect("a stream or none in time")
    }

    /// Posts JSON and reads the answer as a stream.
    pub async fn post_stream(&self, path: &str, body: &Value) -> SseStream {
        self.with_json().stream("POST", path, body.to_string().as_bytes()).await
    }

    /// Sends exactly these bytes as the body and reads the whole answer.
    pub async fn call(&self, method: &str, path: &str, body: &[u8]) -> HttpResponse {
        let calling = async {
            let mut connection = self.send(method, path, body).await;
            let (status, headers) = read_head(&mut connection).await;
            let bodiless = method == "HEAD" || status == 204 || status == 304;
            let body = if bodiless { Vec::new() } else { read_body(&mut connection, &headers).await };
            HttpResponse { status, headers, body }
        };
        timeout(WAIT_TIMEOUT, calling).await.expect("an answer in time")
    }

    /// Sends a request and reads the answer as a stream.
    pub async fn stream(&self, method: &str, path: &str, body: &[u8]) -> SseStream {
        let opening = async {
            let mut connection = self.send(method, path, body).await;
            let (status, headers) = read_head(&mut connection).await;
            SseStream::new(status, headers, connection)
        };
        timeout(WAIT_TIMEOUT, opening).await.expect("a stream in time")
    }

    async fn try_stream(&self, method: &str, path: &str, body: String) -> Option<SseStream> {
        let mut connection = self.try_send(method, path, body.as_bytes()).await?;
        let (status, headers) = try_read_head(&mut connection).await?;
        Some(SseStream::new(status, headers, connection))
    }

    /// Sends exactly these bytes on a new connection and reads until the server closes it.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let calling = async {
            let mut stream = TcpStream::connect(&self.address).await.expect("the server accepts");
            // As above: the server may close early.
            let _ = stream.write_all(bytes).await;
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
            String::from_utf8_lossy(&answer).into_owned()
        };
        timeout(WAIT_TIMEOUT, calling).await.expect("an answer in time")
    }

    fn with_json(&self) -> Self {
        match find(&self.headers, "content-type") {
            Some(_) => self.clone(),
            None => self.with("content-type", "application/json"),
        }
    }

    async fn send(&self, method: &str, path: &str, body: &[u8]) -> BufReader<TcpStream> {
        self.try_send(method, path, body).await.expect("the server accepts")
    }

    async fn try_send(&self, method: &str, path: &str, body: &[u8]) -> Option<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(&self.address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if find(&self.headers, "host").is_none() {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("connection: close\r\n\r\n");
        // The server may respond and close before it has read a refused body.
        let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
        Some(BufReader::new(stream))
    }
}

pub(crate) fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

async fn read_head(connection: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    try_read_head(connection).await.expect("the head of an answer")
}

async fn try_read_head(connection: &mut BufReader<TcpStream>) -> Option<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    connection.read_line(&mut line).await.ok()?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok())?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None if line == "\r\n" => return Some((status, headers)),
            None => return None,
        }
    }
}

async fn read_body(connection: &mut BufReader<TcpStream>, headers: &[(String, String)]) -> Vec<u8> {
    let mut body = Vec::new();
    if find(headers, "transfer-encoding").is_some() {
        while let Some(chunk) = read_chunk(connection).await.expect("whole chunks") {
            body.extend(chunk);
        }
    } else if let Some(length) = find(headers, "content-length") {
        body.resize(length.parse().expect("a length"), 0);
        connection.read_exact(&mut body).await.expect("the whole body");
    } else {
        connection.read_to_end(&mut body).await.expect("the whole body");
    }
    body
}

/// The next chunk of a chunked body; `None` at its end.
pub(crate) async fn read_chunk(connection: &mut BufReader<TcpStream>) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    let broken = |_| std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the answer broke off");
    let length = usize::from_str_radix(line.trim(), 16).map_err(broken)?;
    let mut chunk = vec![0; length + 2];
    connection.read_exact(&mut chunk).await?;
    chunk.truncate(length);
    Ok((length > 0).then_some(chunk))
}
