//! The JSON echo: parse a body, answer with it.

use axum::Json;
use serde_json::Value;

/// Any JSON. Plain structs instead of a dynamic value made no difference that stood out of the noise.
pub(super) async fn value(Json(body): Json<Value>) -> Json<Value> {
    Json(body)
}
