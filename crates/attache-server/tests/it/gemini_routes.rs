//! The routes of Gemini CLI's server are served as all others are: counted, and for callers with the right only.

use serde_json::json;

use crate::world::launch;

#[tokio::test]
async fn calls_of_gemini_routes_are_counted() {
    let server = launch().start().await;
    let client = server.client();
    assert_eq!(client.get("/listCommands").await.status, 200);
    assert_eq!(client.get("/tasks/metadata").await.status, 204);
    assert_eq!(client.get("/tasks/none/metadata").await.status, 404);
    assert_eq!(client.post("/executeCommand", &json!({"command": "none"})).await.status, 404);
    let metrics = client.get("/metrics").await.text();
    let counted = |operation: &str| {
        let lines = metrics.lines().filter(|line| line.starts_with("attache_calls_total"));
        let lines = lines.filter(|line| line.contains(&format!("\"{operation}\"")));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
    };
    let counts = ["commands", "list", "get", "execute"].map(counted);
    assert_eq!(counts, [1, 1, 1, 1], "{metrics}");
}
