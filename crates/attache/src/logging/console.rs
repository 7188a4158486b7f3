//! Shows warnings and errors of the log on the live endpoint.
//!
//! Only lines of this program itself, each as one short line of text without secrets. Nothing is shown before
//! [`open`] was called.

use std::fmt::{Debug, Write};
use std::sync::OnceLock;

use attache_config::Settings;
use attache_net::Redactor;
use attache_server::{ConsoleLevel, ConsoleLine, ConsoleLog};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::environment;

/// Of a line.
const MAX_CHARS: usize = 1000;

/// Fields that are about the request or the store, not about what happened.
const HIDDEN_FIELDS: &[&str] = &["task", "owner", "tenant", "request"];

static CONSOLE: OnceLock<Console> = OnceLock::new();

struct Console {
    log: ConsoleLog,
    redactor: Redactor,
}

/// Starts to pass lines to the returned log.
pub(crate) fn open(settings: &Settings) -> ConsoleLog {
    let console = CONSOLE.get_or_init(|| {
        let tokens = settings.token.iter().map(String::as_str);
        let clients = settings.clients.iter().map(|client| client.token.expose());
        let variables = environment::secret_values();
        let secrets = tokens.chain(clients).map(str::to_owned).chain(variables);
        Console { log: ConsoleLog::default(), redactor: Redactor::of(secrets) }
    });
    console.log.clone()
}

pub(super) struct ConsoleLayer;

impl<S: Subscriber> Layer<S> for ConsoleLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = match *event.metadata().level() {
            Level::WARN => ConsoleLevel::Warn,
            Level::ERROR => ConsoleLevel::Error,
            _ => return,
        };
        // What libraries say may hold anything that a peer has sent.
        let is_ours = event.metadata().target().starts_with("attache");
        if let Some(console) = CONSOLE.get().filter(|console| is_ours && console.log.is_read()) {
            let line = LineFields::of(event);
            console.log.write(ConsoleLine { level, text: line.text(&console.redactor), task: line.task });
        }
    }
}

/// The message, the other fields after it, and the task that it is about.
#[derive(Default)]
struct LineFields {
    message: String,
    fields: String,
    task: Option<String>,
}

impl LineFields {
    fn of(event: &Event<'_>) -> Self {
        let mut line = Self::default();
        event.record(&mut line);
        line
    }

    fn text(&self, redactor: &Redactor) -> String {
        // Redacted before it is cut, so that no part of a secret is left at the end.
        let text = redactor.redact(&format!("{}{}", self.message, self.fields));
        let is_shown = |letter: &char| !letter.is_control();
        let mut letters =
            text.chars().map(|letter| if letter == '\n' { ' ' } else { letter }).filter(is_shown);
        let mut text: String = letters.by_ref().take(MAX_CHARS).collect();
        if letters.next().is_some() {
            text.push('…');
        }
        text
    }
}

impl Visit for LineFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a text cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "task" => write!(self.task.get_or_insert_default(), "{value:?}"),
            name if HIDDEN_FIELDS.contains(&name) => Ok(()),
            name => write!(self.fields, "; {name}: {value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    use super::*;

    /// Keeps lines instead of showing them.
    struct Kept(Arc<Mutex<Vec<(String, String)>>>);

    impl<S: Subscriber> Layer<S> for Kept {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            let line = LineFields::of(event);
            let redactor = Redactor::of(["hunter22".to_owned()]);
            self.0.lock().unwrap().push((line.text(&redactor), line.task.unwrap_or_default()));
        }
    }

    #[test]
    fn a_line_has_the_message_and_the_fields_and_names_its_task() {
        let kept: Arc<Mutex<Vec<_>>> = Arc::default();
        tracing::subscriber::with_default(registry().with(Kept(kept.clone())), || {
            let (task, error) = ("t-1", "no route to hunter22\nat all\u{1b}[31m");
            tracing::warn!(%task, owner = "me", request = 7, %error, count = 2, "the model gave no answer");
            tracing::error!("{}", "x".repeat(2000));
        });
        let kept = kept.lock().unwrap();
        let expected = "the model gave no answer; error: no route to (hidden) at all[31m; count: 2";
        assert_eq!(kept[0], (expected.to_owned(), "t-1".to_owned()));
        assert_eq!((kept[1].0.chars().count(), kept[1].0.ends_with('…')), (1001, true));
    }
}
