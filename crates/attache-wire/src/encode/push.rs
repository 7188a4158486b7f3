//! Push configurations for their owner, with their secrets.

use attache_domain::{PushAuthentication, PushConfig, PushConfigPage, StoredPushConfig};

use super::text::{write_array, write_optional_text, write_text, write_texts};
use crate::{JsonForm, Version};

pub(super) fn write(json_form: JsonForm, kept: &StoredPushConfig, out: &mut Vec<u8>) {
    match json_form {
        JsonForm::V1_0 => {
            out.extend_from_slice(b"{\"taskId\":");
            write_text(kept.task.as_str(), out);
            out.push(b',');
            write_members(Version::V1_0, &kept.config, out);
        }
        JsonForm::V0_3Rpc => {
            out.extend_from_slice(b"{\"taskId\":");
            write_text(kept.task.as_str(), out);
            write_nested(&kept.config, out);
        }
        JsonForm::V0_3Rest => {
            out.extend_from_slice(b"{\"name\":");
            let (task, config) = (&kept.task, &kept.config.id);
            write_text(&format!("tasks/{task}/pushNotificationConfigs/{config}"), out);
            write_nested(&kept.config, out);
        }
    }
    out.push(b'}');
}

/// 0.3 on JSON-RPC has a bare list.
pub(super) fn write_page(json_form: JsonForm, page: &PushConfigPage, out: &mut Vec<u8>) {
    let configs =
        |out: &mut Vec<u8>| write_array(&page.configs, out, |kept, out| write(json_form, kept, out));
    if json_form == JsonForm::V0_3Rpc {
        return configs(out);
    }
    out.extend_from_slice(b"{\"configs\":");
    configs(out);
    if !page.next_page_token.is_empty() {
        out.extend_from_slice(b",\"nextPageToken\":");
        write_text(&page.next_page_token, out);
    }
    out.push(b'}');
}

fn write_nested(config: &PushConfig, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"pushNotificationConfig\":{");
    write_members(Version::V0_3, config, out);
    out.push(b'}');
}

pub(crate) fn write_members(version: Version, config: &PushConfig, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"id\":");
    write_text(config.id.as_str(), out);
    out.extend_from_slice(b",\"url\":");
    write_text(&config.url, out);
    write_optional_text(b",\"token\":", config.token.as_deref(), out);
    let Some(PushAuthentication { schemes, credentials }) = &config.authentication else { return };
    match version {
        Version::V1_0 => {
            out.extend_from_slice(b",\"authentication\":{\"scheme\":");
            write_text(schemes.first().map(String::as_str).unwrap_or_default(), out);
        }
        Version::V0_3 if schemes.is_empty() => out.extend_from_slice(b",\"authentication\":{\"schemes\":[]"),
        Version::V0_3 => {
            out.extend_from_slice(b",\"authentication\":{");
            write_texts(b"\"schemes\":", schemes, out);
        }
    }
    write_optional_text(b",\"credentials\":", credentials.as_deref(), out);
    out.push(b'}');
}
