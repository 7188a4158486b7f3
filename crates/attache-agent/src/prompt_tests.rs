//! Prompts of conversations.

use attache_domain::{
    CallId, CallOutcome, CommandCall, Compaction, ContextReason, Digest, Event, Fact, FinishedCall,
    GivenContext, ModelAnswer, OpenTask, Presentation, ReplyShape, ResponseEnd, Role, Scope, Seq, TaskEnding,
    Timestamp, ToolCall, TurnOutcome, TurnPhase, Usage,
};
use proptest::prelude::*;

use super::*;

/// What happens to a task, one after the other.
#[derive(Debug, Clone)]
enum StoryEvent {
    Asked,
    Answered,
    /// With a call and its result.
    Called,
    Given,
    /// By a built-in model, in a turn that ends with it.
    Spoken,
    Reduced {
        dropped: usize,
        masked: usize,
        summarised: bool,
    },
}

fn event() -> impl Strategy<Value = StoryEvent> {
    prop_oneof![
        2 => Just(StoryEvent::Asked),
        2 => Just(StoryEvent::Answered),
        4 => Just(StoryEvent::Called),
        1 => Just(StoryEvent::Given),
        1 => Just(StoryEvent::Spoken),
        1 => (0..4_usize, 0..4_usize, any::<bool>())
            .prop_map(|(dropped, masked, summarised)| StoryEvent::Reduced { dropped, masked, summarised }),
    ]
}

struct Story {
    view: TaskView,
    number: usize,
}

impl Story {
    fn begin() -> Self {
        let opening = OpenTask {
            task: "t".into(),
            scope: Scope::new("", "me"),
            context: "c".into(),
            message: message(0),
            digest: Digest("0".into()),
            reply: ReplyShape::Task,
            metadata: None,
            ending: TaskEnding::Completes,
            presentation: Presentation::default(),
        };
        let event = Event { seq: Seq(1), at: Timestamp::UNIX_EPOCH, fact: opening.decide() };
        Self { view: TaskView::open(&event).unwrap(), number: 0 }
    }

    fn apply(&mut self, fact: Fact) {
        let seq = Seq(self.view.progress.head.0 + 1);
        self.view.apply(&Event { seq, at: Timestamp::UNIX_EPOCH, fact });
    }

    fn go_on(&mut self, event: &StoryEvent) {
        self.number += 1;
        match event {
            StoryEvent::Asked => {
                let message = Arc::new(message(self.number));
                self.apply(Fact::MessageReceived { message, digest: Digest("1".into()) });
            }
            StoryEvent::Answered => self.answer(ModelPartContent::Text(format!("answer {}", self.number))),
            StoryEvent::Called => {
                let call = CallId(format!("call {}", self.number));
                let name = "read_file".to_owned();
                self.answer(ModelPartContent::Call(ToolCall {
                    id: call.clone(),
                    name,
                    input: serde_json::Map::new(),
                }));
                self.apply(Fact::CallFinished(Box::new(FinishedCall {
                    call,
                    outcome: CallOutcome::Succeeded,
                    output: vec![Content::Text(format!("{} ", self.number).repeat(MASKED))],
                    summary: String::new(),
                    diff: None,
                })));
            }
            StoryEvent::Given => {
                let contents = vec![Content::Text(format!("given {}", self.number))];
                let given = GivenContext { reason: ContextReason::Mention, contents };
                self.apply(Fact::ContextGiven(Box::new(given)));
            }
            StoryEvent::Spoken => {
                if self.view.progress.turn.phase == TurnPhase::Over {
                    self.go_on(&StoryEvent::Asked);
                }
                self.apply(Fact::TurnStarted { turn: self.view.progress.turn.number, model: None });
                self.say(format!("spoken {}", self.number));
                self.end_turn(None);
            }
            StoryEvent::Reduced { dropped, masked, summarised } => {
                let items = self.view.conversation().count();
                let reduction = Compaction {
                    // The same summary each time, so that the summary does not show that more was dropped.
                    summary: summarised.then(|| "in short".to_owned()),
                    dropped: (*dropped).min(items) as u32,
                    masked: *masked as u32,
                    before: 2,
                    after: 1,
                    cost: Usage::default(),
                };
                self.apply(Fact::ContextReduced(Box::new(reduction)));
            }
        }
    }

    fn say(&mut self, text: String) {
        self.apply(Fact::TextSaid { text, last: true });
    }

    fn end_turn(&mut self, message: Option<Message>) {
        let message = message.map(Arc::new);
        self.apply(Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message, usage: None });
    }

    fn answer(&mut self, what: ModelPartContent) {
        let parts = vec![ModelPart { what, opaque: None }];
        self.apply(Fact::ModelAnswered(Box::new(ModelAnswer {
            model: "m".into(),
            parts,
            usage: Usage::default(),
            end: ResponseEnd::Done,
        })));
    }
}

fn message(number: usize) -> Message {
    let text = format!("question {number}");
    Message { role: Role::User, ..Message::from_agent(format!("m{number}").into(), "c".into(), None, text) }
}

