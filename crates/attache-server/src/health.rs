//! `/health`: whether the server works, and how busy it is.

use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::app::App;
use crate::http::{Body, Response};

pub(crate) async fn serve(app: &App) -> Response {
    let now = app.session.counters().snapshot();
    let (running, waiting) = (now.tasks_running, now.tasks_waiting_for_store);
    let uptime = app.started.elapsed().as_secs_f64();
    let (status, body) = match app.session.health().await {
        Ok(total) => {
            let body =
                json!({"status": "healthy", "uptime": uptime, "activeTasks": running, "totalTasks": total});
            (StatusCode::OK, body)
        }
        Err(fault) => {
            let reason = fault.to_string();
            let body = json!({
                "status": "unhealthy",
                "reason": reason,
                "uptime": uptime,
                "activeTasks": running,
                "waitingTasks": waiting,
            });
            (StatusCode::SERVICE_UNAVAILABLE, body)
        }
    };
    let mut body = body;
    let warnings = app.session.store_status().warnings;
    if !warnings.is_empty() {
        body["warnings"] = warnings.into();
    }
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
