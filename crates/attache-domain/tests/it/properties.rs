//! What always holds, for any log.

use std::sync::Arc;

use attache_domain::*;
use proptest::prelude::*;
use serde_json::Map;

use crate::log::{Log, digest, message};

fn any_call() -> impl Strategy<Value = CallId> {
    prop_oneof![Just(CallId("a".into())), Just(CallId("b".into()))]
}

fn answer(choice: usize, question: Option<CallId>) -> CallAnswer {
    let verdict = [Verdict::Proceed, Verdict::Skip, Verdict::Refuse][choice];
    CallAnswer {
        choice: QUESTION_CHOICES[choice].into(),
        question,
        verdict,
        new_content: None,
        answers: Some("words".into()),
        message: None,
        by: None,
    }
}

/// What may be recorded about two calls that save their state and ask questions.
fn any_call_fact() -> impl Strategy<Value = Fact> {
    let call = |id: &str| ModelPart {
        what: ModelPartContent::Call(ToolCall { id: CallId(id.into()), name: "t".into(), input: Map::new() }),
        opaque: None,
    };
    let answered = ModelAnswer {
        model: "m".into(),
        parts: vec![call("a"), call("b")],
        usage: Default::default(),
        end: ResponseEnd::Done,
    };
    let asked = |(call, auth): (CallId, bool)| {
        Fact::CallAsked(Box::new(ToolQuestion {
            question: CallId(format!("ask-{}", call.0)),
            call,
            kind: if auth { QuestionKind::Auth } else { QuestionKind::Input },
            text: "which?".into(),
            url: None,
            choices: QUESTION_CHOICES.map(str::to_owned).to_vec(),
        }))
    };
    let shown = Preview::Plain { summary: String::new() };
    let proposal = Arc::new(Proposal { input: Map::new(), effects: vec![], shown });
    let proposed = move |call| ProposedCall {
        call,
        proposal: proposal.clone(),
        alone: false,
        choices: vec![],
        grants: Default::default(),
        why: String::new(),
    };
    let finished = |call| FinishedCall {
        call,
        outcome: CallOutcome::Succeeded,
        output: vec![],
        summary: String::new(),
        diff: None,
    };
    prop_oneof![
        2 => Just(Fact::ModelAnswered(Box::new(answered))),
        3 => any_call().prop_map(move |call| Fact::CallProposed(Box::new(proposed(call)))),
        4 => any_call().prop_map(|call| Fact::CallStarted { call, digest: digest("p"), mark: None }),
        2 => (any_call(), 0..9_u8).prop_map(|(call, state)| Fact::CallStateSaved { call, state: Arc::new(state.into()) }),
        1 => (0..3_u8).prop_map(|state| Fact::ConversationStateSaved { key: "k".into(), state: Arc::new(state.into()) }),
        3 => (any_call(), any::<bool>()).prop_map(asked),
        1 => any_call().prop_map(move |call| Fact::CallFinished(Box::new(finished(call)))),
        2 => any::<bool>().prop_map(|auth| Fact::PersonAsked { message: message("p", "which?").into(), auth }),
    ]
}

/// Anything that a client might request, sensible or not.
fn any_intent() -> impl Strategy<Value = Intent> {
    let text = "[a-c]{0,3}";
    let artifact = |append: bool| {
        (0..3_u8, text).prop_map(move |(id, text)| Fact::ArtifactAdded {
            artifact: Box::new(Artifact {
                id: format!("f{id}").into(),
                name: None,
                description: None,
                parts: vec![Part::text(text)],
                metadata: None,
                extensions: vec![],
            }),
            append,
            last: false,
        })
    };
    let outcome = prop_oneof![
        Just(TurnOutcome::Completed),
        Just(TurnOutcome::InputRequired),
        Just(TurnOutcome::AuthRequired),
        Just(TurnOutcome::Failed),
        Just(TurnOutcome::Rejected),
    ];
    let record = prop_oneof![
        4 => (1..4_u32).prop_map(|turn| Fact::TurnStarted { turn, model: None }),
        6 => (text, any::<bool>()).prop_map(|(text, last)| Fact::TextSaid { last: last && text.is_empty(), text }),
        1 => Just(Fact::TextWithdrawn),
        1 => Just(Fact::TextEnded),
        1 => text.prop_map(|text| Fact::ThoughtShared { text }),
        2 => artifact(false),
        2 => artifact(true),
        1 => Just(Fact::CredentialAsked { message: message("k", "key?").into() }),
        1 => Just(Fact::WorkResumed),
        2 => (outcome, any::<bool>()).prop_map(|(outcome, question)| Fact::TurnEnded {
            outcome,
            message: question.then(|| message("q", "well?").into()),
            usage: None,
        }),
        1 => Just(Fact::TaskCanceled),
    ];
    prop_oneof![
        12 => record.prop_map(Intent::Record),
        12 => any_call_fact().prop_map(Intent::Record),
        2 => (any_call(), 0..3_usize).prop_map(|(call, choice)| Intent::Answer {
            answers: vec![(call.clone(), answer(choice, Some(CallId(format!("ask-{}", call.0)))))],
            prompt: None,
        }),
        1 => any_call().prop_map(|call| Intent::CancelCall { call, by: None }),
        3 => (0..6_u8).prop_map(|id| Intent::Receive {
            message: message(&format!("m{id}"), "again"),
            digest: digest(&id.to_string()),
            reopens: id % 2 == 0,
            duplicates: if id % 3 == 0 { DuplicateWindow::InFlight } else { DuplicateWindow::Always },
        }),
        1 => Just(Intent::Cancel),
    ]
}

