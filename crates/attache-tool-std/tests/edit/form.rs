use std::os::unix::fs::PermissionsExt;

use attache_tool::ToolErrorKind;

use super::world::World;

async fn check(before: &[u8], (old, new): (&str, &str), after: &[u8]) {
    let world = World::with(before);
    world.edit(old, new).await.unwrap();
    assert_eq!(world.bytes("file"), after, "replace");
}

async fn check_written(before: &[u8], content: &str, after: &[u8]) {
    let world = World::with(before);
    world.write("file", content).await.unwrap();
    assert_eq!(world.bytes("file"), after, "write_file");
}

fn utf16(mark: [u8; 2], text: &str) -> Vec<u8> {
    let bytes = if mark == [0xff, 0xfe] { u16::to_le_bytes } else { u16::to_be_bytes };
    mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}

#[tokio::test]
async fn windows_line_ends_are_kept() {
    check(b"a\r\nb\r\nc\r\n", ("a\nb", "x\ny\nz"), b"x\r\ny\r\nz\r\nc\r\n").await;
    check(b"a\r\nb\r\n", ("a\r\nb", "x\r\ny"), b"x\r\ny\r\n").await;
    check_written(b"a\r\nb\r\n", "x\ny\r\n", b"x\r\ny\r\n").await;
    check_written(b"a\nb\n", "x\ny\n", b"x\ny\n").await;
}

#[tokio::test]
async fn lines_that_an_edit_does_not_touch_keep_their_mixed_ends() {
    check(b"a\r\nb\nc\r\n", ("b", "x"), b"a\r\nx\nc\r\n").await;
    check(b"a\nb\r\nc\n", ("a\n", "x\n"), b"x\nb\r\nc\n").await;
}

#[tokio::test]
async fn unix_files_do_not_get_windows_line_ends() {
    check(b"a\nb\nc\n", ("a\r\nb", "x\r\ny"), b"x\ny\nc\n").await;
}

#[tokio::test]
async fn the_byte_order_mark_is_kept() {
    check(b"\xef\xbb\xbfa\n", ("a", "b"), b"\xef\xbb\xbfb\n").await;
    check_written(b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n").await;
}

#[tokio::test]
async fn utf_16_is_kept() {
    for mark in [[0xff, 0xfe], [0xfe, 0xff]] {
        check(
            &utf16(mark, "grün\r\n\u{1f600}\r\n"),
            ("grün\n", "rot\n"),
            &utf16(mark, "rot\r\n\u{1f600}\r\n"),
        )
        .await;
        check_written(&utf16(mark, "a\n"), "ü\n", &utf16(mark, "ü\n")).await;
    }
}

#[tokio::test]
async fn a_missing_last_line_end_stays_missing() {
    check(b"a\nb", ("b", "c"), b"a\nc").await;
    check(b"a\r\nb", ("a\nb", "c\nd\n"), b"c\r\nd").await;
}

#[tokio::test]
async fn the_mode_is_kept() {
    for mode in [0o755, 0o600, 0o664] {
        let world = World::with("a\n");
        std::fs::set_permissions(world.at("file"), PermissionsExt::from_mode(mode)).unwrap();
        world.edit("a", "b").await.unwrap();
        world.write("file", "c\n").await.unwrap();
        let now = std::fs::metadata(world.at("file")).unwrap().permissions().mode();
        assert_eq!(now & 0o7777, mode);
    }
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_not_replaced() {
    let world = World::with("a\n");
    std::fs::set_permissions(world.at("file"), PermissionsExt::from_mode(0o444)).unwrap();
    // For the superuser it is a file like any other.
    let may = std::fs::OpenOptions::new().append(true).open(world.at("file")).is_ok();
    let outcome = world.edit("a", "b").await;
    assert_eq!(
        outcome.as_ref().err().map(|error| error.kind),
        (!may).then_some(ToolErrorKind::PermissionDenied)
    );
    assert_eq!(world.text("file"), if may { "b\n" } else { "a\n" });
}
