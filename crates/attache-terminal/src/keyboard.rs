//! Reads lines from the terminal, and prints above the line that is being typed.
//!
//! Two threads, because both block: one reads lines, one prints. They end with the process; a thread that waits for a key
//! cannot be interrupted.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as blocking};
use std::thread;

use attache_domain::CallId;
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::history::{FileHistory, History};
use rustyline::{
    Cmd, CompletionType, Config, Editor, Event, EventHandler, ExternalPrinter, KeyCode, KeyEvent, Modifiers,
};
use tokio::sync::{mpsc, oneshot};

use crate::answer_keys::AnswerKeys;
use crate::completer::Completions;
use crate::draft::Draft;
use crate::key_filter::{KeyFilter, KeyState};

/// Prompts that are kept for later sessions.
const MAX_HISTORY: usize = 1000;
/// Lines that wait to be printed. A slow terminal then slows down the reading of the session, which loses nothing.
const MAX_UNPRINTED: usize = 64;
/// Printed in one go.
const MAX_BATCH_BYTES: usize = 64 << 10;

/// What the person did and the screen has not taken yet.
const MAX_UNREAD: usize = 8;
/// A key that comes sooner after an Esc makes one key together with it: terminals send some keys like that.
const ESCAPE_TIMEOUT_MS: u16 = 200;

/// What the person did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Line(String),
    /// A key that answers the question about a call.
    Answer(CallId, char),
    /// A key that is no character. The line stays as it was.
    Unreadable,
    /// Ctrl-C. In an idle session, the line that was typed is gone already.
    Interrupt {
        has_typed: bool,
    },
    /// Esc, while the session works on a prompt.
    Escape,
    /// A signal, or another key that interrupts, has ended the line. With what was typed in it.
    BrokenOff(TypedText),
    /// Ctrl-Z has ended the line.
    Suspend(TypedText),
    /// Ctrl-D, a word that leaves, or the terminal is gone.
    End,
}

/// What stands before the cursor and after it.
pub(crate) type TypedText = (String, String);

/// A line that leaves the session. While a question is open, a bare word may be its answer.
fn is_farewell(line: &str, is_asking: bool) -> bool {
    match line.trim() {
        "/quit" | "/exit" | "/q" => true,
        "quit" | "exit" => !is_asking,
        _ => false,
    }
}

/// The keyboard and the lines above the prompt.
pub(crate) struct Keyboard {
    keys: mpsc::Receiver<Key>,
    /// The next line is read when this says so, and begins with what it sends.
    proceed: blocking::Sender<TypedText>,
    /// The next line answers a question, and is not kept in the history if it is one word.
    is_asking: Arc<AtomicBool>,
    /// None on a terminal that gives only whole lines.
    key_state: Option<KeyState>,
    unprinted: mpsc::Sender<String>,
    printed: oneshot::Receiver<()>,
}

impl Keyboard {
    /// Starts to read. `history` is the file that keeps the prompts.
    pub(crate) fn start(
        prompt: String,
        history: Option<PathBuf>,
        completions: Completions,
    ) -> io::Result<Self> {
        let mut editor =
            new_editor(completions.clone()).map_err(|error| io::Error::other(error.to_string()))?;
        let history = history.filter(|path| prepare(path).is_ok());
        if let Some(path) = &history {
            // A history that cannot be read is ignored.
            let _ = editor.load_history(path);
        }
        // A terminal that cannot move its cursor has no editor; lines are then printed where the cursor is.
        let printer = editor.create_external_printer().ok();
        let (sender, keys) = mpsc::channel(MAX_UNREAD);
        let key_state = printer.is_some().then(KeyState::default);
        let suspends = key_state.as_ref().map(|state| state.suspends.clone()).unwrap_or_default();
        if let Some(state) = &key_state {
            let keys = sender.clone();
            let send = move |key| {
                // Fails only if the screen takes nothing; then the question stays, and a word answers it.
                let _ = keys.try_send(key);
            };
            let filter = KeyFilter { state: state.clone(), completions, send };
            editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(filter)));
        }
        let (unprinted, printed) = start_printing(printer)?;
        let (proceed, may_proceed) = blocking::channel();
        let is_asking = Arc::new(AtomicBool::new(false));
        let asking = is_asking.clone();
        thread::Builder::new().name("keyboard".into()).spawn(move || {
            // Nothing is read before the screen is ready.
            let mut next = may_proceed.recv().ok();
            while let Some(typed) = next {
                let (mut key, is_asking) = read_key(&mut editor, &prompt, &typed, &asking);
                let is_suspended = suspends.swap(false, Ordering::Relaxed);
                if let Key::BrokenOff(typed) = &mut key
                    && is_suspended
                {
                    key = Key::Suspend(std::mem::take(typed));
                }
                if let Key::Line(line) = &key
                    && !(is_asking && is_short(line))
                {
                    remember(&mut editor, line, history.as_deref());
                }
                let unreadable = key == Key::Unreadable;
                // The session may end by these, so no prompt is shown before they were handled. After other keys the
                // terminal stays with the editor, so that what is typed meanwhile is shown in its place.
                let waits = matches!(key, Key::BrokenOff(_) | Key::Suspend(_) | Key::End);
                if sender.blocking_send(key).is_err() {
                    return;
                }
                next = match waits {
                    true => may_proceed.recv().ok(),
                    false if unreadable => editor.helper().map(Draft::take),
                    false => Some(TypedText::default()),
                };
            }
        })?;
        Ok(Self { keys, proceed, is_asking, key_state, unprinted, printed })
    }

    /// Shows the first prompt.
    pub(crate) fn start_reading(&self) {
        self.read_on(TypedText::default());
    }

    /// Reads the next line after [`Key::BrokenOff`] and [`Key::Suspend`]. The line begins with `typed`.
    pub(crate) fn read_on(&self, typed: TypedText) {
        // Fails only if the thread is gone; then no key comes.
        let _ = self.proceed.send(typed);
    }

    /// Whether the next line answers a question.
    pub(crate) fn set_asking(&self, is_asking: bool) {
        self.is_asking.store(is_asking, Ordering::Relaxed);
    }

    /// The keys that answer a question; none on a terminal that gives only whole lines.
    pub(crate) fn answer_keys(&self) -> Option<&AnswerKeys> {
        self.key_state.as_ref().map(|state| &state.answers)
    }

    /// Whether the session works on a prompt.
    pub(crate) fn set_busy(&self, is_busy: bool) {
        if let Some(state) = &self.key_state {
            state.is_busy.store(is_busy, Ordering::Relaxed);
        }
    }

    /// Waits for what the person does. Can be dropped and called again.
    pub(crate) async fn next(&mut self) -> Key {
        self.keys.recv().await.unwrap_or(Key::End)
    }

    /// Prints whole lines above the prompt.
    pub(crate) async fn print(&self, lines: String) {
        if !lines.is_empty() {
            let _ = self.unprinted.send(lines).await;
        }
    }

    /// Waits until everything is printed.
    pub(crate) async fn finish(self) {
        drop(self.unprinted);
        let _ = self.printed.await;
    }
}

