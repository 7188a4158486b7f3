//! Which requests go through which proxy.
//!
//! Pure. One proxy may come from the settings; otherwise the environment names them, read as curl does. This machine is
//! never reached through a proxy. Not here: connecting (`client`, `tunnel`).

mod exceptions;
mod server;

use reqwest::Url;

use self::exceptions::{ProxyExceptions, is_this_machine};
pub use self::server::ProxyServer;
use crate::NetError;

/// The proxies of this process, and the hosts that are reached without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    for_http: Option<ProxyServer>,
    for_https: Option<ProxyServer>,
    exceptions: ProxyExceptions,
}

impl ProxySettings {
    /// Every host is reached directly.
    pub fn none() -> Self {
        Self::default()
    }

    /// One proxy for everything but this machine. `source` is where it was configured, for error messages.
    pub fn everything_through(address: &str, source: &str) -> Result<Self, NetError> {
        let server = ProxyServer::parse(address, source)?;
        Ok(Self { for_http: server.clone(), for_https: server, exceptions: ProxyExceptions::default() })
    }

    /// The variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in lower case and then in upper case.
    ///
    /// The first one that is set decides, also if it is empty. `HTTP_PROXY` in upper case does not count in a CGI
    /// program, where any client can set it with a header.
    pub fn from_environment(environment: &dyn Fn(&str) -> Option<String>) -> Result<Self, NetError> {
        let is_cgi = environment("REQUEST_METHOD").is_some();
        let first = |names: &[&'static str]| {
            let counts = |name: &&&'static str| !(is_cgi && **name == "HTTP_PROXY");
            names.iter().filter(counts).find_map(|name| Some((environment(name)?, *name)))
        };
        let server = |names: &[&'static str]| match first(names) {
            Some((address, name)) => ProxyServer::parse(&address, name),
            None => Ok(None),
        };
        let exceptions = first(&["no_proxy", "NO_PROXY"]).map(|(text, _)| text).unwrap_or_default();
        Ok(Self {
            for_http: server(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])?,
            for_https: server(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            exceptions: ProxyExceptions::parse(&exceptions),
        })
    }

    /// The setting's proxy for everything, if there is one; else those of the environment. `NO_PROXY` counts for both.
    pub fn from_setting_or_environment(
        setting: Option<(&str, &str)>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, NetError> {
        let Some((address, source)) = setting.filter(|(address, _)| !address.trim().is_empty()) else {
            return Self::from_environment(environment);
        };
        let only_exceptions =
            |name: &str| environment(name).filter(|_| name.eq_ignore_ascii_case("no_proxy"));
        let Self { exceptions, .. } = Self::from_environment(&only_exceptions)?;
        Ok(Self { exceptions, ..Self::everything_through(address, source)? })
    }

    /// The proxy for `url`; none for this machine and for exceptions.
    pub fn server_for(&self, url: &Url) -> Option<&ProxyServer> {
        let server = match url.scheme() {
            "http" => self.for_http.as_ref(),
            _ => self.for_https.as_ref(),
        }?;
        let is_direct = is_this_machine(url) || self.exceptions.contain(url);
        (!is_direct).then_some(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(setting: Option<&str>, variables: &[(&str, &str)]) -> Result<ProxySettings, NetError> {
        let environment = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let setting = setting.map(|address| (address, "general.proxy"));
        ProxySettings::from_setting_or_environment(setting, &environment)
    }

    #[track_caller]
    fn check(setting: Option<&str>, variables: &[(&str, &str)], url: &str, expected: Option<&str>) {
        let settings = settings(setting, variables).unwrap();
        let found = settings.server_for(&Url::parse(url).unwrap()).map(ToString::to_string);
        assert_eq!(found.as_deref(), expected, "{url}");
    }

    #[test]
    fn each_scheme_has_its_variable_and_lower_case_comes_first() {
        let both = [("http_proxy", "http://a:1"), ("HTTP_PROXY", "http://b:1"), ("HTTPS_PROXY", "c:2")];
        check(None, &both, "http://x.example/", Some("http://a:1 (http_proxy)"));
        check(None, &both, "https://x.example/", Some("http://c:2 (HTTPS_PROXY)"));
        check(None, &[("HTTP_PROXY", "http://b:1")], "https://x.example/", None);
        let all = [("ALL_PROXY", "socks5h://s:9"), ("https_proxy", "")];
        check(None, &all, "http://x.example/", Some("socks5h://s:9 (ALL_PROXY)"));
        check(None, &all, "https://x.example/", None);
        let cgi = [("HTTP_PROXY", "http://evil:1"), ("REQUEST_METHOD", "GET")];
        check(None, &cgi, "http://x.example/", None);
    }

    #[test]
    fn the_setting_counts_before_the_environment_and_its_exceptions_stay() {
        let variables = [("HTTPS_PROXY", "http://b:1"), ("NO_PROXY", "inner.example")];
        check(Some("a:1"), &variables, "https://x.example/", Some("http://a:1 (general.proxy)"));
        check(Some("a:1"), &variables, "http://x.example/", Some("http://a:1 (general.proxy)"));
        check(Some("a:1"), &variables, "https://inner.example/", None);
        check(Some(" "), &variables, "https://x.example/", Some("http://b:1 (HTTPS_PROXY)"));
        // What the environment says wrongly does not count, so it does no harm.
        check(
            Some("a:1"),
            &[("HTTPS_PROXY", "ftp://b")],
            "https://x.example/",
            Some("http://a:1 (general.proxy)"),
        );
    }

    #[test]
    fn this_machine_is_never_behind_a_proxy() {
        let all = [("ALL_PROXY", "http://p:1")];
        for host in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "127.0.0.1",
            "127.9.9.9",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "0.0.0.0",
            "[::]",
        ] {
            check(None, &all, &format!("http://{host}:8080/"), None);
            check(None, &all, &format!("https://{host}/"), None);
        }
        check(None, &all, "http://localhost.example/", Some("http://p:1 (ALL_PROXY)"));
    }

    #[test]
    fn a_wrong_value_is_told_by_the_name_of_its_setting() {
        for (text, part) in [
            ("ftp://p:1", "not with ftp:"),
            ("http://", "no address"),
            ("p:port", "no address"),
            ("http://me:s3cret@", "no address"),
            ("http://me:s3cret@p:1/wpad.dat", "scheme, host and port only"),
        ] {
            let error = settings(None, &[("HTTPS_PROXY", text)]).unwrap_err().to_string();
            assert!(error.contains("HTTPS_PROXY") && error.contains(part), "{error}");
            let error = settings(Some(text), &[]).unwrap_err().to_string();
            assert!(error.contains("general.proxy") && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let settings = settings(Some("http://me:s3cret@p:1"), &[]).unwrap();
        let shown = format!("{settings:?} {}", settings.for_http.as_ref().unwrap());
        assert!(!shown.contains("s3cret") && !shown.contains("me:"), "{shown}");
    }
}
