//! Runs every check on every offered pair, several in parallel.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;

use crate::check::{Check, Stop};
use crate::checks;
use crate::pair::Pair;
use crate::protocol::{Binding, Version};
use crate::report::{CheckOutcome, Report, ReportRow};
use crate::subject::Subject;

/// Longer than any wait for a single response, whose timeout gives a better reason.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct Options {
    /// Where the card is: `<base>/.well-known/agent-card.json`.
    pub base: String,
    pub token: Option<String>,
    /// The token of a second caller, who must not see the tasks of the first.
    pub other_token: Option<String>,
    /// Prefixes of the ids of the checks to run; empty for all.
    pub only: Vec<String>,
    /// How many checks run in parallel.
    pub jobs: usize,
}

/// The pairs in the order of the report's columns.
pub(crate) const PAIRS: [(Version, Binding); 6] = [
    (Version::V1_0, Binding::JsonRpc),
    (Version::V1_0, Binding::Rest),
    (Version::V1_0, Binding::Grpc),
    (Version::V0_3, Binding::JsonRpc),
    (Version::V0_3, Binding::Rest),
    (Version::V0_3, Binding::Grpc),
];

/// An error means that the suite could not run at all.
pub async fn run(options: &Options) -> Result<Report, String> {
    let start = Instant::now();
    let subject =
        Subject::discover(&options.base, options.token.clone(), options.other_token.clone()).await?;
    if subject.offers.is_empty() {
        return Err("the card offers no interface that this suite knows".into());
    }
    subject.probe_behaviours().await;
    let wanted = |check: &Check| {
        options.only.is_empty()
            || options.only.iter().any(|beginning| check.id.starts_with(beginning.as_str()))
    };
    let checks: Vec<Arc<Check>> = checks::all().into_iter().filter(wanted).map(Arc::new).collect();
    let mut rows: Vec<ReportRow> = checks.iter().map(|check| ReportRow::new(check)).collect();
    for last in [false, true] {
        let mut tries = Vec::new();
        for (place, check) in checks.iter().enumerate().filter(|(_, check)| check.last == last) {
            for (column, pair) in PAIRS.into_iter().enumerate() {
                if check.once && column > 0 {
                    break;
                }
                tries.push(attempt(subject.clone(), check.clone(), pair, place, column));
            }
        }
        let mut done = futures_util::stream::iter(tries).buffer_unordered(options.jobs.max(1));
        while let Some((place, column, cell, taken)) = done.next().await {
            rows[place].cells[column] = cell;
            rows[place].taken = rows[place].taken.max(taken);
        }
    }
    Ok(Report {
        base: options.base.clone(),
        agent: subject.card["name"].as_str().unwrap_or_default().to_owned(),
        disobeyed: subject.missing_behaviours(),
        offered: PAIRS.map(|(version, binding)| subject.interface(version, binding).is_some()),
        rows,
        taken: start.elapsed(),
    })
}

async fn attempt(
    subject: Arc<Subject>,
    check: Arc<Check>,
    (version, binding): (Version, Binding),
    place: usize,
    column: usize,
) -> (usize, usize, CheckOutcome, Duration) {
    let start = Instant::now();
    let cell = judge(&subject, &check, version, binding).await;
    (place, column, cell, start.elapsed())
}

async fn judge(subject: &Arc<Subject>, check: &Check, version: Version, binding: Binding) -> CheckOutcome {
    let pair = if check.once {
        // Any pair is suitable, because such a check covers the whole server.
        subject.pairs().into_iter().next()
    } else {
        if check.strength(version).is_none() || !check.bindings.contains(&binding) {
            return CheckOutcome::NoSuchRule;
        }
        subject.pair(version, binding)
    };
    let Some(pair) = pair else { return CheckOutcome::NotOffered };
    if let Some(why) = check.needs.iter().find_map(|need| subject.lacks(*need)) {
        return CheckOutcome::NotApplicable(why);
    }
    if let Some(why) = check.words.iter().find_map(|word| subject.lacks_behaviour(*word)) {
        return CheckOutcome::NotApplicable(why);
    }
    run_one(check, pair).await
}

async fn run_one(check: &Check, pair: Pair) -> CheckOutcome {
    match tokio::time::timeout(CHECK_TIMEOUT, check.run(pair)).await {
        Ok(Ok(())) => CheckOutcome::Passed,
        Ok(Err(Stop::Fail(why))) => CheckOutcome::Failed(crate::text::reason(&why)),
        Ok(Err(Stop::NotApplicable(why))) => CheckOutcome::NotApplicable(crate::text::reason(&why)),
        Err(_) => CheckOutcome::Failed(format!("the check was not done after {} s", CHECK_TIMEOUT.as_secs())),
    }
}
