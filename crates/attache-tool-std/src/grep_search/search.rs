//! Searches files with ripgrep's engine, on the threads of the walk.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use attache_tool::{ToolError, Workspace};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::{DirEntry, WalkState};

use super::collector::{KeptMatches, MatchCollector};
use super::lines::{FileMatches, MatchSink, SearchDetail};
use super::{DEFAULT_MATCHES, Input, MAX_MATCHES};
use crate::ignore_rules::IgnoreSelection;
use crate::path_pattern::PathPattern;
use crate::walk::{NEVER_ENTERED, VERSION_CONTROL, Walk, WalkDeadline};
use crate::workspace::locate_resolved;

/// The longest line that a search holds in memory. Files with longer lines are not searched.
const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;
/// The default context of a single match, and of each of a few matches.
const CONTEXT_OF_ONE: usize = 50;
const CONTEXT_OF_FEW: usize = 15;
const FEW: usize = 3;

/// The parsed input of a call.
pub(super) struct Search {
    matcher: RegexMatcher,
    unwanted: Option<RegexMatcher>,
    include: Option<Include>,
    names_only: bool,
    /// Lines before and after a match, if the call names them.
    context: Option<(usize, usize)>,
    per_file: usize,
    total: usize,
    respected: IgnoreSelection,
    never_entered: &'static [&'static str],
}

/// Which files to search.
struct Include {
    pattern: PathPattern,
    negated: bool,
}

/// The result of a search.
pub(super) struct SearchOutcome {
    pub(super) kept: KeptMatches,
    /// The search took too long and was stopped.
    pub(super) late: bool,
    /// Files that could not be searched.
    pub(super) unread: usize,
}

impl Search {
    pub(super) fn new(input: &Input) -> Result<Self, ToolError> {
        let (respected, never_entered) = match input.no_ignore {
            false => (IgnoreSelection::ALL, NEVER_ENTERED),
            // Files that a person hides from agents stay hidden.
            true => (IgnoreSelection { git: false, ..IgnoreSelection::ALL }, VERSION_CONTROL),
        };
        let asked = [input.context, input.before, input.after].iter().any(Option::is_some);
        let context = |own: Option<usize>| own.or(input.context).unwrap_or(0);
        let total = input.total_max_matches.unwrap_or(DEFAULT_MATCHES);
        Ok(Self {
            matcher: matcher("pattern", &input.pattern, input.case_sensitive, input.fixed_strings)?,
            unwanted: match &input.exclude_pattern {
                Some(pattern) => Some(matcher("exclude_pattern", pattern, input.case_sensitive, false)?),
                None => None,
            },
            include: input.include_pattern.as_deref().map(Include::new).transpose()?,
            names_only: input.names_only,
            context: asked.then(|| (context(input.before), context(input.after))),
            per_file: input.max_matches_per_file.unwrap_or(MAX_MATCHES).min(total),
            total,
            respected,
            never_entered,
        })
    }

    fn searcher(&self, (before, after): (usize, usize)) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(!self.names_only)
            .before_context(before)
            .after_context(after)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_FILE_BYTES))
            .build()
    }

    /// The default context for this number of matches.
    fn context_for(&self, kept: &KeptMatches) -> Option<usize> {
        let wanted = self.context.is_none() && !self.names_only && !kept.limited;
        match kept.matches {
            1 if wanted => Some(CONTEXT_OF_ONE),
            2..=FEW if wanted => Some(CONTEXT_OF_FEW),
            _ => None,
        }
    }
}

/// Memory for a compiled pattern: `(a{1000}){1000}` is short and takes a hundred megabytes.
const MAX_COMPILED_BYTES: usize = 10 << 20;

/// `$` also matches before `\r\n`.
fn matcher(
    member: &str,
    pattern: &str,
    case_sensitive: bool,
    fixed: bool,
) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(!case_sensitive)
        .fixed_strings(fixed)
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .build(pattern)
        .map_err(|error| {
            let hint = "matching is line by line, without look-around and back-references; set \"fixed_strings\" \
                        to look for plain text";
            ToolError::bad_input(format!("grep_search: {member:?} cannot be used: {error} ({hint})"))
        })
}

