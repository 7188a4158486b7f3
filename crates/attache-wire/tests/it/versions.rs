//! Version negotiation.

use attache_domain::Fault;
use attache_wire::Version;
use attache_wire::version::{check_rest, check_rpc, parse_requested};

const V0_3: Option<Version> = Some(Version::V0_3);
const V1_0: Option<Version> = Some(Version::V1_0);

#[test]
fn v1_patch_numbers_are_ignored() {
    for (text, expected) in
        [("0.3", V0_3), ("0.3.0", V0_3), ("1.0", V1_0), ("1.0.1", V1_0), (" 1.0 ", V1_0), ("1.0.12", V1_0)]
    {
        assert_eq!(parse_requested(Some(text), None), Ok(expected), "{text}");
    }
}

#[test]
fn v2_the_header_wins_over_the_query() {
    assert_eq!(parse_requested(Some("0.3"), Some("A2A-Version=1.0")), Ok(V0_3));
    assert_eq!(parse_requested(Some(""), Some("x=1&A2A-Version=1.0")), Ok(V1_0));
    assert_eq!(parse_requested(None, Some("a2a-version=0.3.0")), Ok(V0_3));
}

#[test]
fn v3_absent_and_empty_are_the_same() {
    for (header, query) in [
        (None, None),
        (Some(""), None),
        (Some("  "), Some("")),
        (None, Some("A2A-Version=")),
        (None, Some("pageSize=1")),
    ] {
        assert_eq!(parse_requested(header, query), Ok(None), "{header:?} {query:?}");
    }
}

#[test]
fn v4_any_other_version_is_refused_with_the_supported_ones() {
    for text in ["2.0", "0.2", "0.2.6", "1", "1.00", "10.0", "1.0.", "1.0.x", "1.0-rc", "latest"] {
        for result in
            [parse_requested(Some(text), None), parse_requested(None, Some(&format!("A2A-Version={text}")))]
        {
            let expected = Fault::VersionNotSupported {
                requested: text.into(),
                supported: vec!["0.3".into(), "1.0".into()],
            };
            assert_eq!(result, Err(expected));
        }
    }
}

#[test]
fn method_and_version_must_agree() {
    let old = ("message/send", Version::V0_3);
    let new = ("SendMessage", Version::V1_0);
    for ((method, spoken), requested, strict, fits) in [
        (new, V1_0, false, true),
        (new, V1_0, true, true),
        (old, V1_0, false, false),
        (old, V1_0, true, false),
        (old, None, false, true),
        (old, None, true, true),
        (old, V0_3, false, true),
        (old, V0_3, true, true),
        (new, V0_3, false, false),
        (new, V0_3, true, false),
        (new, None, false, true),
        (new, None, true, false),
    ] {
        let expected = if fits { Ok(()) } else { Err(Fault::MethodNotFound { method: method.into() }) };
        assert_eq!(check_rpc(method, spoken, requested, strict), expected, "{requested:?} {strict}");
    }
}

#[test]
fn path_and_version_must_agree_and_the_fault_names_what_the_path_speaks() {
    for (path, spoken, requested, strict, fits) in [
        ("/tasks", Version::V1_0, V1_0, true, true),
        ("/tasks", Version::V1_0, V0_3, false, false),
        ("/tasks", Version::V1_0, None, false, true),
        ("/tasks", Version::V1_0, None, true, false),
        ("/v1/card", Version::V0_3, V0_3, true, true),
        ("/v1/card", Version::V0_3, None, true, true),
        ("/v1/card", Version::V0_3, V1_0, false, false),
    ] {
        let result = check_rest(path, spoken, requested, strict);
        assert_eq!(result.is_ok(), fits, "{path} {requested:?} {strict}");
        if let Err(fault) = result {
            assert!(fault.to_string().contains(path), "{fault}");
            let Fault::VersionNotSupported { supported, .. } = fault else { panic!("{fault:?}") };
            assert_eq!(supported, [spoken.as_str()]);
        }
    }
}
