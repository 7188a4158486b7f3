//! The plain screen: prints what happens as lines, and reads what the person types.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use attache_command::CommandRegistry;
use attache_domain::{CallId, TaskView};
use rustix::termios::tcgetwinsize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::completer::Completions;
use crate::keyboard::{Key, Keyboard, TypedText};
use crate::line::{Line, Style, lines_of};
use crate::open_session::OpenSession;
use crate::question::{answer_keys, choice_name, how_to_answer, is_answer_word, read_answer};
use crate::restore_terminal::RestoreTerminal;
use crate::session_event::{Participant, SessionEvent};
use crate::session_input::{InputRefusal, SessionInput, TypedAnswer};
use crate::session_renderer::{SessionRenderer, notice_lines};
use crate::signals::{StopSignal, StopSignals, suspend};
use crate::silence::Silence;
use crate::text_wrapper::wrapped;
use crate::unfinished_line::UnfinishedLine;

/// A second Ctrl-C within this time leaves.
const LEAVE_INTERVAL: Duration = Duration::from_secs(2);
/// For so long after another client has answered, an answer may be meant for that question.
const READING_INTERVAL: Duration = Duration::from_secs(10);
/// A question is shown for so long before a single key answers it: the key may be the beginning of a prompt.
const KEY_DELAY: Duration = Duration::from_millis(500);
/// A terminal that takes nothing does not keep the program from ending.
const LAST_LINES_TIMEOUT: Duration = Duration::from_secs(1);
/// If the terminal does not say.
const USUAL_COLUMNS: usize = 80;

const PROMPT: &str = "> ";
/// Shows and cancels running calls.
const CALLS: &str = "/calls";

const HELP_COMMAND: &str = "/help";
const HELP: &str = "At the terminal: /quit, exit or Ctrl-D leaves; Ctrl-C or Esc stops what is being done, Ctrl-C twice leaves; \
                    Alt-Enter, or a backslash and Enter, begins a new line; Tab completes commands and paths; @path adds a \
                    file to the prompt; /calls lists the running calls, /calls cancel ID cancels one.";

/// What is wrong with a prompt, if something is.
pub type PromptCheck = Box<dyn Fn(&str) -> Option<String> + Send>;

/// What the screen is given.
pub struct LineScreen {
    pub has_colour: bool,
    /// The file that keeps the prompts for later sessions.
    pub history: Option<PathBuf>,
    /// Where paths behind an `@` begin.
    pub workspace: PathBuf,
    /// Lines about the session, shown first.
    pub greeting: Vec<String>,
    /// Given before the person types anything.
    pub first_prompt: Option<String>,
    /// Refuses prompts.
    pub check_prompt: PromptCheck,
    /// Lines of the program's log.
    pub log: mpsc::Receiver<String>,
}

/// Why the session at the terminal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenEnd {
    /// The person left.
    Left,
    /// The person left by Ctrl-C.
    Interrupted,
    /// A signal ended the program.
    Terminated,
    /// The task is over.
    Over,
}

