//! The pure rules of a task: tables for what is refused, properties for what always holds.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Arc;

use attache_domain::*;
use proptest::prelude::*;
use serde_json::Map;

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap()
}

fn message(id: &str, text: &str) -> Message {
    Message {
        id: id.into(),
        role: Role::User,
        parts: vec![Part::text(text)],
        context: None,
        task: None,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: vec![],
        extensions: vec![],
        metadata: None,
    }
}

fn digest(text: &str) -> Digest {
    Digest(text.into())
}

/// A task and its log, driven by intents as the session drives it.
struct Log {
    view: TaskView,
    events: Vec<Event>,
}

impl Log {
    fn open() -> Self {
        Self::open_for(ReplyShape::Task)
    }

    fn open_for(reply: ReplyShape) -> Self {
        let opening = OpenTask {
            task: "t".into(),
            scope: Scope::new("", "me"),
            context: "c".into(),
            message: message("m0", "hello"),
            digest: digest("m0"),
            reply,
            metadata: None,
            ending: attache_domain::TaskEnding::Completes,
            presentation: attache_domain::Presentation::default(),
        };
        let event = Event { seq: Seq(1), at: at(1), fact: opening.decide() };
        Self { view: TaskView::open(&event).unwrap(), events: vec![event] }
    }

    fn push(&mut self, intent: Intent) -> Result<usize, Fault> {
        let facts = self.view.decide(intent)?;
        let count = facts.len();
        for fact in facts {
            let seq = self.view.progress.head.next();
            let event = Event { seq, at: at(seq.0 as i64), fact };
            self.view.apply(&event);
            self.events.push(event);
        }
        Ok(count)
    }

    fn record(&mut self, fact: Fact) -> Result<usize, Fault> {
        self.push(Intent::Record(fact))
    }

    fn say(&mut self, id: &str) -> Result<usize, Fault> {
        self.say_again(id, DuplicateWindow::Always)
    }

    fn say_again(&mut self, id: &str, duplicates: DuplicateWindow) -> Result<usize, Fault> {
        let (message, digest) = (message(id, id), digest(id));
        self.push(Intent::Receive { message, digest, reopens: false, duplicates })
    }

    fn started() -> Self {
        let mut log = Self::open();
        log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
        log
    }
}

fn said(text: &str) -> Fact {
    Fact::TextSaid { text: text.into(), last: false }
}

fn ended(outcome: TurnOutcome) -> Fact {
    Fact::TurnEnded { outcome, message: None, usage: None }
}

fn texts(view: &TaskView) -> Vec<String> {
    view.history.iter().map(|message| message.text()).collect()
}

#[test]
fn a_stop_ends_the_turn_it_names_and_nothing_else() {
    let mut log = Log::started();
    log.record(said("a")).unwrap();
    assert_eq!(log.push(Intent::StopTurn { turn: 2 }), Ok(0), "another turn");
    log.push(Intent::StopTurn { turn: 1 }).unwrap();
    assert_eq!(log.view.status.state, TaskState::InputRequired);
    assert_eq!(texts(&log.view), ["hello", "a"]);
    assert_eq!(log.push(Intent::StopTurn { turn: 1 }), Ok(0), "it is over");
    assert!(log.record(said("late")).is_err());
    log.say("m1").unwrap();
    assert_eq!(log.view.progress.turn.number, 2);
    log.push(Intent::Cancel).unwrap();
    assert_eq!(log.push(Intent::StopTurn { turn: 2 }), Ok(0), "the whole task ends");
}

#[test]
fn endings_are_stored_by_these_names() {
    use TaskEnding::{Completes, Reopens, Session, StaysOpen};
    let names =
        [(Completes, "completes"), (Reopens, "reopens"), (StaysOpen, "stays_open"), (Session, "session")];
    for (ending, name) in names {
        assert_eq!(serde_json::to_value(ending).unwrap(), name);
    }
}

