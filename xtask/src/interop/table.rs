//! `docs/interop.md`: the results as tables. The file is generated.
//!
//! It has no times and no dates, so that two runs with the same results write the same file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::case::{Case, CaseOutcome};
use super::framework_table;
use super::peers::{PEERS, PeerSubject};

const FILE: &str = "docs/interop.md";

const PAIRS: [&str; 6] =
    ["1.0 JSON-RPC", "1.0 HTTP+JSON", "1.0 gRPC", "0.3 JSON-RPC", "0.3 HTTP+JSON", "0.3 gRPC"];

const HEAD: &str = "\
# Interoperability

`cargo xtask interop --write` writes this page, and `cargo xtask test` fails when a client it runs gives another result. Every check
uses a published client, unchanged, against the real program over real sockets. See `tests/interop` and `tests/frameworks`.

## SDKs

Each SDK is tested on every binding that it has. The SDKs of 1.0 speak 0.3 through their own compatibility layer.

The servers list gRPC as `host:port` (`card.grpc = \"authority\"`), because gRPC for Python and JavaScript dials nothing else. The
programs help the clients in two places: they show the SDKs of 1.0 the interfaces of one version and binding at a time, and they give
gRPC clients that need the token a channel that sends it.

";

const AGENTS: &str = "
## Agents

`attache call` against agents that run on other people's servers, with their defaults.

";

const AGENT_NOTES: &str = "
What is missing above is missing in these servers:

- Python a2a-sdk, both versions: in the protobuf of 0.3 and its JSON it takes base64 text for the bytes of a file
  (`a2a/utils/proto_utils.py:185 and 661` of 0.3.26, `a2a/compat/v0_3/proto_utils.py:188 and 672` of 1.3.0). So over HTTP+JSON and
  gRPC of 0.3 a file that its agent sends is encoded twice, and one that is sent to it arrives as other bytes or none. attache
  sends and reads the bytes themselves, as the definition says and as the JavaScript SDK does. JSON-RPC is not affected.
- Python a2a-sdk 0.3.26 lists no push configurations over HTTP+JSON and gRPC, and gives out its public card for the extended one
  over gRPC. The layer for 0.3 of 1.3.0 has no route that deletes them over HTTP+JSON.
- JavaScript @a2a-js/sdk 0.3.14 writes no file parts over gRPC.
- google-adk, fasta2a and Gemini CLI's server offer JSON-RPC only. A task of Gemini CLI's server waits for another message after each
  turn, so `attache call` ends with 6. For a session the call is done then.
";

/// Writes the table.
pub(super) fn write(root: &Path, cases: &[Case]) -> Result<(), String> {
    fs::write(root.join(FILE), text(cases)).map_err(|error| format!("writing {FILE}: {error}"))
}

/// Writes the section about agents, and leaves the others as they are.
pub(super) fn write_agents(root: &Path, cases: &[Case]) -> Result<(), String> {
    let path = root.join(FILE);
    let known = fs::read_to_string(&path).map_err(|error| format!("reading {FILE}: {error}"))?;
    let text = with_agents(&known, cases).ok_or_else(|| format!("{FILE} has no section about agents"))?;
    fs::write(&path, text).map_err(|error| format!("writing {FILE}: {error}"))
}

fn with_agents(known: &str, cases: &[Case]) -> Option<String> {
    let start = known.find("\n## Agents\n")?;
    let end = start + known[start..].find("\n## Agent frameworks\n")?;
    let mut out = known[..start].to_owned();
    write_section(&mut out, cases, PeerSubject::Called, AGENTS);
    out.push_str(AGENT_NOTES);
    out.push_str(&known[end..]);
    Some(out)
}

/// An error when the file differs from what `cases` would give.
pub(crate) fn check(root: &Path, cases: &[Case]) -> Result<(), String> {
    let found = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    if found == text(cases) {
        return Ok(());
    }
    Err(format!("{FILE} is not what this run found\n\nhint: cargo xtask interop --write"))
}

fn text(cases: &[Case]) -> String {
    let mut out = HEAD.to_owned();
    write_section(&mut out, cases, PeerSubject::Attache, "");
    if write_section(&mut out, cases, PeerSubject::Called, AGENTS) {
        out.push_str(AGENT_NOTES);
    }
    framework_table::write(&mut out);
    out
}

