//! `grpc.health.v1`: whether the server is ready for calls.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::Fault;
use attache_proto::health::HealthCheckRequest;
use attache_proto::health::HealthCheckResponse;
use attache_proto::health::health_check_response::ServingStatus;
use attache_wire::Version;
use attache_wire::proto::{self, GrpcCode, GrpcStatus};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::request::Parts;
use http_body::Frame;
use prost::Message;

use super::deadline::{self, Deadline};
use super::{frame, read_message, reflection, response};
use crate::app::App;
use crate::http::Response;
use crate::open_requests::OpenRequest;
use crate::request_body::RequestBody;

pub(super) const CHECK: &str = "/grpc.health.v1.Health/Check";
pub(super) const WATCH: &str = "/grpc.health.v1.Health/Watch";

pub(super) async fn check(app: &App, head: &Parts, body: &mut RequestBody) -> Response {
    match service_named(app, head, body).await {
        Err(status) => response::failure(&status),
        Ok(service) if !is_known(&service) => {
            let service: String = service.chars().take(120).collect();
            let message = format!("there is no service {service:?} here");
            response::failure(&GrpcStatus { code: GrpcCode::NotFound, message, details: Vec::new() })
        }
        Ok(_) => response::message(frame_of(current_status(app).await)),
    }
}

/// A watch checks the status this often.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Sends the status now, at every change, and when the server stops.
pub(super) async fn watch(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    deadline: Deadline,
    open_request: OpenRequest,
) -> Response {
    let service = match service_named(app, head, body).await {
        Ok(service) => service,
        Err(status) => return response::failure(&status),
    };
    let status = if is_known(&service) { current_status(app).await } else { ServingStatus::ServiceUnknown };
    response::stream(watch_frames(app.clone(), status, deadline).map(move |frame| {
        // Counts until the stream is dropped.
        let _counted = &open_request;
        frame
    }))
}

enum WatchState {
    Send(ServingStatus),
    /// The status sent last.
    Wait(ServingStatus),
    End(GrpcStatus),
    Closed,
}

fn watch_frames(
    app: Arc<App>,
    status: ServingStatus,
    deadline: Deadline,
) -> impl Stream<Item = Frame<Bytes>> {
    stream::unfold((app, WatchState::Send(status)), move |(app, mut watching)| async move {
        if let WatchState::Wait(told) = watching {
            watching = match next_change(&app, told, deadline).await {
                Some(status) if app.stop.is_cancelled() => {
                    let end = WatchState::End(proto::status(Version::V1_0, &Fault::Unavailable));
                    return Some((Frame::data(frame_of(status).into()), (app, end)));
                }
                Some(status) => WatchState::Send(status),
                None => WatchState::End(deadline::exceeded()),
            };
        }
        Some(match watching {
            WatchState::Send(status) => {
                (Frame::data(frame_of(status).into()), (app, WatchState::Wait(status)))
            }
            WatchState::End(status) => {
                (Frame::trailers(response::trailers(&status)), (app, WatchState::Closed))
            }
            WatchState::Wait(_) | WatchState::Closed => return None,
        })
    })
}

/// The status once it differs from `told` or the server stops; none when the deadline comes first.
async fn next_change(app: &App, told: ServingStatus, deadline: Deadline) -> Option<ServingStatus> {
    loop {
        let look_at = tokio::time::Instant::now() + CHECK_INTERVAL;
        let wake_at = deadline.map_or(look_at, |deadline| deadline.min(look_at));
        if tokio::time::timeout_at(wake_at, app.stop.cancelled()).await.is_ok() {
            return Some(ServingStatus::NotServing);
        }
        if deadline == Some(wake_at) {
            return None;
        }
        // An unknown service stays unknown while the server runs.
        if told != ServingStatus::ServiceUnknown {
            let status = current_status(app).await;
            if status != told {
                return Some(status);
            }
        }
    }
}

async fn service_named(app: &App, head: &Parts, body: &mut RequestBody) -> Result<String, GrpcStatus> {
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

async fn current_status(app: &App) -> ServingStatus {
    if !app.stop.is_cancelled() && app.session.health().await.is_ok() {
        ServingStatus::Serving
    } else {
        ServingStatus::NotServing
    }
}

fn frame_of(status: ServingStatus) -> Vec<u8> {
    frame::framed(&HealthCheckResponse { status: status.into() }.encode_to_vec())
}
