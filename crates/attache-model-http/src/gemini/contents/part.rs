//! Parts of a Gemini content, serialised from the conversation without a copy, because it may be long.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Serialize)]
pub(in crate::gemini) struct EncodedContent<'a> {
    pub(super) role: &'static str,
    pub(super) parts: Vec<Part<'a>>,
}

impl EncodedContent<'_> {
    /// A content that answers calls may contain only results.
    pub(super) fn holds_results(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.what, PartContent::FunctionResponse(_)))
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(flatten)]
    pub(super) what: PartContent<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<Cow<'a, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PartContent<'a> {
    Text(Cow<'a, str>),
    InlineData(InlineData<'a>),
    FileData(FileData<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
    /// A part of an earlier Gemini answer, returned unchanged.
    #[serde(untagged)]
    Own(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    pub(super) mime_type: Cow<'a, str>,
    pub(super) data: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    pub(super) file_uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionCall<'a> {
    pub(super) name: &'a str,
    pub(super) args: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionResponse<'a> {
    pub(super) name: &'a str,
    pub(super) response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Response<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

impl<'a> From<PartContent<'a>> for Part<'a> {
    fn from(what: PartContent<'a>) -> Self {
        Self { what, thought: false, thought_signature: None }
    }
}