impl Include {
    /// As in ripgrep, a pattern without a slash matches names in any folder, and `!` negates it.
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let (pattern, negated) =
            pattern.strip_prefix('!').map_or((pattern, false), |pattern| (pattern, true));
        let anywhere = if pattern.contains('/') { String::new() } else { "**/".to_owned() };
        let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
        let pattern = PathPattern::new("grep_search", "include_pattern", &(anywhere + pattern), true)?;
        Ok(Self { pattern, negated })
    }

    fn matches(&self, below: &Path) -> bool {
        self.pattern.matches(below) != self.negated
    }

    fn may_match_in(&self, folder: &Path) -> bool {
        self.negated || self.pattern.may_match_in(folder)
    }
}

/// The first matches by path, at or below `starts`.
pub(super) fn search(
    workspace: &Workspace,
    starts: &[PathBuf],
    search: &Search,
    stop: &WalkDeadline,
) -> Result<SearchOutcome, ToolError> {
    let found = MatchCollector::new(search.total);
    let unread = AtomicUsize::new(0);
    for start in starts {
        let walk = Walk::new(workspace, start, search.respected, stop)?.never_entering(search.never_entered);
        walk.run(|| {
            let mut searcher = search.searcher(search.context.unwrap_or_default());
            let (walk, found, unread) = (&walk, &found, &unread);
            move |entry: &DirEntry| {
                let kind = entry.file_type();
                if found.is_beyond(entry.path()) {
                    return WalkState::Skip;
                }
                let below = below(start, entry);
                if kind.is_some_and(|kind| kind.is_dir()) {
                    let enter = search.include.as_ref().is_none_or(|include| include.may_match_in(below));
                    return if enter { WalkState::Continue } else { WalkState::Skip };
                }
                let included = search.include.as_ref().is_none_or(|include| include.matches(below));
                if included && kind.is_some_and(|kind| kind.is_file()) {
                    match search_file(walk.opener().open(entry.path()).ok(), search, &mut searcher, stop) {
                        Some(matches) if matches.matches > 0 => found.add(entry.path(), matches),
                        Some(_) => {}
                        None => drop(unread.fetch_add(1, Ordering::Relaxed)),
                    }
                }
                WalkState::Continue
            }
        });
    }
    let mut kept = found.finish();
    if let Some(around) = search.context_for(&kept) {
        let mut searcher = search.searcher((around, around));
        for (path, matches) in &mut kept.files {
            // A file that is gone by now keeps the lines found before.
            let file = locate_resolved(workspace, path).and_then(|place| place.open_file()).ok();
            if let Some(again) = search_file(file, search, &mut searcher, stop)
                && again.matches == matches.matches
            {
                *matches = again;
            }
        }
    }
    let late = stop.check_end()?;
    Ok(SearchOutcome { kept, late, unread: unread.into_inner() })
}

fn below<'entry>(start: &Path, entry: &'entry DirEntry) -> &'entry Path {
    match entry.path().strip_prefix(start) {
        Ok(below) if !below.as_os_str().is_empty() => below,
        // The start itself is a file; its name counts.
        _ => Path::new(entry.file_name()),
    }
}

/// The matches in one file; none if it cannot be read.
fn search_file(
    file: Option<File>,
    search: &Search,
    searcher: &mut Searcher,
    stop: &WalkDeadline,
) -> Option<FileMatches> {
    let file = file?;
    let mut listener = MatchSink {
        matcher: &search.matcher,
        unwanted: search.unwanted.as_ref(),
        wanted: if search.names_only { SearchDetail::Name } else { SearchDetail::Lines(search.per_file) },
        found: FileMatches::default(),
    };
    let reader = StoppableReader { file, stop };
    searcher.search_reader(&search.matcher, reader, &mut listener).ok()?;
    Some(listener.found)
}

/// A reader that fails once the search must stop, so that a huge file does not delay the end.
struct StoppableReader<'stop> {
    file: File,
    stop: &'stop WalkDeadline,
}

impl Read for StoppableReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_due() { Err(io::ErrorKind::TimedOut.into()) } else { self.file.read(buffer) }
    }
}
