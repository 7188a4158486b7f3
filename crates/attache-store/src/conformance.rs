//! The suite every store must pass, one named test per promise.
//!
//! A store's crate writes [`conformance_tests!`](crate::conformance_tests) in a test file and gets one test per check,
//! each with a store of its own. Guarantees of some stores only, such as durability across a restart, are tested by
//! those stores.
//!
//! Two wrappers serve the tests of other crates: [`GatedStore`], whose appends wait until they are released, and
//! [`DamagedStore`], in which some logs and records cannot be read.

mod concurrent;
mod damaged_store;
mod gated_store;
mod index;
mod listing;
mod log;
mod records;
mod samples;

pub use concurrent::*;
pub use damaged_store::DamagedStore;
pub use gated_store::GatedStore;
pub use index::*;
pub use listing::*;
pub use log::*;
pub use records::*;
pub use samples::{Sample, every_kind_of_fact, name_of};

use crate::{EventLog, Records, TaskIndex};

/// All three traits.
pub trait Store: EventLog + TaskIndex + Records {}

impl<S: EventLog + TaskIndex + Records> Store for S {}

/// Writes one test per check. The argument is evaluated in each test, may `.await`, and returns the store as `Arc<S>`
/// together with a value that must outlive it (a temporary folder, or `()`).
///
/// ```text
/// attache_store::conformance_tests!((Arc::new(MemoryStore::default()), ()));
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($open:expr) => {
        $crate::conformance_tests! { @each ($open)
            // The log.
            an_appended_batch_reads_back_whole
            what_is_nested_deep_reads_back_whole
            a_conflict_tells_expected_and_head_and_writes_nothing
            a_refused_append_leaves_the_listing_alone
            appending_beyond_the_head_conflicts
            appending_to_a_missing_task_conflicts_at_zero
            expecting_zero_of_an_existing_task_conflicts
            a_cursor_inside_a_batch_gives_exactly_the_events_after_it
            pages_have_no_hole_and_no_repeat
            several_logs_are_read_in_the_order_asked_for
            a_page_is_never_empty_while_there_is_more
            a_cursor_at_or_beyond_the_head_reads_empty
            an_unknown_task_reads_empty
            another_callers_task_of_the_same_id_is_another_task
            every_kind_of_fact_comes_back_unchanged
            strange_text_and_numbers_come_back_unchanged
            a_large_text_comes_back_unchanged
            the_newest_snapshot_at_or_before_a_place_is_found
            a_snapshot_belongs_to_one_task_only
            // Concurrency.
            many_tasks_appended_at_once_each_keep_their_order
            of_appends_to_one_task_at_once_exactly_one_wins
            of_openings_of_one_task_at_once_exactly_one_wins
            a_new_store_has_nothing_to_warn_of
            // The listing.
            tasks_are_listed_by_newest_status_and_ties_by_id
            a_listing_can_be_filtered_by_context
            a_listing_can_be_filtered_by_state
            a_listing_can_be_filtered_by_time
            all_filters_together_narrow_a_listing
            pages_of_a_listing_hold_every_task_once
            pages_of_a_filtered_listing_hold_every_task_once
            a_page_that_ends_exactly_at_the_end_has_no_more
            a_place_in_a_listing_survives_newer_tasks
            the_total_ignores_place_and_limit
            hidden_tasks_are_in_no_listing
            another_callers_tasks_are_in_no_listing
            a_caller_without_tasks_has_an_empty_listing
            a_status_change_moves_a_task_in_the_listing
            an_append_without_a_status_change_leaves_the_listing_alone
            the_listing_row_of_one_task_is_found
            unfinished_tasks_of_every_caller_are_found_oldest_first
            a_task_that_is_taken_up_again_is_unfinished_again
            the_count_covers_all_callers_and_leaves_out_hidden_tasks
            // The records.
            a_missing_record_is_none
            the_first_value_of_a_record_wins
            records_of_other_spaces_and_keys_are_apart
            any_bytes_and_names_make_a_record
            of_many_values_put_at_once_all_callers_get_one
            a_record_is_replaced_and_deleted
            records_are_listed_by_prefix_in_the_order_of_their_keys
            records_are_listed_page_by_page
        }
    };
    (@each ($open:expr) $($check:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $check() {
                let (store, _kept) = $open;
                $crate::conformance::$check(store).await;
            }
        )*
    };
}
