//! Requests with one response: a task, lists, push configurations, the extended card.

use std::io::Write;

use attache_client::{Client, ListTasks, PushConfig, RemoteCommand, RemoteCommandArgument, RemotePushConfig};
use attache_domain::visible_line;
use serde_json::{Value, json};
use uuid::Uuid;

use super::arguments::{CallArguments, Request};
use super::connection::refused;
use super::conversation::Partner;
use super::end::CallEnd;
use crate::printable::write_pretty_json;
use crate::standard_streams::{stderr, stdout};
use crate::tasks::page_of;

pub(super) async fn run(
    client: &Client,
    request: Request,
    arguments: &CallArguments,
) -> anyhow::Result<CallEnd> {
    let json = arguments.json;
    match request {
        Request::Show { task } => return show(client, &task, arguments).await,
        Request::ExtendedCard => print_json(&client.extended_card_document().await.map_err(refused)?)?,
        Request::Cancel { task } => cancel(client, &task, json).await?,
        Request::List => list(client, arguments).await?,
        Request::Push { task, url } => {
            let id = Uuid::new_v4().to_string().into();
            let config = PushConfig { id, url, token: None, authentication: None };
            let created = client.create_push_config(&task, config).await.map_err(refused)?;
            print_pushes(&[created], json)?;
        }
        Request::ListPushes { task } => {
            let page = client.push_configs(&task, "").await.map_err(refused)?;
            print_pushes(&page.configs, json)?;
        }
        Request::DeletePush { task, id } => {
            client.delete_push_config(&task, &id).await.map_err(refused)?;
        }
        Request::Commands => {
            let commands = client.commands(arguments.context.as_deref()).await.map_err(refused)?;
            print_commands(&commands, json)?;
        }
        Request::Send { .. } | Request::Command { .. } | Request::Follow { .. } => {}
    }
    Ok(CallEnd::Done)
}

async fn show(client: &Client, task: &str, arguments: &CallArguments) -> anyhow::Result<CallEnd> {
    let task = client.get(task, None).await.map_err(refused)?;
    if arguments.json {
        print_json(&task.to_json())?;
    } else {
        let how_to_answer = Partner::Agent(&arguments.url).how_to_answer(task.id.as_str(), &task.status);
        stdout().write_all(page_of(&task, &how_to_answer).as_bytes())?;
    }
    Ok(CallEnd::of_task(&task.status))
}

async fn cancel(client: &Client, task: &str, json: bool) -> anyhow::Result<()> {
    let task = client.cancel(task).await.map_err(refused)?;
    if json {
        return print_json(&task.to_json());
    }
    writeln!(stdout(), "task {} is {}", visible_line(task.id.as_str()), task.status.state_name())?;
    Ok(())
}

/// One page, which is as many tasks as a person looks at.
async fn list(client: &Client, arguments: &CallArguments) -> anyhow::Result<()> {
    let context = arguments.context.as_deref().map(Into::into);
    let list = ListTasks { context, history_length: Some(0), ..ListTasks::default() };
    let page = client.list(list).await.map_err(refused)?;
    if arguments.json {
        return print_json(&Value::Array(page.tasks.iter().map(|task| task.to_json()).collect()));
    }
    let mut out = stdout().lock();
    for task in &page.tasks {
        let (id, context) = (visible_line(task.id.as_str()), visible_line(task.context.as_str()));
        writeln!(out, "{id}  {:<14}  {context}", task.status.state_name())?;
    }
    if !page.next_page_token.is_empty() {
        writeln!(stderr(), "[there are more, {} in all]", page.total_size)?;
    }
    Ok(())
}

fn print_commands(commands: &[RemoteCommand], json: bool) -> anyhow::Result<()> {
    if json {
        return print_json(&Value::Array(commands.iter().map(command_json).collect()));
    }
    let mut rows = Vec::new();
    commands.iter().for_each(|command| command_rows("", command, &mut rows));
    let width = rows.iter().map(|(usage, _)| usage.chars().count()).max().unwrap_or(0);
    let mut out = stdout().lock();
    for (usage, description) in rows {
        writeln!(out, "{}", format!("{usage:<width$}  {description}").trim_end())?;
    }
    Ok(())
}

fn command_json(command: &RemoteCommand) -> Value {
    let argument = |it: &RemoteCommandArgument| json!({ "name": it.name, "description": it.description, "required": it.is_required });
    json!({
        "name": command.name,
        "description": command.description,
        "arguments": command.arguments.iter().map(argument).collect::<Vec<_>>(),
        "commands": command.sub_commands.iter().map(command_json).collect::<Vec<_>>(),
    })
}

/// One row for each command, such as `memory add <fact>`, those below it after it.
fn command_rows(above: &str, command: &RemoteCommand, rows: &mut Vec<(String, String)>) {
    let name = format!("{above}{}", visible_line(&command.name));
    let argument = |it: &RemoteCommandArgument| match it.is_required {
        true => format!(" <{}>", visible_line(&it.name)),
        false => format!(" [{}]", visible_line(&it.name)),
    };
    let arguments: String = command.arguments.iter().map(argument).collect();
    rows.push((format!("{name}{arguments}"), visible_line(&command.description).into_owned()));
    command.sub_commands.iter().for_each(|below| command_rows(&format!("{name} "), below, rows));
}

/// Tokens and credentials are not shown.
fn print_pushes(configs: &[RemotePushConfig], json: bool) -> anyhow::Result<()> {
    if json {
        let shown = configs
            .iter()
            .map(|it| json!({ "task": it.task.as_str(), "id": it.config.id.as_str(), "url": it.config.url }));
        return print_json(&Value::Array(shown.collect()));
    }
    let mut out = stdout().lock();
    for RemotePushConfig { config, .. } in configs {
        writeln!(out, "{}  {}", visible_line(config.id.as_str()), visible_line(&config.url))?;
    }
    Ok(())
}

fn print_json(value: &Value) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    write_pretty_json(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
