//! A setting with its origin, to be shown.

use serde_json::Value;

use crate::Settings;
use crate::origin::SettingOrigin;

/// One key. Secrets are already hidden in its value.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingEntry {
    pub key: String,
    pub value: Value,
    /// The strongest first. A merged list has several.
    pub origins: Vec<SettingOrigin>,
}

impl SettingEntry {
    /// The value for people: texts without quotes, `null` as a dash.
    pub fn shown_value(&self) -> String {
        match &self.value {
            Value::Null => "-".to_owned(),
            Value::String(text) => {
                text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
            }
            other => other.to_string(),
        }
    }

    pub fn shown_origin(&self) -> String {
        self.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Settings {
    /// The operator's keys, by name.
    pub fn entries(&self) -> &[SettingEntry] {
        &self.entries
    }
}
