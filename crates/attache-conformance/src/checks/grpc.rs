//! The gRPC binding itself (section 9.4): invalid calls, and the services beside A2A.

use crate::check::{Check, CheckResult, ensure, must, quality};
use crate::grpc;
use crate::pair::Pair;
use crate::protocol::Binding;

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("9.4-unknown", "an rpc that does not exist is unimplemented", unknown),
        quality("9.4-garbage", "what is no message is refused and does no harm", garbage),
        quality("9.4-reflection", "the reflection service tells which services there are", reflection),
        quality("9.4-health", "the health service says that the server is serving", health),
    ];
    checks.into_iter().map(|check| check.on(&[Binding::Grpc])).collect()
}

fn service(pair: &Pair) -> &'static str {
    if pair.is_1_0() { "lf.a2a.v1.A2AService" } else { "a2a.v1.A2AService" }
}

async fn unknown(pair: Pair) -> CheckResult {
    let end = grpc::raw(&pair, &format!("/{}/Conformance", service(&pair)), b"").await?;
    ensure!(end.name() == "UNIMPLEMENTED", "it is {}", end.shown());
    Ok(())
}

async fn garbage(pair: Pair) -> CheckResult {
    let end = grpc::raw(&pair, &format!("/{}/SendMessage", service(&pair)), &[0xff; 64]).await?;
    let good = matches!(end.name(), "INVALID_ARGUMENT" | "INTERNAL");
    ensure!(good, "it is {}", end.shown());
    pair.get("conformance").await?.refused()?;
    Ok(())
}

async fn reflection(pair: Pair) -> CheckResult {
    // Field 7, `list_services`, with an empty text.
    let end =
        grpc::raw(&pair, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", &[0x3a, 0]).await?;
    ensure!(end.is_ok(), "it is {}", end.shown());
    Ok(())
}

async fn health(pair: Pair) -> CheckResult {
    let end = grpc::raw(&pair, "/grpc.health.v1.Health/Check", b"").await?;
    ensure!(end.is_ok(), "it is {}", end.shown());
    Ok(())
}
