//! A gRPC client whose messages are written and read as JSON.

use attache_proto::{DESCRIPTORS, rpc};
use prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, MethodDescriptor,
};
use serde_json::{Value, json};
use std::time::Duration;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status, Streaming};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    V03,
    V10,
}

#[derive(Clone)]
pub(crate) struct Grpc {
    pub(crate) channel: Channel,
    speaks: Speaks,
    metadata: Vec<(&'static str, String)>,
    timeout: Option<Duration>,
    compressed: bool,
}

impl Speaks {
    pub(crate) const BOTH: [Self; 2] = [Self::V03, Self::V10];

    fn service(self) -> &'static str {
        match self {
            Self::V03 => "a2a.v1.A2AService",
            Self::V10 => "lf.a2a.v1.A2AService",
        }
    }

    /// Parameters of a send. Each version has ids of its own: the same message twice would be one task.
    pub(crate) fn text(self, id: &str, text: &str) -> Value {
        let id = format!("{id}-{self:?}");
        let parts = if self == Self::V03 { "content" } else { "parts" };
        json!({"message": {"messageId": id, "role": "ROLE_USER", parts: [{"text": text}]}})
    }

    /// The same, answered as soon as there is a task.
    pub(crate) fn text_at_once(self, id: &str, text: &str) -> Value {
        let mut params = self.text(id, text);
        params["configuration"] = match self {
            Self::V03 => json!({"blocking": false}),
            Self::V10 => json!({"returnImmediately": true}),
        };
        params
    }

    pub(crate) fn text_to(self, task: &str, id: &str, text: &str) -> Value {
        let mut params = self.text(id, text);
        params["message"]["taskId"] = task.into();
        params
    }

    /// Parameters that name a task.
    pub(crate) fn task(self, id: &str) -> Value {
        match self {
            Self::V03 => json!({"name": format!("tasks/{id}")}),
            Self::V10 => json!({"id": id}),
        }
    }

    pub(crate) fn subscribe(self) -> &'static str {
        match self {
            Self::V03 => "TaskSubscription",
            Self::V10 => "SubscribeToTask",
        }
    }
}

impl Grpc {
    pub(crate) async fn to(url: &str, speaks: Speaks) -> Self {
        let channel = Endpoint::from_shared(url.to_owned()).unwrap().connect().await.unwrap();
        Self { channel, speaks, metadata: Vec::new(), timeout: None, compressed: false }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.metadata.push((name, value.to_owned()));
        self
    }

    pub(crate) fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    pub(crate) fn compressed(mut self) -> Self {
        self.compressed = true;
        self
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, Status> {
        self.answered(method, params).await.map(Response::into_inner)
    }

    /// With the metadata of the answer.
    pub(crate) async fn answered(&self, method: &str, params: Value) -> Result<Response<Value>, Status> {
        let method = self.method(method);
        let response = self.bytes(&method, encode(method.input(), &params)).await?;
        Ok(response.map(|bytes| decode(method.output(), &bytes)))
    }

    /// The answer to whatever bytes there are instead of a message.
    pub(crate) async fn bytes(
        &self,
        method: &MethodDescriptor,
        bytes: Vec<u8>,
    ) -> Result<Response<Vec<u8>>, Status> {
        let mut client = self.client().await;
        client.unary(self.request(bytes), path(method), Raw).await
    }

    pub(crate) async fn stream(&self, method: &str, params: Value) -> Result<Items, Status> {
        let method = self.method(method);
        let bytes = encode(method.input(), &params);
        let mut client = self.client().await;
        let response = client.server_streaming(self.request(bytes), path(&method), Raw).await?;
        Ok(Items { stream: response.into_inner(), message: method.output() })
    }

    /// Sends and says the id of the task.
    pub(crate) async fn task_of(&self, params: Value) -> String {
        let sent = self.call("SendMessage", params).await.unwrap();
        sent["task"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn state_of(&self, task: &str) -> String {
        let task = self.call("GetTask", self.speaks.task(task)).await.unwrap();
        task["status"]["state"].as_str().unwrap().to_owned()
    }

    pub(crate) fn method(&self, name: &str) -> MethodDescriptor {
        let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
        let service = pool.get_service_by_name(self.speaks.service()).unwrap();
        service.methods().find(|method| method.name() == name).unwrap()
    }

    async fn client(&self) -> tonic::client::Grpc<Channel> {
        let mut client = tonic::client::Grpc::new(self.channel.clone());
        if self.compressed {
            client = client.send_compressed(CompressionEncoding::Gzip);
        }
        client.ready().await.unwrap();
        client
    }

    fn request(&self, bytes: Vec<u8>) -> Request<Vec<u8>> {
        let mut request = Request::new(bytes);
        for (name, value) in &self.metadata {
            let value: AsciiMetadataValue = value.parse().unwrap();
            request.metadata_mut().insert(AsciiMetadataKey::from_static(name), value);
        }
        if let Some(timeout) = self.timeout {
            request.set_timeout(timeout);
        }
        request
    }
}

pub(crate) struct Items {
    stream: Streaming<Vec<u8>>,
    message: MessageDescriptor,
}

impl Items {
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Status> {
        Ok(self.stream.message().await?.map(|bytes| decode(self.message.clone(), &bytes)))
    }

    /// Everything to the end, which must be a good one.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut items = Vec::new();
        while let Some(item) = self.next().await.unwrap() {
            items.push(item);
        }
        items
    }
}

/// What a failure says to programs.
#[track_caller]
pub(crate) fn info(status: &Status) -> rpc::ErrorInfo {
    let details = rpc::Status::decode(status.details()).unwrap();
    assert_eq!((details.code, details.message.as_str()), (status.code() as i32, status.message()));
    rpc::ErrorInfo::decode(&*details.details[0].value).unwrap()
}

/// The fields that were wrong.
pub(crate) fn violations(status: &Status) -> Vec<String> {
    let details = rpc::Status::decode(status.details()).unwrap();
    let bad = rpc::BadRequest::decode(&*details.details[1].value).unwrap();
    bad.field_violations.into_iter().map(|found| found.field).collect()
}

pub(crate) fn path(method: &MethodDescriptor) -> http::uri::PathAndQuery {
    let service = method.parent_service().full_name().to_owned();
    format!("/{service}/{}", method.name()).parse().unwrap()
}

pub(crate) fn encode(message: MessageDescriptor, json: &Value) -> Vec<u8> {
    let options = DeserializeOptions::new();
    DynamicMessage::deserialize_with_options(message, json, &options).unwrap().encode_to_vec()
}

fn decode(message: MessageDescriptor, bytes: &[u8]) -> Value {
    let message = DynamicMessage::decode(message, bytes).unwrap();
    assert_eq!(message.unknown_fields().count(), 0, "{message}");
    serde_json::to_value(&message).unwrap()
}

/// Messages as they are on the wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes::BufMut::put_slice(buffer, &item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let length = bytes::Buf::remaining(buffer);
        Ok(Some(bytes::Buf::copy_to_bytes(buffer, length).to_vec()))
    }
}
