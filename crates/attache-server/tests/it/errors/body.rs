//! Bodies that are not read: of the wrong type, too large, too deep.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{start, start_with, still_answers};
use attache_testkit::pairs::task_of;
use attache_testkit::pairs::{
    Ask, CONTENT_TYPE, INVALID_REQUEST, MEDIA_TYPE, Pair, Refusal, TOO_LARGE, bytes,
};

#[tokio::test]
async fn a_body_needs_a_json_content_type() {
    let server = start().await;
    for pair in Pair::ALL {
        // HTTP has a status for it; the table of A2A gives another one, for HTTP+JSON.
        let row = if pair.is_rest() { CONTENT_TYPE } else { MEDIA_TYPE };
        let (verb, path, body) = pair.request(&Ask::Send(pair.text(&format!("{pair:?}"), "echo x")));
        let body = bytes(&body.expect("a body"));
        let client = server.client().with("A2A-Version", pair.version());
        for wrong in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"]
        {
            let answer = client.with("content-type", wrong).call(verb, &path, &body).await;
            let refusal = Refusal::read(pair, &answer);
            row.check(pair, &refusal);
            let essence = wrong.split(';').next().expect("a type");
            assert!(refusal.message.contains(essence), "{}", refusal.message);
        }
        // Browsers send a body without a type across sites without asking first.
        let refusal = Refusal::read(pair, &client.call(verb, &path, &body).await);
        row.check(pair, &refusal);
        assert!(refusal.message.contains("no content type"), "{}", refusal.message);
        for right in ["application/json", "application/a2a+json", "Application/JSON; charset=utf-8"] {
            let answer = client.with("content-type", right).call(verb, &path, &body).await;
            assert_eq!(answer.status, 200, "{right}: {}", answer.text());
        }
    }
    // Without a body there is nothing to have a type.
    let task = task_of(Pair::Rest10, &server.client(), "to-cancel", "ask").await;
    let canceled = server.client().call("POST", &format!("/tasks/{task}:cancel"), b"").await;
    assert_eq!(canceled.status, 200, "{}", canceled.text());
    let listed = server.client().rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 13, "the wrong ones opened no task");
}

#[tokio::test]
async fn a7_a_body_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let server = start_with(|limits| limits.body_bytes = 2048).await;
    for pair in Pair::ALL {
        let client =
            server.client().with("content-type", "application/json").with("A2A-Version", pair.version());
        let (verb, path, body) = sized(pair, "right", 2048);
        let answer = client.call(verb, &path, &body).await;
        assert_eq!(answer.status, 200, "{pair:?}: {}", answer.text());
        let (verb, path, body) = sized(pair, "wrong", 2049);
        let refusal = Refusal::read(pair, &client.call(verb, &path, &body).await);
        TOO_LARGE.check(pair, &refusal);
        assert!(refusal.message.contains("2048"), "{}", refusal.message);
        assert_eq!(
            refusal.metadata["limit"].as_str().map(str::to_owned),
            Some("2048".to_owned()),
            "{pair:?}"
        );
    }
}

