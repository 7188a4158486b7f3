//! The environment of a command in an agent file.
//!
//! Any variable may hold a secret, whatever its name. So a command gets those that its line names, and besides them only
//! some that hold none: for every file those that say where programs are and who runs them, for the user's own file also
//! those by which programs that print credentials find their settings.

use attache_config::{CHILDREN_SEE, Environment};

use super::variables::{PreparedVariable, Variables};

/// What a command of the user's own file gets besides. The value of a secret never belongs here, the path of a file does.
const OWN_COMMANDS_SEE: &[&str] = &[
    // Sessions: the keyring, the agents of SSH and GnuPG, a window that asks for a password.
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GNUPGHOME",
    "GPG_TTY",
    "SSH_AUTH_SOCK",
    "TERM",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    // Networks.
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // Programs that print credentials.
    "AWS_CA_BUNDLE",
    "AWS_CONFIG_FILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_ROLE_ARN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_ACTIVE_CONFIG_NAME",
    "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
    "CLOUDSDK_CONFIG",
    "CLOUDSDK_CORE_ACCOUNT",
    "CLOUDSDK_CORE_PROJECT",
    "CLOUDSDK_PYTHON",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GH_HOST",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "KRB5CCNAME",
    "KRB5_CONFIG",
    "KUBECONFIG",
    "OP_ACCOUNT",
    "OP_CONNECT_HOST",
    "PASSWORD_STORE_DIR",
    "VAULT_ADDR",
    "VAULT_CACERT",
    "VAULT_CAPATH",
    "VAULT_CLIENT_CERT",
    "VAULT_CLIENT_KEY",
    "VAULT_NAMESPACE",
];

/// Read from the environment when the agent is set up; the named ones that are not there, when the command runs.
#[derive(Debug, Clone)]
pub(super) struct CommandEnvironment {
    plain: Vec<(&'static str, String)>,
    named: Vec<PreparedVariable>,
}

impl CommandEnvironment {
    pub(super) fn of(line: &str, variables: Variables<'_>) -> Self {
        let own = if variables.is_users_own() { OWN_COMMANDS_SEE } else { &[] };
        let plain = CHILDREN_SEE.iter().chain(own).filter_map(|name| plain(name, variables.environment()));
        Self {
            plain: plain.collect(),
            named: named_in(line).into_iter().map(|name| variables.prepare(name)).collect(),
        }
    }

    /// The whole environment of a command that is started now. A named variable that is not set stays unset.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let plain = self.plain.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let named = self.named.iter().filter_map(|variable| {
            let value = variable.value().ok()?;
            Some((variable.name().to_owned(), value.expose().to_owned()))
        });
        plain.chain(named).collect()
    }
}

/// The address of a proxy may hold a password.
fn plain(name: &'static str, environment: Environment<'_>) -> Option<(&'static str, String)> {
    let value = environment(name)?;
    let has_password = name.to_ascii_lowercase().ends_with("_proxy") && value.contains('@');
    (!has_password).then_some((name, value))
}

/// The variables that a shell would put into `line`, each once: `$NAME`, `${NAME}`, `${NAME:-otherwise}`.
pub(super) fn named_in(line: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in line.match_indices('$') {
        let rest = &line[at + 1..];
        let rest = rest.strip_prefix('{').map_or(rest, |inside| inside.trim_start_matches(['#', '!']));
        let fits = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        let name = &rest[..rest.find(|letter| !fits(letter)).unwrap_or(rest.len())];
        let is_name = name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic());
        if is_name && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_a_line_are_those_that_a_shell_puts_in() {
        for (line, expected) in [
            ("print-token", vec![]),
            ("echo \"$A\" ${B} ${C:-x} ${#D} ${!E} $A_1x", vec!["A", "B", "C", "D", "E", "A_1x"]),
            ("A=\"$A\" run $A '$A'", vec!["A"]),
            ("awk '{print $1}' $ ${ $(x) $? $-", vec![]),
            ("echo $äB", vec![]),
        ] {
            assert_eq!(named_in(line), expected, "{line}");
        }
    }

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<_> = CHILDREN_SEE.iter().chain(OWN_COMMANDS_SEE).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
