//! The parser, with any text in any pieces.

use proptest::prelude::*;

use super::*;

fn events_of<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(Option<String>, String)> {
    let mut parser = SseParser::new(10_000);
    for chunk in chunks {
        parser.push(chunk).unwrap();
    }
    parser.finish().unwrap();
    std::iter::from_fn(|| parser.next_event()).map(|event| (event.name, event.data)).collect()
}

#[track_caller]
fn check(input: &[u8], expected: &[&str]) {
    let whole = events_of([input]);
    let data: Vec<&str> = whole.iter().map(|(_, data)| data.as_str()).collect();
    assert_eq!(data, expected, "{:?}", String::from_utf8_lossy(input));
    assert_eq!(events_of(input.chunks(1)), whole, "byte by byte: {:?}", String::from_utf8_lossy(input));
    assert_eq!(events_of(input.chunks(3)), whole, "by three: {:?}", String::from_utf8_lossy(input));
}

#[test]
fn events_are_split_at_blank_lines_whatever_ends_a_line() {
    check(b"data: a\n\ndata: b\n\n", &["a", "b"]);
    check(b"data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
    check(b"data: a\r\rdata: b\r\r", &["a", "b"]);
    check(b"data: a\r\n\ndata: b\n\r\n", &["a", "b"]);
    check(b"\n\r\n\r\n\ndata: a\n\n", &["a"]);
}

#[test]
fn fields_are_read_as_the_standard_says() {
    check(b"data: a\ndata: b\n\n", &["a\nb"]);
    check(b"data:a\n\n", &["a"]);
    check(b"data:  a\n\n", &[" a"]);
    check(b"data\ndata\n\n", &["\n"]);
    check(b"data: a: b\n\n", &["a: b"]);
    check(b": comment\ndata: a\n: other\nid: 7\nretry: 1\nnoise\n\n: alone\n\n", &["a"]);
    check(b"event: x\n\ndata: a\n\n", &["a"]);
    check(b"\xEF\xBB\xBFdata: a\n\n", &["a"]);
    check("data: gr\u{fc}\u{df}e \u{1f980}\n\n".as_bytes(), &["gr\u{fc}\u{df}e \u{1f980}"]);
    check(b"data: \xff\n\n", &["\u{fffd}"]);
    assert_eq!(events_of([b"event: ping\ndata: 1\n\n".as_slice()])[0].0.as_deref(), Some("ping"));
}

#[test]
fn the_last_event_needs_no_blank_line() {
    check(b"data: a\n\ndata: b", &["a", "b"]);
    check(b"data: a\n\ndata: b\n", &["a", "b"]);
    check(b"data: a\n\ndata: b\r", &["a", "b"]);
    check(b"", &[]);
}

#[test]
fn an_event_that_is_too_large_is_an_error_and_not_memory() {
    let mut parser = SseParser::new(10);
    parser.push(b"data: 0\n\n").unwrap();
    assert_eq!(parser.push(b"data: 0123456789").unwrap_err().limit, 10);
    assert_eq!(parser.next_event().unwrap().data, "0");
    let mut parser = SseParser::new(10);
    parser.push(b"data: 01234\n").unwrap();
    parser.push(b"data: 01234\n").unwrap_err();
    // Small events add up to nothing.
    let mut parser = SseParser::new(10);
    (0..100).for_each(|_| parser.push(b"data: 0\n\n").unwrap());
}

/// Cuts `bytes` at the given places.
fn cut<'a>(bytes: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_data_arrives_in_any_pieces(
        data in proptest::collection::vec("[^\r\n]{0,12}(\n[^\r\n]{0,12}){0,2}", 0..6),
        ending in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        places in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        let spelled: String = data
            .iter()
            .map(|text| {
                let lines = text.split('\n').map(|line| format!("data: {line}{ending}"));
                format!("{}{ending}", lines.collect::<String>())
            })
            .collect();
        let found: Vec<String> =
            events_of(cut(spelled.as_bytes(), &places)).into_iter().map(|(_, data)| data).collect();
        prop_assert_eq!(found, data);
    }

    #[test]
    fn any_bytes_are_survived_and_pieces_make_no_difference(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd')], 0..200),
        places in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        prop_assert_eq!(events_of(cut(&bytes, &places)), events_of([bytes.as_slice()]));
    }
}
