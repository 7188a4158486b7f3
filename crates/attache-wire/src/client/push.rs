//! Push configurations as an agent reports them.

use attache_domain::{PushConfig, TaskId};
use serde_json::Value;

use crate::JsonForm;
use crate::decode::decoder::{Decoder, FieldPath};
use crate::decode::push::{COLLECTION, read_flat, read_nested};

/// Where an agent sends what happens to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotePushConfig {
    /// Empty if the agent does not name it.
    pub task: TaskId,
    pub config: PushConfig,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemotePushConfigPage {
    pub configs: Vec<RemotePushConfig>,
    /// Empty on the last page.
    pub next_page_token: String,
}

pub(super) fn read_config(
    decoder: &mut Decoder,
    value: Value,
    path: FieldPath<'_>,
) -> Option<RemotePushConfig> {
    let mut members = decoder.members(value, path)?;
    let (task, config) = match decoder.json_form() {
        JsonForm::V1_0 => (members.text(decoder, "taskId"), read_flat(decoder, members)),
        JsonForm::V0_3Rpc => (members.text(decoder, "taskId"), read_nested(decoder, &mut members)),
        JsonForm::V0_3Rest => {
            let name = members.text(decoder, "name").unwrap_or_default();
            let (task, id) = name.split_once(COLLECTION).unwrap_or((&name, ""));
            let mut config = read_nested(decoder, &mut members);
            if let Some(config) = config.as_mut().filter(|config| config.id.as_str().is_empty()) {
                config.id = id.into();
            }
            (Some(task.strip_prefix("tasks/").unwrap_or(task).to_owned()), config)
        }
    };
    Some(RemotePushConfig { task: task.unwrap_or_default().into(), config: config? })
}

/// 0.3 on JSON-RPC has a bare list, and so do some agents elsewhere.
pub(super) fn read_page(decoder: &mut Decoder, value: Value) -> Option<RemotePushConfigPage> {
    let root = FieldPath::Root;
    let (configs, next_page_token) = match value {
        Value::Array(configs) => (configs, String::new()),
        value => {
            let mut members = decoder.members(value, root)?;
            let next = members.text(decoder, "nextPageToken").unwrap_or_default();
            let configs = match members.take("configs") {
                Some(configs) => decoder.array(configs, root.member("configs"))?,
                None => Vec::new(),
            };
            (configs, next)
        }
    };
    let above = root.member("configs");
    let configs = configs.into_iter().enumerate();
    let configs = configs.map(|(index, config)| read_config(decoder, config, above.item(index)));
    Some(RemotePushConfigPage { configs: configs.collect::<Option<_>>()?, next_page_token })
}
