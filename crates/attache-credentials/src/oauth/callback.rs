//! The local page that the browser returns to after a sign-in.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use attache_net::{Secret, Url, is_loopback};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

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
            CredentialError::unavailable(format!(
                "the sign-in cannot come back to {place} of this machine: {error}"
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
    pub(super) async fn code(self, state: &str) -> Result<Secret, CredentialError> {
        let waited = timeout(SIGN_IN_TIMEOUT, self.answer(state)).await;
        let answer = waited.map_err(|_| {
            let minutes = SIGN_IN_TIMEOUT.as_secs() / 60;
            CredentialError::unavailable(format!("the sign-in was not finished within {minutes} minutes"))
        })?;
        answer.map_err(CredentialError::unavailable)
    }

    async fn answer(self, state: &str) -> Result<Secret, String> {
        let mut connections: JoinSet<Option<Result<Secret, String>>> = JoinSet::new();
        loop {
            tokio::select! {
                Ok((stream, _)) = self.listener.accept() => {
                    if connections.len() < MAX_CONNECTIONS {
                        connections.spawn(serve(stream, state.to_owned()));
                    }
                }
                Ok((stream, _)) = accept(self.second.as_ref()) => {
                    if connections.len() < MAX_CONNECTIONS {
                        connections.spawn(serve(stream, state.to_owned()));
                    }
                }
                Some(ended) = connections.join_next() => {
                    if let Ok(Some(answer)) = ended {
                        return answer;
                    }
                }
            }
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> std::io::Result<(TcpStream, SocketAddr)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

/// One request of a browser; `None` if it is not the answer.
async fn serve(mut stream: TcpStream, state: String) -> Option<Result<Secret, String>> {
    let head = timeout(REQUEST_TIMEOUT, read_head(&mut stream)).await.ok()??;
    let answer = read_answer(&head, &state);
    let page = match &answer {
        Some(Ok(_)) => page(200, "Signed in", "You can close this window and go back to attache."),
        Some(Err(_)) => page(400, "Not signed in", "The sign-in failed. attache says why."),
        None => page(404, "Not found", "There is nothing here."),
    };
    // The answer counts, whether or not the browser reads the page.
    let _ = timeout(REQUEST_TIMEOUT, async {
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    answer
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

/// The answer in a request; `None` if it is for something else. Errors are the server's words, bounded.
pub(super) fn read_answer(head: &str, state: &str) -> Option<Result<Secret, String>> {
    let mut line = head.lines().next()?.split(' ');
    let (method, target) = (line.next()?, line.next()?);
    let url = Url::parse("http://localhost").ok()?.join(target).ok()?;
    if method != "GET" || url.path() != PATH {
        return None;
    }
    let value = |name: &str| {
        let found = url.query_pairs().find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned()).filter(|value| !value.is_empty())
    };
    if value("state").as_deref() != Some(state) {
        return Some(Err(
            "the sign-in came back with another state than it was started with; it does not count".into(),
        ));
    }
    let bounded =
        |text: String| text.chars().filter(|letter| !letter.is_control()).take(300).collect::<String>();
    Some(match (value("error").map(bounded), value("code")) {
        (Some(error), _) => {
            let description = value("error_description").map(bounded);
            let more = description.map(|text| format!(", {text}")).unwrap_or_default();
            Err(format!("the sign-in was refused: {error}{more}"))
        }
        (None, Some(code)) => Ok(Secret::new(code)),
        (None, None) => Err("the sign-in came back without a code".into()),
    })
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

    #[test]
    fn only_the_answer_to_this_sign_in_counts() {
        let read = |target: &str| read_answer(&format!("GET {target} HTTP/1.1\r\n\r\n"), "s");
        let code = read("/oauth/callback?code=c%20d&state=s").unwrap().unwrap();
        assert_eq!(code.expose(), "c d");
        for (target, what) in [
            ("/oauth/callback?code=c&state=other", "another state"),
            ("/oauth/callback?code=c", "another state"),
            ("/oauth/callback?error=access_denied&state=other", "another state"),
            (
                "/oauth/callback?error=access_denied&error_description=no%1b&state=s",
                "refused: access_denied, no",
            ),
            ("/oauth/callback?state=s", "without a code"),
        ] {
            let error = read(target).unwrap().unwrap_err();
            assert!(error.contains(what) && !error.contains('\u{1b}'), "{target}: {error}");
        }
        assert!(read("/favicon.ico").is_none());
        assert!(read("/oauth/callback/x?code=c&state=s").is_none());
        assert!(read_answer("POST /oauth/callback?code=c&state=s HTTP/1.1\r\n\r\n", "s").is_none());
        assert!(read_answer("", "s").is_none());
    }

    #[tokio::test]
    async fn it_listens_on_this_machine_only_and_idle_connections_do_not_stop_it() {
        let callback = Callback::bind(None, None).await.unwrap();
        assert!(callback.listener.local_addr().unwrap().ip().is_loopback());
        let address = callback.listener.local_addr().unwrap();
        let ask = async {
            let idle = TcpStream::connect(address).await.unwrap();
            let mut pages = Vec::new();
            for target in ["/favicon.ico", "/oauth/callback?code=c&state=s"] {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream
                    .write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
                    .await
                    .unwrap();
                let mut page = String::new();
                stream.read_to_string(&mut page).await.unwrap();
                pages.push(page);
            }
            drop(idle);
            pages
        };
        let (code, pages) = tokio::join!(callback.code("s"), ask);
        assert_eq!(code.unwrap().expose(), "c");
        assert!(pages[0].starts_with("HTTP/1.1 404") && pages[1].starts_with("HTTP/1.1 200"), "{pages:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_in_has_five_minutes() {
        let error = Callback::bind(None, None).await.unwrap().code("s").await.unwrap_err();
        assert!(error.to_string().contains("within 5 minutes"), "{error}");
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_named() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let Err(error) = Callback::bind(Some(port), None).await else { panic!("it is taken") };
        assert!(error.to_string().contains(&format!("port {port} of this machine")), "{error}");
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
