//! The connection to a server, and advice for its errors.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use attache_client::{
    Client, ClientError, ClientOptions, DEVELOPMENT_TOOL, FixedCredential, InterfaceHost, ListTasks,
    RemoteTask, StreamEvent,
};
use attache_domain::{MAX_PAGE_SIZE, visible_line};
use attache_net::{BaseUrl, NetError, NetworkSettings, Secret};
use tokio::time::timeout;

use crate::call::{CredentialOrigin, with_credential_hint};
use crate::printable::printable;
use crate::report::with_hint;

/// A token is not longer than this.
const MAX_TOKEN_BYTES: u64 = 64 << 10;
/// How many tasks are searched for one whose id begins as given.
const MAX_TASKS_SEARCHED: usize = 5000;
/// A stream that is silent for this long has sent everything that is stored.
const IDLE_TIMEOUT: Duration = Duration::from_millis(500);
/// The cursor before the first event of a task.
pub(crate) const START_CURSOR: &str = "0";

/// Where the server is, and the file of its token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerAddress<'a> {
    pub(crate) address: &'a str,
    pub(crate) token_file: Option<&'a Path>,
}

pub(crate) struct ServerConnection {
    pub(crate) client: Client,
    address: String,
    has_token: bool,
}

impl ServerConnection {
    /// With `shows_work`, the agent shows thoughts and tool calls, if it can; others ignore that.
    pub(crate) async fn connect(
        place: ServerAddress<'_>,
        variable: Option<String>,
        network: NetworkSettings,
        shows_work: bool,
    ) -> anyhow::Result<Self> {
        let token = token(place.token_file, variable)?;
        let has_token = token.is_some();
        let address = place.address.to_owned();
        // What a person says to a server of their own does not cross a network readable, with or without a token.
        BaseUrl::parse(&address).map_err(|error| explained(error.into(), &address, has_token))?;
        let extensions = if shows_work { vec![DEVELOPMENT_TOOL.to_owned()] } else { Vec::new() };
        // The person says where the server is, and its card may name another way to it.
        let options = ClientOptions {
            credential: token.as_ref().map(FixedCredential::bearer),
            extensions,
            interface_host: InterfaceHost::Given,
            net: network.client_options(),
            ..ClientOptions::default()
        };
        let client = Client::connect(&address, options)
            .await
            .map_err(|error| explained(error, &address, has_token))?;
        Ok(Self { client, address, has_token })
    }

    /// The error with advice for people.
    pub(crate) fn describe_error(&self, error: ClientError) -> anyhow::Error {
        explained(error, &self.address, self.has_token)
    }

    /// Adds advice about the token, if the server refused it.
    pub(crate) fn with_credential_hint(&self, error: anyhow::Error) -> anyhow::Error {
        match self.has_token {
            true => {
                with_credential_hint(error, &CredentialOrigin::CommandLine("--token-file or ATTACHE_TOKEN"))
            }
            false => error,
        }
    }

    /// The agent shows its work through the development-tool extension.
    pub(crate) fn shows_development(&self) -> bool {
        self.client.card().extension(DEVELOPMENT_TOOL).is_some()
    }

