//! `grpc.reflection`: the services and messages of this server. A stream of requests, each with one response.
//!
//! The older `v1alpha` has the same messages under another name.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use attache_domain::Fault;
use attache_proto::DESCRIPTORS;
use attache_proto::reflection::server_reflection_request::MessageRequest;
use attache_proto::reflection::server_reflection_response::MessageResponse;
use attache_proto::reflection::{
    ErrorResponse, ExtensionNumberResponse, FileDescriptorResponse, ListServiceResponse,
    ServerReflectionRequest, ServerReflectionResponse, ServiceResponse,
};
use attache_wire::Version;
use attache_wire::proto::{self, GrpcCode, GrpcStatus};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http_body::Frame;
use http_body_util::BodyExt;
use prost::Message;
use prost_types::{DescriptorProto, FileDescriptorSet};

use super::deadline::{self, Deadline};
use super::{frame, response};
use crate::app::App;
use crate::http::Response;
use crate::open_requests::OpenRequest;
use crate::request_body::RequestBody;

pub(super) const V1: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
pub(super) const V1_ALPHA: &str = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

/// A request holds one name.
const MAX_REQUEST_BYTES: usize = 16 << 10;

/// The full names of all services.
pub(super) fn services() -> impl Iterator<Item = &'static str> {
    DESCRIPTOR_INDEX.services.iter().map(String::as_str)
}

pub(super) fn serve(
    app: &Arc<App>,
    body: &mut RequestBody,
    deadline: Deadline,
    open_request: OpenRequest,
) -> Response {
    response::stream(responses(app.clone(), body.take(), deadline, open_request))
}

struct RequestStream {
    app: Arc<App>,
    body: RequestBody,
    buffer: BytesMut,
    over: bool,
    /// Counts the stream while it is open.
    _open_request: OpenRequest,
}

fn responses(
    app: Arc<App>,
    body: RequestBody,
    deadline: Deadline,
    open_request: OpenRequest,
) -> impl Stream<Item = Frame<Bytes>> {
    let asking =
        RequestStream { app, body, buffer: BytesMut::new(), over: false, _open_request: open_request };
    stream::unfold(asking, move |mut asking| async move {
        if asking.over {
            return None;
        }
        let question = match deadline {
            None => next_request(&mut asking).await,
            Some(at) => match tokio::time::timeout_at(at, next_request(&mut asking)).await {
                Ok(question) => question,
                Err(_) => Err(deadline::exceeded()),
            },
        };
        let frame = match question {
            Ok(Some(question)) => Frame::data(respond_to(question)),
            Ok(None) => Frame::trailers(response::success()),
            Err(status) => Frame::trailers(response::trailers(&status)),
        };
        asking.over = frame.is_trailers();
        Some((frame, asking))
    })
}

/// `None` when the client has no more requests.
async fn next_request(asking: &mut RequestStream) -> Result<Option<ServerReflectionRequest>, GrpcStatus> {
    let refused = |fault: Fault| proto::status(Version::V1_0, &fault);
    loop {
        let found = frame::next_message(&mut asking.buffer, frame::Compression::Identity, MAX_REQUEST_BYTES);
        if let Some(message) = found.map_err(refused)? {
            let unreadable =
                |error| Fault::InvalidRequest { what: format!("the message cannot be read: {error}") };
            return ServerReflectionRequest::decode(message)
                .map(Some)
                .map_err(|error| refused(unreadable(error)));
        }
        let frame = tokio::select! {
            () = asking.app.stop.cancelled() => return Err(refused(Fault::Unavailable)),
            frame = asking.body.frame() => frame,
        };
        match frame {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    asking.buffer.extend_from_slice(&data);
                }
            }
            Some(Err(_)) => {
                return Err(refused(Fault::InvalidRequest { what: "the questions broke off".into() }));
            }
        }
    }
}

