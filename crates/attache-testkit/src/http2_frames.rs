//! HTTP/2 by hand: frames that no library would send.

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RESET: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GO_AWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame that fits").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// What every client says first.
pub fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, b"")
}

/// The headers of a GET, in HPACK without its tables.
pub fn get(path: &str) -> Vec<u8> {
    [&[0x82, 0x86][..], &literal(4, path), &literal(1, "localhost")].concat()
}

/// The headers of a POST of JSON to `/`.
pub fn post() -> Vec<u8> {
    let json = b"application/json";
    let content_type = [&[0x0f, 31 - 15, json.len() as u8][..], json].concat();
    [&[0x83, 0x84, 0x86][..], &literal(1, "localhost"), &content_type].concat()
}

/// A header whose name has the number `name` in HPACK's own table.
pub fn literal(name: u8, value: &str) -> Vec<u8> {
    [&[name, u8::try_from(value.len()).expect("a short value")][..], value.as_bytes()].concat()
}

/// A header that is put into HPACK's table.
pub fn kept(name: &str, value: &str) -> Vec<u8> {
    let text =
        |text: &str| [&[u8::try_from(text.len()).expect("a short text")][..], text.as_bytes()].concat();
    [&[0x40][..], &text(name), &text(value)].concat()
}

/// The frames in what a server sent; one that broke off is left out.
pub fn read(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_first_chunk::<9>() {
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let Some(payload) = rest.get(..length) else { break };
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        frames.push(Frame { kind: head[3], flags: head[4], stream, payload: payload.to_vec() });
        bytes = &rest[length..];
    }
    frames
}
