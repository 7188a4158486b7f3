//! The keys that mean something to the screen, and not to the line that is being typed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};

use crate::answer_keys::{AnswerKeys, KeyMeaning};
use crate::completer::Completions;
use crate::keyboard::Key;

const CTRL_C: KeyEvent = KeyEvent(KeyCode::Char('C'), Modifiers::CTRL);
const CTRL_Z: KeyEvent = KeyEvent(KeyCode::Char('Z'), Modifiers::CTRL);
const ENTER: KeyEvent = KeyEvent(KeyCode::Enter, Modifiers::NONE);
const ESCAPE: KeyEvent = KeyEvent(KeyCode::Esc, Modifiers::NONE);

/// What the line editor and the screen both have to know.
#[derive(Clone, Default)]
pub(crate) struct KeyState {
    pub(crate) answers: AnswerKeys,
    /// The session works on a prompt.
    pub(crate) is_busy: Arc<AtomicBool>,
    /// The line shows what a search among earlier prompts has found.
    is_searching: Arc<AtomicBool>,
    /// The line was left because the program is to be suspended.
    pub(crate) suspends: Arc<AtomicBool>,
}

/// Sees each key before the line editor does.
pub(crate) struct KeyFilter<F> {
    pub(crate) state: KeyState,
    pub(crate) completions: Completions,
    /// Takes what is for the screen. Must not wait: the line editor prints nothing meanwhile.
    pub(crate) send: F,
}

impl<F: Fn(Key) + Send + Sync> ConditionalEventHandler for KeyFilter<F> {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let key = *event.get(0)?;
        let (is_busy, has_typed) = (self.state.is_busy.load(Ordering::Relaxed), !context.line().is_empty());
        let was_searching = self.state.is_searching.load(Ordering::Relaxed);
        self.state.is_searching.store(is_of_search(key, was_searching), Ordering::Relaxed);
        match key {
            // The line is left for neither, so that nothing of what is typed behind it is lost.
            CTRL_C => {
                // What the search has found is not what was typed, so there is always something to clear.
                (self.send)(Key::Interrupt { has_typed: has_typed || was_searching });
                return Some(match (was_searching, is_busy) {
                    (true, _) => Cmd::Abort,
                    (false, true) => Cmd::Repaint,
                    (false, false) => Cmd::Kill(Movement::WholeBuffer),
                });
            }
            ESCAPE if is_busy => {
                (self.send)(Key::Escape);
                return Some(Cmd::Repaint);
            }
            CTRL_Z => {
                self.state.suspends.store(true, Ordering::Relaxed);
                return Some(Cmd::Interrupt);
            }
            _ => {}
        }
        match self.state.answers.read(key, has_typed) {
            KeyMeaning::Edit if key == ENTER && ends_in_backslash(context) => {
                self.completions.continue_line();
                return Some(Cmd::Complete);
            }
            KeyMeaning::Edit => return None,
            KeyMeaning::Drop => {}
            KeyMeaning::Answer(call, key) => (self.send)(Key::Answer(call, key)),
        }
        Some(Cmd::Noop)
    }
}

/// The line goes on: for terminals that keep Alt-Enter for themselves.
fn ends_in_backslash(context: &EventContext<'_>) -> bool {
    context.pos() == context.line().len() && context.line().ends_with('\\')
}

/// The key begins a search among earlier prompts, or belongs to it.
fn is_of_search(key: KeyEvent, was_searching: bool) -> bool {
    match key {
        KeyEvent(KeyCode::Char('R' | 'S'), Modifiers::CTRL) => true,
        KeyEvent(KeyCode::Char(_), Modifiers::NONE) | KeyEvent(KeyCode::Backspace, _) => was_searching,
        _ => false,
    }
}