/// A key, what it led to, and a copy of that.
type HeldPrompt = (PromptKey, Arc<Vec<Arc<Exchange>>>, Vec<Arc<Exchange>>);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_prompt_that_grows_is_the_same_as_a_new_one(
        before in proptest::collection::vec(event(), 0..4),
        events in proptest::collection::vec((event(), any::<bool>()), 0..16),
        opening in prop_oneof![Just(vec![]), Just(vec![Content::Text("opening".into())])],
    ) {
        let mut earlier_task = Story::begin();
        before.iter().for_each(|event| earlier_task.go_on(event));
        let mut builder = PromptBuilder::of(&[earlier_task.view]);
        let mut story = Story::begin();
        let mut held: Vec<HeldPrompt> = Vec::new();
        for (event, asked) in events {
            story.go_on(&event);
            if matches!(event, StoryEvent::Reduced { .. }) {
                builder.restart();
            }
            // Not every time, and sometimes the previous prompt is still in use.
            if asked {
                let (key, prompt) = builder.next(&opening, &story.view);
                prop_assert_eq!(&*prompt, &builder.exchanges(&opening, &story.view));
                for (_, earlier, _) in held.iter().filter(|(known, ..)| *known == key) {
                    prop_assert!(prompt.starts_with(earlier), "the same key, and not the same beginning");
                }
                held.push((key, prompt.clone(), prompt.to_vec()));
                if held.len().is_multiple_of(3) {
                    held.clear();
                }
            }
        }
        for (_, prompt, at_first) in held {
            prop_assert_eq!(&*prompt, &at_first);
        }
    }

    #[test]
    fn backwards_is_the_same_telling(events in proptest::collection::vec(event(), 0..16)) {
        let mut story = Story::begin();
        events.iter().for_each(|event| story.go_on(event));
        let shown = |item: ConversationItem<'_>| format!("{item:?}");
        let mut backwards: Vec<_> = story.view.conversation_backwards().map(shown).collect();
        backwards.reverse();
        prop_assert_eq!(backwards, story.view.conversation().map(shown).collect::<Vec<_>>());
    }
}

/// The conversation of a task that is over, a line for each exchange.
fn summary(story: &Story) -> Vec<String> {
    shown_exchanges(&PromptBuilder::of(std::slice::from_ref(&story.view)).exchanges)
}

fn shown_exchanges(exchanges: &[Arc<Exchange>]) -> Vec<String> {
    let text = |exchange: &Arc<Exchange>| match exchange.as_ref() {
        Exchange::User(contents) => format!("user: {contents:?}").replace("[Text(\"", "").replace("\")]", ""),
        Exchange::Model(said) => match &said[0].what {
            ModelPartContent::Text(text) => format!("model: {text}"),
            other => format!("model: {other:?}"),
        },
        Exchange::Results(_) => "results".into(),
    };
    exchanges.iter().map(text).collect()
}

#[test]
fn a_prompt_of_a_summary_alone_does_not_grow() {
    let (mut builder, mut story) = (PromptBuilder::default(), Story::begin());
    story.go_on(&StoryEvent::Reduced { dropped: 1, masked: 0, summarised: true });
    builder.next(&[], &story.view);
    story.go_on(&StoryEvent::Given);
    story.go_on(&StoryEvent::Answered);
    assert_eq!(*builder.next(&[], &story.view).1, builder.exchanges(&[], &story.view));
}

#[test]
fn what_was_said_without_a_language_model_is_told() {
    let mut story = Story::begin();
    for event in
        [StoryEvent::Given, StoryEvent::Spoken, StoryEvent::Asked, StoryEvent::Answered, StoryEvent::Asked]
    {
        story.go_on(&event);
    }
    story.go_on(&StoryEvent::Spoken);
    assert_eq!(
        summary(&story),
        [
            "user: question 0",
            "user: given 1",
            "model: spoken 2",
            "user: question 3",
            "model: answer 4",
            "user: question 5",
            "model: spoken 6",
        ]
    );
}

#[test]
fn why_a_turn_stopped_is_not_what_the_model_said() {
    let mut story = Story::begin();
    let mut stopped = Message::from_agent("s".into(), "c".into(), None, "No model.");
    stopped.metadata = Some(serde_json::Map::from_iter([("reason".to_owned(), "unavailable".into())]));
    story.end_turn(Some(stopped));
    story.go_on(&StoryEvent::Asked);
    assert_eq!(summary(&story), ["user: question 0", "user: question 1"]);
}

#[test]
fn what_a_command_said_is_not_told_either() {
    let mut story = Story::begin();
    story.go_on(&StoryEvent::Spoken);
    let mut command = message(7);
    command.command = Some(Box::new(CommandCall { path: vec!["about".into()], arguments: String::new() }));
    story.apply(Fact::MessageReceived { message: Arc::new(command), digest: Digest("7".into()) });
    story.go_on(&StoryEvent::Spoken);
    story.go_on(&StoryEvent::Asked);
    assert_eq!(summary(&story), ["user: question 0", "model: spoken 1", "user: question 3"]);
}

#[test]
fn what_a_model_of_ours_said_after_its_calls_is_told_once() {
    let mut story = Story::begin();
    story.apply(Fact::TurnStarted { turn: 1, model: None });
    story.say("I look. ".into());
    story.answer(ModelPartContent::Text("I look. ".into()));
    story.go_on(&StoryEvent::Called);
    story.say("Seen.".into());
    story.end_turn(None);
    let summary = summary(&story);
    assert_eq!(
        (summary[1].as_str(), summary.last().map(String::as_str)),
        ("model: I look. ", Some("model: Seen."))
    );
}

#[test]
fn in_a_task_that_goes_on_it_is_told_between_the_messages() {
    let mut story = Story::begin();
    story.go_on(&StoryEvent::Spoken);
    let builder = PromptBuilder::default();
    assert_eq!(
        shown_exchanges(&builder.exchanges(&[], &story.view)),
        ["user: question 0"],
        "the turn has just ended"
    );
    story.go_on(&StoryEvent::Asked);
    let expected = ["user: question 0", "model: spoken 1", "user: question 2"];
    assert_eq!(shown_exchanges(&builder.exchanges(&[], &story.view)), expected);
    assert_eq!(known(&story.view), [true, false, true]);
    story.go_on(&StoryEvent::Reduced { dropped: 1, masked: 0, summarised: true });
    assert_eq!(known(&story.view), [true], "it goes with the question");
}
