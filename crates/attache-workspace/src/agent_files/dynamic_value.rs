//! Values of agent files that come from a variable or from the output of a command.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use attache_config::SecretText;
use attache_credentials::oauth::SecretValue;
use attache_net::{Redactor, Secret};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};

use super::command_environment::CommandEnvironment;
use super::variables::{PreparedVariable, Variables};
use crate::visible;

/// A command that prints a secret may ask a server for it.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_VALUE_BYTES: u64 = 64 << 10;
/// Of what a command prints to standard error.
const MAX_ERROR_BYTES: usize = 4 << 10;
const MAX_ERROR_CHARS: usize = 200;
/// A process that a failed command has left may keep its standard error open.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);

/// A secret, or where to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DynamicValue {
    Literal(SecretText),
    /// `$NAME`: a variable of the environment, or of the user's `.env` file.
    Variable(String),
    /// `!line`: what a shell prints for the line.
    Command(String),
}

impl DynamicValue {
    /// `$$` and `!!` at the beginning stand for the sign itself. The error says what the value must be.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(rest) = text.strip_prefix("$$") {
            return Ok(Self::Literal(SecretText::new(format!("${rest}"))));
        }
        if let Some(rest) = text.strip_prefix("!!") {
            return Ok(Self::Literal(SecretText::new(format!("!{rest}"))));
        }
        if let Some(name) = text.strip_prefix('$') {
            let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            let wrong = "must name a variable after $, or begin with $$ for a value that begins with $";
            return is_name.then(|| Self::Variable(name.to_owned())).ok_or(wrong);
        }
        if let Some(line) = text.strip_prefix('!').map(str::trim) {
            let wrong = "must have a command after !, or begin with !! for a value that begins with !";
            return (!line.is_empty()).then(|| Self::Command(line.to_owned())).ok_or(wrong);
        }
        Ok(Self::Literal(SecretText::new(text)))
    }

    /// Reads the environment now; a file of variables is read and a command is run whenever the value is asked for.
    pub(super) fn prepare(&self, variables: Variables<'_>) -> PreparedValue {
        PreparedValue(match self {
            Self::Literal(value) => ValueSource::Literal(value.clone()),
            Self::Variable(name) => ValueSource::Variable(variables.prepare(name)),
            Self::Command(line) => ValueSource::Command(CommandLine {
                line: line.clone(),
                folder: variables.folder(),
                environment: CommandEnvironment::of(line, variables),
            }),
        })
    }
}

/// A value that needs no environment any more.
#[derive(Debug, Clone)]
pub(super) struct PreparedValue(ValueSource);

#[derive(Debug, Clone)]
enum ValueSource {
    Literal(SecretText),
    Variable(PreparedVariable),
    Command(CommandLine),
}

#[derive(Debug, Clone)]
struct CommandLine {
    line: String,
    folder: PathBuf,
    environment: CommandEnvironment,
}

impl PreparedValue {
    /// The current value. Errors never hold it.
    pub(super) async fn value(&self) -> Result<SecretText, String> {
        match &self.0 {
            ValueSource::Literal(value) => Ok(value.clone()),
            ValueSource::Variable(variable) => variable.value(),
            ValueSource::Command(command) => output_of(command, COMMAND_TIMEOUT)
                .await
                .map_err(|what| format!("the command `{}` {what}", command.line)),
        }
    }
}

#[async_trait]
impl SecretValue for PreparedValue {
    async fn get(&self) -> Result<Secret, String> {
        Ok(Secret::new(self.value().await?.expose()))
    }
}

/// What a shell prints for the line, without blanks around it. The shell ends when the result is dropped.
async fn output_of(command: &CommandLine, limit: Duration) -> Result<SecretText, String> {
    let child = Command::new("bash")
        .args(["-c", &command.line])
        .current_dir(&command.folder)
        .env_clear()
        .envs(command.environment.variables())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let mut shell = Shell(child.map_err(|error| format!("cannot be started: {error}"))?);
    let output = tokio::time::timeout(limit, printed(&mut shell.0)).await;
    let output = output.map_err(|_| format!("took more than {} seconds", limit.as_secs_f32()))??;
    let text = String::from_utf8(output).map_err(|_| "printed something that is not text".to_owned())?;
    match text.trim() {
        "" => Err("printed nothing".to_owned()),
        text => Ok(SecretText::new(text)),
    }
}

