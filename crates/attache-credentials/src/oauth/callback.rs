//! The local page that the browser returns to after a sign-in.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use attache_net::{Secret, Url, is_loopback};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::checked_plan::ExpectedIssuer;
use crate::CredentialError;

/// Listens on this machine only.
pub(super) struct Callback {
    listener: TcpListener,
    /// `localhost` may mean either address.
    second: Option<TcpListener>,
    host: String,
    port: u16,
}

/// An address of this machine with the path of the callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUri {
    /// As it was written: servers compare texts.
    host: String,
    /// None: any.
    port: Option<u16>,
}

impl RedirectUri {
    /// None if the browser could not come back to it.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        let fits = url.scheme() == "http" && is_loopback(&url) && url.path() == PATH && is_plain;
        let host = url.host_str().filter(|_| fits)?;
        Some(Self { host: host.to_owned(), port: url.port() })
    }
}

const PATH: &str = "/oauth/callback";
/// A person looks for a password in this time.
pub(super) const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(300);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REQUEST_BYTES: usize = 16 << 10;
/// Browsers open some that they do not use.
const MAX_CONNECTIONS: usize = 32;

impl Callback {
    /// On `port`, or on a free one.
    pub(super) async fn bind(
        port: Option<u16>,
        redirect_uri: Option<&RedirectUri>,
    ) -> Result<Self, CredentialError> {
        let port = redirect_uri.and_then(|uri| uri.port).or(port);
        let failed = |error: std::io::Error| {
            let place = port.map_or("a free port".to_owned(), |port| format!("port {port}"));
            let why = match error.kind() {
                std::io::ErrorKind::AddrInUse => {
                    "another program has it, or another sign-in that waits; the agent's redirect_uri or \
                     OAUTH_CALLBACK_PORT names the port"
                        .to_owned()
                }
                _ => error.to_string(),
            };
            CredentialError::unavailable(format!(
                "the sign-in cannot come back to {place} of this machine: {why}"
            ))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let second = TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await.ok();
        let host = redirect_uri.map_or("localhost", |uri| uri.host.as_str()).to_owned();
        Ok(Self { listener, second, host, port })
    }

    pub(super) fn redirect_uri(&self) -> String {
        format!("http://{}:{}{PATH}", self.host, self.port)
    }

    /// Waits for the code that the server sends with the browser.
    pub(super) async fn code(
        self,
        state: &str,
        issuer: Option<ExpectedIssuer>,
    ) -> Result<Secret, CredentialError> {
        let expected = Arc::new(ExpectedAnswer { state: state.to_owned(), issuer });
        let has_strayed = AtomicBool::new(false);
        let waited = timeout(SIGN_IN_TIMEOUT, self.answer(expected, &has_strayed)).await;
        let answer = waited.map_err(|_| {
            let minutes = SIGN_IN_TIMEOUT.as_secs() / 60;
            let stray = match has_strayed.load(Ordering::Relaxed) {
                true => "; an answer with another state than it was started with did not count",
                false => "",
            };
            CredentialError::unavailable(format!(
                "the sign-in was not finished within {minutes} minutes{stray}"
            ))
        })?;
        answer.map_err(CredentialError::unavailable)
    }

    async fn answer(self, expected: Arc<ExpectedAnswer>, has_strayed: &AtomicBool) -> Result<Secret, String> {
        let mut connections: JoinSet<Option<Answer>> = JoinSet::new();
        loop {
            tokio::select! {
                Ok((stream, _)) = self.listener.accept() => {
                    if connections.len() < MAX_CONNECTIONS {
                        connections.spawn(serve(stream, expected.clone()));
                    }
                }
                Ok((stream, _)) = accept(self.second.as_ref()) => {
                    if connections.len() < MAX_CONNECTIONS {
                        connections.spawn(serve(stream, expected.clone()));
                    }
                }
                Some(ended) = connections.join_next() => match ended {
                    Ok(Some(Answer::Ended(answer))) => return answer,
                    // Any program of this machine can send one, and must not end the sign-in.
                    Ok(Some(Answer::Stray)) => has_strayed.store(true, Ordering::Relaxed),
                    Ok(Some(Answer::Unrelated) | None) | Err(_) => {}
                },
            }
        }
    }
}

/// What the answer to a sign-in has to repeat.
pub(super) struct ExpectedAnswer {
    pub(super) state: String,
    pub(super) issuer: Option<ExpectedIssuer>,
}

/// What a request to this machine is.
#[derive(Debug)]
pub(super) enum Answer {
    /// It asks for something else.
    Unrelated,
    /// It belongs to no sign-in, or to another.
    Stray,
    /// The code, or why there is none: the server's words, bounded.
    Ended(Result<Secret, String>),
}

async fn accept(listener: Option<&TcpListener>) -> std::io::Result<(TcpStream, SocketAddr)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

/// One request of a browser; `None` if there was none.
async fn serve(mut stream: TcpStream, expected: Arc<ExpectedAnswer>) -> Option<Answer> {
    let head = timeout(REQUEST_TIMEOUT, read_head(&mut stream)).await.ok()??;
    let answer = read_answer(&head, &expected);
    let page = match &answer {
        Answer::Ended(Ok(_)) => {
            page(200, "Code received", "attache has the code of your sign-in and says whether it counts.")
        }
        Answer::Ended(Err(_)) => page(400, "Not signed in", "The sign-in failed. attache says why."),
        Answer::Stray => page(400, "Not signed in", "This page belongs to no sign-in that is going on."),
        Answer::Unrelated => page(404, "Not found", "There is nothing here."),
    };
    // The answer counts, whether or not the browser reads the page.
    let _ = timeout(REQUEST_TIMEOUT, async {
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    Some(answer)
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut piece).await.ok().filter(|length| *length > 0)?;
        head.extend_from_slice(&piece[..length]);
        if head.len() > MAX_REQUEST_BYTES {
            return None;
        }
    }
    String::from_utf8(head).ok()
}

pub(super) fn read_answer(head: &str, expected: &ExpectedAnswer) -> Answer {
    let Some(url) = requested(head) else { return Answer::Unrelated };
    let value = |name: &str| {
        let found = url.query_pairs().find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned()).filter(|value| !value.is_empty())
    };
    if value("state").as_deref() != Some(&expected.state) {
        return Answer::Stray;
    }
    let bounded =
        |text: String| text.chars().filter(|letter| !letter.is_control()).take(300).collect::<String>();
    if let Some(issuer) = &expected.issuer {
        let other = match value("iss") {
            Some(iss) if issuer.is(&iss) => None,
            None if !issuer.is_always_sent => None,
            Some(iss) => Some(bounded(iss)),
            None => Some("a server that does not say who it is".to_owned()),
        };
        if let Some(other) = other {
            let expected = bounded(issuer.text.clone());
            return Answer::Ended(Err(format!(
                "the sign-in came back from {other} and not from {expected}; it does not count"
            )));
        }
    }
    Answer::Ended(match (value("error").map(bounded), value("code")) {
        (Some(error), _) => {
            let description = value("error_description").map(bounded);
            let more = description.map(|text| format!(", {text}")).unwrap_or_default();
            Err(format!("the sign-in was refused: {error}{more}"))
        }
        (None, Some(code)) => Ok(Secret::new(code)),
        (None, None) => Err("the sign-in came back without a code".into()),
    })
}

