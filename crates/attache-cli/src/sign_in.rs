//! Asks the person at the terminal to sign in.

use std::io::{self, Write};
use std::process::Stdio;

use async_trait::async_trait;
use attache_config::{Environment, variable};
use attache_credentials::{CredentialError, DeviceOffer, SignIn, SignInMethod, SignInRequest, SignInStart};
use attache_domain::visible_line;
use attache_net::Url;
use attache_wire::yes_or_no;
use tokio::process::Command;

use crate::standard_streams::stderr;
use crate::terminal_line::{is_empty_line, read_line};

/// Shows where to sign in on standard error, and opens a browser if the person agrees.
#[derive(Debug)]
pub(crate) struct TerminalSignIn {
    /// There is a person who can answer. Otherwise the address is only shown.
    pub(crate) asks: bool,
    /// A browser of this machine may be opened.
    pub(crate) opens: bool,
    pub(crate) uses_device: bool,
    /// What opens a page.
    pub(crate) browser: String,
}

const DEFAULT_BROWSER: &str = "xdg-open";

/// What opens a page, as the user wants it.
pub(crate) fn browser(environment: Environment<'_>) -> String {
    variable(environment, "BROWSER").unwrap_or_else(|| DEFAULT_BROWSER.to_owned())
}

impl TerminalSignIn {
    pub(crate) fn at_terminal(environment: Environment<'_>) -> Self {
        Self { asks: true, opens: true, uses_device: false, browser: browser(environment) }
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
                    stderr(),
                    "note: {} cannot be started ({error}); open the address yourself",
                    visible_line(program)
                )
            }
        }
    }

    async fn show(&self, request: &SignInRequest) -> io::Result<bool> {
        writeln!(stderr(), "{}", visible_line(&request.instruction()))?;
        // The person has agreed to a device's code before there was one.
        let SignInMethod::Browser { url } = &request.method else { return Ok(true) };
        if !self.asks || !self.opens || !is_page(url) {
            return Ok(true);
        }
        match confirmed("open it in your browser? [Y/n] ", true).await? {
            true => self.open(url).map(|()| true),
            false => Ok(false),
        }
    }
}

/// Whether the person agrees.
async fn confirmed(question: &str, default: bool) -> io::Result<bool> {
    write!(stderr(), "{question}")?;
    stderr().flush()?;
    Ok(is_yes(&read_line().await?, default))
}

/// An empty line is the default; the end of input and anything else are no.
fn is_yes(line: &str, default: bool) -> bool {
    yes_or_no(line).unwrap_or(default && is_empty_line(line))
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

    async fn agree(&self, offer: &DeviceOffer) -> Result<(), CredentialError> {
        if !self.asks {
            return match offer.is_elsewhere {
                true => Err(CredentialError::unavailable(format!(
                    "{}, and there is no terminal to ask whether you want that",
                    offer.question()
                ))),
                false => Ok(()),
            };
        }
        // Only the agent names this address, so the person must agree with a plain yes.
        let (choice, default) = if offer.is_elsewhere { ("[y/N]", false) } else { ("[Y/n]", true) };
        let question = format!("{}\nask for the code? {choice} ", visible_line(&offer.question()));
        match confirmed(&question, default).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(CredentialError::Cancelled),
            Err(error) => Err(not_asked(&error)),
        }
    }

    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError> {
        match self.show(request).await {
            Ok(true) => Ok(SignInStart::Wait),
            Ok(false) => Err(CredentialError::Cancelled),
            Err(error) => Err(not_asked(&error)),
        }
    }
}

fn not_asked(error: &io::Error) -> CredentialError {
    CredentialError::unavailable(format!("the person cannot be asked: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_is_an_answer() {
        for (line, default, expected) in [
            ("", true, false),
            ("\n", true, true),
            ("\n", false, false),
            ("y\n", false, true),
            (" YES \n", false, true),
            ("n\n", true, false),
            ("what?\n", true, false),
        ] {
            assert_eq!(is_yes(line, default), expected, "{line:?} {default}");
        }
    }

    #[tokio::test]
    async fn without_a_terminal_no_code_is_requested_from_a_server_that_only_the_card_names() {
        let sign_in = TerminalSignIn { asks: false, ..TerminalSignIn::at_terminal(&|_| None) };
        let offer = |is_elsewhere| DeviceOffer {
            agent: "helper".into(),
            origin: "https://idp.example".into(),
            token_origin: "https://idp.example".into(),
            is_named_by_card: true,
            is_elsewhere,
        };
        assert_eq!(sign_in.agree(&offer(false)).await, Ok(()));
        let error = sign_in.agree(&offer(true)).await.unwrap_err().to_string();
        assert!(error.contains("https://idp.example, which the agent's card names"), "{error}");
        assert!(error.contains("no terminal to ask"), "{error}");
    }
}
