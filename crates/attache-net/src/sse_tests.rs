//! The parser, with any text in any pieces.

use proptest::prelude::*;

use super::*;

fn events_of<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut parser = SseParser::new(10_000);
    for chunk in chunks {
        parser.push(chunk).unwrap();
    }
    parser.finish().unwrap();
    std::iter::from_fn(|| parser.next_event()).collect()
}

#[track_caller]
fn check(input: &[u8], expected: &[&str]) {
    let whole = events_of([input]);
    let data: Vec<&str> = whole.iter().filter_map(|event| event.data.as_deref()).collect();
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
}

#[test]
fn an_event_has_all_its_fields_and_only_its_own() {
    let text =
        ": hello\nevent: endpoint\ndata:/x\nid: 7\nretry: 10\nother: 1\n\nid: 8\n\n: alone\n\nnoise\n\n";
    let first = SseEvent {
        name: Some("endpoint".into()),
        id: Some("7".into()),
        retry: Some(10),
        data: Some("/x".into()),
        comment: Some("hello".into()),
    };
    let second = SseEvent { id: Some("8".into()), ..SseEvent::default() };
    let third = SseEvent { comment: Some("alone".into()), ..SseEvent::default() };
    assert_eq!(events_of([text.as_bytes()]), [first, second, third]);
    assert_eq!(events_of([b"id: a\0b\n\n".as_slice()]), []);
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
    assert_eq!(parser.next_event().unwrap().data.as_deref(), Some("0"));
    for field in ["data", "event", "id", ""] {
        let mut parser = SseParser::new(10);
        parser.push(b"data: 01234\n").unwrap();
        parser.push(format!("{field}: 01234\n").as_bytes()).unwrap_err();
    }
    // Small events do not add up.
    let mut parser = SseParser::new(10);
    (0..100).for_each(|_| parser.push(b"data: 0\n\n").unwrap());
}

/// Cuts `bytes` at the given offsets.
fn cut<'a>(bytes: &'a [u8], offsets: &[usize]) -> Vec<&'a [u8]> {
    let mut offsets: Vec<usize> = offsets.iter().map(|offset| offset % (bytes.len() + 1)).collect();
    offsets.extend([0, bytes.len()]);
    offsets.sort_unstable();
    offsets.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_data_arrives_in_any_pieces(
        data in proptest::collection::vec("[^\r\n]{0,12}(\n[^\r\n]{0,12}){0,2}", 0..6),
        ending in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        offsets in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        let sent: String = data
            .iter()
            .map(|text| {
                let lines = text.split('\n').map(|line| format!("data: {line}{ending}"));
                format!("{}{ending}", lines.collect::<String>())
            })
            .collect();
        let found: Vec<String> =
            events_of(cut(sent.as_bytes(), &offsets)).into_iter().filter_map(|event| event.data).collect();
        prop_assert_eq!(found, data);
    }

    #[test]
    fn any_bytes_are_survived_and_pieces_make_no_difference(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd')], 0..200),
        offsets in proptest::collection::vec(any::<usize>(), 0..20),
    ) {
        prop_assert_eq!(events_of(cut(&bytes, &offsets)), events_of([bytes.as_slice()]));
    }
}
