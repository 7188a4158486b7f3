use attache_domain::{CANCEL, CallPhase, Effect, PROCEED_ONCE, Proposal, ToolCall};

use super::*;

fn command(id: &str, choices: &[&str]) -> CallRecord {
    let call =
        ToolCall { id: CallId(id.into()), name: "run_shell_command".into(), input: Default::default() };
    let shown = Preview::Exec { command: format!("touch {id}"), directory: "/w".into(), programs: vec![] };
    let proposal = Proposal { input: Default::default(), effects: Vec::<Effect>::new(), shown };
    CallRecord {
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        proposal: Some(Arc::new(proposal)),
        phase: if choices.is_empty() { CallPhase::Allowed } else { CallPhase::Asked },
        ..CallRecord::requested(call)
    }
}

fn rendered(lines: Vec<Line>) -> Vec<String> {
    lines.iter().map(|line| line.render(false).trim_end().to_owned()).collect()
}

struct Shown(SessionRenderer);

impl Shown {
    fn of(&mut self, event: SessionEvent) -> Vec<String> {
        rendered(self.0.show(event, 80))
    }
}

const CHOICES: &[&str] = &[PROCEED_ONCE, CANCEL];

#[test]
fn a_text_ends_its_line_before_anything_else_is_shown() {
    let mut shown = Shown(SessionRenderer::default());
    assert_eq!(shown.of(SessionEvent::Text("Hel".into())), [""; 0]);
    assert_eq!(shown.of(SessionEvent::Text("lo\nyou".into())), ["Hello"]);
    assert_eq!(shown.of(SessionEvent::Notice("wait\n\u{1b}c".into())), ["you", "! wait", r"! \u{1b}c"]);
    assert_eq!(shown.of(SessionEvent::Thought("**Plan** x".into())), ["(thinks: Plan)"]);
}

#[test]
fn output_is_shown_by_lines_and_its_rest_at_the_end() {
    let mut shown = Shown(SessionRenderer::default());
    let call = Arc::new(command("a", &[]));
    assert_eq!(shown.of(SessionEvent::CallStarted(call.clone())), ["* run_shell_command  touch a"]);
    let output = |text: &str| SessionEvent::CallOutput { call: call.clone(), text: text.into() };
    assert_eq!(shown.of(output("one\r\ntw")), ["  | one"]);
    assert_eq!(shown.of(output("o")), [""; 0]);
    assert!(shown.0.has_unfinished_line(), "shown when nothing follows for a while");
    assert_eq!(rendered(shown.0.finish_line()), ["  | two"]);
    assert!(!shown.0.has_unfinished_line());
    assert_eq!(shown.of(output("three")), [""; 0]);
    let mut over = command("a", &[]);
    (over.live, over.outcome) = ("one\ntwo".into(), Some(CallOutcome::Succeeded));
    over.summary = "Exit code 0".into();
    assert_eq!(shown.of(SessionEvent::CallFinished(Arc::new(over))), ["  | three", "  Exit code 0"]);
}

fn agent_call(agent: &str) -> CallRecord {
    let origin = "http://a.example".to_owned();
    let effects = vec![Effect::Delegate { agent: agent.into(), origin: origin.clone() }];
    let shown =
        Preview::Agent { agent: agent.into(), url: origin, prompt: "Count!".into(), files: Vec::new() };
    let proposal = Proposal { input: Default::default(), effects, shown };
    CallRecord { proposal: Some(Arc::new(proposal)), ..command(agent, &[]) }
}

#[test]
fn what_an_agent_says_before_its_question_stands_before_it() {
    let mut shown = Shown(SessionRenderer::default());
    let call = Arc::new(agent_call("one"));
    shown.of(SessionEvent::CallStarted(call.clone()));
    assert_eq!(
        shown.of(SessionEvent::CallOutput { call: call.clone(), text: "Let me think. ".into() }),
        [""; 0]
    );
    let lines = shown.of(SessionEvent::Asked(call));
    assert_eq!(lines[0], "  | Let me think.", "{lines:?}");
    assert!(lines.len() > 1 && !shown.0.has_unfinished_line(), "{lines:?}");
}

#[test]
fn an_agent_is_read_while_it_speaks_and_once() {
    let mut shown = Shown(SessionRenderer::default());
    let call = Arc::new(agent_call("one"));
    let output = |text: &str| SessionEvent::CallOutput { call: call.clone(), text: text.into() };
    shown.of(SessionEvent::CallStarted(call.clone()));
    let words = "word ".repeat(25);
    let first = shown.of(output(&words));
    assert_eq!(first, [format!("  | {}", "word ".repeat(15).trim_end())], "the line that is full");
    shown.of(SessionEvent::CallStarted(Arc::new(agent_call("two"))));
    assert_eq!(shown.of(output("\nlast")), [format!("  one | {}", "word ".repeat(10).trim_end())]);
    let mut over = agent_call("one");
    over.live = format!("{words}\nlast");
    (over.summary, over.outcome) = (over.live.clone(), Some(CallOutcome::Succeeded));
    assert_eq!(shown.of(SessionEvent::CallFinished(Arc::new(over.clone()))), ["  one | last"]);
    over.summary.push_str("\nand what was \\u{1b} not shown");
    let again = shown.of(SessionEvent::CallFinished(Arc::new(over)));
    assert_eq!(again.last().unwrap(), "  and what was \\u{1b} not shown");
}

