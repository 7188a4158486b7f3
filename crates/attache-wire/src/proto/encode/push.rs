//! Push configurations, for their owner: what is secret in them is shown.

use attache_domain::{PushAuthentication, PushConfig, StoredPushConfig};

use super::field_writer::{FieldWriter, write_nested};
use crate::Version;

pub(super) fn write(version: Version, kept: &StoredPushConfig, out: &mut Vec<u8>) {
    let (task, config) = (&kept.task, &kept.config);
    match version {
        Version::V1_0 => {
            out.text(2, config.id.as_str());
            out.text(3, task.as_str());
            write_address(4, config, out);
            if let Some(PushAuthentication { schemes, credentials }) = &config.authentication {
                write_nested(6, out, |out| {
                    out.optional_text(1, schemes.first().map(String::as_str));
                    out.optional_text(2, credentials.as_deref());
                });
            }
        }
        Version::V0_3 => {
            out.text(1, &format!("tasks/{task}/pushNotificationConfigs/{}", config.id));
            write_nested(2, out, |out| {
                out.text(1, config.id.as_str());
                write_address(2, config, out);
                if let Some(PushAuthentication { schemes, credentials }) = &config.authentication {
                    write_nested(4, out, |out| {
                        out.texts(1, schemes.iter().map(String::as_str));
                        out.optional_text(2, credentials.as_deref());
                    });
                }
            });
        }
    }
}

/// The URL under `first`, the token after it.
fn write_address(first: u32, config: &PushConfig, out: &mut Vec<u8>) {
    out.text(first, &config.url);
    out.optional_text(first + 1, config.token.as_deref());
}
