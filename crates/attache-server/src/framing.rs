//! The envelope around an answer: JSON-RPC's, or none.

use attache_domain::Fault;
use attache_wire::jsonrpc::{self, RequestId};
use attache_wire::{Version, rest, retry_after};
use http::{HeaderValue, StatusCode, header};

use crate::http::{Body, Response};

/// How answers to one request are wrapped.
#[derive(Debug, Clone)]
pub(crate) enum Framing {
    JsonRpc { version: Version, id: RequestId },
    Rest { version: Version },
}

/// The bindings by the names under which they are counted.
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

impl Framing {
    pub(crate) fn version(&self) -> Version {
        match self {
            Self::JsonRpc { version, .. } | Self::Rest { version } => *version,
        }
    }

    pub(crate) fn binding(&self) -> BindingName {
        match self {
            Self::JsonRpc { .. } => BindingName::JsonRpc,
            Self::Rest { .. } => BindingName::Rest,
        }
    }

    /// What stands before every payload.
    pub(crate) fn open(&self, out: &mut Vec<u8>) {
        if let Self::JsonRpc { id, .. } = self {
            jsonrpc::write_result_open(id, out);
        }
    }

    /// What stands after every payload.
    pub(crate) fn close(&self, out: &mut Vec<u8>) {
        if let Self::JsonRpc { .. } = self {
            jsonrpc::write_result_close(out);
        }
    }

    /// The answer when there is nothing to say.
    pub(crate) fn write_empty(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self {
            Self::JsonRpc { .. } => b"null",
            Self::Rest { .. } => b"{}",
        });
    }

    pub(crate) fn answer(&self, body: Vec<u8>) -> Response {
        let media_type = match self {
            Self::JsonRpc { .. } => "application/json",
            Self::Rest { version } => rest::content_type(*version),
        };
        json(200, media_type, body)
    }

    pub(crate) fn fault(&self, fault: &Fault) -> Response {
        match self {
            Self::JsonRpc { version, id } => rpc_fault(*version, id, fault),
            Self::Rest { version } => rest_fault(*version, fault),
        }
    }

    /// A fault as an event of a stream. It has a name, but not in 0.3 over JSON-RPC.
    pub(crate) fn write_fault_event(&self, fault: &Fault, out: &mut Vec<u8>) {
        let named: &[u8] = b"event: error\ndata: ";
        match self {
            Self::JsonRpc { version, id } => {
                out.extend_from_slice(if *version == Version::V1_0 { named } else { b"data: " });
                jsonrpc::write_error(*version, id, fault, out);
            }
            Self::Rest { version } => {
                out.extend_from_slice(named);
                out.extend_from_slice(&rest::error(*version, fault).body);
            }
        }
        out.extend_from_slice(b"\n\n");
    }

    /// The answer to a call of a method that streams, when the call is refused. Clients of JSON-RPC that expect events get
    /// the fault as the only one; those of 0.3 expect nothing else. What HTTP has a status for stays with that.
    pub(crate) fn fault_for_stream(&self, fault: &Fault, takes_events: bool) -> Response {
        let takes_events = match self {
            Self::JsonRpc { version, .. } => *version == Version::V0_3 || takes_events,
            Self::Rest { .. } => false,
        };
        if !takes_events || jsonrpc::http_status(fault) != 200 {
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
    let reply = rest::error(version, fault);
    let mut response = json(reply.status, rest::content_type(version), reply.body);
    if let Fault::HttpMethodNotAllowed { allowed, .. } = fault {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
    with_retry_after(response, fault)
}

/// Says when to try again, where that may help.
pub(crate) fn with_retry_after(mut response: Response, fault: &Fault) -> Response {
    if let Some(pause) = retry_after(fault) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(pause.as_secs()));
    }
    response
}

pub(crate) fn json(status: u16, media_type: &'static str, mut body: Vec<u8>) -> Response {
    // A large one grew by doubling, and is held until its client has taken it.
    body.shrink_to_fit();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