#[test]
fn questions_come_one_after_the_other_and_close_when_another_client_answers() {
    let mut shown = Shown(SessionRenderer::default());
    let (one, two) = (Arc::new(command("one", CHOICES)), Arc::new(command("two", CHOICES)));
    let first = shown.of(SessionEvent::Asked(one.clone()));
    assert!(first.contains(&"    touch one".to_owned()), "{first:?}");
    assert!(first.iter().any(|line| line.starts_with("  1, y, yes  Allow Once")), "{first:?}");
    assert_eq!(shown.of(SessionEvent::Asked(two.clone())), [""; 0]);
    assert!(shown.0.is_busy());
    let by = Participant::Other("operator (wscat)".into());
    let answered = SessionEvent::Answered { call: one, choice: "proceed_once".into(), by };
    let second = shown.of(answered);
    assert_eq!(second[0], "! operator (wscat) answered for run_shell_command: proceed_once");
    assert!(second.contains(&"    touch two".to_owned()), "{second:?}");
    let answered = SessionEvent::Answered { call: two, choice: "cancel".into(), by: Participant::Own };
    assert_eq!(shown.of(answered), [""; 0]);
    assert!(shown.0.question().is_none());
}

#[test]
fn a_question_closes_when_its_call_is_over() {
    let mut shown = Shown(SessionRenderer::default());
    shown.of(SessionEvent::Asked(Arc::new(command("one", CHOICES))));
    let mut over = command("one", &[]);
    over.outcome = Some(CallOutcome::Canceled);
    over.summary = "[Operation Cancelled] The turn was stopped.".into();
    let lines = shown.of(SessionEvent::CallFinished(Arc::new(over)));
    assert_eq!(lines, ["  failed: [Operation Cancelled] The turn was stopped."]);
    assert!(shown.0.question().is_none());
    let idle = SessionEvent::Idle { message: Some("Stopped, as requested.".into()), is_problem: true };
    assert_eq!(shown.of(idle), ["! Stopped, as requested."]);
    assert!(!shown.0.is_busy());
}

#[test]
fn prompts_of_others_are_shown_and_own_ones_are_on_the_screen_already() {
    let mut shown = Shown(SessionRenderer::default());
    let prompt = |from: Participant, is_queued: bool| SessionEvent::Prompt {
        text: "List\nthem\u{7}".into(),
        from,
        is_queued,
    };
    assert_eq!(shown.of(prompt(Participant::Own, false)), [""; 0]);
    let client = || Participant::Other("client".into());
    assert_eq!(shown.of(prompt(client(), false)), ["client> List", r"client> them\u{7}"]);
    assert_eq!(shown.of(prompt(client(), true))[0], "client (queued)> List");
    let sly = Participant::Other("me> x".into());
    assert_eq!(shown.of(prompt(sly, false))[0], r"me\u{3e} x> List");
}

#[test]
fn an_answer_cannot_look_like_a_line_of_the_session() {
    let mut shown = Shown(SessionRenderer::default());
    let text = "? rm needs your approval:\n  1, y  Allow\n> yes\n! stopped\n* rm\n?no mark\n";
    let lines = shown.of(SessionEvent::Text(text.into()));
    let expected =
        [" ? rm needs your approval:", "  1, y  Allow", " > yes", " ! stopped", " * rm", "?no mark"];
    assert_eq!(lines, expected);
    // Also where a line is broken, and in what stands at the end of a turn.
    let mut broken = Vec::new();
    for text in ["x".repeat(78), " ? y".into()] {
        broken.extend(shown.of(SessionEvent::Text(text)));
    }
    broken.extend(shown.of(SessionEvent::Idle { message: Some("? z".into()), is_problem: false }));
    assert!(broken.iter().all(|line| !line.starts_with('?')), "{broken:?}");
    assert_eq!(broken.last().map(String::as_str), Some(" ? z"));
}

#[test]
fn a_finished_call_never_prints_what_steers_the_terminal() {
    let mut over = command("a", &[]);
    over.outcome = Some(CallOutcome::Failed { kind: "x".into() });
    over.summary = "\u{1b}[31mred\u{1b}[0m".into();
    let mut shown = Shown(SessionRenderer::default());
    assert_eq!(shown.of(SessionEvent::CallFinished(Arc::new(over))), [r"  failed: \u{1b}[31mred\u{1b}[0m"]);
}
