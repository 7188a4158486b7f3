//! Decodes chunked transfer coding without copying.

use anyhow::bail;

/// The position in the coding.
#[derive(Debug, Default)]
pub(super) struct ChunkedDecoder {
    state: State,
}

#[derive(Debug)]
enum State {
    Size(usize),
    /// After the size's digits, to the end of its line.
    SizeLine(usize),
    Data(usize),
    /// The line end behind a chunk's data.
    DataEnd(usize),
    /// Behind the last chunk: bytes of the empty line still to come.
    LastLine(usize),
    Done,
}

impl Default for State {
    fn default() -> Self {
        Self::Size(0)
    }
}

impl ChunkedDecoder {
    /// The last chunk has been read.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Passes every piece of payload in `bytes` to `payload`, in order.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut payload: impl FnMut(&[u8])) -> anyhow::Result<()> {
        while let Some((&byte, rest)) = bytes.split_first() {
            self.state = match self.state {
                State::Data(left) => {
                    let (data, rest) = bytes.split_at(left.min(bytes.len()));
                    payload(data);
                    bytes = rest;
                    self.state =
                        if data.len() == left { State::DataEnd(2) } else { State::Data(left - data.len()) };
                    continue;
                }
                State::Size(size) => match (byte as char).to_digit(16) {
                    Some(digit) if size < usize::MAX >> 8 => State::Size(size * 16 + digit as usize),
                    Some(_) => bail!("a chunk is too large"),
                    None => State::SizeLine(size),
                },
                State::SizeLine(size) if byte == b'\n' && size == 0 => State::LastLine(2),
                State::SizeLine(size) if byte == b'\n' => State::Data(size),
                State::SizeLine(size) => State::SizeLine(size),
                State::DataEnd(2) => State::DataEnd(1),
                State::DataEnd(_) => State::Size(0),
                State::LastLine(2) if byte == b'\r' => State::LastLine(1),
                State::LastLine(1) if byte == b'\n' => State::Done,
                State::LastLine(_) => bail!("trailers behind the last chunk are not expected"),
                State::Done => bail!("bytes behind the last chunk"),
            };
            bytes = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_split_of_the_bytes_gives_the_same_payload() {
        let wire = b"5\r\nhello\r\n10;ext=1\r\n, wide world ...\r\n0\r\n\r\n";
        for first in 0..wire.len() {
            for second in first..wire.len() {
                let mut decoder = ChunkedDecoder::default();
                let mut payload = Vec::new();
                for piece in [&wire[..first], &wire[first..second], &wire[second..]] {
                    decoder.feed(piece, |bytes| payload.extend_from_slice(bytes)).unwrap();
                }
                assert_eq!(payload, b"hello, wide world ...");
                assert!(decoder.is_done());
            }
        }
    }

    #[test]
    fn bytes_behind_the_end_are_refused() {
        let mut decoder = ChunkedDecoder::default();
        assert!(decoder.feed(b"0\r\n\r\nHTTP/1.1", |_| ()).is_err());
    }
}
