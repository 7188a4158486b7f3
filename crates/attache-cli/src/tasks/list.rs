//! `attache tasks list`.

use std::io::Write;

use attache_client::{ListTasks, RemoteTask, Role};
use attache_domain::{visible_again, visible_line};

use super::arguments::ListArguments;
use super::server::ServerConnection;
use super::time::utc;
use crate::printable::printable;
use crate::standard_streams::stdout;

/// A page holds whole conversations, so it holds few of them.
const PAGE: usize = 25;
/// At least this much of an id is shown.
const SHORT: usize = 8;
const MAX_WORDS: usize = 60;
const MAX_QUESTION_LINES: usize = 4;
const MAX_QUESTION_WIDTH: usize = 100;

pub(crate) async fn run(server: &ServerConnection, arguments: ListArguments) -> anyhow::Result<()> {
    let limit = arguments.limit;
    let page = limit.clamp(1, PAGE);
    let context = match &arguments.context {
        Some(context) => Some(server.find_context(context).await?.into()),
        None => None,
    };
    let list = ListTasks { context, state: arguments.state, page_size: page, ..ListTasks::default() };
    let tasks = server.all(list, limit).await?;
    let mut out = stdout().lock();
    if arguments.json {
        let tasks: Vec<_> = tasks.iter().map(RemoteTask::to_json).collect();
        crate::printable::write_pretty_json(&mut out, &tasks)?;
        writeln!(out)?;
        return Ok(());
    }
    out.write_all(table(&tasks).as_bytes())?;
    Ok(out.flush()?)
}

fn table(tasks: &[RemoteTask]) -> String {
    if tasks.is_empty() {
        return "no tasks\n".to_owned();
    }
    let ids = shortened(tasks.iter().map(|task| task.id.as_str()).collect());
    let contexts = shortened(tasks.iter().map(|task| task.context.as_str()).collect());
    let width = |texts: &[String], least: usize| {
        texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(least)
    };
    let (id_width, context_width) = (width(&ids, SHORT), width(&contexts, SHORT));
    let mut text =
        format!("{:id_width$}  {:14}  {:context_width$}  {:20}  TASK\n", "ID", "STATE", "CONTEXT", "UPDATED");
    for ((task, id), context) in tasks.iter().zip(&ids).zip(&contexts) {
        let (state, updated, words) = (task.status.state_name(), updated(task), first_words(task));
        let line = format!("{id:id_width$}  {state:14}  {context:context_width$}  {updated:20}  {words}");
        text.push_str(line.trim_end());
        text.push('\n');
        for (place, line) in question(task).into_iter().enumerate() {
            let label = if place == 0 { "asks:" } else { "" };
            text.push_str(&format!("{:id_width$}  {label:5} {line}\n", ""));
        }
    }
    text
}

/// The beginnings of ids, just long enough to tell them apart.
fn shortened(ids: Vec<&str>) -> Vec<String> {
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let cut = |id: &str, length: usize| visible_line(id).chars().take(length).collect::<String>();
    let longest = distinct.iter().map(|id| id.chars().count()).max().unwrap_or(0);
    let tells_apart = |length: &usize| {
        let mut short: Vec<_> = distinct.iter().map(|id| cut(id, *length)).collect();
        short.dedup();
        short.len() == distinct.len()
    };
    let length = (SHORT..longest).find(tells_apart).unwrap_or(longest);
    ids.into_iter().map(|id| cut(id, length)).collect()
}

fn updated(task: &RemoteTask) -> String {
    task.status.timestamp.as_deref().map(utc).unwrap_or_default()
}

fn first_words(task: &RemoteTask) -> String {
    let said = task.history.iter().find(|message| message.role == Role::User).map(|message| message.text());
    cut(&printable(&said.unwrap_or_default()).split_whitespace().collect::<Vec<_>>().join(" "), MAX_WORDS)
}

/// What the task wants to know, in a few lines.
fn question(task: &RemoteTask) -> Vec<String> {
    let Some(message) = task.status.message.as_ref().filter(|_| task.status.is_interrupted()) else {
        return Vec::new();
    };
    let text = message.text();
    let text = visible_again(&text);
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines.by_ref().take(MAX_QUESTION_LINES).map(|line| cut(line, MAX_QUESTION_WIDTH));
    let mut shown: Vec<_> = first.collect();
    // A cut question must show that it was cut.
    if lines.next().is_some() {
        shown.push("… (attache tasks show tells all of it)".to_owned());
    }
    shown
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tasks::test_values::decode_task;

    fn task(id: &str, state: &str, said: &str, question: Option<&str>) -> RemoteTask {
        let message =
            |role: &str, text: &str| json!({"messageId": "m", "role": role, "parts": [{"text": text}]});
        let mut status = json!({"state": state, "timestamp": "2026-11-15T13:40:50.123Z"});
        if let Some(question) = question {
            status["message"] = message("ROLE_AGENT", question);
        }
        let history = [message("ROLE_USER", said)];
        decode_task(&json!({"id": id, "contextId": "cccccccc-1", "status": status, "history": history}))
    }

    #[test]
    fn a_task_that_asks_shows_what_it_asks() {
        let tasks = [
            task(
                "aaaaaaaa-1",
                "TASK_STATE_INPUT_REQUIRED",
                "Greet\nthe moon",
                Some("May I?\n\nrun: \u{1b}[2Jls"),
            ),
            task("bbbbbbbb-1", "TASK_STATE_COMPLETED", "x", None),
        ];
        let expected = "\
ID        STATE           CONTEXT   UPDATED               TASK
aaaaaaaa  input-required  cccccccc  2026-11-15 13:40:50Z  Greet the moon
          asks: May I?
                run: \\u{1b}[2Jls
bbbbbbbb  completed       cccccccc  2026-11-15 13:40:50Z  x
";
        assert_eq!(table(&tasks), expected);
    }

    #[test]
    fn ids_are_cut_no_shorter_than_they_differ() {
        assert_eq!(shortened(vec!["aaaaaaaa-1", "aaaaaaaa-2"]), ["aaaaaaaa-1", "aaaaaaaa-2"]);
        assert_eq!(shortened(vec!["aaaaaaaaaa1", "aaaaaaaaab2"]), ["aaaaaaaaaa", "aaaaaaaaab"]);
        assert_eq!(shortened(vec!["same-same-same", "same-same-same"]), ["same-sam", "same-sam"]);
        assert_eq!(shortened(vec!["a", "b"]), ["a", "b"]);
    }
}