#[tokio::test]
async fn a7_a_chunked_body_over_the_limit_is_refused_too() {
    let server = start_with(|limits| limits.body_bytes = 2048).await;
    for pair in Pair::ALL {
        for (size, expected) in [(2048, "HTTP/1.1 200"), (2049, "HTTP/1.1 413"), (6000, "HTTP/1.1 413")] {
            let (verb, path, body) = sized(pair, &format!("chunked-{size}"), size);
            let head = format!(
                "{verb} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\na2a-version: {}\r\n\
                 content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
                pair.version()
            );
            let mut request = head.into_bytes();
            for piece in body.chunks(500) {
                request.extend(format!("{:x}\r\n", piece.len()).bytes());
                request.extend(piece);
                request.extend(b"\r\n");
            }
            request.extend(b"0\r\n\r\n");
            let answer = server.client().raw(&request).await;
            assert!(answer.starts_with(expected), "{pair:?} {size}: {answer}");
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn a7_a_huge_body_is_refused_before_it_is_sent() {
    let server = start_with(|limits| limits.body_bytes = 2048).await;
    for path in ["/", "/message:send", "/v1/message:send"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: 1000000000\r\nexpect: 100-continue\r\n\r\n"
        );
        let answer = server.client().raw(head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn a7_a_client_that_sends_a_huge_body_all_the_same_hears_why_it_is_refused() {
    let server = start_with(|limits| limits.body_bytes = 2048).await;
    for pair in Pair::ALL {
        let client =
            server.client().with("content-type", "application/json").with("A2A-Version", pair.version());
        let (verb, path, body) = sized(pair, "huge", 4 << 20);
        let refusal = Refusal::read(pair, &client.call(verb, &path, &body).await);
        TOO_LARGE.check(pair, &refusal);
    }
}

#[tokio::test]
async fn a7_a_body_may_have_twenty_mebibytes_unless_told_otherwise() {
    let server = start().await;
    for (length, expected) in [(20 << 20, b"HTTP/1.1 100"), ((20 << 20) + 1, b"HTTP/1.1 413")] {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
        );
        let mut socket = TcpStream::connect(server.address()).await.expect("the server accepts");
        socket.write_all(head.as_bytes()).await.expect("a request");
        let mut first = [0; 12];
        socket.read_exact(&mut first).await.expect("an answer");
        assert_eq!(&first, expected, "{length}");
    }
}

#[tokio::test]
async fn a7_nesting_over_the_limit_is_refused_and_at_the_limit_is_not() {
    let server = start_with(|limits| limits.json_depth = 20).await;
    for pair in Pair::ALL {
        let client =
            server.client().with("content-type", "application/json").with("A2A-Version", pair.version());
        // Parameters stand one level deeper inside a JSON-RPC envelope; then metadata and the member itself.
        let outside = if pair.is_rest() { 2 } else { 3 };
        for (depth, fits) in [(20, true), (21, false), (5000, false)] {
            let mut params = pair.text(&format!("{pair:?}-{depth}"), "echo x");
            params["metadata"] = json!({"deep": "HERE"});
            let (verb, path, body) = pair.request(&Ask::Send(params));
            let inside = depth - outside;
            let nested = format!("{}{}", "[".repeat(inside), "]".repeat(inside));
            let body = body.expect("a body").to_string().replace("\"HERE\"", &nested);
            let answer = client.call(verb, &path, body.as_bytes()).await;
            if fits {
                assert_eq!(answer.status, 200, "{pair:?}: {}", answer.text());
                assert!(answer.text().contains("COMPLETED") || answer.text().contains("completed"));
                continue;
            }
            let refusal = Refusal::read(pair, &answer);
            INVALID_REQUEST.check(pair, &refusal);
            assert!(refusal.message.contains("20 levels"), "{}", refusal.message);
        }
        let (verb, path, _) = pair.request(&Ask::Send(json!({})));
        let brackets = vec![b'['; 1 << 20];
        let refusal = Refusal::read(pair, &client.call(verb, &path, &brackets).await);
        INVALID_REQUEST.check(pair, &refusal);
    }
    still_answers(&server).await;
}

/// Verb, path and a body of exactly `size` bytes.
fn sized(pair: Pair, id: &str, size: usize) -> (&'static str, String, Vec<u8>) {
    let mut params = pair.text(&format!("{id}-{pair:?}"), "echo x");
    params["metadata"] = json!({"filler": ""});
    let (verb, path, body) = pair.request(&Ask::Send(params));
    let body = body.expect("a body").to_string();
    let filler = "x".repeat(size - body.len());
    (verb, path, body.replace("\"filler\":\"", &format!("\"filler\":\"{filler}")).into_bytes())
}