/// Shows the session until the person leaves. Leaves the session itself running.
pub async fn run_line_screen(session: OpenSession, options: LineScreen) -> io::Result<ScreenEnd> {
    let mut stop_signals = StopSignals::watch()?;
    let mut restore_terminal = RestoreTerminal::at_end();
    let completions = Completions::default();
    completions.set_workspace(options.workspace);
    let keyboard = Keyboard::start(PROMPT.to_owned(), options.history.clone(), completions.clone())?;
    restore_terminal.has_editor = keyboard.answer_keys().is_some();
    let refused = |fault: attache_domain::Fault| io::Error::other(fault.to_string());
    let (view, mut events) = session.events().await.map_err(refused)?;
    let mut screen = RunningSession {
        session,
        keyboard,
        has_colour: options.has_colour,
        check_prompt: options.check_prompt,
        renderer: SessionRenderer::default(),
        errands: JoinSet::new(),
        interrupted_at: None,
        other_answer: None,
        shown_question: None,
        keys_from: None,
        silence: Silence::default(),
        unfinished_line: UnfinishedLine::default(),
        completions,
    };
    screen.learn_commands();
    screen.greet(&options.greeting, &view).await;
    if let Some(prompt) = options.first_prompt {
        screen.print(lines_of(Style::Plain, PROMPT, &prompt)).await;
        screen.take_line(&prompt).await;
    }
    screen.keyboard.start_reading();
    let mut log = Some(options.log);
    let end = loop {
        tokio::select! {
            key = screen.keyboard.next() => {
                if let Some(end) = screen.take_key(key).await {
                    break end;
                }
            }
            event = events.next() => {
                let is_over = matches!(event, None | Some(SessionEvent::Over(_)));
                if let Some(event) = event {
                    if matches!(event, SessionEvent::Idle { .. }) {
                        screen.learn_commands();
                    }
                    if let SessionEvent::Answered { choice, by: Participant::Other(by), .. } = &event {
                        let (at, by, choice) = (Instant::now(), by.clone(), choice.clone());
                        screen.other_answer = Some(OtherAnswer { at, by, choice });
                    }
                    let lines = screen.renderer.show(event, columns());
                    let has_output = screen.renderer.has_unfinished_output();
                    screen.unfinished_line.update(!lines.is_empty(), has_output, Instant::now());
                    screen.print(lines).await;
                    screen.update_question().await;
                    screen.update_state();
                }
                if is_over {
                    break ScreenEnd::Over;
                }
            }
            () = sleep_until(screen.unfinished_line.due(Instant::now())), if screen.renderer.has_unfinished_line() => {
                let lines = screen.renderer.finish_line();
                screen.unfinished_line.update(true, false, Instant::now());
                screen.print(lines).await;
            }
            () = sleep_until(screen.keys_from.unwrap_or_else(Instant::now)), if screen.keys_from.is_some() => {
                screen.open_keys().await;
            }
            () = sleep_until(screen.silence.due().unwrap_or_else(Instant::now)), if screen.silence.due().is_some() => {
                let notice = screen.silence.next_notice();
                screen.print(lines_of(Style::Dim, "", &notice)).await;
            }
            line = next_log_line(&mut log) => screen.print(lines_of(Style::Dim, "", &line)).await,
            Some(stopped) = screen.errands.join_next() => {
                if let Ok(Err(refusal)) = stopped {
                    screen.warn(&refusal.to_string()).await;
                }
            }
            signal = stop_signals.next() => match signal {
                StopSignal::Terminate => break ScreenEnd::Terminated,
                StopSignal::Interrupt => {
                    if let Some(end) = screen.interrupt(false).await {
                        break end;
                    }
                }
            },
        }
    };
    let _ = timeout(LAST_LINES_TIMEOUT, screen.keyboard.finish()).await;
    // The prompt stands on the last line.
    if end != ScreenEnd::Left {
        let mut out = io::stdout().lock();
        let _ = out.write_all(b"\n").and_then(|()| out.flush());
    }
    Ok(end)
}

struct RunningSession {
    session: OpenSession,
    keyboard: Keyboard,
    has_colour: bool,
    check_prompt: PromptCheck,
    renderer: SessionRenderer,
    /// What may take a moment, in which the screen goes on.
    errands: JoinSet<Result<(), InputRefusal>>,
    interrupted_at: Option<Instant>,
    other_answer: Option<OtherAnswer>,
    /// The question whose keys were handled.
    shown_question: Option<u64>,
    /// From then on, single keys answer the question.
    keys_from: Option<Instant>,
    silence: Silence,
    unfinished_line: UnfinishedLine,
    completions: Completions,
}

/// Another client was quicker, so the next word may be meant for the question that it answered.
struct OtherAnswer {
    at: Instant,
    by: String,
    choice: String,
}

impl RunningSession {
    /// The notice to print instead of taking `line` as an answer or as a prompt. The same line counts when it is given again.
    fn late_answer(&mut self, line: &str) -> Option<String> {
        let OtherAnswer { at, by, choice } = self.other_answer.take()?;
        if at.elapsed() > READING_INTERVAL || !is_answer_word(line) && line.parse::<usize>().is_err() {
            return None;
        }
        let notice = format!("{by} has answered the question before you: {choice}");
        Some(match self.renderer.question() {
            Some(_) => format!("{notice}. Now it is about what is shown last; answer again if you mean that"),
            None => notice,
        })
    }