/// A log as it comes about: what is refused leaves no trace.
fn any_log() -> impl Strategy<Value = Log> {
    prop::collection::vec(any_intent(), 0..60).prop_map(|intents| {
        let mut log = Log::open();
        for intent in intents {
            let _ = log.push(intent);
        }
        log
    })
}

proptest! {
    #[test]
    fn folding_a_prefix_and_then_the_rest_is_folding_all(log in any_log(), cut in any::<prop::sample::Index>()) {
        let cut = 1 + cut.index(log.events.len());
        let mut view = TaskView::fold(&log.events[..cut]).unwrap();
        log.events[cut..].iter().for_each(|event| view.apply(event));
        prop_assert_eq!(&view, &log.view);
        prop_assert_eq!(&view.progress, &log.view.progress);
    }

    #[test]
    fn a_view_that_was_stored_goes_on_as_if_it_had_not_been(log in any_log(), cut in any::<prop::sample::Index>()) {
        let cut = 1 + cut.index(log.events.len());
        let view = TaskView::fold(&log.events[..cut]).unwrap();
        let mut view: TaskView = serde_json::from_slice(&serde_json::to_vec(&view).unwrap()).unwrap();
        log.events[cut..].iter().for_each(|event| view.apply(event));
        prop_assert_eq!(&view, &log.view);
    }

    #[test]
    fn events_survive_being_stored(log in any_log()) {
        let stored = serde_json::to_vec(&log.events).unwrap();
        let read: Vec<Event> = serde_json::from_slice(&stored).unwrap();
        prop_assert_eq!(read, log.events);
    }

    #[test]
    fn the_state_moves_only_along_the_graph_and_never_leaves_its_end(log in any_log()) {
        let mut progress = Progress::open(&log.events[0]).unwrap();
        for event in &log.events[1..] {
            let before = progress.clone();
            progress.apply(event);
            prop_assert!(!before.state.is_terminal(), "{event:?} after the end");
            if progress.status_at != before.status_at {
                prop_assert!(may_become(before.state, progress.state), "{:?} to {:?}", before.state, progress.state);
            }
        }
    }

    #[test]
    fn a_stage_follows_from_the_stage_before(log in any_log()) {
        let mut progress = Progress::open(&log.events[0]).unwrap();
        let mut stage = progress.update_context();
        for event in &log.events[1..] {
            progress.apply(event);
            stage = stage.after(&event.fact);
            prop_assert_eq!(stage, progress.update_context());
        }
    }

    #[test]
    fn progress_and_view_never_disagree(log in any_log()) {
        prop_assert_eq!(log.view.status.state, log.view.progress.state);
        prop_assert_eq!(log.view.status.at, log.view.progress.status_at);
        prop_assert_eq!(log.view.progress.head.0 as usize, log.events.len());
    }

    #[test]
    fn s7_the_fold_of_the_updates_is_the_task(log in any_log()) {
        let mut before = Progress::open(&log.events[0]).unwrap();
        let mut artifacts: Vec<Artifact> = Vec::new();
        let mut status = None;
        for event in &log.events[1..] {
            match update_of(&before.update_context(), event) {
                Some(Update::Status { status: now, .. }) => status = Some(now),
                Some(Update::Artifact { artifact, append, .. }) => {
                    match artifacts.iter_mut().find(|known| known.id == artifact.id) {
                        Some(known) if append => known.parts.extend(artifact.into_owned().parts),
                        Some(known) => *known = artifact.into_owned(),
                        None => artifacts.push(artifact.into_owned()),
                    }
                }
                Some(Update::Replied(_)) | None => {}
            }
            before.apply(event);
        }
        // A stream keeps its pieces; the task shows adjacent texts as one part.
        let artifacts: Vec<_> = artifacts.into_iter().map(Artifact::joined).collect();
        prop_assert_eq!(&artifacts, &log.view.artifacts);
        // A message that was just taken shows with the start of its turn.
        let is_taken = log.view.progress.turn.phase == TurnPhase::Due;
        if let Some(status) = status.filter(|_| !is_taken) {
            prop_assert_eq!(status.state, log.view.status.state);
        }
    }

    #[test]
    fn a_stream_closes_exactly_when_nothing_more_is_to_be_done(log in any_log()) {
        let mut before = Progress::open(&log.events[0]).unwrap();
        for event in &log.events[1..] {
            let update = update_of(&before.update_context(), event);
            prop_assert_eq!(update.is_some(), is_shown(&before.update_context(), &event.fact));
            before.apply(event);
            if closes_stream(&event.fact) {
                prop_assert_eq!(before.next(), None);
            }
            if let Some(Update::Status { closes: shown, .. }) = update {
                prop_assert_eq!(shown, closes_stream(&event.fact));
            }
        }
    }
}

/// The state graph of the protocol notes: every state that is not terminal leads anywhere but back to `submitted`.
fn may_become(state: TaskState, next: TaskState) -> bool {
    use TaskState::*;
    match state {
        Submitted | Working | InputRequired | AuthRequired => next != Submitted,
        Completed | Failed | Canceled | Rejected => false,
    }
}