/// The target of a request for the page of a sign-in, at a name of this machine: pages of other sites that lead here under
/// a name of their own are not answered.
fn requested(head: &str) -> Option<Url> {
    let mut lines = head.lines();
    let mut line = lines.next()?.split(' ');
    let (method, target) = (line.next()?, line.next()?);
    let hosts = lines.filter_map(|line| line.split_once(':'));
    let mut hosts = hosts.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = Url::parse(&format!("http://{}/", hosts.next()?.1.trim())).ok()?;
    if hosts.next().is_some() || !is_loopback(&host) {
        return None;
    }
    let url = host.join(target).ok()?;
    (method == "GET" && url.path() == PATH && url.origin() == host.origin()).then_some(url)
}

/// Shows nothing of what the request says.
fn page(status: u16, title: &str, text: &str) -> String {
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><h1>{title}</h1><p>{text}</p></html>"
    );
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        _ => "Not Found",
    };
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\ncontent-security-policy: default-src 'none'\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(issuer: Option<(&str, bool)>) -> ExpectedAnswer {
        let issuer =
            issuer.map(|(text, is_always_sent)| ExpectedIssuer { text: text.to_owned(), is_always_sent });
        ExpectedAnswer { state: "s".to_owned(), issuer }
    }

    fn read(target: &str, issuer: Option<(&str, bool)>) -> Answer {
        read_answer(&format!("GET {target} HTTP/1.1\r\nhost: localhost:1\r\n\r\n"), &expected(issuer))
    }

    fn ended(answer: Answer) -> Result<Secret, String> {
        match answer {
            Answer::Ended(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_answer_to_this_sign_in_counts() {
        let code = ended(read("/oauth/callback?code=c%20d&state=s", None)).unwrap();
        assert_eq!(code.expose(), "c d");
        for target in [
            "/oauth/callback?code=c&state=other",
            "/oauth/callback?code=c",
            "/oauth/callback?error=access_denied&state=other",
        ] {
            assert!(matches!(read(target, None), Answer::Stray), "{target}");
        }
        for (target, what) in [
            (
                "/oauth/callback?error=access_denied&error_description=no%1b&state=s",
                "refused: access_denied, no",
            ),
            ("/oauth/callback?state=s", "without a code"),
        ] {
            let error = ended(read(target, None)).unwrap_err();
            assert!(error.contains(what) && !error.contains('\u{1b}'), "{target}: {error}");
        }
        let head = |head: &str| read_answer(head, &expected(None));
        for other in [
            "GET /favicon.ico HTTP/1.1\r\nhost: localhost\r\n\r\n",
            "GET /oauth/callback/x?code=c&state=s HTTP/1.1\r\nhost: localhost\r\n\r\n",
            "POST /oauth/callback?code=c&state=s HTTP/1.1\r\nhost: localhost\r\n\r\n",
            "GET /oauth/callback?code=c&state=s HTTP/1.1\r\nhost: evil.example\r\n\r\n",
            "GET /oauth/callback?code=c&state=s HTTP/1.1\r\nhost: localhost\r\nHost: evil.example\r\n\r\n",
            "GET http://evil.example/oauth/callback?code=c&state=s HTTP/1.1\r\nhost: localhost\r\n\r\n",
            "GET /oauth/callback?code=c&state=s HTTP/1.1\r\n\r\n",
            "",
        ] {
            assert!(matches!(head(other), Answer::Unrelated), "{other}");
        }
        for host in ["127.0.0.1:8912", "[::1]:8912", "LOCALHOST"] {
            let text = format!("GET /oauth/callback?code=c&state=s HTTP/1.1\r\nHOST: {host}\r\n\r\n");
            ended(head(&text)).unwrap();
        }
    }

    #[test]
    fn the_answer_of_another_server_does_not_count() {
        let is_taken = |iss: &str, issuer: (&str, bool)| {
            let target = format!("/oauth/callback?code=c&state=s{iss}");
            ended(read(&target, Some(issuer)))
        };
        is_taken("&iss=https://idp.example/", ("https://idp.example", true)).unwrap();
        is_taken("", ("https://idp.example", false)).unwrap();
        let error = is_taken("&iss=https://evil.example", ("https://idp.example", false)).unwrap_err();
        assert!(error.contains("from https://evil.example and not from https://idp.example"), "{error}");
        let error = is_taken("", ("https://idp.example", true)).unwrap_err();
        assert!(error.contains("does not say who it is"), "{error}");
    }

    #[tokio::test]
    async fn it_listens_on_this_machine_only_and_neither_idle_nor_stray_requests_stop_it() {
        let callback = Callback::bind(None, None).await.unwrap();
        assert!(callback.listener.local_addr().unwrap().ip().is_loopback());
        let address = callback.listener.local_addr().unwrap();
        let ask = async {
            let idle = TcpStream::connect(address).await.unwrap();
            let mut pages = Vec::new();
            for target in ["/favicon.ico", "/oauth/callback?code=c&state=x", "/oauth/callback?code=c&state=s"]
            {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream
                    .write_all(format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())
                    .await
                    .unwrap();
                let mut page = String::new();
                stream.read_to_string(&mut page).await.unwrap();
                pages.push(page);
            }
            drop(idle);
            pages
        };
        let (code, pages) = tokio::join!(callback.code("s", None), ask);
        assert_eq!(code.unwrap().expose(), "c");
        for (page, status) in pages.iter().zip(["404", "400", "200"]) {
            assert!(page.starts_with(&format!("HTTP/1.1 {status}")), "{pages:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_in_has_five_minutes() {
        let error = Callback::bind(None, None).await.unwrap().code("s", None).await.unwrap_err();
        assert!(error.to_string().contains("within 5 minutes"), "{error}");
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_named() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let Err(error) = Callback::bind(Some(port), None).await else { panic!("it is taken") };
        let expected = format!("port {port} of this machine: another program has it");
        assert!(error.to_string().contains(&expected), "{error}");
    }

    #[tokio::test]
    async fn the_browser_comes_back_to_the_address_that_the_server_knows() {
        let taken = Callback::bind(None, None).await.unwrap();
        let free = taken.port;
        drop(taken);
        let text = format!("http://127.0.0.1:{free}/oauth/callback");
        let uri = RedirectUri::parse(&text).unwrap();
        assert_eq!(Callback::bind(Some(1), Some(&uri)).await.unwrap().redirect_uri(), text);
        let uri = RedirectUri::parse("http://127.0.0.1/oauth/callback").unwrap();
        let callback = Callback::bind(None, Some(&uri)).await.unwrap();
        let expected = format!("http://127.0.0.1:{}/oauth/callback", callback.port);
        assert_eq!(callback.redirect_uri(), expected, "any port will do");
        for other in [
            "https://localhost/oauth/callback",
            "http://app.example/oauth/callback",
            "http://localhost:8912/",
            "http://localhost:8912/oauth/callback?x=1",
            "http://me@localhost:8912/oauth/callback",
            "nowhere",
        ] {
            assert_eq!(RedirectUri::parse(other), None, "{other}");
        }
    }
}