    /// The task with this id, or the only one whose id begins with it.
    pub(crate) async fn find(&self, id: &str) -> anyhow::Result<RemoteTask> {
        match self.client.get(id, None).await {
            Ok(task) => return Ok(task),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(self.describe_error(error)),
        }
        let known = self.all(list_request(), MAX_TASKS_SEARCHED).await?;
        let ids: Vec<&str> =
            known.iter().map(|task| task.id.as_str()).filter(|it| it.starts_with(id)).collect();
        match ids[..] {
            [] => Err(with_hint(
                anyhow!("there is no task {id}"),
                "attache tasks list shows the tasks that there are",
            )),
            [only] => self.client.get(only, None).await.map_err(|error| self.describe_error(error)),
            [first, second, ..] => Err(with_hint(
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

    /// The conversation with this id, or the only one whose id begins with it.
    pub(crate) async fn find_context(&self, id: &str) -> anyhow::Result<String> {
        let exact = ListTasks { context: Some(id.into()), page_size: 1, ..list_request() };
        if !self.all(exact, 1).await?.is_empty() {
            return Ok(id.to_owned());
        }
        let known = self.all(list_request(), MAX_TASKS_SEARCHED).await?;
        let mut ids: Vec<&str> =
            known.iter().map(|task| task.context.as_str()).filter(|it| it.starts_with(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        match ids[..] {
            [only] => Ok(only.to_owned()),
            [] => Err(with_hint(
                anyhow!("there is no conversation {}", visible_line(id)),
                "the column CONTEXT of attache tasks list shows those that there are",
            )),
            [first, second, ..] => Err(with_hint(
                anyhow!(
                    "{} conversations begin with {}, among them {} and {}",
                    ids.len(),
                    visible_line(id),
                    visible_line(first),
                    visible_line(second)
                ),
                "give more of the id",
            )),
        }
    }

    /// The task of a conversation that takes a message now, if one does.
    pub(crate) async fn open_task_in(&self, context: &str) -> anyhow::Result<Option<RemoteTask>> {
        let of_context = ListTasks { context: Some(context.into()), ..list_request() };
        let known = self.all(of_context, MAX_TASKS_SEARCHED).await?;
        Ok(known.into_iter().find(|task| !task.status.is_terminal()))
    }

    /// Every event of a task up to what `task` shows, or a little more.
    pub(crate) async fn events_until(&self, task: &RemoteTask) -> anyhow::Result<Vec<StreamEvent>> {
        let (mut all, mut after) = (Vec::new(), START_CURSOR.to_owned());
        loop {
            let mut events = match self.client.subscribe(task.id.as_str(), Some(&after)).await {
                Ok(events) => events,
                Err(error) if error.is_finished() => return Ok(all),
                Err(error) => return Err(self.describe_error(error)),
            };
            loop {
                // Stored events come at once, so after a pause all of them have come.
                let Ok(event) = timeout(IDLE_TIMEOUT, events.next()).await else { return Ok(all) };
                let Some(event) = event.transpose().map_err(|error| self.describe_error(error))? else {
                    break;
                };
                let is_last = event.cursor().is_some() && event.cursor() == task.cursor();
                all.push(event);
                if is_last {
                    return Ok(all);
                }
            }
            // A question ends a stream even if it was answered long ago.
            match events.last_event_id() {
                Some(last) if last != after => after = last.to_owned(),
                _ => return Ok(all),
            }
        }
    }

    /// Page after page, up to `limit` tasks.
    pub(crate) async fn all(&self, mut list: ListTasks, limit: usize) -> anyhow::Result<Vec<RemoteTask>> {
        let mut tasks = Vec::new();
        while tasks.len() < limit {
            let page = self.client.list(list.clone()).await.map_err(|error| self.describe_error(error))?;
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

/// Tasks without what was said in them.
fn list_request() -> ListTasks {
    ListTasks { history_length: Some(0), page_size: MAX_PAGE_SIZE, ..ListTasks::default() }
}

pub(crate) fn token(file: Option<&Path>, variable: Option<String>) -> anyhow::Result<Option<Secret>> {
    let text = match file {
        None => variable,
        Some(path) => {
            let opened =
                File::open(path).with_context(|| format!("cannot read the token file {}", path.display()))?;
            let mut text = String::new();
            opened.take(MAX_TOKEN_BYTES).read_to_string(&mut text).context("cannot read the token file")?;
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

fn explained(error: ClientError, address: &str, has_token: bool) -> anyhow::Error {
    let hint = match &error {
        ClientError::Net(NetError::Connect { .. }) => {
            return with_hint(
                anyhow!("no server listens at {address}"),
                "start a server with `attache serve`, or name another one with --server or ATTACHE_SERVER",
            );
        }
        ClientError::Net(NetError::Address { .. }) | ClientError::Address { .. } => {
            "give it as http://127.0.0.1:PORT or https://HOST"
        }
        ClientError::Unauthenticated { .. } if has_token => {
            "the token is not the one that the server was started with; check --token-file and ATTACHE_TOKEN"
        }
        ClientError::Unauthenticated { .. } => {
            "give the server's token with --token-file FILE or in ATTACHE_TOKEN"
        }
        ClientError::Malformed { .. }
        | ClientError::Status { .. }
        | ClientError::NoCard { .. }
        | ClientError::NoInterface { .. } => "is that the address of attache, or of another A2A agent?",
        _ => return anyhow!("{}", printable(&error.to_string())),
    };
    with_hint(anyhow!("{address}: {}", printable(&error.to_string())), hint)
}
