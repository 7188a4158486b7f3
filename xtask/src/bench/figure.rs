//! One row of the table: the target, the result, and whether it is met.

use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetOutcome {
    Pass,
    Miss,
    /// Shown for the reader; nothing was promised.
    Information,
}

impl TargetOutcome {
    /// Reached when `measured` is at most `limit`.
    pub(super) fn at_most(measured: f64, limit: f64) -> Self {
        if measured <= limit { Self::Pass } else { Self::Miss }
    }

    pub(super) fn at_least(measured: f64, limit: f64) -> Self {
        if measured >= limit { Self::Pass } else { Self::Miss }
    }

    /// Reached when both are.
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::Miss || other == Self::Miss { Self::Miss } else { self }
    }

    pub(super) fn when(holds: bool) -> Self {
        if holds { Self::Pass } else { Self::Miss }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) target: String,
    /// What attache did.
    pub(super) attache: String,
    /// What the thing it is compared with did.
    pub(super) compared: Option<String>,
    /// Median of the rounds' own ratios.
    pub(super) ratio: Option<f64>,
    /// The generator's CPU as a share of one core while attache was measured.
    pub(super) load_cpu: Option<f64>,
    pub(super) outcome: TargetOutcome,
}

/// The figures as a Markdown table, ending in a line break.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut text = String::from(
        "| figure | target | attache | compared with | ratio | load generator CPU | |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for figure in figures {
        let compared = figure.compared.as_deref().unwrap_or("–");
        let ratio = figure.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        let load_cpu = figure.load_cpu.map_or_else(|| "–".to_owned(), |share| format!("{share:.2} cores"));
        let outcome = match figure.outcome {
            TargetOutcome::Pass => "pass",
            TargetOutcome::Miss => "**miss**",
            TargetOutcome::Information => "",
        };
        let (name, target, attache) = (&figure.name, &figure.target, &figure.attache);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {target} | {attache} | {compared} | {ratio} | {load_cpu} | {outcome} |"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_figure_stands_out_and_an_absent_value_is_a_dash() {
        let figure = Figure {
            name: "send".to_owned(),
            target: "≤ 3.5×".to_owned(),
            attache: "80 µs".to_owned(),
            compared: None,
            ratio: Some(4.0),
            load_cpu: None,
            outcome: TargetOutcome::at_most(4.0, 3.5),
        };
        let table = table(&[figure]);
        assert!(table.ends_with("| send | ≤ 3.5× | 80 µs | – | 4.00 | – | **miss** |\n"), "{table}");
    }

    #[test]
    fn a_verdict_of_two_is_a_miss_when_either_is() {
        assert_eq!(
            TargetOutcome::at_most(1.0, 1.0).and(TargetOutcome::at_least(0.2, 0.3)),
            TargetOutcome::Miss
        );
        assert_eq!(TargetOutcome::Pass.and(TargetOutcome::Pass), TargetOutcome::Pass);
    }
}
