//! Runs the program that prints a token of another cloud.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use attache_net::Secret;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::external::ExternalAccount;

const MAX_OUTPUT_BYTES: u64 = 64 << 10;

/// The token that the program prints. It gets the environment of this process, which holds no secrets.
pub(super) async fn run(
    command: &[String],
    timeout: Duration,
    output_file: Option<&Path>,
    account: &ExternalAccount,
) -> Result<Secret, String> {
    let (program, arguments) = command.split_first().ok_or("the program has no name")?;
    let mut child = Command::new(program);
    child
        .args(arguments)
        .env("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE", &account.audience)
        .env("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE", &account.subject_token_type)
        .env("GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    if let Some(output_file) = output_file {
        child.env("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE", output_file);
    }
    let mut child =
        child.spawn().map_err(|error| format!("the program {program} cannot be started: {error}"))?;
    let running = async {
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut output).await?;
        }
        Ok::<_, std::io::Error>((output, child.wait().await?))
    };
    let ended = tokio::time::timeout(timeout, running).await;
    let ended = ended.map_err(|_| format!("the program {program} took more than {} s", timeout.as_secs()))?;
    let (output, status) = ended.map_err(|error| format!("the program {program} cannot be read: {error}"))?;
    if !status.success() {
        return Err(format!("the program {program} failed: {status}"));
    }
    subject_token(&output).map_err(|what| format!("the program {program} {what}"))
}

/// The token in what the program printed; the error holds none of it.
pub(super) fn subject_token(output: &[u8]) -> Result<Secret, String> {
    let answer: Value = serde_json::from_slice(output).map_err(|_| "printed no JSON".to_owned())?;
    if answer["success"].as_bool() != Some(true) {
        let text = |key: &str| answer[key].as_str().unwrap_or_default().chars().take(200).collect::<String>();
        return Err(format!("reported an error: {} {}", text("code"), text("message")).trim_end().to_owned());
    }
    let token = answer["id_token"].as_str().or_else(|| answer["saml_response"].as_str());
    match token.filter(|token| !token.is_empty()) {
        Some(token) => Ok(Secret::new(token)),
        None => Err("printed no token".to_owned()),
    }
}
