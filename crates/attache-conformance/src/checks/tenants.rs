//! Tenants (section 10): in the path, in the parameters, and apart from each other.

use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, choice, ensure, fail, must, not_applicable, quality};
use crate::error_response::Reply;
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::http::HttpRequest;
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{Binding, SendResult};
use crate::request::SendRequest;

const TENANT: &str = "conformance-tenant";

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        choice("T-unknown", "a tenant that was not announced is served, or refused as not found", unknown),
        quality("T-apart", "a task of one tenant is not to be found under another", apart)
            .needs_behaviour(Behaviour::Complete),
        must("T-path", "the tenant in the path counts before the one in the body", path_wins)
            .needs_behaviour(Behaviour::Complete)
            .on(&[Binding::Rest]),
        quality("T-list", "a list tells only the tenant's tasks", list).needs_behaviour(Behaviour::Complete),
    ];
    checks.into_iter().map(Check::only_1_0).collect()
}

/// A finished task of a tenant; none if the server has no tenants.
async fn task_of(pair: &Pair, tenant: &str) -> CheckResult<String> {
    match pair
        .clone()
        .with_tenant(Some(tenant))
        .send(SendRequest::behaving(Behaviour::Complete).waiting())
        .await?
    {
        Reply::Done(SendResult::Task(task), _) => Ok(task.id),
        Reply::Done(SendResult::Message(_), _) => not_applicable("the answer is a message"),
        Reply::Refused(_) => not_applicable("the server knows no such tenant"),
    }
}

async fn unknown(pair: Pair) -> CheckResult {
    match pair.clone().with_tenant(Some(TENANT)).send(SendRequest::behaving(Behaviour::Complete)).await? {
        Reply::Done(..) => Ok(()),
        Reply::Refused(refusal) => {
            let good = match pair.binding() {
                Binding::JsonRpc => refusal.is(ExpectedError::InvalidParams),
                Binding::Rest => refusal.head.status == 404,
                Binding::Grpc => refusal.status.as_deref() == Some("NOT_FOUND"),
            };
            ensure!(good, "it was refused with {}", refusal.shown());
            Ok(())
        }
    }
}

async fn apart(pair: Pair) -> CheckResult {
    let id = task_of(&pair, TENANT).await?;
    pair.clone().with_tenant(Some(TENANT)).get(&id).await?.done()?;
    match pair.clone().with_tenant(Some("conformance-other")).get(&id).await? {
        Reply::Refused(refusal) => refusal.expect(ExpectedError::TaskNotFound)?,
        Reply::Done(..) => return fail("another tenant reads the task"),
    }
    pair.get(&id).await?.expect(ExpectedError::TaskNotFound)
}

async fn path_wins(pair: Pair) -> CheckResult {
    let id = task_of(&pair, TENANT).await?;
    let mut body = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete).waiting());
    body["tenant"] = json!("conformance-other");
    let tenant = pair.clone().with_tenant(Some(TENANT));
    let request = HttpRequest::new(http::Method::POST, framing::rest_url(&tenant, "/message:send"))
        .body(body.to_string());
    let sent = tenant.rest_reply(tenant.raw(request).await?)?.done()?;
    let Some(made) = sent["task"]["id"].as_str() else { return not_applicable("the answer is no task") };
    tenant.get(made).await?.done()?;
    if pair.clone().with_tenant(Some("conformance-other")).get(&id).await?.refused().is_err() {
        return not_applicable("the server keeps tenants together");
    }
    pair.with_tenant(Some("conformance-other")).get(made).await?.expect(ExpectedError::TaskNotFound)
}

async fn list(pair: Pair) -> CheckResult {
    let tenant = uuid::Uuid::new_v4().to_string();
    let id = task_of(&pair, &tenant).await?;
    let page = pair.unchecked().with_tenant(Some(&tenant)).list(&[]).await?.done()?;
    ensure!(page.ids() == [id.as_str()], "the list is {:?}", page.ids());
    Ok(())
}