pub(super) fn respond_to(question: ServerReflectionRequest) -> Bytes {
    let response = match &question.message_request {
        Some(MessageRequest::FileByFilename(name)) => file(DESCRIPTOR_INDEX.files.get(name), "file", name),
        Some(MessageRequest::FileContainingSymbol(name)) => {
            let found = DESCRIPTOR_INDEX.file_of(name).and_then(|file| DESCRIPTOR_INDEX.files.get(file));
            file(found, "symbol", name)
        }
        Some(MessageRequest::FileContainingExtension(extension)) => {
            absent("extension of", &extension.containing_type)
        }
        Some(MessageRequest::AllExtensionNumbersOfType(name))
            if DESCRIPTOR_INDEX.symbols.contains_key(name) =>
        {
            MessageResponse::AllExtensionNumbersResponse(ExtensionNumberResponse {
                base_type_name: name.clone(),
                extension_number: Vec::new(),
            })
        }
        Some(MessageRequest::AllExtensionNumbersOfType(name)) => absent("type", name),
        Some(MessageRequest::ListServices(_)) => {
            let service = services().map(|name| ServiceResponse { name: name.to_owned() }).collect();
            MessageResponse::ListServicesResponse(ListServiceResponse { service })
        }
        None => error(GrpcCode::InvalidArgument, "nothing is asked".into()),
    };
    let response = ServerReflectionResponse {
        valid_host: question.host.clone(),
        original_request: Some(question),
        message_response: Some(response),
    };
    frame::framed(&response.encode_to_vec()).into()
}

fn file(found: Option<&Bytes>, kind: &str, name: &str) -> MessageResponse {
    match found {
        Some(file) => MessageResponse::FileDescriptorResponse(FileDescriptorResponse {
            file_descriptor_proto: vec![file.clone()],
        }),
        None => absent(kind, name),
    }
}

fn absent(kind: &str, name: &str) -> MessageResponse {
    let name: String = name.chars().take(120).collect();
    error(GrpcCode::NotFound, format!("there is no {kind} {name:?} here"))
}

fn error(code: GrpcCode, error_message: String) -> MessageResponse {
    MessageResponse::ErrorResponse(ErrorResponse { error_code: code as i32, error_message })
}

/// Descriptors by name.
#[derive(Default)]
struct DescriptorIndex {
    files: BTreeMap<String, Bytes>,
    /// Symbols with their file; methods are found through their service.
    symbols: BTreeMap<String, String>,
    services: Vec<String>,
}

static DESCRIPTOR_INDEX: LazyLock<DescriptorIndex> = LazyLock::new(|| {
    let mut definitions = DescriptorIndex::default();
    // Our own build made it, so it decodes.
    let set = FileDescriptorSet::decode(DESCRIPTORS).unwrap_or_default();
    for file in set.file {
        let (name, package) = (file.name().to_owned(), file.package().to_owned());
        for message in &file.message_type {
            definitions.add_message(&name, &package, message);
        }
        for kind in &file.enum_type {
            definitions.symbols.insert(format!("{package}.{}", kind.name()), name.clone());
        }
        for service in &file.service {
            let service = format!("{package}.{}", service.name());
            definitions.symbols.insert(service.clone(), name.clone());
            definitions.services.push(service);
        }
        definitions.files.insert(name, file.encode_to_vec().into());
    }
    definitions
});

impl DescriptorIndex {
    fn add_message(&mut self, file: &str, scope: &str, message: &DescriptorProto) {
        let name = format!("{scope}.{}", message.name());
        for nested in &message.nested_type {
            self.add_message(file, &name, nested);
        }
        for kind in &message.enum_type {
            self.symbols.insert(format!("{name}.{}", kind.name()), file.to_owned());
        }
        self.symbols.insert(name, file.to_owned());
    }

    /// The file that defines `symbol`, or the parent of a method, field or value.
    fn file_of(&self, symbol: &str) -> Option<&str> {
        let symbol = symbol.trim_start_matches('.');
        let found = self.symbols.get(symbol).or_else(|| {
            let (parent, _) = symbol.rsplit_once('.')?;
            self.symbols.get(parent)
        });
        found.map(String::as_str)
    }
}
