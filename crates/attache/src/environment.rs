//! The environment that the program was started with, kept where no other process can read it.
//!
//! The kernel shows what a process was started with to every process of the same user, in `/proc/PID/environ`, and a
//! command that was approved is such a process. So a program that is started with secrets starts itself again without
//! them, hands them over in memory, and makes itself unreadable. Only memory with the number of this process in its name is
//! such a handover: replacing a program keeps its number, so neither a parent nor a child can be mistaken for it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, memfd_create};

/// Parts of the names of variables that hold secrets.
const SECRET_PARTS: &[&str] = &[
    "AUTH",
    "BEARER",
    "COOKIE",
    "CRED",
    "DSN",
    "JWT",
    "KEY",
    "OTP",
    "PASS",
    "PRIVATE",
    "PWD",
    "SALT",
    "SECRET",
    "SESSION",
    "SIGNATURE",
    "SIGNING",
    "TOKEN",
    "WEBHOOK",
];
/// The same, as words between underscores: within others they mean something else.
const SECRET_WORDS: &[&str] = &["CONNSTR", "PAT", "PIN", "PSK", "PW"];
/// Variables with such names that hold none.
const PLAIN_NAMES: &[&str] = &["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_SESSION_TYPE"];

static VARIABLES: OnceLock<HashMap<String, String>> = OnceLock::new();

/// The value of a variable, if it is set and text.
pub(crate) fn variable(name: &str) -> Option<String> {
    variables().get(name).cloned()
}

/// All variables that are text.
pub(crate) fn variables() -> &'static HashMap<String, String> {
    VARIABLES.get_or_init(|| texts(std::env::vars_os()))
}

/// The values of the variables that hold secrets.
pub(crate) fn secret_values() -> impl Iterator<Item = String> {
    let secret = variables().iter().filter(|(name, value)| is_secret(name.as_ref(), value.as_ref()));
    secret.map(|(_, value)| value.clone())
}

/// Hides the secrets of this process from all others. Has to be called before the first thread starts.
pub(crate) fn hide_secrets() {
    // Where the kernel refuses this, the secrets are still taken out below.
    let _ = nix::sys::prctl::set_dumpable(false);
    if let Some(taken_out) = take_handover() {
        // Nothing has asked for a variable yet.
        let _ = VARIABLES.set(texts(std::env::vars_os().chain(taken_out)));
        return;
    }
    let (secret, plain): (Vec<_>, Vec<_>) =
        std::env::vars_os().partition(|(name, value)| is_secret(name, value));
    if !secret.is_empty() {
        reexecute(&secret, plain);
    }
}

/// Returns only if it cannot be done; the secrets then stay where they are, unreadable for all but root.
fn reexecute(secret: &[(OsString, OsString)], plain: Vec<(OsString, OsString)>) {
    let Ok(program) = std::env::current_exe() else { return };
    // Inherited by the program that takes the place of this one.
    let Ok(memory) = memfd_create(handover_name(), MemfdFlags::empty()) else { return };
    let mut memory = File::from(memory);
    let mut text = Vec::new();
    for (name, value) in secret {
        text.extend_from_slice(name.as_bytes());
        text.push(b'=');
        text.extend_from_slice(value.as_bytes());
        text.push(0);
    }
    if memory.write_all(&text).is_err() {
        return;
    }
    let mut arguments = std::env::args_os();
    let own_name = arguments.next().unwrap_or_else(|| program.clone().into());
    let _ = Command::new(&program).arg0(own_name).args(arguments).env_clear().envs(plain).exec();
}

/// The name of memory that only this process makes.
fn handover_name() -> String {
    format!("attache-environment-{}", std::process::id())
}

/// Finds what was handed over, reads it, and closes it, so that no child inherits it.
fn take_handover() -> Option<Vec<(OsString, OsString)>> {
    let name = format!("/memfd:{} (deleted)", handover_name());
    let mut files = std::fs::read_dir("/proc/self/fd").ok()?.filter_map(Result::ok);
    let found = files
        .find(|file| std::fs::read_link(file.path()).is_ok_and(|path| path.as_os_str() == name.as_str()))?;
    let handle: i32 = found.file_name().to_str()?.parse().ok()?;
    drop(files);
    Some(read_handover(handle))
}

fn read_handover(handle: i32) -> Vec<(OsString, OsString)> {
    let mut text = Vec::new();
    let read = File::open(format!("/proc/self/fd/{handle}")).and_then(|mut file| file.read_to_end(&mut text));
    let _ = nix::unistd::close(handle);
    if read.is_err() {
        return Vec::new();
    }
    let entries = text.split(|byte| *byte == 0).filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'=')?;
        Some((OsString::from_vec(entry[..at].to_vec()), OsString::from_vec(entry[at + 1..].to_vec())))
    });
    entries.collect()
}

/// Addresses with a password count, those of proxies too.
fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let value = value.to_string_lossy();
    let in_address =
        value.split("://").skip(1).any(|rest| rest.split('/').next().unwrap_or_default().contains('@'));
    let in_proxy = name.ends_with("_PROXY") && value.contains('@');
    in_address || in_proxy || has_secret_name(&name)
}

fn has_secret_name(name: &str) -> bool {
    let is_plain = PLAIN_NAMES.contains(&name) || name.ends_with("_FILE") || name.ends_with("_PATH");
    let has_word = || name.split('_').any(|word| SECRET_WORDS.contains(&word));
    !is_plain && (SECRET_PARTS.iter().any(|part| name.contains(part)) || has_word())
}

fn texts(variables: impl Iterator<Item = (OsString, OsString)>) -> HashMap<String, String> {
    // What is not text is nothing that we know.
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_or_by_a_password_in_an_address() {
        for (name, value, expected) in [
            ("GEMINI_API_KEY", "x", true),
            ("ATTACHE_TOKEN", "x", true),
            ("ATTACHE_PUSH_SIGNING_KEY", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("DATABASE_URL", "postgres://me:pw@host/db", true),
            ("DATABASE_URL", "postgres://host/a@b", false),
            ("HTTPS_PROXY", "http://me:pw@proxy", true),
            ("http_proxy", "me:pw@proxy:8080", true),
            ("HTTP_PROXY", "http://proxy:8080", false),
            ("ATTACHE_TOKEN_FILE", "/x", false),
            ("PATH", "/bin", false),
            ("PWD", "/w", false),
            ("OLDPWD", "/w", false),
            ("SSH_AUTH_SOCK", "/run/agent", false),
            ("GOOGLE_APPLICATION_CREDENTIALS_PATH", "/x", false),
            ("SHELL", "/bin/sh", false),
            ("EDITOR", "vi", false),
            ("DISPATCHER", "x", false),
            ("MAPPING", "x", false),
            ("MYSQL_PWD", "x", true),
            ("PGPASSWORD", "x", true),
            ("DB_PW", "x", true),
            ("GITHUB_PAT", "x", true),
            ("JWT", "x", true),
            ("X_CRED", "x", true),
            ("my_pwd", "x", true),
            ("SENTRY_DSN", "https://abc.example/1", true),
            ("WEBHOOK_URL", "https://hooks.example/x", true),
            ("WIFI_PSK", "x", true),
        ] {
            assert_eq!(is_secret(name.as_ref(), value.as_ref()), expected, "{name}");
        }
    }
}
