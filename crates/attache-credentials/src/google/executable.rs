//! Runs the program that prints a token of another cloud.

use std::process::Stdio;
use std::time::Duration;

use attache_net::Secret;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::external::{ExternalAccount, SubjectProgram};

const MAX_OUTPUT_BYTES: u64 = 64 << 10;

/// The token that the program prints, or has left in its file. It gets the environment of this process, which holds no
/// secrets.
pub(super) async fn token(
    program: &SubjectProgram,
    account: &ExternalAccount,
    now: Duration,
) -> Result<Secret, String> {
    let name = program.command.first().ok_or("the program has no name")?;
    if let Some(token) = kept(program).await.and_then(|text| subject_token(&text, now, true).ok()) {
        return Ok(token);
    }
    let mut output = run(name, program, account).await?;
    if output.trim_ascii().is_empty() {
        output = kept(program).await.unwrap_or_default();
    }
    subject_token(&output, now, false).map_err(|what| format!("the program {name} {what}"))
}

async fn kept(program: &SubjectProgram) -> Option<Vec<u8>> {
    let file = tokio::fs::File::open(program.output_file.as_ref()?).await.ok()?;
    let mut text = Vec::new();
    file.take(MAX_OUTPUT_BYTES).read_to_end(&mut text).await.ok()?;
    Some(text)
}

/// What the program prints.
async fn run(name: &str, program: &SubjectProgram, account: &ExternalAccount) -> Result<Vec<u8>, String> {
    let SubjectProgram { command, timeout, output_file } = program;
    let mut child = Command::new(name);
    child
        .args(&command[1..])
        .env("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", &account.audience)
        .env("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE", &account.subject_token_type)
        .env("GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0")
        .envs(account.impersonated_email().map(|email| ("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL", email)))
        .envs(output_file.iter().map(|path| ("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE", path)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child =
        child.spawn().map_err(|error| format!("the program {name} cannot be started: {error}"))?;
    let running = async {
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut output).await?;
        }
        Ok::<_, std::io::Error>((output, child.wait().await?))
    };
    let ended = tokio::time::timeout(*timeout, running).await;
    let ended = ended.map_err(|_| format!("the program {name} took more than {} s", timeout.as_secs()))?;
    let (output, status) = ended.map_err(|error| format!("the program {name} cannot be read: {error}"))?;
    match status.success() {
        true => Ok(output),
        false => Err(format!("the program {name} failed: {status}")),
    }
}

/// The token in what the program printed; the error holds none of it. `must_end`: a token that does not say when it ends
/// does not count.
pub(super) fn subject_token(output: &[u8], now: Duration, must_end: bool) -> Result<Secret, String> {
    let answer: Value = serde_json::from_slice(output).map_err(|_| "printed no JSON".to_owned())?;
    if answer["success"].as_bool() != Some(true) {
        let text = |key: &str| answer[key].as_str().unwrap_or_default().chars().take(200).collect::<String>();
        return Err(format!("reported an error: {} {}", text("code"), text("message")).trim_end().to_owned());
    }
    match answer["expiration_time"].as_u64() {
        Some(end) if end <= now.as_secs() => return Err("printed a token that has ended".to_owned()),
        None if must_end => return Err("printed a token without an end".to_owned()),
        _ => {}
    }
    let token = answer["id_token"].as_str().or_else(|| answer["saml_response"].as_str());
    match token.filter(|token| !token.is_empty()) {
        Some(token) => Ok(Secret::new(token)),
        None => Err("printed no token".to_owned()),
    }
}