#[test]
fn a_finished_task_refuses_everything_but_what_it_has_already_heard() {
    for outcome in [TurnOutcome::Completed, TurnOutcome::Failed, TurnOutcome::Rejected] {
        let mut log = Log::started();
        log.record(ended(outcome)).unwrap();
        assert!(matches!(log.say("m1"), Err(Fault::TaskFinished { .. })));
        assert!(matches!(log.push(Intent::Cancel), Err(Fault::TaskNotCancelable { .. })));
        assert!(log.record(said("late")).is_err());
        assert!(log.record(Fact::TaskCanceled).is_err(), "the first terminal fact wins");
        assert_eq!(log.say("m0"), Ok(0));
        assert_eq!(log.view.next(), None);
    }
}

#[test]
fn a_message_is_the_same_until_the_turn_that_took_it_has_ended() {
    let knows = |log: &Log, id: &str| {
        log.view.progress.has_received(&id.into(), &digest(id), DuplicateWindow::InFlight)
    };
    let mut log = Log::open();
    assert!(knows(&log, "m0"), "before its turn begins");
    log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    log.say("m1").unwrap();
    log.say("m2").unwrap();
    assert_eq!(log.say_again("m2", DuplicateWindow::InFlight), Ok(0), "it is queued already");
    for (turn, over, open) in [(2, "m0", vec!["m1", "m2"]), (3, "m1", vec!["m2"])] {
        log.record(ended(TurnOutcome::Completed)).unwrap();
        log.record(Fact::TurnStarted { turn, model: None }).unwrap();
        assert!(!knows(&log, over), "{over}");
        assert!(open.iter().all(|id| knows(&log, id)), "{open:?}");
    }
    log.record(ended(TurnOutcome::InputRequired)).unwrap();
    assert!(!knows(&log, "m2"));
    assert_eq!(log.say("m2"), Ok(0), "it came before");
    assert_eq!(log.say_again("m2", DuplicateWindow::InFlight), Ok(1), "and is said again");
    assert!(knows(&log, "m2"));
}

#[test]
fn messages_of_an_older_snapshot_are_known_and_no_longer_in_flight() {
    let mut stored = serde_json::to_value(&Log::started().view).unwrap();
    stored["progress"]["received"] = serde_json::json!([["m0", "m0"]]);
    let view: TaskView = serde_json::from_value(stored).unwrap();
    let knows = |duplicates| view.progress.has_received(&"m0".into(), &Digest("m0".into()), duplicates);
    assert!(knows(DuplicateWindow::Always) && !knows(DuplicateWindow::InFlight));
}

#[test]
fn a_waiting_task_takes_a_message_and_works_again() {
    let mut log = Log::started();
    let question = message("q", "which?");
    log.record(Fact::TurnEnded {
        outcome: TurnOutcome::InputRequired,
        message: Some(question.into()),
        usage: None,
    })
    .unwrap();
    assert_eq!(log.view.next(), None);
    log.say("m1").unwrap();
    assert_eq!(log.view.next(), Some(Step::StartTurn { turn: 2 }));
    assert!(!log.view.progress.is_settled(), "though the state is still the old one");
    log.record(Fact::TurnStarted { turn: 2, model: None }).unwrap();
    assert_eq!(log.view.status.state, TaskState::Working);
    assert_eq!(texts(&log.view), ["hello", "which?", "m1"]);
}

#[test]
fn a_prompt_during_a_turn_waits_for_its_end_and_is_answered() {
    let mut log = Log::started();
    log.record(said("one")).unwrap();
    log.say("m1").unwrap();
    assert_eq!(log.view.progress.queue.len(), 1);
    log.record(ended(TurnOutcome::Completed)).unwrap();
    assert_eq!(log.view.status.state, TaskState::Working, "the task goes on");
    assert_eq!(log.view.next(), Some(Step::StartTurn { turn: 2 }));
    assert_eq!(texts(&log.view), ["hello", "one", "m1"]);
}