/// A shell. Whatever it has started ends with it, unless it has ended by itself.
struct Shell(Child);

impl Drop for Shell {
    fn drop(&mut self) {
        let group = self.0.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(group) = group {
            // It may have ended on its own.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

async fn printed(child: &mut Child) -> Result<Vec<u8>, String> {
    let mut words = ErrorWords::new(child.stderr.take());
    let output = {
        let mut output = Box::pin(standard_output(child));
        loop {
            tokio::select! {
                output = &mut output => break output,
                () = words.read(), if !words.ended => {}
            }
        }
    };
    let (output, status) = output?;
    if status.success() {
        return Ok(output);
    }
    let rest = async {
        while !words.ended {
            words.read().await;
        }
    };
    let _ = tokio::time::timeout(LAST_WORDS_TIMEOUT, rest).await;
    Err(format!(
        "failed: {status}{}",
        words.line(&output).map(|line| format!(": {line}")).unwrap_or_default()
    ))
}

/// What a command prints, and how it ends.
async fn standard_output(child: &mut Child) -> Result<(Vec<u8>, ExitStatus), String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_VALUE_BYTES + 1).read_to_end(&mut output).await.map_err(failed)?;
    }
    if output.len() as u64 > MAX_VALUE_BYTES {
        return Err(format!("printed more than {MAX_VALUE_BYTES} bytes"));
    }
    let status = child.wait().await.map_err(failed)?;
    Ok((output, status))
}

/// The beginning of what a command prints to standard error. All of it is read, so that the command does not wait.
struct ErrorWords {
    pipe: Option<ChildStderr>,
    bytes: Vec<u8>,
    ended: bool,
}

impl ErrorWords {
    fn new(pipe: Option<ChildStderr>) -> Self {
        Self { ended: pipe.is_none(), pipe, bytes: Vec::new() }
    }

