//! The table of both servers: ratios and targets.

use std::fmt::Write;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) target: Target,
    pub(super) attache: String,
    pub(super) peer: String,
    /// How many times better attache is: the median of the rounds' own ratios.
    pub(super) times: f64,
    /// Events of a task, attache's first.
    pub(super) events: Option<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// So many times better, or more.
    Times { least: f64, moonshot: Option<f64> },
    /// Something else, and whether it was reached.
    Other { text: String, reached: bool },
    /// Shown for the reader; nothing was promised.
    Nothing,
}

impl Target {
    pub(super) fn times(least: f64) -> Self {
        Self::Times { least, moonshot: None }
    }
}

impl Row {
    pub(super) fn is_missed(&self) -> bool {
        match self.target {
            Target::Times { least, .. } => self.times < least,
            Target::Other { reached, .. } => !reached,
            Target::Nothing => false,
        }
    }

    fn outcome(&self) -> &'static str {
        match self.target {
            Target::Nothing => "",
            _ if self.is_missed() => "**MISSED**",
            Target::Times { moonshot: Some(moonshot), .. } if self.times >= moonshot => "pass, moonshot too",
            Target::Times { .. } | Target::Other { .. } => "pass",
        }
    }
}

/// As a Markdown table, ending in a line break.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| figure | target | attache | Gemini CLI's server | times better | events of a task | |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let target = match &row.target {
            Target::Times { least, moonshot: None } => format!("≥ {least:.0}×"),
            Target::Times { least, moonshot: Some(moonshot) } => {
                format!("≥ {least:.0}× (moonshot {moonshot:.0}×)")
            }
            Target::Other { text, .. } => text.clone(),
            Target::Nothing => "–".to_owned(),
        };
        let events =
            row.events.map_or_else(|| "–".to_owned(), |(ours, theirs)| format!("{ours:.1} and {theirs:.1}"));
        let Row { name, attache, peer, times, .. } = row;
        let outcome = row.outcome();
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "| {name} | {target} | {attache} | {peer} | {times:.1} | {events} | {outcome} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: Target, times: f64, ending: &str) {
        let row = Row {
            name: "CPU".to_owned(),
            target,
            attache: "1 ms".to_owned(),
            peer: "9 ms".to_owned(),
            times,
            events: Some((4.0, 23.0)),
        };
        let table = table(&[row]);
        assert!(table.ends_with(ending), "{table}");
    }

    #[test]
    fn a_row_says_whether_its_target_was_reached() {
        let cpu = Target::Times { least: 30.0, moonshot: Some(50.0) };
        check(
            cpu.clone(),
            9.0,
            "| CPU | ≥ 30× (moonshot 50×) | 1 ms | 9 ms | 9.0 | 4.0 and 23.0 | **MISSED** |\n",
        );
        check(cpu.clone(), 30.0, "| pass |\n");
        check(cpu, 51.0, "| pass, moonshot too |\n");
        check(Target::Other { text: "no growth".to_owned(), reached: false }, 9.0, "| **MISSED** |\n");
        check(Target::Nothing, 0.1, "|  |\n");
    }
}
