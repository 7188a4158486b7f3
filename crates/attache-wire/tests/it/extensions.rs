//! The extension header.

use attache_wire::Version;
use attache_wire::extensions::{header_name, requested};

#[test]
fn e2_several_lines_and_lists_are_read_trimmed_and_once_each() {
    let lines = ["https://a , https://b", "", " , https://a,https://c"];
    assert_eq!(requested(lines.into_iter()), ["https://a", "https://b", "https://c"]);
    assert!(requested(std::iter::empty()).is_empty());
}

#[test]
fn e2_the_name_of_the_header_depends_on_the_version() {
    assert_eq!(header_name(Version::V0_3), "x-a2a-extensions");
    assert_eq!(header_name(Version::V1_0), "a2a-extensions");
}