/// False if there is nothing to tell.
fn write_section(out: &mut String, cases: &[Case], against: PeerSubject, heading: &str) -> bool {
    let found = Results::of(cases, against);
    if found.programs.is_empty() {
        return false;
    }
    out.push_str(heading);
    found.write_numbers(out);
    found.write_checks(out);
    true
}

/// The cases in the order in which the checks first appeared.
#[derive(Default)]
struct Results<'a> {
    programs: BTreeSet<&'a str>,
    checks: Vec<&'a str>,
    outcomes: BTreeMap<(&'a str, &'a str, &'a str), CaseOutcome>,
}

impl<'a> Results<'a> {
    /// The results of the programs that were run like this.
    fn of(cases: &'a [Case], against: PeerSubject) -> Self {
        let mut found = Self::default();
        let named = cases.iter().filter_map(|case| Some((case.name()?, case.outcome)));
        for (name, outcome) in named.filter(|(name, _)| is_run(name.program, against)) {
            found.programs.insert(name.program);
            if !found.checks.contains(&name.what) {
                found.checks.push(name.what);
            }
            let place = found.outcomes.entry((name.program, name.what, name.pair)).or_insert(outcome);
            if outcome != CaseOutcome::Passed {
                *place = outcome;
            }
        }
        found
    }

    /// How many checks each SDK passes on each pair.
    fn write_numbers(&self, out: &mut String) {
        row(out, ["SDK"].into_iter().chain(PAIRS).chain(["besides"]));
        row(out, std::iter::repeat_n("---", PAIRS.len() + 2));
        for program in &self.programs {
            let of_pair = |pair: &str| self.number(program, |found| found == pair);
            let besides = self.number(program, |found| !PAIRS.contains(&found));
            let cells = PAIRS.iter().map(|pair| of_pair(pair)).chain([besides]);
            row(out, [title(program).to_owned()].into_iter().chain(cells));
        }
        out.push('\n');
    }

    fn number(&self, program: &str, pair: impl Fn(&str) -> bool) -> String {
        let of_pair = self.outcomes.iter().filter(|((one, _, found), _)| *one == program && pair(found));
        let mut numbers = BTreeMap::new();
        for (_, outcome) in of_pair {
            *numbers.entry(word(*outcome)).or_insert(0_usize) += 1;
        }
        let cells: Vec<String> =
            numbers.into_iter().map(|(word, number)| format!("{number} {word}")).collect();
        if cells.is_empty() { "–".to_owned() } else { cells.join(", ") }
    }

    /// On which pairs each SDK passes each check.
    fn write_checks(&self, out: &mut String) {
        out.push_str(
            "J is JSON-RPC, H is HTTP+JSON and G is gRPC; ✓ marks a check that is about none of them.\n\n",
        );
        let titles = self.programs.iter().map(|program| title(program));
        row(out, ["check"].into_iter().chain(titles));
        row(out, std::iter::repeat_n("---", self.programs.len() + 1));
        for what in &self.checks {
            let cells = self.programs.iter().map(|program| self.cell(program, what));
            row(out, [(*what).replace('|', "\\|")].into_iter().chain(cells));
        }
    }

    fn cell(&self, program: &str, what: &str) -> String {
        let outcome = |pair: &str| self.outcomes.get(&(program, what, pair)).copied();
        let mut said = Vec::new();
        for version in ["1.0", "0.3"] {
            let letters = [("JSON-RPC", 'J'), ("HTTP+JSON", 'H'), ("gRPC", 'G')];
            let shown: String = letters
                .into_iter()
                .filter_map(|(binding, letter)| shown(outcome(&format!("{version} {binding}"))?, letter))
                .collect();
            if !shown.is_empty() {
                said.push(format!("{version} {shown}"));
            }
        }
        let others = self
            .outcomes
            .iter()
            .filter(|((one, found, pair), _)| *one == program && *found == what && !PAIRS.contains(pair));
        said.extend(others.filter_map(|(_, outcome)| shown(*outcome, '✓')).map(String::from));
        said.join(", ")
    }
}

