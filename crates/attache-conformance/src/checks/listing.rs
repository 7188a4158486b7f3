//! Lists of tasks (L1 to L6): filters, order, pages, and omitted content.

use serde_json::{Value, json};

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, choice, ensure, must, quality};
use crate::error_response::Reply;
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::http::HttpRequest;
use crate::json_form::JsonForm;
use crate::pair::Pair;
use crate::protocol::{Binding, State, Task, TaskPage};
use crate::request::SendRequest;

const JSON: &[Binding] = &[Binding::JsonRpc, Binding::Rest];

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("L1-context", "a list can be limited to a context", by_context),
        must("L1-status", "a list can be limited to a state", by_status).needs_behaviour(Behaviour::Ask),
        must("L1-both", "filters combine with AND", by_both).needs_behaviour(Behaviour::Ask),
        must("L1-after", "a list can be limited to what changed since a time, that time included", by_time),
        must("L1-unknown-status", "an unknown state is refused", unknown_status).on(JSON),
        quality("L1-any-status", "an unspecified state is any", unspecified_status),
        quality("L1-bad-time", "a time that is none is refused", bad_time).on(JSON),
        must("L2", "the latest status comes first", latest_first).needs_behaviour(Behaviour::Ask),
        must("L3-pages", "pages follow each other without a gap or a repeat", pages),
        must("L3-default", "a page holds 50 tasks when nothing else is said", default_size),
        must("L3-zero", "a page size of 0 is refused", |pair| size_refused(pair, 0)),
        must("L3-negative", "a negative page size is refused", |pair| size_refused(pair, -1)),
        must("L3-large", "a page size of more than 100 is refused", |pair| size_refused(pair, 101)),
        must("L3-most", "a page size of 100 is served", largest_size),
        must("L3-token", "a page token that was not given out is refused", bad_token),
        quality("L3-inserts", "new tasks do not disturb the pages that follow", inserts),
        quality("L3-other-filter", "a token does not serve another filter", other_filter),
        must("L4-members", "a list always has its four members", four_members).on(JSON),
        must("L4-last", "the last page has an empty token", last_token),
        must("L4-total", "the total counts all that match, not just the page", total),
        choice("L4-size", "the reported page size is the one that applies", reported_size),
        must("L5-without", "artifacts are left out unless they were asked for", without_artifacts)
            .needs_behaviour(Behaviour::Complete),
        must("L5-with", "artifacts are there when they were asked for", with_artifacts)
            .needs_behaviour(Behaviour::Complete),
        must("L5-empty", "artifacts that were asked for are there even when there are none", empty_artifacts)
            .needs_behaviour(Behaviour::Ask)
            .on(JSON),
        must("L6-names", "the names in a query are camelCase", query_names).on(&[Binding::Rest]),
    ];
    let mut checks: Vec<Check> = checks.into_iter().map(Check::only_1_0).collect();
    checks.push(
        choice("1.3", "0.3 has no list of tasks", not_in_0_3)
            .only_0_3()
            .on(&[Binding::JsonRpc, Binding::Rest]),
    );
    checks.push(must("L1-empty", "a context without tasks has an empty list", empty).only_1_0());
    checks
}

fn context() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// `count` finished tasks in a new context, the first one first.
async fn some(pair: &Pair, count: usize) -> CheckResult<(String, Vec<Task>)> {
    let context = context();
    let mut tasks = Vec::new();
    for _ in 0..count {
        tasks.push(
            pair.send(SendRequest::behaving(Behaviour::Complete).in_context(&context).waiting())
                .await?
                .task()?,
        );
    }
    Ok((context, tasks))
}

