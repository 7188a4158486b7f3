//! Protocol versions and their JSON forms.

/// A protocol version as clients name it: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    V0_3,
    V1_0,
}

impl Version {
    pub const ALL: [Version; 2] = [Version::V0_3, Version::V1_0];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        }
    }
}

/// One form of A2A's objects in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonForm {
    /// ProtoJSON of the 1.0 definitions, on both bindings.
    V1_0,
    /// The JSON Schema types of 0.3, distinguished by `kind`.
    V0_3Rpc,
    /// ProtoJSON of the 0.3 definitions, under `/v1`.
    V0_3Rest,
}

impl JsonForm {
    /// Every [`JsonForm::index`] is below this.
    pub const COUNT: usize = 3;
    pub const ALL: [JsonForm; JsonForm::COUNT] = [JsonForm::V1_0, JsonForm::V0_3Rpc, JsonForm::V0_3Rest];

    pub fn version(self) -> Version {
        match self {
            Self::V1_0 => Version::V1_0,
            Self::V0_3Rpc | Self::V0_3Rest => Version::V0_3,
        }
    }

    /// Index in a table with one entry per form.
    pub fn index(self) -> usize {
        match self {
            Self::V1_0 => 0,
            Self::V0_3Rpc => 1,
            Self::V0_3Rest => 2,
        }
    }

    /// Follows protobuf's JSON mapping: accepts integer enum values and numbers in quotes.
    pub(crate) fn is_proto_json(self) -> bool {
        self != Self::V0_3Rpc
    }
}
