//! Clients know what people call each tool that the model is offered.

use std::sync::Arc;

use attache_domain::{
    CallChange, CallId, CallRecords, ContextId, DevtoolEvent, Fact, ModelAnswer, ModelPart, ModelPartContent,
    ReplyShape, Seq, TaskId, TextPhase, Timestamp, ToolCall, Turn, TurnPhase, UpdateContext, Usage,
};
use attache_testkit::gemini_extension::check_gemini_event;
use attache_wire::JsonForm;
use attache_wire::devtool::{DevtoolFrame, Dialect};
use serde_json::{Map, Value};

use super::model::Model;
use super::ours;
use super::scenario::Scenario;
use crate::agent_world::says;

#[tokio::test]
async fn every_tool_that_the_model_is_offered_is_described() {
    let model = Model::start();
    let ours = ours::start(&model.server).await;
    ours.stage(&model).play(&Scenario::new("tools").model([says("Hello.")]).prompt("Hello?")).await;
    let asked = model.server.received()[0].json();
    let offered = asked["tools"].as_array().unwrap().iter().flat_map(|tools| {
        let declared = tools["functionDeclarations"].as_array().cloned().unwrap_or_default();
        declared.into_iter().map(|tool| tool["name"].as_str().unwrap().to_owned())
    });
    let offered: Vec<String> = offered.collect();
    assert!(offered.iter().any(|name| name == "run_shell_command"), "{offered:?}");
    let nameless: Vec<_> = offered.iter().filter(|name| told(name)["description"] == "").collect();
    assert!(nameless.is_empty(), "attache-wire does not know {nameless:?}");
}

/// The tool of a call as a client is told about it.
fn told(name: &str) -> Value {
    let id = CallId("k1".into());
    let call = ToolCall { id: id.clone(), name: name.into(), input: Map::new() };
    let parts = vec![ModelPart { what: ModelPartContent::Call(call), opaque: None }];
    let answer = ModelAnswer { model: "m".into(), parts, usage: Usage::default(), end: Default::default() };
    let call_records = Arc::new(CallRecords::default()).after(&Fact::ModelAnswered(Box::new(answer)));
    let turn =
        Turn { number: 1, phase: TurnPhase::Running, emitted: 0, text: TextPhase::Silent, asked: false };
    let frame = DevtoolFrame {
        task: &TaskId::from("t"),
        context: &ContextId::from("c"),
        seq: Seq(1),
        at: Timestamp::UNIX_EPOCH,
        stage: &UpdateContext {
            reply: ReplyShape::Task,
            presentation: attache_domain::Presentation::default(),
            turn,
        },
        call_records: &call_records,
        event: DevtoolEvent::Call { call: call_records.find(&id).unwrap(), moved: CallChange::Started },
    };
    let mut out = Vec::new();
    Dialect::Gemini.write(JsonForm::V0_3Rpc, &frame, &mut out);
    let event: Value = serde_json::from_slice(&out).unwrap();
    check_gemini_event(&event).unwrap();
    event["status"]["message"]["parts"][0]["data"]["tool"].clone()
}