async fn page(pair: &Pair, context: &str, more: &[(&'static str, Value)]) -> CheckResult<TaskPage> {
    let mut members = vec![("contextId", json!(context))];
    members.extend_from_slice(more);
    pair.list(&members).await?.done()
}

fn ids(tasks: &[Task]) -> Vec<&str> {
    let mut ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

async fn by_context(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 2).await?;
    some(&pair, 1).await?;
    let page = page(&pair, &context, &[]).await?;
    ensure!(ids(&page.tasks) == ids(&tasks), "the list is {:?}", page.ids());
    Ok(())
}

async fn empty(pair: Pair) -> CheckResult {
    let page = page(&pair, &context(), &[]).await?;
    ensure!(page.tasks.is_empty() && page.next().is_empty(), "the list is {:?}", page.ids());
    ensure!(page.number("totalSize").unwrap_or_default() == 0, "the total is {:?}", page.number("totalSize"));
    Ok(())
}

async fn by_status(pair: Pair) -> CheckResult {
    let (context, finished) = some(&pair, 1).await?;
    let waiting =
        pair.send(SendRequest::behaving(Behaviour::Ask).in_context(&context).waiting()).await?.task()?;
    let status = json!(JsonForm::V1_0.state(State::InputRequired));
    let page = pair.unchecked().list(&[("status", status), ("pageSize", json!(100))]).await?.done()?;
    ensure!(page.ids().contains(&waiting.id.as_str()), "the waiting task is not in the list");
    // Tasks of other checks change during the listing.
    let ends = page.ids().contains(&finished[0].id.as_str());
    ensure!(!ends, "a finished task is in the list of waiting ones");
    Ok(())
}

async fn by_both(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 1).await?;
    pair.send(SendRequest::behaving(Behaviour::Ask).in_context(&context).waiting()).await?.task()?;
    let page = page(&pair, &context, &[("status", json!("TASK_STATE_COMPLETED"))]).await?;
    ensure!(ids(&page.tasks) == ids(&tasks), "the list is {:?}", page.ids());
    Ok(())
}

async fn by_time(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 1).await?;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    let later =
        pair.send(SendRequest::behaving(Behaviour::Complete).in_context(&context).waiting()).await?.task()?;
    let listed = page(&pair, &context, &[]).await?;
    let Some(listed) = listed.tasks.iter().find(|task| task.id == later.id) else {
        return crate::check::fail("the task is not in the list");
    };
    let Some(time) = listed.status.timestamp.clone() else {
        return crate::check::fail("it has no timestamp");
    };
    let since = page(&pair, &context, &[("statusTimestampAfter", json!(time))]).await?;
    ensure!(
        since.ids() == [later.id.as_str()],
        "since {time} there are {:?} (not {})",
        since.ids(),
        tasks[0].id
    );
    let future = page(&pair, &context, &[("statusTimestampAfter", json!("2999-01-01T00:00:00Z"))]).await?;
    ensure!(future.tasks.is_empty(), "there are tasks of the year 2999");
    Ok(())
}

async fn unknown_status(pair: Pair) -> CheckResult {
    pair.list(&[("status", json!("TASK_STATE_DREAMING"))]).await?.expect(ExpectedError::InvalidParams)
}

async fn unspecified_status(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 1).await?;
    let page = page(&pair, &context, &[("status", json!("TASK_STATE_UNSPECIFIED"))]).await?;
    ensure!(ids(&page.tasks) == ids(&tasks), "the list is {:?}", page.ids());
    Ok(())
}

async fn bad_time(pair: Pair) -> CheckResult {
    pair.list(&[("statusTimestampAfter", json!("yesterday"))]).await?.expect(ExpectedError::InvalidParams)
}

/// Two contexts, because an agent may treat a message in the context of a waiting task as an answer to it.
async fn latest_first(pair: Pair) -> CheckResult {
    let (first, second) = (context(), context());
    let waiting =
        pair.send(SendRequest::behaving(Behaviour::Ask).in_context(&first).waiting()).await?.task()?;
    let pause = std::time::Duration::from_millis(10);
    tokio::time::sleep(pause).await;
    let other =
        pair.send(SendRequest::behaving(Behaviour::Complete).in_context(&second).waiting()).await?.task()?;
    let before = order(&pair, [&waiting, &other]).await?;
    ensure!(before == [other.id.as_str(), waiting.id.as_str()], "the order is {before:?}");
    tokio::time::sleep(pause).await;
    pair.send(SendRequest::text("that one").for_task(&waiting.id).waiting()).await?.task()?;
    let after = order(&pair, [&waiting, &other]).await?;
    ensure!(after == [waiting.id.as_str(), other.id.as_str()], "after a change the order is {after:?}");
    Ok(())
}