    /// Reads some more.
    async fn read(&mut self) {
        let mut chunk = [0; 1024];
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut chunk).await {
            Ok(0) | Err(_) => self.ended = true,
            Ok(length) => {
                let wanted = length.min(MAX_ERROR_BYTES - self.bytes.len());
                self.bytes.extend_from_slice(&chunk[..wanted]);
            }
        }
    }

    /// The first line, for people: without `output`, which may be a part of the secret, and what looks like another one.
    fn line(&self, output: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        let output = String::from_utf8_lossy(output);
        let line = Redactor::of(output.split_whitespace().map(str::to_owned)).redact(line);
        Some(visible(&line).chars().take(MAX_ERROR_CHARS).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_value_is_taken_from_where_the_file_says() {
        let environment = |name: &str| match name {
            "KEY" => Some("from-variable".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, expected) in [
            ("two words", Ok("two words")),
            ("$KEY", Ok("from-variable")),
            ("$NONE", Err("the variable NONE is not set")),
            ("$EMPTY", Err("the variable EMPTY is empty")),
            ("!printf ' abc\\n\\n'", Ok("abc")),
            ("!true", Err("the command `true` printed nothing")),
            ("!printf secret; exit 3", Err("the command `printf secret; exit 3` failed: exit status: 3")),
            (
                "!printf partial-secret; printf '\\n\\033sign in: partial-secret token=abcdef\\nmore' >&2; exit 3",
                Err(
                    "the command `printf partial-secret; printf '\\n\\033sign in: partial-secret token=abcdef\\nmore' >&2; exit 3` \
                     failed: exit status: 3: \\u{1b}sign in: (hidden) token=(hidden)",
                ),
            ),
            ("!echo warning >&2; echo abc", Ok("abc")),
            ("!head -c 500000 /dev/zero >&2; echo abc", Ok("abc")),
            ("!yes | head -c 70000", Err("the command `yes | head -c 70000` printed more than 65536 bytes")),
        ] {
            let variables = Variables::users(&environment);
            let found = DynamicValue::parse(text).unwrap().prepare(variables).value().await;
            assert_eq!(found.as_ref().map(SecretText::expose).map_err(String::as_str), expected, "{text}");
        }
    }

    const CANARIES: [(&str, &str); 7] = [
        ("PATH", "/usr/bin:/bin"),
        ("MY_CANARY", "s3cret"),
        ("NAMED", "one"),
        ("AWS_PROFILE", "work"),
        ("HTTPS_PROXY", "http://me:pw@proxy.example"),
        ("http_proxy", "http://proxy.example"),
        ("BASH_ENV", "/nowhere"),
    ];

    #[tokio::test]
    async fn a_command_gets_the_variables_that_it_names_and_few_others() {
        let environment = |name: &str| {
            CANARIES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let users = Variables::users(&environment);
        let strangers = Variables::strangers(&environment);
        // The shell adds three of its own.
        let all = "env | grep -vE '^(PWD|SHLVL|_)=' | sort | tr '\n' ' '; : ";
        for (line, variables, expected) in [
            (all.to_owned(), users, "AWS_PROFILE=work PATH=/usr/bin:/bin http_proxy=http://proxy.example"),
            (all.to_owned(), strangers, "PATH=/usr/bin:/bin"),
            (format!("{all} $NAMED ${{UNSET}}"), strangers, "NAMED=one PATH=/usr/bin:/bin"),
            ("printf %s \"$MY_CANARY\"".to_owned(), strangers, "s3cret"),
            ("printf %s \"${UNSET:-other}$NAMED\"".to_owned(), users, "otherone"),
        ] {
            let value = DynamicValue::parse(&format!("!{line}")).unwrap().prepare(variables);
            assert_eq!(value.value().await.unwrap().expose(), expected, "{line}");
        }
    }

    #[tokio::test]
    async fn a_command_may_name_a_variable_of_the_users_file() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".env"), "MINE=of-file\nOTHER=x\n").unwrap();
        let folder = home.path().display().to_string();
        let environment = |name: &str| (name == "HOME").then(|| folder.clone());
        let value = DynamicValue::parse("!printf %s \"$MINE\"; env | grep -c ^OTHER || true").unwrap();
        let value = value.prepare(Variables::users(&environment)).value().await;
        assert_eq!(value.unwrap().expose(), "of-file0");
    }

    /// Waits until a line of a file names a process, and then until that process has ended.
    async fn child_ends(file: &std::path::Path) {
        let id = loop {
            match std::fs::read_to_string(file).unwrap_or_default().trim().parse::<i32>() {
                Ok(id) => break rustix::process::Pid::from_raw(id).unwrap(),
                Err(_) => tokio::task::yield_now().await,
            }
        };
        let runs = || match std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())) {
            // One that is not waited for yet has ended as well.
            Ok(stat) => !stat.contains(") Z "),
            Err(_) => false,
        };
        while runs() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_command_has_a_limit_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("child");
        let line = format!("sleep 600 & echo $! > '{}'; wait", file.display());
        let variables = Variables::users(&|_| None);
        let environment = CommandEnvironment::of(&line, variables);
        let command = CommandLine { line, folder: folder.path().to_owned(), environment };
        let error = output_of(&command, Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(error, "took more than 1 seconds");
        child_ends(&file).await;

        std::fs::remove_file(&file).unwrap();
        let mut running = Box::pin(output_of(&command, COMMAND_TIMEOUT));
        while !file.exists() {
            let step = tokio::time::timeout(Duration::from_millis(10), &mut running).await;
            assert!(step.is_err(), "it ended by itself");
        }
        drop(running);
        child_ends(&file).await;
    }

    #[test]
    fn the_first_sign_says_where_a_value_comes_from() {
        let literal = |text: &str| Ok(DynamicValue::Literal(SecretText::new(text)));
        for (text, expected) in [
            ("sk-abc", literal("sk-abc")),
            ("two words", literal("two words")),
            ("$$FOO", literal("$FOO")),
            ("!!run", literal("!run")),
            ("$$", literal("$")),
            ("a$B", literal("a$B")),
            ("$MY_KEY", Ok(DynamicValue::Variable("MY_KEY".into()))),
            ("$_x9", Ok(DynamicValue::Variable("_x9".into()))),
            ("!print-token --now", Ok(DynamicValue::Command("print-token --now".into()))),
        ] {
            assert_eq!(DynamicValue::parse(text), expected, "{text}");
        }
        for text in ["$", "$1", "$a-b", "${A}", "$A B", "!", "!  "] {
            assert!(DynamicValue::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert!(!format!("{:?}", DynamicValue::parse("sk-abc")).contains("sk-abc"));
    }
}