    async fn greet(&mut self, greeting: &[String], view: &TaskView) {
        let mut lines: Vec<_> = greeting.iter().map(|line| Line::styled(Style::Dim, line)).collect();
        lines.extend(self.renderer.resume(view));
        self.print(lines).await;
        self.update_question().await;
        self.update_state();
    }

    /// Closes the keys of a question that is not shown any more, and has those of a new one count after a moment.
    async fn update_question(&mut self) {
        let shown = self.renderer.shown_question();
        if shown == self.shown_question {
            return;
        }
        self.shown_question = shown;
        self.keys_from = None;
        self.keyboard.set_asking(shown.is_some());
        let keys = self.keyboard.answer_keys();
        keys.inspect(|keys| keys.close());
        let has_keys = self.renderer.question().is_some_and(|question| !answer_keys(question).is_empty());
        match (has_keys, keys.is_some()) {
            (true, true) => self.keys_from = Some(Instant::now() + KEY_DELAY),
            (true, false) => self.print(vec![how_to_answer(false)]).await,
            (false, _) => {}
        }
    }

    /// After an event.
    fn update_state(&mut self) {
        let is_busy = self.renderer.is_busy();
        self.keyboard.set_busy(is_busy);
        self.silence.end(is_busy && self.renderer.question().is_none(), Instant::now());
    }

    /// The commands may change with the files of the workspace. They are for completion only, so nothing waits for them.
    fn learn_commands(&mut self) {
        let (session, completions) = (self.session.clone(), self.completions.clone());
        self.errands.spawn(async move {
            if let Ok(commands) = session.commands().await {
                completions.set_commands(&commands);
            }
            Ok(())
        });
    }

    async fn open_keys(&mut self) {
        self.keys_from = None;
        let Some(question) = self.renderer.question() else { return };
        if let Some(keys) = self.keyboard.answer_keys() {
            keys.open(question.shown_id().clone(), answer_keys(question));
        }
        self.print(vec![how_to_answer(true)]).await;
    }

    async fn print(&self, lines: Vec<Line>) {
        self.keyboard.print(lines.iter().map(|line| line.render(self.has_colour)).collect()).await;
    }

    async fn warn(&self, text: &str) {
        self.print(notice_lines(text, columns())).await;
    }

    async fn take_key(&mut self, key: Key) -> Option<ScreenEnd> {
        match key {
            Key::End => return Some(ScreenEnd::Left),
            Key::Interrupt { has_typed } => return self.interrupt(has_typed).await,
            Key::BrokenOff(typed) => {
                // The line stays while the turn is stopped.
                let kept = if self.renderer.is_busy() { typed.clone() } else { TypedText::default() };
                if let Some(end) = self.interrupt(typed != TypedText::default()).await {
                    return Some(end);
                }
                self.keyboard.read_on(kept);
            }
            Key::Escape if self.renderer.is_busy() => {
                self.stop_turn();
                self.warn("stopping").await;
            }
            Key::Escape => {}
            Key::Suspend(typed) => {
                if let Err(error) = suspend().await {
                    self.warn(&format!("this program cannot be suspended: {error}")).await;
                }
                self.keyboard.read_on(typed);
            }
            Key::Answer(call, key) => {
                self.interrupted_at = None;
                self.take_answer_key(&call, key).await;
            }
            Key::Unreadable => self.warn("a key was left out, because it is not UTF-8").await,
            Key::Line(line) => {
                self.interrupted_at = None;
                self.take_line(&line).await;
            }
        }
        None
    }

    /// The first Ctrl-C stops the running turn, the second leaves. In an idle session, one clears what was typed.
    async fn interrupt(&mut self, has_typed: bool) -> Option<ScreenEnd> {
        let now = Instant::now();
        if self.interrupted_at.is_some_and(|before| now.duration_since(before) < LEAVE_INTERVAL) {
            return Some(ScreenEnd::Interrupted);
        }
        if self.renderer.is_busy() {
            self.stop_turn();
            self.warn("stopping; Ctrl-C again leaves").await;
        } else if has_typed {
            return None;
        } else {
            self.warn("Ctrl-C again leaves").await;
        }
        self.interrupted_at = Some(now);
        None
    }

