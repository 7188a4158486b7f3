//! Generated protobuf code of both A2A versions and of the gRPC services around them.
//!
//! The definitions are in `proto/`. `attache-wire` converts the messages to and from domain words. The feature
//! `client` adds tonic's clients of the services.
//!
//! ```
//! use attache_proto::v1_0::GetTaskRequest;
//! use prost::Message;
//!
//! let request = GetTaskRequest { id: "t-1".into(), ..Default::default() };
//! assert_eq!(GetTaskRequest::decode(&*request.encode_to_vec()), Ok(request));
//! ```

/// A2A 0.3: the package `a2a.v1`.
pub mod v0_3 {
    include!(concat!(env!("OUT_DIR"), "/a2a.v1.rs"));
}

/// A2A 1.0: the package `lf.a2a.v1`.
pub mod v1_0 {
    include!(concat!(env!("OUT_DIR"), "/lf.a2a.v1.rs"));
}

/// The development-tool extension: the package `development_tool.v0`, with the service of its commands.
pub mod development_tool {
    include!(concat!(env!("OUT_DIR"), "/development_tool.v0.rs"));
}

/// Error details: parts of `google.rpc`.
pub mod rpc {
    include!(concat!(env!("OUT_DIR"), "/google.rpc.rs"));
}

/// `grpc.health.v1`.
pub mod health {
    include!(concat!(env!("OUT_DIR"), "/grpc.health.v1.rs"));
}

/// `grpc.reflection.v1`; the older `v1alpha` is the same on the wire.
pub mod reflection {
    include!(concat!(env!("OUT_DIR"), "/grpc.reflection.v1.rs"));

    /// The same service under its older name.
    pub mod alpha {
        include!(concat!(env!("OUT_DIR"), "/grpc.reflection.v1alpha.rs"));
    }
}

/// All definitions and what they import: an encoded `google.protobuf.FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
