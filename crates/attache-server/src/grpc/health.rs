//! `grpc.health.v1`: is the server ready for calls?

use std::sync::Arc;
use std::time::Duration;

use attache_domain::Fault;
use attache_proto::health::HealthCheckRequest;
use attache_proto::health::HealthCheckResponse;
use attache_proto::health::health_check_response::ServingStatus;
use attache_wire::Version;
use attache_wire::proto::{self, Code, Status};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::request::Parts;
use http_body::Frame;
use prost::Message;

use super::deadline::{self, Deadline};
use super::{answer, frame, read_message, reflection};
use crate::app::App;
use crate::arriving::Arriving;
use crate::http::Response;
use crate::open_calls::OpenCall;

pub(super) const CHECK: &str = "/grpc.health.v1.Health/Check";
pub(super) const WATCH: &str = "/grpc.health.v1.Health/Watch";

pub(super) async fn check(app: &App, head: &Parts, body: &mut Arriving) -> Response {
    match service_named(app, head, body).await {
        Err(status) => answer::failure(&status),
        Ok(service) if !is_known(&service) => {
            let service: String = service.chars().take(120).collect();
            let message = format!("there is no service {service:?} here");
            answer::failure(&Status { code: Code::NotFound, message, details: Vec::new() })
        }
        Ok(_) => answer::message(framed(now(app).await)),
    }
}

/// How often a watched server looks whether anything has changed.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// Says how things are, whenever that changes, and once more when the server stops.
pub(super) async fn watch(
    app: &Arc<App>,
    head: &Parts,
    body: &mut Arriving,
    deadline: Deadline,
    open_call: OpenCall,
) -> Response {
    let service = match service_named(app, head, body).await {
        Ok(service) => service,
        Err(status) => return answer::failure(&status),
    };
    let status = if is_known(&service) { now(app).await } else { ServingStatus::ServiceUnknown };
    answer::stream(watching(app.clone(), status, deadline).map(move |frame| {
        // Counted until the stream is dropped.
        let _counted = &open_call;
        frame
    }))
}

enum Watching {
    Tells(ServingStatus),
    /// This was told last.
    Waits(ServingStatus),
    Ends(Status),
    Over,
}

fn watching(app: Arc<App>, status: ServingStatus, deadline: Deadline) -> impl Stream<Item = Frame<Bytes>> {
    stream::unfold((app, Watching::Tells(status)), move |(app, mut watching)| async move {
        if let Watching::Waits(told) = watching {
            watching = match changed(&app, told, deadline).await {
                Some(status) if app.stop.is_cancelled() => {
                    let end = Watching::Ends(proto::status(Version::V1_0, &Fault::Unavailable));
                    return Some((Frame::data(closed(status)), (app, end)));
                }
                Some(status) => Watching::Tells(status),
                None => Watching::Ends(deadline::exceeded()),
            };
        }
        Some(match watching {
            Watching::Tells(status) => (Frame::data(closed(status)), (app, Watching::Waits(status))),
            Watching::Ends(status) => (Frame::trailers(answer::trailers(&status)), (app, Watching::Over)),
            Watching::Waits(_) | Watching::Over => return None,
        })
    })
}

/// How things are, once they are not as `told` any more or the server stops; nothing when the deadline comes first.
async fn changed(app: &App, told: ServingStatus, deadline: Deadline) -> Option<ServingStatus> {
    loop {
        let look_at = tokio::time::Instant::now() + LOOK_INTERVAL;
        let wake_at = deadline.map_or(look_at, |deadline| deadline.min(look_at));
        if tokio::time::timeout_at(wake_at, app.stop.cancelled()).await.is_ok() {
            return Some(ServingStatus::NotServing);
        }
        if deadline == Some(wake_at) {
            return None;
        }
        // A service that is not there does not come while the server runs.
        if told != ServingStatus::ServiceUnknown {
            let status = now(app).await;
            if status != told {
                return Some(status);
            }
        }
    }
}

async fn service_named(app: &App, head: &Parts, body: &mut Arriving) -> Result<String, Status> {
    let message = read_message(app, head, body, Version::V1_0).await?;
    match HealthCheckRequest::decode(message) {
        Ok(request) => Ok(request.service),
        Err(error) => {
            let fault = Fault::InvalidRequest { what: format!("the message cannot be read: {error}") };
            Err(proto::status(Version::V1_0, &fault))
        }
    }
}

/// The server as a whole has no name.
fn is_known(service: &str) -> bool {
    service.is_empty() || reflection::services().any(|known| known == service)
}

async fn now(app: &App) -> ServingStatus {
    if !app.stop.is_cancelled() && app.session.health().await.is_ok() {
        ServingStatus::Serving
    } else {
        ServingStatus::NotServing
    }
}

fn framed(status: ServingStatus) -> Vec<u8> {
    let mut out = frame::open();
    out.extend_from_slice(&HealthCheckResponse { status: status.into() }.encode_to_vec());
    out
}

fn closed(status: ServingStatus) -> Bytes {
    let mut out = framed(status);
    frame::close(&mut out, 0);
    out.into()
}
