//! The format `text`: the model's text on stdout, everything else on stderr.

use std::io::{self, Write};

use attache_domain::terminal_safe;

use crate::output::{RunOutput, RunSummary};
use crate::output_event::OutputEvent;

#[derive(Debug, Default)]
pub(crate) struct TextOutput {
    /// Something was printed that no line break follows.
    open_line: bool,
}

impl RunOutput for TextOutput {
    fn begin(&mut self, _model: &str, _prompt: &str) -> io::Result<()> {
        Ok(())
    }

    fn show(&mut self, event: &OutputEvent<'_>) -> io::Result<()> {
        match event {
            OutputEvent::Text(text) => self.print(text),
            OutputEvent::Withdrawn => {
                self.end_line()?;
                print_notice("WARNING", "the answer was cut off; what was printed of it does not count");
                Ok(())
            }
            OutputEvent::Warning(text) => {
                self.end_line()?;
                print_notice("WARNING", text);
                Ok(())
            }
            OutputEvent::ToolUse(_) | OutputEvent::ToolResult(..) => Ok(()),
        }
    }

    fn end(&mut self, ending: &RunSummary<'_>) -> io::Result<()> {
        self.end_line()?;
        if let Err(failure) = ending.result {
            print_notice("ERROR", &failure.message);
        }
        Ok(())
    }
}

impl TextOutput {
    fn print(&mut self, text: &str) -> io::Result<()> {
        let text = terminal_safe(text);
        if let Some(last) = text.chars().next_back() {
            self.open_line = last != '\n';
        }
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open_line) { writeln!(io::stdout()) } else { Ok(()) }
    }
}

/// A closed output does not stop the work.
fn print_notice(label: &str, text: &str) {
    let _ = writeln!(io::stderr(), "[{label}] {}", terminal_safe(text));
}