/// The ids of these tasks in the order of a list of all tasks.
async fn order(pair: &Pair, tasks: [&Task; 2]) -> CheckResult<Vec<String>> {
    let page: TaskPage = pair.list(&[("pageSize", json!(100))]).await?.done()?;
    let is_one = |id: &&str| tasks.iter().any(|task| task.id == *id);
    Ok(page.ids().into_iter().filter(is_one).map(str::to_owned).collect())
}

async fn walk(pair: &Pair, context: &str, size: usize) -> CheckResult<Vec<String>> {
    let mut found = Vec::new();
    let mut token = String::new();
    for _ in 0..50 {
        let mut members = vec![("pageSize", json!(size))];
        if !token.is_empty() {
            members.push(("pageToken", json!(token)));
        }
        let page = page(pair, context, &members).await?;
        ensure!(page.tasks.len() <= size, "a page of {} tasks, asked for {size}", page.tasks.len());
        found.extend(page.tasks.iter().map(|task| task.id.clone()));
        token = page.next().to_owned();
        if token.is_empty() {
            return Ok(found);
        }
    }
    crate::check::fail("the pages do not end")
}

async fn pages(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 5).await?;
    let mut found = walk(&pair, &context, 2).await?;
    found.sort_unstable();
    ensure!(found == ids(&tasks), "the pages hold {found:?}");
    Ok(())
}

async fn default_size(pair: Pair) -> CheckResult {
    // The page also has tasks of other checks, which may have any shape.
    let page = pair.unchecked().list(&[]).await?.done()?;
    ensure!(page.tasks.len() <= 50, "the page has {} tasks", page.tasks.len());
    ensure!(
        page.tasks.len() == 50 || page.next().is_empty(),
        "there is a next page after one of {} tasks",
        page.tasks.len()
    );
    Ok(())
}

async fn size_refused(pair: Pair, size: i64) -> CheckResult {
    pair.list(&[("pageSize", json!(size))]).await?.expect(ExpectedError::InvalidParams)
}

async fn largest_size(pair: Pair) -> CheckResult {
    let page = pair.unchecked().list(&[("pageSize", json!(100))]).await?.done()?;
    ensure!(page.tasks.len() <= 100, "the page has {} tasks", page.tasks.len());
    Ok(())
}

async fn bad_token(pair: Pair) -> CheckResult {
    pair.list(&[("pageToken", json!("conformance-no-token"))]).await?.expect(ExpectedError::InvalidParams)
}

async fn inserts(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 3).await?;
    let first = page(&pair, &context, &[("pageSize", json!(2))]).await?;
    pair.send(SendRequest::behaving(Behaviour::Complete).in_context(&context).waiting()).await?.task()?;
    let token = json!(first.next());
    let second = page(&pair, &context, &[("pageSize", json!(2)), ("pageToken", token)]).await?;
    ensure!(second.ids() == [tasks[0].id.as_str()], "the second page is {:?}", second.ids());
    Ok(())
}

async fn other_filter(pair: Pair) -> CheckResult {
    let (context, _) = some(&pair, 2).await?;
    let first = page(&pair, &context, &[("pageSize", json!(1))]).await?;
    ensure!(!first.next().is_empty(), "there is no next page");
    let members = [("contextId", json!(self::context())), ("pageToken", json!(first.next()))];
    match pair.list(&members).await? {
        Reply::Refused(refusal) => refusal.expect(ExpectedError::InvalidParams),
        Reply::Done(page, _) => {
            ensure!(page.tasks.is_empty(), "the token brought tasks of another context");
            Ok(())
        }
    }
}

