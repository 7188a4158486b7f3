//! Counts all bytes of an approved command: prompt, question, approval and answer.

use super::super::load::Measurement;
use super::super::model::AnswerPlan;
use super::super::server::Server;
use super::super::workbench::Workbench;
use super::peer::{Peer, start_ours};
use super::table::{Row, Target};

const TASKS: usize = 5;

/// What the target was made of; what the installed version needs is measured beside it.
const KNOWN_KILOBYTES: f64 = 42.0;

const TIMES: f64 = 5.0;

pub(super) fn measure(workbench: &Workbench, peer: &Peer) -> Result<Vec<Row>, String> {
    let model = workbench.start_model()?;
    let folder = workbench.new_folder()?;
    model.plan(AnswerPlan {
        chunks: 1,
        tool: "shell",
        calls: 1,
        call_rounds: 1,
        per_conversation: true,
        expect: "hi",
        ..AnswerPlan::default()
    })?;
    let calls = |server: &Server, words: &str| -> Result<Call, String> {
        let tasks = TASKS.to_string();
        let arguments =
            ["approve", "--words", words, "--workspace", &folder, "--chunks", "1", "--tasks", &tasks];
        let measured = workbench.measure(server, &arguments)?;
        model.seen()?;
        Ok(Call::of(&measured))
    };
    let theirs = calls(&peer.start(&model)?, "gemini")?;
    let server = start_ours(workbench, "against-wire.sqlite", &model, &folder)?;
    let (rfc, gemini) = (calls(&server, "rfc")?, calls(&server, "gemini")?);
    let row = |name: &str, ours: &Call, target| Row {
        name: format!("bytes on the wire per confirmed shell call, {name}"),
        target,
        attache: ours.shown(),
        peer: theirs.shown(),
        times: theirs.received / ours.received.max(1.0),
        events: Some((ours.events, theirs.events)),
    };
    let limit = KNOWN_KILOBYTES / TIMES;
    let target = Target::Other {
        text: format!("≤ {limit:.1} KB: a fifth of the {KNOWN_KILOBYTES:.0} KB that were seen elsewhere"),
        reached: rfc.received <= limit * 1000.0,
    };
    Ok(vec![row("the RFC's dialect", &rfc, target), row("Gemini CLI's dialect", &gemini, Target::Nothing)])
}

/// One call, on average.
struct Call {
    sent: f64,
    received: f64,
    events: f64,
}

impl Call {
    fn of(measured: &Measurement) -> Self {
        let each = |what: &str| measured.number(what) / measured.number("streams").max(1.0);
        Self { sent: each("sent_bytes"), received: each("received_bytes"), events: each("events") }
    }

    fn shown(&self) -> String {
        format!("{:.1} KB, and {:.1} KB of requests", self.received / 1e3, self.sent / 1e3)
    }
}
