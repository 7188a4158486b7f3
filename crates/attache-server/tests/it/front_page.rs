//! The page that a browser shows at the server's address.

use crate::world::launch;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[tokio::test]
async fn a_browser_is_told_what_this_is() {
    let launch = launch().card(|card| {
        card.name = "<b>Builder</b>".into();
        card.documentation_url = Some("https://agent.example/docs?a=1&b=2".into());
    });
    let server = launch.start().await;
    let page = server.client().with("Accept", BROWSER).get("/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    let text = page.text();
    for words in [
        "&lt;b&gt;Builder&lt;/b&gt;",
        "href=\"/.well-known/agent-card.json\"",
        "href=\"/health\"",
        "href=\"https://agent.example/docs?a=1&amp;b=2\"",
        "attache tasks send",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("<b>") && !text.contains("<script") && !text.contains("src="), "{text}");
    let other = server.client().get("/").await;
    assert_eq!((other.status, other.header("allow")), (405, Some("POST")), "others are told what / takes");
}

#[tokio::test]
async fn the_page_is_public_and_tells_no_secret() {
    let token = "correct-horse-battery-staple";
    let server = launch().token(token).start().await;
    let page = server.client().with("Accept", BROWSER).get("/").await;
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(text.contains("Authorization: Bearer TOKEN") && !text.contains(token), "{text}");
    let listed = server.client().with("Accept", BROWSER).get("/tasks").await;
    assert_eq!(listed.status, 401, "only the page itself is public");
}