#[test]
fn cancel_stops_a_waiting_task_at_once_and_asks_a_working_one() {
    let mut log = Log::started();
    log.record(ended(TurnOutcome::InputRequired)).unwrap();
    log.push(Intent::Cancel).unwrap();
    assert_eq!(log.view.status.state, TaskState::Canceled);

    let mut log = Log::started();
    log.push(Intent::Cancel).unwrap();
    assert_eq!(log.view.status.state, TaskState::Working);
    assert_eq!(log.view.next(), Some(Step::Cancel));
    assert!(log.record(said("more")).is_err(), "nothing but the end is taken any more");
    assert_eq!(log.push(Intent::Cancel), Ok(0), "asking twice is asking once");
    log.record(Fact::TaskCanceled).unwrap();
    assert_eq!(log.view.status.state, TaskState::Canceled);
}

#[test]
fn a_turn_that_ends_while_speaking_closes_its_answer_first() {
    let mut log = Log::started();
    log.record(said("a")).unwrap();
    assert_eq!(log.record(ended(TurnOutcome::Completed)), Ok(2));
    assert_eq!(log.events[3].fact, Fact::TextEnded);

    let mut log = Log::started();
    log.record(Fact::TextSaid { text: "a".into(), last: true }).unwrap();
    assert_eq!(log.record(ended(TurnOutcome::Completed)), Ok(1));
    assert_eq!(log.view.artifacts[0].parts.len(), 1);
}

#[test]
fn pieces_of_an_answer_are_one_part_of_the_task() {
    let mut log = Log::started();
    for piece in ["a", "b", "c"] {
        log.record(said(piece)).unwrap();
    }
    log.record(ended(TurnOutcome::Completed)).unwrap();
    assert_eq!(log.view.artifacts[0].parts, [Part::text("abc")]);
}

#[test]
fn withdrawn_text_is_replaced_and_does_not_reach_the_history() {
    let mut log = Log::started();
    log.record(said("wro")).unwrap();
    log.record(Fact::TextWithdrawn).unwrap();
    assert_eq!(log.view.progress.turn.emitted, 0);
    log.record(Fact::TextSaid { text: "right".into(), last: true }).unwrap();
    log.record(ended(TurnOutcome::Completed)).unwrap();
    assert_eq!(texts(&log.view), ["hello", "right"]);
    assert_eq!(log.view.artifacts[0].parts, [Part::text("right")]);
}

#[test]
fn facts_that_do_not_fit_are_refused() {
    let mut log = Log::open();
    assert!(log.record(said("before the turn")).is_err());
    assert!(log.record(Fact::TurnStarted { turn: 2, model: None }).is_err(), "not that turn");
    log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    assert!(log.record(Fact::TurnStarted { turn: 1, model: None }).is_err(), "not twice");
    assert!(log.record(Fact::TextEnded).is_err(), "nothing was said");
    assert!(log.record(Fact::Replied { message: message("r", "r").into() }).is_err(), "a task was promised");
    assert!(log.record(Fact::CancelRequested).is_err(), "agents do not ask, they report");
    assert!(log.record(Fact::PromptTaken { said: None, message: None }).is_err(), "there is none");
}

#[test]
fn a_message_from_another_context_is_refused_by_name() {
    let mut log = Log::started();
    let mut stray = message("m1", "x");
    stray.context = Some("elsewhere".into());
    let (digest, duplicates) = (digest("x"), DuplicateWindow::InFlight);
    let fault = log.push(Intent::Receive { message: stray, digest, reopens: false, duplicates }).unwrap_err();
    assert_eq!(fault, Fault::ContextMismatch { task: "t".into(), context: "c".into() });
}

#[test]
fn a_hidden_task_shows_its_reply_and_nothing_else() {
    let mut log = Log::open_for(ReplyShape::Message);
    log.record(Fact::TurnStarted { turn: 1, model: None }).unwrap();
    log.record(Fact::Replied { message: message("r", "r").into() }).unwrap();
    let mut before = Progress::open(&log.events[0]).unwrap();
    let mut shown = Vec::new();
    for event in &log.events[1..] {
        shown.extend(update_of(&before.update_context(), event));
        before.apply(event);
    }
    assert!(matches!(&shown[..], [Update::Replied(reply)] if reply.text() == "r"), "{shown:?}");
}

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
        Fact::CallAsked(Box::new(AskedCall {
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

impl std::fmt::Debug for Log {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.events.fmt(formatter)
    }
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
        // A message that was just taken is told with the start of its turn.
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