async fn four_members(pair: Pair) -> CheckResult {
    let page = page(&pair, &context(), &[]).await?;
    for member in ["tasks", "nextPageToken", "pageSize", "totalSize"] {
        ensure!(page.raw.get(member).is_some(), "`{member}` is missing: {}", page.raw);
    }
    Ok(())
}

async fn last_token(pair: Pair) -> CheckResult {
    let (context, _) = some(&pair, 1).await?;
    let page = page(&pair, &context, &[]).await?;
    if pair.binding() != Binding::Grpc {
        ensure!(page.raw["nextPageToken"] == "", "it is {}", page.raw["nextPageToken"]);
    }
    ensure!(page.next().is_empty(), "it is {:?}", page.next());
    Ok(())
}

async fn total(pair: Pair) -> CheckResult {
    let (context, _) = some(&pair, 3).await?;
    let page = page(&pair, &context, &[("pageSize", json!(1))]).await?;
    ensure!(page.number("totalSize") == Some(3), "it is {:?}", page.number("totalSize"));
    Ok(())
}

async fn reported_size(pair: Pair) -> CheckResult {
    let (context, _) = some(&pair, 1).await?;
    let page = page(&pair, &context, &[("pageSize", json!(7))]).await?;
    ensure!(page.number("pageSize") == Some(7), "it is {:?}", page.number("pageSize"));
    Ok(())
}

async fn without_artifacts(pair: Pair) -> CheckResult {
    let (context, _) = some(&pair, 1).await?;
    for members in [&[][..], &[("includeArtifacts", json!(false))]] {
        let page = page(&pair, &context, members).await?;
        let there = page.tasks.iter().find(|task| task.raw.get("artifacts").is_some());
        ensure!(there.is_none(), "a task has `artifacts`: {:?}", there.map(|task| &task.raw["artifacts"]));
    }
    Ok(())
}

async fn with_artifacts(pair: Pair) -> CheckResult {
    let (context, _) = some(&pair, 1).await?;
    let page = page(&pair, &context, &[("includeArtifacts", json!(true))]).await?;
    let text: String = page.tasks.iter().flat_map(Task::artifacts).map(|artifact| artifact.text()).collect();
    ensure!(text == "done", "their text is {text:?}");
    Ok(())
}

async fn empty_artifacts(pair: Pair) -> CheckResult {
    let context = context();
    pair.send(SendRequest::behaving(Behaviour::Ask).in_context(&context).waiting()).await?.task()?;
    let page = page(&pair, &context, &[("includeArtifacts", json!(true))]).await?;
    ensure!(page.tasks.iter().all(|task| task.artifacts.is_some()), "`artifacts` is missing");
    Ok(())
}

async fn query_names(pair: Pair) -> CheckResult {
    let (context, tasks) = some(&pair, 2).await?;
    let query = format!("/tasks?contextId={context}&pageSize=1&includeArtifacts=true");
    let request = HttpRequest::new(http::Method::GET, framing::rest_url(&pair, &query));
    let body = pair.rest_reply(pair.raw(request).await?)?.done()?;
    let page = crate::json_form::as_page(pair.json_form(), &body)?;
    ensure!(page.ids() == [tasks[1].id.as_str()], "the list is {:?}", page.ids());
    Ok(())
}

async fn not_in_0_3(pair: Pair) -> CheckResult {
    if pair.binding() == Binding::Rest {
        let answer =
            pair.raw(HttpRequest::new(http::Method::GET, framing::rest_url(&pair, "/tasks"))).await?;
        ensure!(answer.status() == 404, "HTTP {} {}", answer.status(), answer.text());
        return Ok(());
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/list", "params": {}});
    let answer = pair.post(body.to_string()).await?;
    pair.json_rpc_reply(answer, &json!(1))?.expect(ExpectedError::MethodNotFound)
}
