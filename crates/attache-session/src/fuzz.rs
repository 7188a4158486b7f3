//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use attache_domain::{ListTasks, Scope};

use crate::listing::{query, token};

/// A page token: one that is taken leads to the place it was written for, and to no other.
pub fn page_token(text: &[u8]) {
    let scope = Scope::new("", "me");
    let list = ListTasks { page_token: String::from_utf8_lossy(text).into_owned(), ..ListTasks::default() };
    let Ok(query) = query(&scope, &list) else { return };
    let Some(place) = query.after else { return assert!(list.page_token.is_empty()) };
    let written = token(&scope, &list, &place);
    let again = crate::listing::query(&scope, &ListTasks { page_token: written, ..list });
    assert_eq!(again.map(|query| query.after), Ok(Some(place)));
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] =
        &[".", "0", "f", "18c", "-1", "ffffffffffffffff", "7fffffffffffffff", "t", "t-1", "é", "+"];

    fn all(bytes: &[u8]) {
        page_token(bytes);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(WORDS, 40, all);
    }
}
