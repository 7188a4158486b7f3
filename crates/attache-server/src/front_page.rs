//! The page for browsers at `/`: what this server is, and where to go from here.
//!
//! Public, and says no more than the card. Without scripts, and loads nothing from other places.

use attache_wire::jsonrpc;
use http::request::Parts;
use http::{HeaderValue, Method, header};

use crate::app::App;
use crate::http::{Body, Response};

/// A browser opens `/`: no A2A client sends a GET there.
pub(crate) fn is_for(head: &Parts) -> bool {
    matches!(head.method, Method::GET | Method::HEAD)
        && head.uri.path() == "/"
        && head.headers.get_all(header::ACCEPT).iter().any(|accept| {
            let accept = accept.to_str().unwrap_or_default();
            accept.split(',').any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/html")
        })
}

pub(crate) fn serve(app: &App) -> Response {
    let mut response = Response::new(Body::from(page(app)));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Accept"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn page(app: &App) -> String {
    let card = &app.options.card;
    let (name, description, version) =
        (escaped(&card.name), escaped(&card.description), escaped(&card.version));
    let docs = match card.documentation_url.as_deref().filter(|url| is_link(url)) {
        Some(url) => format!("<a href=\"{0}\" rel=\"noreferrer\">{0}</a>", escaped(url)),
        None => {
            "the folder <code>docs</code> of attache, beginning with its <code>README.md</code>".to_owned()
        }
    };
    let token = if app.options.bearer_token.is_some() {
        "\n<p>Calls need the header <code>Authorization: Bearer TOKEN</code>.</p>"
    } else {
        ""
    };
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>{name}</title>
</head>
<body>
<h1>{name} {version}</h1>
<p>{description}</p>
<p>This is the address of an agent that speaks A2A (Agent2Agent) 0.3 and 1.0. It is made for programs: there is nothing to
click here.</p>
<ul>
<li><a href=\"/.well-known/agent-card.json\">The agent card</a>: what it can do and how to call it</li>
<li><a href=\"/health\">Health</a>: whether it works, and how busy it is</li>
<li>Documentation: {docs}</li>
</ul>
<p>From a terminal on the same machine:</p>
<pre>attache tasks send \"help\" --follow</pre>
<p>With any HTTP client, POST this to <code>/</code> with the headers <code>Content-Type: application/json</code> and
<code>A2A-Version: 1.0</code>:</p>
<pre>{example}</pre>{token}
</body>
</html>
",
        example = escaped(jsonrpc::EXAMPLE),
    )
}

fn is_link(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
