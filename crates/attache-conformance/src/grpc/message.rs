//! Messages of gRPC, from and to their ProtoJSON form.

use std::sync::LazyLock;

use bytes::Bytes;
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MethodDescriptor, SerializeOptions};
use serde_json::Value;

use crate::check::{CheckResult, fail, not_applicable};
use crate::protocol::Version;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(attache_proto::DESCRIPTORS)
        .expect("the definitions were compiled by our own build")
});

/// One rpc of a version's service.
#[derive(Debug, Clone)]
pub(super) struct Rpc {
    method: MethodDescriptor,
}

impl Rpc {
    pub(super) fn find(version: Version, name: &str) -> CheckResult<Self> {
        let service = match version {
            Version::V0_3 => "a2a.v1.A2AService",
            Version::V1_0 => "lf.a2a.v1.A2AService",
        };
        let service = POOL.get_service_by_name(service);
        match service.and_then(|service| service.methods().find(|method| method.name() == name)) {
            Some(method) => Ok(Self { method }),
            None => not_applicable(format!("{} has no rpc {name}", version.as_str())),
        }
    }

    pub(super) fn path(&self) -> String {
        format!("/{}/{}", self.method.parent_service().full_name(), self.method.name())
    }

    /// Parameters that protobuf cannot express are not applicable.
    pub(super) fn encode(&self, params: &Value) -> CheckResult<Vec<u8>> {
        let options = DeserializeOptions::new().deny_unknown_fields(false);
        match DynamicMessage::deserialize_with_options(self.method.input(), params, &options) {
            Ok(message) => Ok(message.encode_to_vec()),
            Err(error) => not_applicable(format!("protobuf cannot say that: {error}")),
        }
    }

    pub(super) fn decode(&self, message: &Bytes) -> CheckResult<Value> {
        match DynamicMessage::decode(self.method.output(), message.clone()) {
            Ok(message) => Ok(json(&message)),
            Err(error) => fail(format!("a message that is no {}: {error}", self.method.output().name())),
        }
    }
}

/// A message by the full name of its type, with that name in it.
pub(super) fn detail(type_url: &str, bytes: &[u8]) -> Value {
    let name = type_url.rsplit('/').next().unwrap_or_default();
    let found = POOL.get_message_by_name(name);
    let message = found.and_then(|descriptor| DynamicMessage::decode(descriptor, bytes).ok());
    let mut value =
        message.map(|message| json(&message)).unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    value["@type"] = type_url.into();
    value
}

fn json(message: &DynamicMessage) -> Value {
    let options = SerializeOptions::new().stringify_64_bit_integers(false);
    // Decoded messages can be encoded, except times out of range, which become null.
    message.serialize_with_options(serde_json::value::Serializer, &options).unwrap_or_default()
}
