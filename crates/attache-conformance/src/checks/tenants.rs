//! Tenants (section 10): in the path, in the parameters, and apart from each other.

use serde_json::json;

use crate::check::{Check, Outcome, choice, ensure, fail, must, not_applicable, quality};
use crate::dialect;
use crate::fault::Fault;
use crate::framing;
use crate::http::Request;
use crate::pair::Pair;
use crate::refusal::Reply;
use crate::request::Send;
use crate::steering::Word;
use crate::words::{Binding, Sent};

const TENANT: &str = "conformance-tenant";

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        choice("T-unknown", "a tenant that was not announced is served, or refused as not found", unknown),
        quality("T-apart", "a task of one tenant is not to be found under another", apart)
            .word(Word::Complete),
        must("T-path", "the tenant in the path counts before the one in the body", path_wins)
            .word(Word::Complete)
            .on(&[Binding::Rest]),
        quality("T-list", "a list tells only the tenant's tasks", list).word(Word::Complete),
    ];
    checks.into_iter().map(Check::only_1_0).collect()
}

/// A finished task of a tenant, unless the server has none such.
async fn task_of(pair: &Pair, tenant: &str) -> Outcome<String> {
    match pair.clone().with_tenant(Some(tenant)).send(Send::word(Word::Complete).waiting()).await? {
        Reply::Done(Sent::Task(task), _) => Ok(task.id),
        Reply::Done(Sent::Message(_), _) => not_applicable("the answer is a message"),
        Reply::Refused(_) => not_applicable("the server knows no such tenant"),
    }
}

async fn unknown(pair: Pair) -> Outcome {
    match pair.clone().with_tenant(Some(TENANT)).send(Send::word(Word::Complete)).await? {
        Reply::Done(..) => Ok(()),
        Reply::Refused(refusal) => {
            let good = match pair.binding() {
                Binding::JsonRpc => refusal.is(Fault::InvalidParams),
                Binding::Rest => refusal.head.status == 404,
                Binding::Grpc => refusal.status.as_deref() == Some("NOT_FOUND"),
            };
            ensure!(good, "it was refused with {}", refusal.shown());
            Ok(())
        }
    }
}

async fn apart(pair: Pair) -> Outcome {
    let id = task_of(&pair, TENANT).await?;
    pair.clone().with_tenant(Some(TENANT)).get(&id).await?.done()?;
    match pair.clone().with_tenant(Some("conformance-other")).get(&id).await? {
        Reply::Refused(refusal) => refusal.expect(Fault::TaskNotFound)?,
        Reply::Done(..) => return fail("another tenant reads the task"),
    }
    pair.get(&id).await?.expect(Fault::TaskNotFound)
}

async fn path_wins(pair: Pair) -> Outcome {
    let id = task_of(&pair, TENANT).await?;
    let mut body = dialect::send(pair.dialect(), &Send::word(Word::Complete).waiting());
    body["tenant"] = json!("conformance-other");
    let tenant = pair.clone().with_tenant(Some(TENANT));
    let request =
        Request::new(http::Method::POST, framing::rest_url(&tenant, "/message:send")).body(body.to_string());
    let sent = tenant.rest_reply(tenant.raw(request).await?)?.done()?;
    let Some(made) = sent["task"]["id"].as_str() else { return not_applicable("the answer is no task") };
    tenant.get(made).await?.done()?;
    if pair.clone().with_tenant(Some("conformance-other")).get(&id).await?.refused().is_err() {
        return not_applicable("the server keeps tenants together");
    }
    pair.with_tenant(Some("conformance-other")).get(made).await?.expect(Fault::TaskNotFound)
}

async fn list(pair: Pair) -> Outcome {
    let tenant = uuid::Uuid::new_v4().to_string();
    let id = task_of(&pair, &tenant).await?;
    let page = pair.quietly().with_tenant(Some(&tenant)).list(&[]).await?.done()?;
    ensure!(page.ids() == [id.as_str()], "the list is {:?}", page.ids());
    Ok(())
}
