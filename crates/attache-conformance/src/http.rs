//! Plain HTTP: one request and its whole response.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::check::{CheckResult, Stop, fail};
use crate::sse::SseStream;
use crate::text::shortened;

/// How long a response may take. Slow behaviours are requested without waiting.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest response that is read.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Bytes>,
}

impl HttpRequest {
    pub(crate) fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: Vec::new(), body: None }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }
}

/// Status and headers of a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
}

impl ResponseHead {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Without parameters, in lower case.
    pub(crate) fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct HttpResponse {
    pub(crate) head: ResponseHead,
    pub(crate) body: Bytes,
}

impl HttpResponse {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn text(&self) -> String {
        shortened(&String::from_utf8_lossy(&self.body))
    }

    pub(crate) fn json(&self) -> CheckResult<Value> {
        match serde_json::from_slice(&self.body) {
            Ok(value) => Ok(value),
            Err(_) => fail(format!("HTTP {} with a body that is no JSON: {:?}", self.status(), self.text())),
        }
    }
}

pub(crate) enum StreamOrResponse {
    Stream(SseStream),
    Response(HttpResponse),
}

/// The one client of a run.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    /// Speaks HTTP/2 from the first byte, as gRPC without TLS does.
    http2: reqwest::Client,
}

impl HttpClient {
    /// `direct`: bypasses the proxy of the environment.
    pub(crate) fn new(direct: bool) -> Result<Self, String> {
        let builder = || {
            let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            if direct { builder.no_proxy() } else { builder }
        };
        let failed = |error| format!("making an HTTP client: {error}");
        let client = builder().build().map_err(failed)?;
        let http2 = builder().http2_prior_knowledge().build().map_err(failed)?;
        Ok(Self { client, http2 })
    }

    /// Begins a gRPC call. The caller reads the body, because it ends with trailers.
    pub(crate) async fn begin_grpc(
        &self,
        request: HttpRequest,
    ) -> CheckResult<(ResponseHead, reqwest::Body)> {
        let client = if request.url.starts_with("https:") { &self.client } else { &self.http2 };
        let (head, response) = begin(client, request).await?;
        Ok((head, http::Response::from(response).into_body()))
    }

    pub(crate) async fn call(&self, request: HttpRequest) -> CheckResult<HttpResponse> {
        let line = format!("{} {}", request.method, request.url);
        let whole = async {
            let (head, response) = begin(&self.client, request).await?;
            read(head, response).await
        };
        match tokio::time::timeout(RESPONSE_TIMEOUT, whole).await {
            Ok(outcome) => outcome,
            Err(_) => fail(format!("{line}: no answer within {} s", RESPONSE_TIMEOUT.as_secs())),
        }
    }

    /// A stream, or the response without a stream.
    pub(crate) async fn open(&self, request: HttpRequest) -> CheckResult<StreamOrResponse> {
        let line = format!("{} {}", request.method, request.url);
        let opening = async {
            let (head, response) = begin(&self.client, request).await?;
            if head.status == 200 && head.media_type() == "text/event-stream" {
                let chunks = response.bytes_stream().map(|chunk| chunk.map_err(|error| error.to_string()));
                return Ok(StreamOrResponse::Stream(SseStream::new(head, chunks.boxed())));
            }
            Ok(StreamOrResponse::Response(read(head, response).await?))
        };
        match tokio::time::timeout(RESPONSE_TIMEOUT, opening).await {
            Ok(outcome) => outcome,
            Err(_) => fail(format!("{line}: nothing came within {} s", RESPONSE_TIMEOUT.as_secs())),
        }
    }
}

async fn begin(
    client: &reqwest::Client,
    request: HttpRequest,
) -> CheckResult<(ResponseHead, reqwest::Response)> {
    let line = format!("{} {}", request.method, request.url);
    let mut builder = client.request(request.method, request.url);
    for (name, value) in request.headers {
        builder = builder.header(name, value);
    }
    if let Some(body) = request.body {
        builder = builder.body(body);
    }
    let broken = |error: reqwest::Error| Stop::Fail(format!("{line}: {}", causes(&error)));
    let response = builder.send().await.map_err(broken)?;
    let head = ResponseHead { status: response.status().as_u16(), headers: response.headers().clone() };
    Ok((head, response))
}

async fn read(head: ResponseHead, response: reqwest::Response) -> CheckResult<HttpResponse> {
    let mut chunks = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(error) => return fail(format!("the answer broke off: {}", causes(&error))),
        }
        if body.len() > MAX_BODY_BYTES {
            return fail("an answer of more than 16 MiB");
        }
    }
    Ok(HttpResponse { head, body: body.into() })
}

/// An error with its causes, where reqwest keeps the details.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}