fn new_editor(completions: Completions) -> Result<Editor<Draft, FileHistory>, ReadlineError> {
    let config = Config::builder().max_history_size(MAX_HISTORY)?;
    let config = config.history_ignore_space(true).auto_add_history(false).bell_style(BellStyle::None);
    let config = config.completion_type(CompletionType::List).completion_show_all_if_ambiguous(true);
    // Without a timeout, the editor would wait for the key behind an Esc, and print nothing meanwhile.
    let config = config.keyseq_timeout(Some(ESCAPE_TIMEOUT_MS)).build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Draft::with(completions)));
    let newline = KeyEvent(KeyCode::Enter, Modifiers::ALT);
    editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
    Ok(editor)
}

/// Prints what is sent. The receiver gets a signal when everything is printed and nothing more can be sent.
fn start_printing(
    mut printer: Option<impl ExternalPrinter + Send + 'static>,
) -> io::Result<(mpsc::Sender<String>, oneshot::Receiver<()>)> {
    let (unprinted, mut to_print) = mpsc::channel::<String>(MAX_UNPRINTED);
    let (done, printed) = oneshot::channel();
    thread::Builder::new().name("screen".into()).spawn(move || {
        while let Some(mut text) = to_print.blocking_recv() {
            while text.len() < MAX_BATCH_BYTES
                && let Ok(more) = to_print.try_recv()
            {
                text.push_str(&more);
            }
            let printed = match &mut printer {
                Some(printer) => printer.print(text).is_ok(),
                None => print_directly(&text).is_ok(),
            };
            if !printed {
                return;
            }
        }
        let _ = done.send(());
    })?;
    Ok((unprinted, printed))
}

/// What begins as a prompt is kept, also if a question comes in between.
fn is_short(line: &str) -> bool {
    !line.trim().contains(char::is_whitespace)
}

/// The next key, and whether a question is open then.
fn read_key(
    editor: &mut Editor<Draft, FileHistory>,
    prompt: &str,
    typed: &TypedText,
    asking: &AtomicBool,
) -> (Key, bool) {
    let read = editor.readline_with_initial(prompt, (&typed.0, &typed.1));
    let is_asking = asking.load(Ordering::Relaxed);
    let key = match read {
        Ok(line) if is_farewell(&line, is_asking) => Key::End,
        Ok(line) => Key::Line(line),
        Err(ReadlineError::Interrupted) => {
            Key::BrokenOff(editor.helper().map(Draft::take).unwrap_or_default())
        }
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => Key::Unreadable,
        Err(_) => Key::End,
    };
    (key, is_asking)
}

fn print_directly(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A history that cannot be kept does not stop the session.
fn remember(editor: &mut Editor<Draft, FileHistory>, line: &str, history: Option<&Path>) {
    if !line.trim().is_empty()
        && editor.add_history_entry(line).unwrap_or(false)
        && let Some(path) = history
    {
        let _ = editor.history_mut().append(path);
    }
}

/// Prompts may hold secrets, so only the owner may read the file.
fn prepare(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    Ok(())
}
