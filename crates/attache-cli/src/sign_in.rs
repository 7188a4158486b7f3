//! Asks the person at the terminal to sign in.

use std::io::{self, Write};
use std::process::Stdio;

use async_trait::async_trait;
use attache_config::{Environment, variable};
use attache_credentials::{CredentialError, SignIn, SignInMethod, SignInRequest, SignInStart};
use attache_domain::visible_line;
use attache_net::Url;
use tokio::process::Command;

use crate::terminal_line::{is_empty_line, read_line, yes_or_no};

/// Shows where to sign in on standard error, and opens a browser if the person agrees.
#[derive(Debug)]
pub(crate) struct TerminalSignIn {
    /// The person is asked first. Otherwise the address is only shown, and opened nowhere.
    pub(crate) asks: bool,
    pub(crate) uses_device: bool,
    /// What opens a page.
    pub(crate) browser: String,
}

const DEFAULT_BROWSER: &str = "xdg-open";

impl TerminalSignIn {
    pub(crate) fn new(asks: bool, uses_device: bool, environment: Environment<'_>) -> Self {
        let browser = variable(environment, "BROWSER").unwrap_or_else(|| DEFAULT_BROWSER.to_owned());
        Self { asks, uses_device, browser }
    }

    /// A browser that cannot be started is no failure: the address was shown.
    fn open(&self, url: &str) -> io::Result<()> {
        let mut words = self.browser.split_whitespace();
        let program = words.next().unwrap_or(DEFAULT_BROWSER);
        let started = Command::new(program)
            .args(words)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        match started {
            Ok(_) => Ok(()),
            Err(error) => {
                writeln!(
                    io::stderr(),
                    "note: {} cannot be started ({error}); open the address yourself",
                    visible_line(program)
                )
            }
        }
    }

    async fn show(&self, request: &SignInRequest) -> io::Result<bool> {
        writeln!(io::stderr(), "{}", visible_line(&request.instruction()))?;
        let url = match &request.method {
            SignInMethod::Browser { url } => url,
            SignInMethod::Device { url, complete_url, .. } => complete_url.as_ref().unwrap_or(url),
        };
        if !self.asks || !is_page(url) {
            return Ok(true);
        }
        write!(io::stderr(), "open it in your browser? [Y/n] ")?;
        io::stderr().flush()?;
        let line = read_line().await?;
        match yes_or_no(&line).unwrap_or_else(|| is_empty_line(&line)) {
            true => self.open(url).map(|()| true),
            // The code can be typed in elsewhere.
            _ if matches!(request.method, SignInMethod::Device { .. }) => Ok(true),
            _ => Ok(false),
        }
    }
}

/// An address that is a page, and no flag of the browser.
fn is_page(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "https" | "http"))
}

#[async_trait]
impl SignIn for TerminalSignIn {
    fn uses_device(&self) -> bool {
        self.uses_device
    }

    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError> {
        match self.show(request).await {
            Ok(true) => Ok(SignInStart::Wait),
            Ok(false) => Err(CredentialError::Cancelled),
            Err(error) => Err(CredentialError::unavailable(format!("the person cannot be asked: {error}"))),
        }
    }
}
