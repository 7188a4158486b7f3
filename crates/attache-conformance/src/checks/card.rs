//! How the card is served (K1, K2).

use http::Method;

use crate::check::{Check, CheckResult, ensure, fail, must, quality, should};
use crate::http::{HttpRequest, HttpResponse};
use crate::pair::Pair;

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("K1", "the card is a JSON object at its well-known path", served),
        must("K1-media", "it is application/json", media_type),
        quality("K1-alias", "it is at the path of older clients, too", alias),
        quality("K1-head", "HEAD is answered like GET", head),
        quality("K1-verb", "other verbs are not allowed", verbs),
        should("K2-cache", "the card may be cached for some time", cache_control),
        should("K2-etag", "the card has an ETag", etag),
        should("K2-304", "a card that the client has is not sent again", not_modified),
        quality("K2-star", "also when any tag will do", star),
        quality("K2-weak", "tags are compared weakly, and several may be named", weak),
        quality("K2-changed", "another tag gets the card", other_tag),
        quality("K2-vary", "cards that differ by version say so, and have tags of their own", vary),
        quality("K2-same", "the same card is served every time", same),
    ];
    checks.into_iter().map(Check::once).collect()
}

async fn fetch(pair: &Pair, headers: &[(&str, &str)]) -> CheckResult<HttpResponse> {
    let mut request = HttpRequest::new(Method::GET, pair.subject.card_url());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    pair.subject.http.call(request).await
}

fn tag(answer: &HttpResponse) -> CheckResult<String> {
    match answer.head.header("etag") {
        Some(tag) => Ok(tag.to_owned()),
        None => fail("the card has no ETag"),
    }
}

async fn served(pair: Pair) -> CheckResult {
    ensure!(pair.subject.card.is_object(), "it is {}", crate::text::shown(&pair.subject.card));
    Ok(())
}

async fn media_type(pair: Pair) -> CheckResult {
    let found = pair.subject.card_head.media_type();
    ensure!(found == "application/json", "it is {found:?}");
    Ok(())
}

async fn alias(pair: Pair) -> CheckResult {
    let url = format!("{}/.well-known/agent.json", pair.subject.base);
    let answer = pair.subject.http.call(HttpRequest::new(Method::GET, url)).await?;
    ensure!(answer.status() == 200, "HTTP {}", answer.status());
    ensure!(answer.json()? == pair.subject.card, "it is another card");
    Ok(())
}

async fn head(pair: Pair) -> CheckResult {
    let answer = pair.subject.http.call(HttpRequest::new(Method::HEAD, pair.subject.card_url())).await?;
    ensure!(answer.status() == 200, "HTTP {}", answer.status());
    Ok(())
}

async fn verbs(pair: Pair) -> CheckResult {
    for method in [Method::POST, Method::DELETE] {
        let answer =
            pair.subject.http.call(HttpRequest::new(method.clone(), pair.subject.card_url())).await?;
        ensure!(answer.status() == 405, "{method} was answered with HTTP {}", answer.status());
    }
    Ok(())
}

async fn cache_control(pair: Pair) -> CheckResult {
    let found = pair.subject.card_head.header("cache-control").unwrap_or_default();
    ensure!(found.contains("max-age="), "Cache-Control is {found:?}");
    Ok(())
}

async fn etag(pair: Pair) -> CheckResult {
    let tag = tag(&fetch(&pair, &[]).await?)?;
    let opaque = tag.trim_start_matches("W/");
    ensure!(opaque.len() > 2 && opaque.starts_with('"') && opaque.ends_with('"'), "it is {tag:?}");
    Ok(())
}

fn is_not_modified(answer: &HttpResponse) -> CheckResult {
    ensure!(answer.status() == 304, "HTTP {}", answer.status());
    ensure!(answer.body.is_empty(), "there is a body");
    Ok(())
}

async fn not_modified(pair: Pair) -> CheckResult {
    let tag = tag(&fetch(&pair, &[]).await?)?;
    let answer = fetch(&pair, &[("if-none-match", &tag)]).await?;
    is_not_modified(&answer)?;
    ensure!(answer.head.header("etag") == Some(&tag), "its ETag is {:?}", answer.head.header("etag"));
    Ok(())
}

async fn star(pair: Pair) -> CheckResult {
    is_not_modified(&fetch(&pair, &[("if-none-match", "*")]).await?)
}

async fn weak(pair: Pair) -> CheckResult {
    let tag = tag(&fetch(&pair, &[]).await?)?;
    let other = match tag.strip_prefix("W/") {
        Some(opaque) => opaque.to_owned(),
        None => format!("W/{tag}"),
    };
    is_not_modified(&fetch(&pair, &[("if-none-match", &format!("\"other\", {other}"))]).await?)
}

async fn other_tag(pair: Pair) -> CheckResult {
    tag(&fetch(&pair, &[]).await?)?;
    let answer = fetch(&pair, &[("if-none-match", "\"conformance-other\"")]).await?;
    ensure!(answer.status() == 200, "HTTP {}", answer.status());
    Ok(())
}

async fn vary(pair: Pair) -> CheckResult {
    let plain = fetch(&pair, &[]).await?;
    let new = fetch(&pair, &[("a2a-version", "1.0")]).await?;
    if plain.body == new.body {
        return Ok(());
    }
    let vary = plain.head.header("vary").unwrap_or_default().to_ascii_lowercase();
    ensure!(vary.contains("a2a-version"), "Vary is {vary:?}");
    ensure!(tag(&plain)? != tag(&new)?, "both have the ETag {}", tag(&plain)?);
    Ok(())
}

async fn same(pair: Pair) -> CheckResult {
    let (one, two) = (fetch(&pair, &[]).await?, fetch(&pair, &[]).await?);
    ensure!(one.body == two.body, "two fetches differ");
    Ok(())
}
