//! What a server does wrong without a client seeing it: panics, and errors that it logs.

use std::fmt::Debug;
use std::sync::{Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The faults of this process since they are watched.
#[derive(Default)]
pub(super) struct Faults(Mutex<Vec<String>>);

static FAULTS: OnceLock<Faults> = OnceLock::new();

impl Faults {
    pub(super) fn watch() -> &'static Self {
        FAULTS.get_or_init(|| {
            let print = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // A test that fails panics, too.
                if let Some(faults) = FAULTS.get() {
                    faults.add(panic.to_string());
                }
                print(panic);
            }));
            tracing::subscriber::set_global_default(ErrorLog).expect("the only one");
            Self::default()
        })
    }

    fn add(&self, fault: String) {
        self.0.lock().expect("nothing panics with the lock").push(fault);
    }

    #[track_caller]
    pub(super) fn check(&self) {
        let faults = self.0.lock().expect("nothing panics with the lock").clone();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

/// Keeps what is logged as an error.
struct ErrorLog;

impl Subscriber for ErrorLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = String::new();
        event.record(&mut Text(&mut text));
        if let Some(faults) = FAULTS.get() {
            faults.add(text);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}
