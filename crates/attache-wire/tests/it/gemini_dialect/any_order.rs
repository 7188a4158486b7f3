//! Whatever happens in whichever order, what is sent is of this dialect.

use attache_domain::{Fact, Preview, TurnOutcome, Usage};
use attache_wire::JsonForm;
use proptest::prelude::*;
use serde_json::json;

use super::call_facts::{
    allowed, answered, asked, asks, canceled, edit, edited, exec, failed, lost, plain, showed, started,
    succeeded, wanted,
};
use super::world::{World, words};

fn fact() -> impl Strategy<Value = Fact> {
    let call = prop_oneof![Just("k1"), Just("k2"), Just("k3")];
    (call, 0..20_usize, "\\PC{0,12}").prop_map(|(call, which, text)| match which {
        0 => wanted(&[
            ("run_shell_command", json!({})),
            ("replace", json!({})),
            (&format!("x{text}"), json!({})),
        ]),
        1 => asked(call, exec(&text, &[&text])),
        2 => asked(call, edit("/w/a", Some("a\n"), &text)),
        3 => asked(
            call,
            Preview::Mcp { server: text.clone(), tool: text, title: String::new(), address: None },
        ),
        4 => asked(call, Preview::Questions { questions: json!([{ "question": text }]) }),
        5 => allowed(call, plain(&text)),
        6 => answered(call, "proceed_once", Some(&text)),
        7 => answered(call, "modify_with_editor", Some(&text)),
        8 => answered(call, "cancel", None),
        9 => started(call),
        10 => lost(call),
        11 => showed(call, &format!("{text}\n")),
        12 => succeeded(call, &text, &text),
        13 => edited(call, &text, &text),
        14 => failed(call, "tool_not_registered", &text),
        15 => canceled(call, &text),
        16 => Fact::PersonAsked { message: words("May I?", None), auth: false },
        17 => Fact::TextWithdrawn,
        18 => asks(call, &text),
        _ => Fact::TurnEnded {
            outcome: TurnOutcome::Failed,
            message: Some(words(&format!("{text}."), Some("quota"))),
            usage: Some(Box::new(Usage { input: 1, cached: 2, output: 3, thoughts: 4 })),
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The world checks every frame against the schema.
    #[test]
    fn what_is_sent_fits_the_schema(facts in proptest::collection::vec(fact(), 1..24), json_form in 0..3_usize) {
        let json_form = [JsonForm::V0_3Rpc, JsonForm::V1_0, JsonForm::V0_3Rest][json_form];
        World::speaking(json_form).hears_all(facts);
    }
}
