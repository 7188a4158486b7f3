//! The parameters of push configuration calls, and the configuration that a send may carry.
//!
//! The meaning of `id` changed: in 0.3 it is the task, in 1.0 the configuration. Whether an address is allowed is not
//! decided here.

use attache_domain::{
    ListPushConfigs, MAX_PAGE_SIZE, NewPushConfig, PushAuthentication, PushConfig, PushConfigId,
    PushConfigOperation, PushShape, TaskId,
};

use super::decoder::{Decoder, Members};
use crate::{JsonForm, Version};

/// Separates a task's id from a configuration's in a resource name.
pub(crate) const COLLECTION: &str = "/pushNotificationConfigs/";

pub(super) fn read_create(decoder: &mut Decoder, mut members: Members<'_>) -> Option<PushConfigOperation> {
    match decoder.json_form() {
        JsonForm::V1_0 => {
            let task = members.required_id(decoder, "taskId");
            let config = read_flat(decoder, members);
            create(decoder, task?, config?)
        }
        JsonForm::V0_3Rpc => {
            let task = members.required_id(decoder, "taskId");
            let config = read_nested(decoder, &mut members);
            create(decoder, task?, config?)
        }
        JsonForm::V0_3Rest => read_resource(decoder, members),
    }
}

/// The task, and the configuration if the request names one.
pub(super) fn read_get(decoder: &mut Decoder, mut members: Members<'_>) -> Option<PushConfigOperation> {
    let task = task(decoder, &mut members);
    // 1.0 has no way to mean "the only one".
    let config = match decoder.json_form() {
        JsonForm::V1_0 => Some(members.required_id(decoder, "id")?),
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => members.id(decoder, "pushNotificationConfigId"),
    };
    Some(PushConfigOperation::Get { task: task?, config: config.map(PushConfigId::from) })
}

pub(super) fn read_list(decoder: &mut Decoder, mut members: Members<'_>) -> Option<PushConfigOperation> {
    let task = task(decoder, &mut members);
    let most = i64::try_from(MAX_PAGE_SIZE).unwrap_or(i64::MAX);
    let page_size = members.integer(decoder, "pageSize", 0, most);
    Some(PushConfigOperation::List(ListPushConfigs {
        task: task?,
        // Its protobuf form cannot tell zero from absent.
        page_size: page_size.filter(|size| *size > 0),
        page_token: members.text(decoder, "pageToken").unwrap_or_default(),
    }))
}

pub(super) fn read_delete(decoder: &mut Decoder, mut members: Members<'_>) -> Option<PushConfigOperation> {
    let task = task(decoder, &mut members);
    let name = match decoder.json_form() {
        JsonForm::V1_0 => "id",
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => "pushNotificationConfigId",
    };
    let config = members.required_id(decoder, name);
    Some(PushConfigOperation::Delete { task: task?, config: config?.into() })
}

/// The push configuration in a send; ignores the task it may name.
pub(super) fn read_inline(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<Box<NewPushConfig>> {
    let names: &[&str] = match decoder.json_form() {
        JsonForm::V1_0 => &["taskPushNotificationConfig"],
        JsonForm::V0_3Rpc => &["pushNotificationConfig"],
        JsonForm::V0_3Rest => &["pushNotification", "pushNotificationConfig"],
    };
    let name = names.iter().find(|name| members.has(name))?;
    let value = members.take(name)?;
    let above = members.path();
    let config = decoder.members(value, above.member(name))?;
    let config = read_flat(decoder, config)?;
    Some(Box::new(push_request(decoder, config)))
}

fn task(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<TaskId> {
    let name = match decoder.json_form() {
        JsonForm::V1_0 => "taskId",
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => "id",
    };
    members.required_id(decoder, name).map(TaskId::from)
}

fn create(decoder: &Decoder, task: String, config: PushConfig) -> Option<PushConfigOperation> {
    Some(PushConfigOperation::Create { task: task.into(), request: push_request(decoder, config) })
}

/// A receiver gets notifications of the version that asked for them.
fn push_request(decoder: &Decoder, config: PushConfig) -> NewPushConfig {
    let shape = match decoder.json_form().version() {
        Version::V0_3 => PushShape::WholeTask,
        Version::V1_0 => PushShape::EachUpdate,
    };
    NewPushConfig { config, shape }
}

/// 0.3 over REST: the wrapper of the call, the resource itself, or what JSON-RPC sends. The path named the task.
fn read_resource(decoder: &mut Decoder, mut members: Members<'_>) -> Option<PushConfigOperation> {
    let task = members.required_id(decoder, "id")?;
    let above = members.path();
    let given = members.id(decoder, "configId");
    let mut resource = match members.take("config") {
        Some(value) => decoder.members(value, above.member("config"))?,
        None => members,
    };
    let named = resource.nonempty_text(decoder, "name");
    let named = named.and_then(|name| name.split_once(COLLECTION).map(|(_, id)| id.to_owned()));
    let path = above.member("name");
    let named = named.and_then(|id| decoder.id(id, path));
    let mut config = read_nested(decoder, &mut resource)?;
    if let Some(id) = given.or(named).filter(|id| !id.is_empty()) {
        config.id = id.into();
    }
    create(decoder, task, config)
}

pub(crate) fn read_nested(decoder: &mut Decoder, parent: &mut Members<'_>) -> Option<PushConfig> {
    const NAME: &str = "pushNotificationConfig";
    let above = parent.path();
    let Some(value) = parent.take(NAME) else {
        return decoder.refuse(above.member(NAME), "is required");
    };
    let members = decoder.members(value, above.member(NAME))?;
    read_flat(decoder, members)
}

pub(crate) fn read_flat(decoder: &mut Decoder, mut members: Members<'_>) -> Option<PushConfig> {
    let id = members.id(decoder, "id").unwrap_or_default();
    let url = members.required_text(decoder, "url");
    let token = members.nonempty_text(decoder, "token");
    let authentication = read_authentication(decoder, &mut members);
    Some(PushConfig { id: id.into(), url: url?, token, authentication })
}

fn read_authentication(decoder: &mut Decoder, parent: &mut Members<'_>) -> Option<PushAuthentication> {
    let value = parent.take("authentication")?;
    let above = parent.path();
    let mut members = decoder.members(value, above.member("authentication"))?;
    let schemes = match decoder.json_form() {
        JsonForm::V1_0 => vec![members.required_text(decoder, "scheme")?],
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => members.texts(decoder, "schemes"),
    };
    Some(PushAuthentication { schemes, credentials: members.nonempty_text(decoder, "credentials") })
}
