//! Limits the connections by the number of open files that the system allows.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Files that are reserved for the store, models, tools, their programs and webhooks.
const RESERVED_FILES: usize = 256;

/// Raises the limit of open files as far as the system allows, and returns it.
pub(crate) fn raise_limit() -> Option<usize> {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map(|(now, most)| {
        match setrlimit(Resource::RLIMIT_NOFILE, most, most) {
            Ok(()) => most,
            Err(error) => {
                tracing::debug!(%error, "the limit of open files is not raised");
                now
            }
        }
    });
    match limit {
        // A limit larger than any count is none.
        Ok(limit) => usize::try_from(limit).ok(),
        Err(error) => {
            tracing::debug!(%error, "the limit of open files cannot be told");
            None
        }
    }
}

/// The number of connections, at most `requested`. With more than there are files for, connections would fail instead of
/// waiting, and take the files of everything else.
pub(crate) fn connections_within(limit: Option<usize>, requested: usize) -> usize {
    let Some(limit) = limit else { return requested };
    let most = limit - RESERVED_FILES.min(limit / 2);
    if requested <= most {
        return requested;
    }
    let most = most.max(1);
    tracing::warn!(
        "there may be {most} connections at once instead of {requested} (limits.connections): the system lets this \
         program open {limit} files; raise that limit (ulimit -n, LimitNOFILE) or lower the setting"
    );
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_everything_else() {
        for (limit, requested, expected) in [
            (None, 16_384, 16_384),
            (Some(1 << 20), 16_384, 16_384),
            (Some(16_640), 16_384, 16_384),
            (Some(16_639), 16_384, 16_383),
            (Some(1024), 16_384, 768),
            (Some(1024), 100, 100),
            (Some(64), 16_384, 32),
            (Some(1), 16_384, 1),
            (Some(0), 16_384, 1),
        ] {
            assert_eq!(connections_within(limit, requested), expected, "{limit:?} {requested}");
        }
    }
}
