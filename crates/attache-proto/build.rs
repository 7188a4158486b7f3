//! Compiles the definitions in `proto/`, with nothing installed but cargo.

use std::error::Error;
use std::path::PathBuf;

/// Where the definition of the extension is published.
const EXTENSION: &str = "../../docs/extension";

const FILES: [&str; 7] = [
    "a2a/v1/a2a.proto",
    "lf/a2a/v1/a2a.proto",
    "google/rpc/status.proto",
    "grpc/health/v1/health.proto",
    "grpc/reflection/v1/reflection.proto",
    "grpc/reflection/v1alpha/reflection.proto",
    "development-tool.proto",
];

#[expect(clippy::disallowed_methods, reason = "how cargo tells build scripts where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    println!("cargo::rerun-if-changed={EXTENSION}/development-tool.proto");
    let mut compiler = protox::Compiler::new(["proto", EXTENSION])?;
    compiler.include_imports(true).include_source_info(true).open_files(FILES)?;
    let with_comments = compiler.file_descriptor_set();
    compiler.include_source_info(false);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_client(cfg!(feature = "client"))
        .build_transport(false)
        .bytes(".")
        .compile_fds(with_comments)?;
    Ok(())
}
