//! What is written is read again as the same, apart from what a form cannot say.

use attache_domain::{
    Base64, ContextId, Message, MessageId, Metadata, Operation, OperationKind, Part, PartContent, Role,
    TaskId,
};
use attache_wire::encode::write_message_item;
use attache_wire::{JsonForm, decode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::lose;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            any_object_of(inner).prop_map(Value::from),
        ]
    })
}

fn any_object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Metadata> {
    prop::collection::vec(("[a-z_]{0,8}", inner), 0..4).prop_map(|members| members.into_iter().collect())
}

fn any_metadata() -> impl Strategy<Value = Option<Metadata>> {
    prop::option::of(any_object_of(any_json()))
}

fn any_part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        ".*".prop_map(PartContent::Text),
        any::<Vec<u8>>().prop_map(|bytes| PartContent::Raw(Base64(STANDARD.encode(bytes)))),
        ".+".prop_map(PartContent::Url),
        any_json().prop_map(PartContent::Data),
    ];
    let name = || prop::option::of(".+");
    (content, name(), name(), any_metadata()).prop_map(|(content, media_type, filename, metadata)| Part {
        content,
        media_type,
        filename,
        metadata,
    })
}

prop_compose! {
    fn any_message()(
        id in "\\PC+",
        role in prop::sample::select(vec![Role::User, Role::Agent]),
        parts in prop::collection::vec(any_part(), 1..5),
        context in prop::option::of("\\PC+"),
        task in prop::option::of("\\PC+"),
        references in prop::collection::vec("\\PC*", 0..3),
        extensions in prop::collection::vec(".*", 0..3),
        metadata in any_metadata(),
    ) -> Message {
        Message {
            id: MessageId::from(id),
            role,
            parts,
            context: context.map(ContextId::from),
            task: task.map(TaskId::from),
            requested: None,
            command: None,
            sender: None,
            reference_tasks: references.into_iter().map(TaskId::from).collect(),
            extensions,
            metadata,
        }
    }
}

/// Besides what `lose` takes, empty metadata of wrapped data is not told from none.
fn expected(json_form: JsonForm, message: &Message) -> Message {
    let mut message = message.clone();
    lose(json_form, &mut message);
    for part in &mut message.parts {
        let is_wrapped = matches!(&part.content, PartContent::Data(data) if !data.is_object());
        if json_form != JsonForm::V1_0 && is_wrapped {
            part.metadata = part.metadata.take().filter(|metadata| !metadata.is_empty());
        }
    }
    message
}

proptest! {
    #[test]
    fn m8_a_message_comes_back_as_it_went_out(message in any_message()) {
        for json_form in JsonForm::ALL {
            let mut out = Vec::new();
            write_message_item(json_form, &message, &mut out);
            let written: Value = serde_json::from_slice(&out).unwrap();
            let params = if json_form == JsonForm::V0_3Rpc { json!({ "message": written }) } else { written };
            let decoded = decode(json_form, OperationKind::Send, Some(params));
            let Ok(Operation::Send(send)) = decoded.map(|decoded| decoded.operation) else {
                panic!("{json_form:?} cannot read what it wrote");
            };
            prop_assert_eq!(send.message, expected(json_form, &message));
        }
    }
}
