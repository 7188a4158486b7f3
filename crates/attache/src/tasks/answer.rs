//! `attache tasks answer`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use attache_client::{Event, Message, Part, SendConfiguration, SendMessage};
use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::AnswerArguments;
use super::follow::{Form, Start, follow};
use super::server::Server;
use crate::report::hinted;

/// Of a file that an edit should write.
const MOST_CONTENT: u64 = 16 << 20;
/// What agrees to one edit.
const AGREED: &str = "proceed_once";

pub(crate) async fn run(server: &Server, arguments: AnswerArguments) -> anyhow::Result<ExitCode> {
    let content = arguments.file.as_deref().map(read).transpose()?;
    let parts = spell(&arguments.answer, content)?;
    let task = server.find(&arguments.id).await?;
    if !task.status.state.is_interrupted() {
        let hint = "attache tasks list --state input-required shows the tasks that wait for an answer";
        return Err(hinted(anyhow!("task {} is {} and asks nothing", task.id, task.status.state), hint));
    }
    let message = Message::with_parts(Uuid::new_v4().to_string(), parts).to_task(&task.id);
    let configuration = SendConfiguration { return_immediately: true, history_length: Some(0) };
    let sent = server.client.send(SendMessage { message, configuration }).await;
    let Event::Task(answered) = sent.map_err(|error| server.tell(error))? else {
        bail!("the agent answered with a message of its own and says nothing about the task");
    };
    if arguments.follow {
        return follow(server, task, Form::Text, Start::Answered).await;
    }
    writeln!(io::stdout(), "answered; attache tasks follow {} shows what comes of it", answered.id)?;
    Ok(ExitCode::SUCCESS)
}

/// The answer as parts of a message: data where it is about calls, the words themselves otherwise.
fn spell(words: &[String], content: Option<String>) -> anyhow::Result<Vec<Part>> {
    let named: Option<Vec<(&str, &str)>> = words.iter().map(|word| call_and_choice(word)).collect();
    let named = named.filter(|named| !named.is_empty());
    let answer = |call: Option<&str>, choice: &str, content: Option<String>| {
        let mut answer = json!({ "choice": choice });
        if let Some(call) = call {
            answer["call"] = call.into();
        }
        if let Some(content) = content {
            answer["newContent"] = content.into();
        }
        answer
    };
    match (named, content) {
        (Some(named), None) => {
            let answers: Vec<Value> =
                named.iter().map(|(call, choice)| answer(Some(call), choice, None)).collect();
            Ok(vec![Part::data(answers)])
        }
        (Some(named), Some(content)) => match named[..] {
            [(call, choice)] => Ok(vec![Part::data(answer(Some(call), choice, Some(content)))]),
            _ => bail!("--file is about one edit; answer the others by themselves"),
        },
        (None, Some(content)) => match words {
            [] => Ok(vec![Part::data(answer(None, AGREED, Some(content)))]),
            [choice] => Ok(vec![Part::data(answer(None, choice, Some(content)))]),
            _ => bail!("with --file the answer is one choice, or CALL=CHOICE"),
        },
        (None, None) if words.is_empty() => Err(hinted(
            anyhow!("there is no answer"),
            "say yes, no, always, one of the choices, CALL=CHOICE for each of several calls, or any text",
        )),
        (None, None) => Ok(vec![Part::text(words.join(" "))]),
    }
}

fn call_and_choice(word: &str) -> Option<(&str, &str)> {
    let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    word.rsplit_once('=').filter(|(call, choice)| is_name(call) && is_name(choice))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let mut text = String::new();
    let opened = File::open(path).with_context(cannot)?;
    opened.take(MOST_CONTENT + 1).read_to_string(&mut text).with_context(cannot)?;
    if text.len() as u64 > MOST_CONTENT {
        bail!("{} is larger than {} MiB", path.display(), MOST_CONTENT >> 20);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], content: Option<&str>, expected: Option<Value>) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = spell(&words, content.map(str::to_owned)).ok();
        assert_eq!(found.map(|parts| serde_json::to_value(parts).unwrap()), expected);
    }

    #[test]
    fn words_stay_words() {
        check(&["yes"], None, Some(json!([{"text": "yes"}])));
        check(&["try", "the", "other", "one"], None, Some(json!([{"text": "try the other one"}])));
        check(&["set a=b and go"], None, Some(json!([{"text": "set a=b and go"}])));
        check(&[], None, None);
    }

    #[test]
    fn answers_about_calls_are_data() {
        let two = json!([{"data": [{"call": "c-1", "choice": "yes"}, {"call": "c-2", "choice": "no"}]}]);
        check(&["c-1=yes", "c-2=no"], None, Some(two));
    }

    #[test]
    fn changed_content_goes_with_one_choice() {
        check(&[], Some("x"), Some(json!([{"data": {"choice": "proceed_once", "newContent": "x"}}])));
        check(&["yes"], Some("x"), Some(json!([{"data": {"choice": "yes", "newContent": "x"}}])));
        check(
            &["c=yes"],
            Some("x"),
            Some(json!([{"data": {"call": "c", "choice": "yes", "newContent": "x"}}])),
        );
        check(&["c=yes", "d=yes"], Some("x"), None);
        check(&["do", "it"], Some("x"), None);
    }
}
