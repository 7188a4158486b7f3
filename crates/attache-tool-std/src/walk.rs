//! Walks folders in parallel. Skips ignored files and never follows links.

mod opener;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use attache_tool::{ToolError, Workspace};
use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use crate::ignore_rules::{IgnoreRules, IgnoreSelection};
use crate::read_only::{cancelled, root_of, shown_path};
use crate::workspace::locate_resolved;
use opener::FileOpener;

/// A longer walk ends with what it has found.
pub(crate) const WALK_TIMEOUT: Duration = Duration::from_secs(30);
/// Folders of version control, which searches skip.
pub(crate) const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn"];
/// Those, and folders of dependencies.
pub(crate) const NEVER_ENTERED: &[&str] = &[".git", ".hg", ".svn", "bower_components", "node_modules"];

/// When a walk must end.
pub(crate) struct WalkDeadline {
    cancel: CancellationToken,
    deadline: Instant,
    late: AtomicBool,
}

impl WalkDeadline {
    pub(crate) fn after(limit: Duration, cancel: CancellationToken) -> Self {
        Self { cancel, deadline: Instant::now() + limit, late: AtomicBool::new(false) }
    }

    pub(crate) fn is_due(&self) -> bool {
        let late = Instant::now() >= self.deadline;
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late || self.cancel.is_cancelled()
    }

    /// Whether the walk was stopped at the deadline. An error if it was cancelled.
    pub(crate) fn check_end(&self) -> Result<bool, ToolError> {
        if self.cancel.is_cancelled() { Err(cancelled()) } else { Ok(self.late.load(Ordering::Relaxed)) }
    }
}

/// One folder, or one file, to walk.
pub(crate) struct Walk<'walk> {
    start: &'walk Path,
    ignoring: IgnoreRules,
    opener: FileOpener<'walk>,
    never_entered: &'walk [&'walk str],
    stop: &'walk WalkDeadline,
}

impl<'walk> Walk<'walk> {
    /// Fails if `start` is ignored.
    pub(crate) fn new(
        workspace: &'walk Workspace,
        start: &'walk Path,
        respected: IgnoreSelection,
        stop: &'walk WalkDeadline,
    ) -> Result<Self, ToolError> {
        // The path was resolved in the proposal and must not have become a link since.
        locate_resolved(workspace, start)?.resolve()?;
        let root = root_of(workspace, start);
        let ignoring = IgnoreRules::new(workspace, root, respected);
        if ignoring.hides(start, start.is_dir()) {
            return Err(ignored(workspace, start));
        }
        let opener = FileOpener::new(workspace, root)?;
        Ok(Self { start, ignoring, opener, never_entered: NEVER_ENTERED, stop })
    }

    pub(crate) fn never_entering(self, never_entered: &'walk [&'walk str]) -> Self {
        Self { never_entered, ..self }
    }

    /// Opens the files that visitors get.
    pub(crate) fn opener(&self) -> &FileOpener<'walk> {
        &self.opener
    }

    /// Passes every folder (before its entries), file and link below the start to a visitor. Each thread makes its own
    /// visitor. The start itself is passed only if it is not a folder.
    pub(crate) fn run<V>(&self, mut visitor: impl FnMut() -> V)
    where
        V: FnMut(&DirEntry) -> WalkState + Send,
    {
        let mut builder = WalkBuilder::new(self.start);
        // `IgnoreRules` replaces the walker's own rules.
        builder.standard_filters(false).follow_links(false).current_dir(self.start);
        builder.build_parallel().run(|| {
            let mut visit = visitor();
            Box::new(move |entry| {
                if self.stop.is_due() {
                    return WalkState::Quit;
                }
                // Skips folders that cannot be read.
                let Ok(entry) = entry else { return WalkState::Continue };
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                if entry.depth() == 0 {
                    return if is_folder { WalkState::Continue } else { visit(&entry) };
                }
                if is_folder && self.never_entered.iter().any(|name| entry.file_name() == *name)
                    || self.ignoring.hides_itself(entry.path(), is_folder)
                {
                    return WalkState::Skip;
                }
                visit(&entry)
            })
        });
    }
}

/// The error for an ignored path, with a hint.
pub(crate) fn ignored(workspace: &Workspace, path: &Path) -> ToolError {
    ToolError::bad_input(format!(
        "{} is ignored by the project (.gitignore, .git/info/exclude or .geminiignore); choose another path, \
         or tell the tool to include ignored files if it can",
        shown_path(workspace, path)
    ))
}
