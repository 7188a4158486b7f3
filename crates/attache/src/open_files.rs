//! How many files may be open at once, and so how many connections: each of them is a file to the system.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Kept for everything else: the store, models, tools and the programs they start, webhooks.
const RESERVED_FILES: usize = 256;

/// Raises the limit as far as the system lets us, as its usual one is low, and says what it is now.
pub(crate) fn raise_limit() -> Option<usize> {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map(|(now, most)| {
        match setrlimit(Resource::RLIMIT_NOFILE, most, most) {
            Ok(()) => most,
            Err(error) => {
                tracing::debug!(%error, "the limit of open files stays as it is");
                now
            }
        }
    });
    match limit {
        // What is larger than any count is no limit.
        Ok(limit) => usize::try_from(limit).ok(),
        Err(error) => {
            tracing::debug!(%error, "the limit of open files cannot be told");
            None
        }
    }
}

/// The connections that there may be of those wished for. More than there are files for would not wait their turn but
/// fail, and take the files of everything else.
pub(crate) fn connections_within(limit: Option<usize>, wished: usize) -> usize {
    let Some(limit) = limit else { return wished };
    let most = limit - RESERVED_FILES.min(limit / 2);
    if wished <= most {
        return wished;
    }
    let most = most.max(1);
    tracing::warn!(
        "there may be {most} connections at once instead of {wished} (limits.connections): the system lets this \
         program open {limit} files; raise that limit (ulimit -n, LimitNOFILE) or lower the setting"
    );
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_everything_else() {
        for (limit, wished, expected) in [
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
            assert_eq!(connections_within(limit, wished), expected, "{limit:?} {wished}");
        }
    }
}