/// The letter of a check that passed.
fn shown(outcome: CaseOutcome, letter: char) -> Option<char> {
    (outcome == CaseOutcome::Passed).then_some(letter)
}

fn word(outcome: CaseOutcome) -> &'static str {
    match outcome {
        CaseOutcome::Passed => "passed",
        CaseOutcome::Failed => "failed",
        CaseOutcome::Skipped => "skipped",
    }
}

fn is_run(program: &str, against: PeerSubject) -> bool {
    PEERS.iter().any(|peer| peer.folder == program && peer.against == against)
}

/// The name of the SDK that a program uses.
fn title(program: &str) -> &str {
    let peer = PEERS.iter().find(|peer| peer.folder == program);
    peer.map_or(program, |peer| peer.name)
}

pub(super) fn row<T: AsRef<str>>(out: &mut String, cells: impl Iterator<Item = T>) {
    let cells: Vec<String> = cells.map(|cell| cell.as_ref().to_owned()).collect();
    // Writing to a text cannot fail.
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(lines: &[&str]) -> Vec<Case> {
        lines.iter().filter_map(|line| Case::parse(line)).collect()
    }

    #[test]
    fn a_table_tells_who_passes_what_where() {
        let text = text(&cases(&[
            "ok py-1.0 | - | the card is whole",
            "ok py-1.0 | 1.0 gRPC | send answers",
            "ok py-1.0 | 1.0 JSON-RPC | send answers",
            "not ok py-1.0 | 0.3 gRPC | send answers: it hangs",
            "skip py-1.0 | 1.0 gRPC | a list: there is none",
            "ok js-0.3 | 0.3 HTTP+JSON | send answers",
            "ok js-0.3-server | 0.3 gRPC | a stream is printed",
            "ok something of a model",
            "ok anthropic | - | sends what we send",
        ]));
        let (text, _) = text.split_once("\n## Agent frameworks").unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        let expected = [
            "| SDK | 1.0 JSON-RPC | 1.0 HTTP+JSON | 1.0 gRPC | 0.3 JSON-RPC | 0.3 HTTP+JSON | 0.3 gRPC | besides |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            "| JavaScript @a2a-js/sdk 0.3.14 | – | – | – | – | 1 passed | – | – |",
            "| Python a2a-sdk 1.3.0 | 1 passed | – | 1 passed, 1 skipped | – | – | 1 failed | 1 passed |",
            "| check | JavaScript @a2a-js/sdk 0.3.14 | Python a2a-sdk 1.3.0 |",
            "| --- | --- | --- |",
            "| the card is whole |  | ✓ |",
            "| send answers | 0.3 H | 1.0 JG |",
            "| a list |  |  |",
            "| SDK | 1.0 JSON-RPC | 1.0 HTTP+JSON | 1.0 gRPC | 0.3 JSON-RPC | 0.3 HTTP+JSON | 0.3 gRPC | besides |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            "| JavaScript @a2a-js/sdk 0.3.14, its server | – | – | – | – | – | 1 passed | – |",
            "| check | JavaScript @a2a-js/sdk 0.3.14, its server |",
            "| --- | --- |",
            "| a stream is printed | 0.3 G |",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_section_about_agents_is_written_alone() {
        let known = "# A\n\n## SDKs\n\nold\n\n## Agents\n\nold\n\n## Agent frameworks\n\nold\n";
        let cases = cases(&["ok js-0.3-server | 0.3 gRPC | a stream is printed"]);
        let text = with_agents(known, &cases).unwrap();
        assert!(text.starts_with("# A\n\n## SDKs\n\nold\n\n## Agents\n\n`attache call`"), "{text}");
        assert!(text.contains("| a stream is printed | 0.3 G |"), "{text}");
        assert!(text.ends_with("\n\n## Agent frameworks\n\nold\n"), "{text}");
        assert_eq!(with_agents(&text, &cases).as_deref(), Some(text.as_str()));
        assert_eq!(with_agents("# A\n", &cases), None);
    }

    #[test]
    fn a_table_that_is_not_what_was_found_is_told() {
        let message = check(Path::new("nowhere"), &[]).unwrap_err();
        assert!(message.contains("cargo xtask interop --write"), "{message}");
    }
}
