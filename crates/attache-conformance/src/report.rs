//! The report of a run: a table for people, JSON for programs.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{Check, Strength};
use crate::protocol::Version;
use crate::run::PAIRS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    Passed,
    Failed(String),
    /// The card does not offer the pair.
    NotOffered,
    NotApplicable(String),
    /// The version or the binding does not have the rule.
    NoSuchRule,
}

impl CheckOutcome {
    fn sign(&self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed(_) => "FAIL",
            Self::NotOffered => "not offered",
            Self::NotApplicable(_) => "n/a",
            Self::NoSuchRule => "-",
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Passed => json!({"result": "pass"}),
            Self::Failed(why) => json!({"result": "fail", "reason": why}),
            Self::NotOffered => json!({"result": "not offered"}),
            Self::NotApplicable(why) => json!({"result": "not applicable", "reason": why}),
            Self::NoSuchRule => json!({"result": "no such rule"}),
        }
    }
}

/// One check on all pairs.
#[derive(Debug, Clone)]
pub struct ReportRow {
    pub id: &'static str,
    pub sentence: &'static str,
    /// A check of the whole server; its result is in the first cell.
    pub once: bool,
    pub cells: [CheckOutcome; 6],
    /// The longest duration on a pair.
    pub taken: Duration,
    strength_0_3: Option<Strength>,
    strength_1_0: Option<Strength>,
}

impl ReportRow {
    pub(crate) fn new(check: &Check) -> Self {
        Self {
            id: check.id,
            sentence: check.sentence,
            once: check.once,
            cells: [const { CheckOutcome::NoSuchRule }; 6],
            taken: Duration::ZERO,
            strength_0_3: check.strength(Version::V0_3),
            strength_1_0: check.strength(Version::V1_0),
        }
    }

    fn strength(&self, version: Version) -> Option<Strength> {
        match version {
            Version::V0_3 => self.strength_0_3,
            Version::V1_0 => self.strength_1_0,
        }
    }

    /// `MUST`, or `MUST/choice` if 0.3 is less strict than 1.0.
    fn strengths(&self) -> String {
        match (self.strength_1_0, self.strength_0_3) {
            (Some(new), Some(old)) if new != old => format!("{}/{}", new.as_str(), old.as_str()),
            (Some(strength), _) | (None, Some(strength)) => strength.as_str().to_owned(),
            (None, None) => String::new(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Report {
    pub base: String,
    pub agent: String,
    /// Behaviours that the agent does not support, and what it does instead.
    pub disobeyed: Vec<(String, String)>,
    pub offered: [bool; 6],
    pub rows: Vec<ReportRow>,
    pub taken: Duration,
}

impl Report {
    /// Every broken rule: the row, the column and the reason, the strongest rules first.
    pub fn failures(&self) -> Vec<(&ReportRow, String, Strength, &str)> {
        let mut failures = Vec::new();
        for row in &self.rows {
            for (cell, (version, binding)) in row.cells.iter().zip(PAIRS) {
                let CheckOutcome::Failed(why) = cell else { continue };
                let pair = match row.once {
                    true => "server".to_owned(),
                    false => format!("{} {}", binding.as_str(), version.as_str()),
                };
                let strength = row.strength(version).or(row.strength_0_3).unwrap_or(Strength::Quality);
                failures.push((row, pair, strength, why.as_str()));
            }
        }
        failures.sort_by_key(|(_, _, strength, _)| *strength);
        failures
    }

    pub fn breaks_a_must(&self) -> bool {
        self.failures().iter().any(|(_, _, strength, _)| *strength == Strength::Must)
    }

    /// Passed, failed and not applicable.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |wanted: fn(&CheckOutcome) -> bool| {
            self.rows.iter().flat_map(|row| &row.cells).filter(|cell| wanted(cell)).count()
        };
        (
            count(|cell| *cell == CheckOutcome::Passed),
            count(|cell| matches!(cell, CheckOutcome::Failed(_))),
            count(|cell| matches!(cell, CheckOutcome::NotApplicable(_))),
        )
    }

    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let mut results = serde_json::Map::new();
            for (cell, (version, binding)) in row.cells.iter().zip(PAIRS) {
                let name = format!("{} {}", binding.as_str(), version.as_str());
                results.insert(if row.once { "server".into() } else { name }, cell.json());
                if row.once {
                    break;
                }
            }
            json!({
                "id": row.id, "rule": row.sentence, "results": results,
                "strength": {"1.0": row.strength_1_0.map(Strength::as_str), "0.3": row.strength_0_3.map(Strength::as_str)},
            })
        });
        let (passed, failed, not_applicable) = self.counts();
        json!({
            "url": self.base, "agent": self.agent, "seconds": self.taken.as_secs_f64(),
            "passed": passed, "failed": failed, "notApplicable": not_applicable,
            "breaksAMust": self.breaks_a_must(),
            "disobeyed": self.disobeyed.iter().map(|(word, why)| json!({"word": word, "instead": why})).collect::<Vec<_>>(),
            "checks": rows.collect::<Vec<_>>(),
        })
    }

    /// The table, the reasons, and a last line with the counts.
    pub fn to_text(&self) -> String {
        let mut text = format!("{} at {}\n\n", self.agent, self.base);
        let heads: Vec<String> = PAIRS
            .iter()
            .map(|(version, binding)| format!("{} {}", binding.as_str().to_lowercase(), version.as_str()))
            .collect();
        let widest = self.rows.iter().map(|row| row.id.len()).max().unwrap_or_default();
        let strengths = "MUST/quality".len();
        let line = |cells: Vec<&str>| -> String {
            let cells =
                cells.iter().zip(&heads).map(|(cell, head)| format!("{cell:<width$}", width = head.len()));
            cells.collect::<Vec<_>>().join("  ")
        };
        let head = line(heads.iter().map(String::as_str).collect());
        writeln!(text, "{:widest$}  {:strengths$}  {head}", "check", "strength").ok();
        for row in &self.rows {
            let cells = row.cells.iter().zip(self.offered).map(|(cell, offered)| match (cell, offered) {
                (CheckOutcome::NotOffered, _) => "",
                (cell, true) => cell.sign(),
                (cell, false) if row.once => cell.sign(),
                (_, false) => "",
            });
            let cells = if row.once { vec![row.cells[0].sign()] } else { cells.collect() };
            writeln!(text, "{:widest$}  {:strengths$}  {}", row.id, row.strengths(), line(cells).trim_end())
                .ok();
        }
        for (offered, head) in self.offered.iter().zip(&heads) {
            if !offered {
                writeln!(text, "\nnot offered: {head}").ok();
            }
        }
        for (word, why) in &self.disobeyed {
            writeln!(text, "\nnot steered by `{word}`: {why}").ok();
        }
        for (row, pair, strength, why) in self.failures() {
            writeln!(text, "\n{} {} on {pair}: {}\n    {why}", strength.as_str(), row.id, row.sentence).ok();
        }
        let (passed, failed, not_applicable) = self.counts();
        writeln!(
            text,
            "\n{passed} passed, {failed} failed, {not_applicable} not applicable in {:.1} s",
            self.taken.as_secs_f64()
        )
        .ok();
        text
    }
}
