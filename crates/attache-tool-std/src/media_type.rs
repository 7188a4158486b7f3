//! Detects the media types that models can read.

use std::path::Path;

/// Bytes at an offset.
type Signature = (usize, &'static [u8]);

/// Signatures and their media type. Containers need a second signature.
const SIGNATURES: &[(&[Signature], &str)] = &[
    (&[(0, b"\x89PNG\r\n\x1a\n")], "image/png"),
    (&[(0, b"\xFF\xD8\xFF")], "image/jpeg"),
    (&[(0, b"GIF87a")], "image/gif"),
    (&[(0, b"GIF89a")], "image/gif"),
    (&[(0, b"RIFF"), (8, b"WEBP")], "image/webp"),
    (&[(0, b"BM"), (6, b"\0\0\0\0")], "image/bmp"),
    (&[(4, b"ftypheic")], "image/heic"),
    (&[(4, b"ftypavif")], "image/avif"),
    (&[(0, b"%PDF-")], "application/pdf"),
    (&[(0, b"RIFF"), (8, b"WAVE")], "audio/wav"),
    (&[(0, b"RIFF"), (8, b"AVI ")], "video/x-msvideo"),
    (&[(0, b"FORM"), (8, b"AIFF")], "audio/aiff"),
    (&[(0, b"ID3")], "audio/mpeg"),
    (&[(0, b"fLaC")], "audio/flac"),
    (&[(4, b"ftypM4A ")], "audio/mp4"),
    (&[(4, b"ftypqt  ")], "video/quicktime"),
    (&[(4, b"ftyp")], "video/mp4"),
];

/// Media types by extension, for formats without a clear signature. Used only if the content is not text.
const EXTENSIONS: &[(&str, &str)] = &[
    ("mp3", "audio/mpeg"),
    ("aac", "audio/aac"),
    ("ogg", "audio/ogg"),
    ("oga", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("webm", "video/webm"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("mkv", "video/x-matroska"),
];

/// The media type of a file that begins with `head`. `None` for other files, including text and SVG.
pub(crate) fn media_type(path: &Path, head: &[u8]) -> Option<&'static str> {
    let holds = |(at, mark): &Signature| head.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    let marked =
        SIGNATURES.iter().find(|(marks, _)| marks.iter().all(holds)).map(|(_, media_type)| *media_type);
    marked.or_else(|| {
        let extension = path.extension()?.to_str()?;
        let known = EXTENSIONS.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known));
        known.map(|(_, media_type)| *media_type).filter(|_| crate::text_file::looks_binary(head))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, head: &[u8], expected: Option<&str>) {
        assert_eq!(media_type(Path::new(name), head), expected, "{name}");
    }

    #[test]
    fn media_are_known_by_their_marks() {
        check("a.bin", b"\x89PNG\r\n\x1a\n\0\0", Some("image/png"));
        check("a.png", b"not an image", None);
        check("a", b"%PDF-1.7\n", Some("application/pdf"));
        check("a", b"RIFF\x01\x02\x03\x04WEBPVP8 ", Some("image/webp"));
        check("a", b"RIFF\x01\x02\x03\x04WAVEfmt ", Some("audio/wav"));
        check("a", b"\0\0\0\x18ftypisom", Some("video/mp4"));
        check("a.txt", b"BMW is a car maker", None);
        check("a.txt", b"", None);
    }

    #[test]
    fn an_extension_counts_only_for_what_is_no_text() {
        check("song.MP3", b"\xFF\xFB\x90\x64\0\0", Some("audio/mpeg"));
        check("song.mp3", b"lyrics", None);
        check("image.svg", b"<svg/>", None);
    }
}
