//! The server that is asked, and what to do when it does not answer as hoped.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use attache_client::{Client, ClientError, ClientOptions, ListTasks, Task};
use attache_domain::visible_line;
use attache_net::{NetError, Secret};

use super::arguments::TasksArguments;
use crate::plain::plain;
use crate::report::hinted;

/// A token is not longer than this.
const MOST_TOKEN: u64 = 64 << 10;
/// Tasks looked through for one whose id begins as given.
const MOST_LOOKED_THROUGH: usize = 5000;

pub(crate) struct Server {
    pub(crate) client: Client,
    address: String,
    has_token: bool,
}

impl Server {
    pub(crate) async fn connect(
        arguments: &TasksArguments,
        variable: Option<String>,
    ) -> anyhow::Result<Self> {
        let token = token(arguments.token_file.as_deref(), variable)?;
        let has_token = token.is_some();
        let address = arguments.server.clone();
        let options = ClientOptions { token, ..ClientOptions::default() };
        let client =
            Client::connect(&address, options).await.map_err(|error| tell(error, &address, has_token))?;
        Ok(Self { client, address, has_token })
    }

    /// The error as a person needs it.
    pub(crate) fn tell(&self, error: ClientError) -> anyhow::Error {
        tell(error, &self.address, self.has_token)
    }

    /// The task with this id, or the only one whose id begins with it.
    pub(crate) async fn find(&self, id: &str) -> anyhow::Result<Task> {
        match self.client.get(id, None).await {
            Ok(task) => return Ok(task),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(self.tell(error)),
        }
        let list = ListTasks { history_length: Some(0), page_size: Some(100), ..ListTasks::default() };
        let known = self.all(list, MOST_LOOKED_THROUGH).await?;
        let ids: Vec<&str> =
            known.iter().map(|task| task.id.as_str()).filter(|it| it.starts_with(id)).collect();
        match ids[..] {
            [] => Err(hinted(
                anyhow!("there is no task {id}"),
                "attache tasks list shows the tasks that there are",
            )),
            [only] => self.client.get(only, None).await.map_err(|error| self.tell(error)),
            [first, second, ..] => Err(hinted(
                anyhow!(
                    "{} tasks begin with {id}, among them {} and {}",
                    ids.len(),
                    visible_line(first),
                    visible_line(second)
                ),
                "give more of the id",
            )),
        }
    }

    /// Page after page, up to `limit` tasks.
    pub(crate) async fn all(&self, mut list: ListTasks, limit: usize) -> anyhow::Result<Vec<Task>> {
        let mut tasks = Vec::new();
        while tasks.len() < limit {
            let page = self.client.list(&list).await.map_err(|error| self.tell(error))?;
            let nothing_new = page.tasks.is_empty();
            tasks.extend(page.tasks);
            if page.next_page_token.is_empty() || nothing_new {
                break;
            }
            list.page_token = page.next_page_token;
        }
        tasks.truncate(limit);
        Ok(tasks)
    }
}

fn token(file: Option<&Path>, variable: Option<String>) -> anyhow::Result<Option<Secret>> {
    let text = match file {
        None => variable,
        Some(path) => {
            let opened =
                File::open(path).with_context(|| format!("cannot read the token file {}", path.display()))?;
            let mut text = String::new();
            opened.take(MOST_TOKEN).read_to_string(&mut text).context("cannot read the token file")?;
            Some(text)
        }
    };
    let Some(text) = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
        if let Some(path) = file {
            bail!("the token file {} is empty", path.display());
        }
        return Ok(None);
    };
    Ok(Some(Secret::new(text)))
}

fn tell(error: ClientError, address: &str, has_token: bool) -> anyhow::Error {
    let hint = match &error {
        ClientError::Net(NetError::Connect { .. }) => {
            return hinted(
                anyhow!("nobody listens at {address}"),
                "start a server with `attache serve`, or name another one with --server or ATTACHE_SERVER",
            );
        }
        ClientError::Net(NetError::Address { .. }) => "give it as http://127.0.0.1:PORT or https://HOST",
        ClientError::Unauthenticated { .. } if has_token => {
            "the token is not the one that the server was started with; check --token-file and ATTACHE_TOKEN"
        }
        ClientError::Unauthenticated { .. } => {
            "give the server's token with --token-file FILE or in ATTACHE_TOKEN"
        }
        ClientError::Unintelligible { .. } | ClientError::Status { .. } | ClientError::NoInterface { .. } => {
            "is that the address of attache, or of another A2A 1.0 agent?"
        }
        _ => return anyhow!("{}", plain(&error.to_string())),
    };
    hinted(anyhow!("{address}: {}", plain(&error.to_string())), hint)
}
