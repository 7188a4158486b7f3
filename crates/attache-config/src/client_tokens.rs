//! The file with the tokens of clients and their rights.
//!
//! One client to a line, as `NAME: RIGHTS: TOKEN`. Errors name the line and never show it, because it holds a secret.

use std::path::{Path, PathBuf};

use attache_domain::{Right, Rights};

use crate::environment::Environment;
use crate::token::{read_file, reason_to_refuse};
use crate::{ConfigError, SecretText};

pub(crate) const FILE_VARIABLE: &str = "ATTACHE_A2A_TOKEN_FILE";

/// More would make each call slower, because its token is compared with all of them.
const MAX_CLIENTS: usize = 256;

const MAX_NAME_CHARS: usize = 64;

/// A client with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientToken {
    /// The name that other clients see.
    pub name: String,
    pub rights: Rights,
    pub token: SecretText,
}

/// The file that the environment names. A variable that is set and empty is an error.
pub(crate) fn file_in(environment: Environment<'_>) -> Result<Option<PathBuf>, ConfigError> {
    match environment(FILE_VARIABLE) {
        Some(path) if path.is_empty() => Err(ConfigError::EmptyToken { origin: FILE_VARIABLE.into() }),
        path => Ok(path.map(PathBuf::from)),
    }
}

/// The clients in `file`. A file without clients is an error, because it was meant to restrict access.
pub(crate) fn read(file: Option<&Path>, own: Option<&str>) -> Result<Vec<ClientToken>, ConfigError> {
    match file {
        Some(path) => parse(path, &read_file(path)?, own),
        None => Ok(Vec::new()),
    }
}

/// The clients in the text of the file at `path`.
pub(crate) fn parse(path: &Path, text: &str, own: Option<&str>) -> Result<Vec<ClientToken>, ConfigError> {
    let refused = |line: usize, what: String| ConfigError::BadTokenLine { path: path.to_owned(), line, what };
    let mut clients: Vec<ClientToken> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let client = parse_line(line).map_err(|what| refused(index + 1, what))?;
        if clients.iter().any(|known| known.name == client.name) {
            return Err(refused(index + 1, format!("names the client {:?} a second time", client.name)));
        }
        let is_own = own == Some(client.token.expose());
        if is_own || clients.iter().any(|known| known.token == client.token) {
            let whose = if is_own { "that the server has for itself" } else { "of another client" };
            return Err(refused(index + 1, format!("has the token {whose}")));
        }
        clients.push(client);
    }
    match clients.len() {
        0 => Err(ConfigError::EmptyToken { origin: format!("the token file {}", path.display()) }),
        count if count > MAX_CLIENTS => {
            Err(refused(MAX_CLIENTS + 1, format!("is one too many: a file has up to {MAX_CLIENTS} clients")))
        }
        _ => Ok(clients),
    }
}

fn parse_line(line: &str) -> Result<ClientToken, String> {
    let mut fields = line.splitn(3, ':').map(str::trim);
    let (Some(name), Some(rights), Some(token)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("is not of the form NAME: RIGHTS: TOKEN".to_owned());
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.chars().all(is_plain) {
        return Err(format!(
            "begins with no name: up to {MAX_NAME_CHARS} letters, digits, dots, dashes and underscores before a colon"
        ));
    }
    let mut given = Rights::VIEW;
    for right in rights.split([',', ' ']).filter(|right| !right.is_empty()) {
        match Right::from_name(right) {
            Some(right) => given = given.with(right),
            None => {
                return Err(format!(
                    "gives {name:?} a right that there is not; there are view, prompt and approve"
                ));
            }
        }
    }
    if rights.is_empty() {
        return Err(format!("gives {name:?} no right; there are view, prompt and approve"));
    }
    match reason_to_refuse(token) {
        Some(expected) => Err(format!("has a token for {name:?} that is not {expected}")),
        None => Ok(ClientToken { name: name.to_owned(), rights: given, token: SecretText::new(token) }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn read_text(text: &str, mode: u32) -> Result<Vec<ClientToken>, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        read(Some(&path), Some("the token of the server"))
    }

    #[test]
    fn each_line_gives_a_client_its_rights() {
        let text = format!(
            "# who may do what\n\nwall: view: {TOKEN}1\n phone : approve : {TOKEN}:2 \neditor-1: prompt, view: {TOKEN}3\n\
             both: prompt approve: {TOKEN}4\n"
        );
        let clients = read_text(&text, 0o600).unwrap();
        let found: Vec<_> = clients.iter().map(|client| (client.name.as_str(), client.rights)).collect();
        let expected = [
            ("wall", Rights::VIEW),
            ("phone", Rights { prompt: false, approve: true }),
            ("editor-1", Rights { prompt: true, approve: false }),
            ("both", Rights::ALL),
        ];
        assert_eq!(found, expected);
        assert_eq!(clients[1].token.expose(), format!("{TOKEN}:2"), "a token may hold colons");
        assert!(!format!("{clients:?}").contains(TOKEN));
    }

    #[test]
    fn a_bad_line_is_named_and_never_shown() {
        for (text, expected) in [
            (format!("wall {TOKEN}"), "line 1 is not of the form NAME: RIGHTS: TOKEN"),
            (format!("\nwall: {TOKEN}"), "line 2 is not of the form"),
            (format!(": view: {TOKEN}"), "begins with no name"),
            (format!("a b: view: {TOKEN}"), "begins with no name"),
            (format!("wall:: {TOKEN}"), "no right"),
            (format!("wall: {TOKEN}: view"), "a right that there is not"),
            (format!("wall: View: {TOKEN}"), "a right that there is not"),
            ("wall: view: short".to_owned(), "at least 16 printable characters"),
            (format!("wall: view: {TOKEN} {TOKEN}"), "at least 16 printable characters"),
            (format!("a: view: {TOKEN}\na: view: {TOKEN}1"), "line 2 names the client \"a\" a second time"),
            (format!("a: view: {TOKEN}\nb: prompt: {TOKEN}"), "line 2 has the token of another client"),
            ("# none\n".to_owned(), "is empty"),
        ] {
            let error = read_text(&text, 0o600).unwrap_err();
            let shown = error.to_string();
            assert!(shown.contains(expected), "{text:?}: {shown}");
            assert!(!shown.contains(TOKEN) && !format!("{error:?}").contains(TOKEN), "{shown}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        for mode in [0o644, 0o640, 0o602] {
            let error = read_text(&format!("a: view: {TOKEN}"), mode).unwrap_err();
            assert!(matches!(error, ConfigError::ReadableToken { .. }), "{error}");
        }
        assert_eq!(read_text(&format!("a: view: {TOKEN}"), 0o400).unwrap().len(), 1);
    }

    #[test]
    fn a_client_cannot_have_the_token_of_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        fs::write(&path, format!("a: view: {TOKEN}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let error = read(Some(&path), Some(TOKEN)).unwrap_err();
        assert!(error.to_string().contains("has the token that the server has for itself"), "{error}");
        assert_eq!(read(None, None).unwrap(), []);
    }
}
