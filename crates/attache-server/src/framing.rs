//! What each binding puts around a payload: JSON-RPC's envelope, nothing, or a gRPC frame.

use std::sync::Arc;

use attache_domain::{Fault, Interface};
use attache_wire::devtool::rest_api;
use attache_wire::jsonrpc::{self, RequestId};
use attache_wire::rest::ErrorReply;
use attache_wire::{Encoder, Version, proto, rest, retry_after};
use http::{HeaderValue, StatusCode, header};

use crate::app::App;
use crate::grpc::{self, Deadline};
use crate::http::{Body, Response};
use crate::sse::SseStream;
use crate::task_stream::StreamStart;

/// How the payloads of one response are framed.
#[derive(Debug, Clone)]
pub(crate) enum Framing {
    JsonRpc {
        version: Version,
        id: RequestId,
    },
    Rest {
        version: Version,
    },
    /// The REST API: a payload of a stream begins with the name of its event.
    RestApi,
    Grpc {
        version: Version,
        deadline: Deadline,
    },
}

/// The bindings as metrics name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindingName {
    JsonRpc,
    Rest,
    Grpc,
}

impl BindingName {
    pub(crate) const ALL: [Self; 3] = [Self::JsonRpc, Self::Rest, Self::Grpc];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "jsonrpc",
            Self::Rest => "rest",
            Self::Grpc => "grpc",
        }
    }
}

impl BindingName {
    /// As other clients of a task see it.
    pub(crate) fn interface(self) -> Interface {
        match self {
            Self::JsonRpc => Interface::JsonRpc,
            Self::Rest => Interface::HttpJson,
            Self::Grpc => Interface::Grpc,
        }
    }
}

impl Framing {
    pub(crate) fn binding(&self) -> BindingName {
        match self {
            Self::JsonRpc { .. } => BindingName::JsonRpc,
            Self::Rest { .. } | Self::RestApi => BindingName::Rest,
            Self::Grpc { .. } => BindingName::Grpc,
        }
    }

    /// Streams are server-sent events over plain HTTP.
    pub(crate) fn has_events(&self) -> bool {
        !matches!(self, Self::Grpc { .. })
    }

    /// Begins a payload. Returns what [`close`](Self::close) needs.
    pub(crate) fn open(&self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        match self {
            Self::JsonRpc { id, .. } => jsonrpc::write_result_open(id, out),
            Self::Rest { .. } | Self::RestApi => {}
            Self::Grpc { .. } => grpc::frame::open(out),
        }
        start
    }

    pub(crate) fn close(&self, start: usize, out: &mut Vec<u8>) {
        match self {
            Self::JsonRpc { .. } => jsonrpc::write_result_close(out),
            Self::Rest { .. } | Self::RestApi => {}
            Self::Grpc { .. } => grpc::frame::close(out, start),
        }
    }

    /// The payload of a response without content.
    pub(crate) fn write_empty(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self {
            Self::JsonRpc { .. } => b"null",
            Self::Rest { .. } | Self::RestApi => b"{}",
            Self::Grpc { .. } => b"",
        });
    }

    /// The response with one closed payload.
    pub(crate) fn response(&self, body: Vec<u8>) -> Response {
        match self {
            Self::JsonRpc { .. } => json(200, "application/json", body),
            Self::Rest { version } => json(200, rest::content_type(*version), body),
            Self::RestApi => json(200, "application/json", body),
            Self::Grpc { .. } => grpc::response::message(body),
        }
    }

    pub(crate) fn stream(self, app: &Arc<App>, encoder: Encoder, start: StreamStart) -> Response {
        match self {
            Self::Grpc { deadline, .. } => grpc::stream_response(app, encoder, start, deadline),
            framing => SseStream::new(app, framing, encoder, start).into_response(),
        }
    }

    pub(crate) fn fault(&self, fault: &Fault) -> Response {
        match self {
            Self::JsonRpc { version, id } => rpc_fault(*version, id, fault),
            Self::Rest { version } => rest_fault(*version, fault),
            Self::RestApi => rest_api_fault(fault),
            Self::Grpc { version, .. } => grpc::response::failure(&proto::status(*version, fault)),
        }
    }

    /// A fault as an event of a stream. The event is named `error`, except in 0.3 over JSON-RPC.
    pub(crate) fn write_fault_event(&self, fault: &Fault, out: &mut Vec<u8>) {
        let named: &[u8] = b"event: error\ndata: ";
        match self {
            Self::JsonRpc { version, id } => {
                out.extend_from_slice(if *version == Version::V1_0 { named } else { b"data: " });
                jsonrpc::write_error(*version, id, fault, out);
            }
            Self::Rest { version } | Self::Grpc { version, .. } => {
                out.extend_from_slice(named);
                out.extend_from_slice(&rest::error(*version, fault).body);
            }
            Self::RestApi => {
                out.extend_from_slice(named);
                out.extend_from_slice(&rest_api::error(fault).body);
            }
        }
        out.extend_from_slice(b"\n\n");
    }

    /// The response to a refused call of a method that streams. JSON-RPC clients that accept events get the fault as the
    /// only event; those of 0.3 expect nothing else. A fault with an HTTP status of its own keeps that.
    pub(crate) fn stream_fault(&self, fault: &Fault, accepts_events: bool) -> Response {
        let as_event = match self {
            Self::JsonRpc { version, .. } => *version == Version::V0_3 || accepts_events,
            Self::Rest { .. } | Self::RestApi | Self::Grpc { .. } => false,
        };
        if !as_event || jsonrpc::http_status(fault) != 200 {
            return self.fault(fault);
        }
        let mut out = Vec::new();
        self.write_fault_event(fault, &mut out);
        let mut response = json(200, "text/event-stream", out);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

pub(crate) fn rpc_fault(version: Version, id: &RequestId, fault: &Fault) -> Response {
    let mut out = Vec::new();
    jsonrpc::write_error(version, id, fault, &mut out);
    with_retry_after(json(jsonrpc::http_status(fault), "application/json", out), fault)
}

pub(crate) fn rest_fault(version: Version, fault: &Fault) -> Response {
    fault_response(rest::error(version, fault), rest::content_type(version), fault)
}

pub(crate) fn rest_api_fault(fault: &Fault) -> Response {
    fault_response(rest_api::error(fault), "application/json", fault)
}

fn fault_response(reply: ErrorReply, media_type: &'static str, fault: &Fault) -> Response {
    let mut response = json(reply.status, media_type, reply.body);
    if let Fault::HttpMethodNotAllowed { allowed, .. } = fault {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
    with_retry_after(response, fault)
}

/// Adds `Retry-After` where a retry may help.
pub(crate) fn with_retry_after(mut response: Response, fault: &Fault) -> Response {
    if let Some(pause) = retry_after(fault) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(pause.as_secs()));
    }
    response
}

pub(crate) fn json(status: u16, media_type: &'static str, mut body: Vec<u8>) -> Response {
    // A large body grew by doubling, and is held until its client has read it.
    body.shrink_to_fit();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The client has seen the whole stream. Clients that connect again by themselves stop at this status.
pub(crate) fn nothing_more() -> Response {
    let mut response = json(204, "text/event-stream", Vec::new());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
