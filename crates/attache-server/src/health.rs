//! `/health`: whether the server works, and how busy it is.

use attache_wire::devtool::rest_api::{self, schema::Health};
use http::{HeaderValue, StatusCode, header};

use crate::app::App;
use crate::http::{Body, Response};

pub(crate) async fn serve(app: &App) -> Response {
    let now = app.session.counters().snapshot();
    let (running, waiting) = (now.tasks_running, now.tasks_waiting_for_store);
    let uptime = app.started.elapsed().as_secs_f64();
    let healthy = Health {
        status: "healthy",
        uptime,
        active_tasks: running,
        total_tasks: None,
        reason: None,
        waiting_tasks: None,
        warnings: app.session.store_status().warnings,
    };
    let (status, health) = match app.session.health().await {
        Ok(total) => (StatusCode::OK, Health { total_tasks: Some(total), ..healthy }),
        Err(fault) => {
            let reason = Some(fault.to_string());
            let unhealthy = Health { status: "unhealthy", reason, waiting_tasks: Some(waiting), ..healthy };
            (StatusCode::SERVICE_UNAVAILABLE, unhealthy)
        }
    };
    let mut response = Response::new(Body::from(rest_api::to_bytes(&health)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
