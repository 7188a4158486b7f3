//! What monitors read: health, metrics, and the number of each request.

use serde_json::json;

use crate::world::{launch, message};

#[tokio::test]
async fn health_says_what_monitors_read() {
    let server = launch().start().await;
    let client = server.client();
    let answer = client.get("/health").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let first = answer.json();
    assert_eq!(first["status"], "healthy");
    assert_eq!((&first["activeTasks"], &first["totalTasks"]), (&json!(0), &json!(0)));
    assert!(first["uptime"].as_f64().is_some_and(|uptime| uptime >= 0.0));
    assert_eq!(first.as_object().map(serde_json::Map::len), Some(4), "{first:#}");
    client.rpc("SendMessage", message("m1", "echo x")).await;
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m2", "slow")).await;
    let task = stream.next().await.expect("the task").payload()["task"]["id"].clone();
    stream.until(|frame| frame.payload().get("artifactUpdate").is_some()).await;
    let busy = client.get("/health").await.json();
    assert_eq!((&busy["activeTasks"], &busy["totalTasks"]), (&json!(1), &json!(2)), "{busy:#}");
    assert!(busy["uptime"].as_f64() > first["uptime"].as_f64());
    client.rpc("CancelTask", json!({"id": task})).await;
    let mut idle = client.get("/health").await.json();
    for _ in 0..1000 {
        if idle["activeTasks"] == 0 {
            break;
        }
        idle = client.get("/health").await.json();
    }
    assert_eq!((&idle["activeTasks"], &idle["totalTasks"]), (&json!(0), &json!(2)), "{idle:#}");
}

#[tokio::test]
async fn metrics_can_be_read_by_prometheus() {
    let server = launch().start().await;
    let client = server.client();
    client.rpc("SendMessage", message("m1", "echo x")).await;
    client.rpc("SendMessage", message("m2", "fail")).await;
    client.rpc("GetTask", json!({"id": "no-such-task"})).await;
    client.get("/v1/tasks/no-such-task").await;
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m3", "slow")).await;
    stream.next().await;
    let answer = client.get("/metrics").await;
    assert_eq!(answer.status, 200);
    let media_type = answer.header("content-type").expect("a type");
    assert!(media_type.starts_with("application/openmetrics-text"), "{media_type}");
    let text = answer.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let samples: Vec<Sample> = text.lines().filter(|line| !line.starts_with('#')).map(Sample::read).collect();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let words: Vec<_> = line.split(' ').collect();
        assert!(matches!(words[1], "HELP" | "TYPE" | "UNIT" | "EOF"), "{line}");
    }
    let value = |name: &str, labels: &[(&str, &str)]| {
        let mut found = samples.iter().filter(|sample| sample.name == name && sample.has(labels));
        let sample = found.next().unwrap_or_else(|| panic!("{name} {labels:?} in\n{text}"));
        assert!(found.next().is_none(), "{name} {labels:?} names one sample in\n{text}");
        sample.value
    };
    let rpc = ("binding", "jsonrpc");
    assert_eq!(
        value("attache_calls_total", &[rpc, ("operation", "send"), ("outcome", "ok"), ("version", "1.0")]),
        2.0
    );
    let refused_get = [("operation", "get"), ("outcome", "refused")];
    assert_eq!(value("attache_calls_total", &[&[rpc, ("version", "1.0")], &refused_get[..]].concat()), 1.0);
    let old_rest = [("binding", "rest"), ("version", "0.3")];
    assert_eq!(value("attache_calls_total", &[old_rest, refused_get].concat()), 1.0);
    assert_eq!(value("attache_open_streams", &[]), 1.0);
    assert_eq!(value("attache_tasks_opened_total", &[]), 3.0);
    assert_eq!(value("attache_tasks_settled_total", &[("state", "completed")]), 1.0);
    assert_eq!(value("attache_tasks_settled_total", &[("state", "failed")]), 1.0);
    assert!(value("attache_events_appended_total", &[]) >= 6.0);
    for sample in &samples {
        let family = sample.name.trim_end_matches("_total");
        assert!(text.contains(&format!("# TYPE {family} ")), "{family} has a type");
        assert!(text.contains(&format!("# HELP {family} ")), "{family} is explained");
    }
}

/// `name{label="value",…} number`
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    #[track_caller]
    fn read(line: &str) -> Self {
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("a sample, not {line:?}"));
        let (name, labels) = match series.split_once('{') {
            Some((name, rest)) => (name, rest.strip_suffix('}').expect("a closing brace")),
            None => (series, ""),
        };
        let is_name = |name: &str| {
            let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
            name.bytes().enumerate().all(|(at, byte)| letter(byte) || at > 0 && byte.is_ascii_digit())
                && !name.is_empty()
        };
        assert!(is_name(name), "{line:?}");
        let label = |pair: &str| {
            let (name, value) = pair.split_once('=').expect("name=value");
            assert!(is_name(name), "{line:?}");
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).expect("quotes");
            (name.to_owned(), value.to_owned())
        };
        let labels = labels.split(',').filter(|pair| !pair.is_empty()).map(label).collect();
        Self { name: name.to_owned(), labels, value: value.parse().expect("a number") }
    }

    fn has(&self, labels: &[(&str, &str)]) -> bool {
        labels
            .iter()
            .all(|(name, value)| self.labels.iter().any(|(known, said)| known == name && said == value))
    }
}

#[tokio::test]
async fn request_numbers_are_on_every_answer_and_grow() {
    let server = launch().start().await;
    let client = server.client();
    let mut numbers = Vec::new();
    for path in ["/health", "/tasks", "/nothing", "/.well-known/agent-card.json", "/metrics"] {
        let answer = client.get(path).await;
        numbers.push(answer.header("x-request-id").expect(path).parse::<u64>().expect("a number"));
    }
    let refused = client.with("host", "evil.example").get("/tasks").await;
    numbers.push(refused.header("x-request-id").expect("also on refusals").parse().expect("a number"));
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
}