    fn stop_turn(&mut self) {
        let session = self.session.clone();
        self.errands.spawn(async move { session.send(SessionInput::StopTurn).await });
    }

    /// The key is for the question that was shown when it was pressed.
    async fn take_answer_key(&mut self, call: &CallId, key: char) {
        let question = self.renderer.question().filter(|question| question.shown_id() == call).cloned();
        let Some(question) = question else {
            let notice = self.late_answer(&key.to_string());
            return self.warn(notice.as_deref().unwrap_or("the question is closed already")).await;
        };
        let answer = match read_answer(&question, &key.to_string()) {
            Ok(answer) => answer,
            Err(problem) => return self.warn(&problem).await,
        };
        if let TypedAnswer::Choice(choice) = &answer {
            let name = choice_name(&question, choice);
            self.print(lines_of(Style::Dim, "  ", &format!("{key}: {name}"))).await;
        }
        let is_taken = self.send(SessionInput::Answer { call: call.clone(), answer }).await;
        if let Some(keys) = self.keyboard.answer_keys().filter(|_| !is_taken) {
            keys.open(call.clone(), answer_keys(&question));
        }
    }

    /// False if the input was refused; a line says why.
    async fn send(&self, input: SessionInput) -> bool {
        let sent = self.session.send(input).await;
        if let Err(refusal) = &sent {
            self.warn(&refusal.to_string()).await;
        }
        sent.is_ok()
    }

    async fn take_line(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if let Some(notice) = self.late_answer(line) {
            return self.warn(&notice).await;
        }
        match self.read_line(line).await {
            Err(problem) => self.warn(&problem).await,
            Ok(None) => {}
            // It ends in a moment, in which the screen goes on.
            Ok(Some(input @ SessionInput::CancelCall(_))) => {
                let session = self.session.clone();
                self.errands.spawn(async move { session.send(input).await });
            }
            Ok(Some(input)) => {
                self.send(input).await;
            }
        }
    }

    /// What the line means: a command, the answer to the question that is shown, or a prompt.
    ///
    /// Nothing when the line is done with.
    async fn read_line(&self, line: &str) -> Result<Option<SessionInput>, String> {
        let line = if line == "?" { HELP_COMMAND } else { line };
        if let Some(rest) = line.strip_prefix(CALLS).filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            return self.read_calls_line(rest.trim()).await;
        }
        if let Some(call) = CommandRegistry::default().parse(line) {
            if matches!(call.path.first().map(String::as_str), Some("help" | "?")) {
                self.print(lines_of(Style::Dim, "", &wrapped(HELP, columns()))).await;
            }
            return Ok(Some(SessionInput::Command(call)));
        }
        if let Some(question) = self.renderer.question() {
            let answer = read_answer(question, line)?;
            return Ok(Some(SessionInput::Answer { call: question.shown_id().clone(), answer }));
        }
        match (self.check_prompt)(line) {
            Some(problem) => Err(problem),
            None => Ok(Some(SessionInput::Prompt(line.to_owned()))),
        }
    }
}

impl RunningSession {
    /// `/calls` lists the calls under way, `/calls cancel ID` cancels one. A command of the agent would wait for the turn.
    async fn read_calls_line(&self, rest: &str) -> Result<Option<SessionInput>, String> {
        match rest.split_once(char::is_whitespace).unwrap_or((rest, "")) {
            ("" | "list", "") => {
                self.print(self.renderer.running_calls()).await;
                Ok(None)
            }
            ("cancel", id) if !id.trim().is_empty() => {
                Ok(Some(SessionInput::CancelCall(CallId(id.trim().to_owned()))))
            }
            _ => Err("say /calls, or /calls cancel ID with an id that /calls shows".to_owned()),
        }
    }
}

/// Waits for ever once the log has ended.
async fn next_log_line(log: &mut Option<mpsc::Receiver<String>>) -> String {
    if let Some(lines) = log {
        if let Some(line) = lines.recv().await {
            return line;
        }
        *log = None;
    }
    std::future::pending().await
}

fn columns() -> usize {
    tcgetwinsize(io::stdout()).map_or(USUAL_COLUMNS, |size| match size.ws_col {
        0 => USUAL_COLUMNS,
        columns => columns.into(),
    })
}
