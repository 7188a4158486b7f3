//! An encoding that never changes, made once for each dialect and shared by all readers.

use std::sync::Mutex;

use attache_domain::IgnorePoison;

/// Each with the number of its dialect. Most often there is one.
#[derive(Debug, Default)]
pub(crate) struct EncodedEvents {
    made: Mutex<Vec<(usize, Box<[u8]>)>>,
}

impl EncodedEvents {
    /// Appends the encoding in dialect number `dialect` to `out`. Calls `encode` only the first time.
    pub(crate) fn write(&self, dialect: usize, out: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) {
        let mut made = self.made.lock().ignore_poison();
        if let Some((_, known)) = made.iter().find(|(known, _)| *known == dialect) {
            return out.extend_from_slice(known);
        }
        let start = out.len();
        encode(out);
        made.push((dialect, out[start..].into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_is_encoded_once() {
        let events = EncodedEvents::default();
        let mut out = b"> ".to_vec();
        events.write(0, &mut out, |out| out.extend_from_slice(b"zero "));
        events.write(1, &mut out, |out| out.extend_from_slice(b"one "));
        events.write(0, &mut out, |_| panic!("encoded before"));
        assert_eq!(out, b"> zero one zero ");
    }
}
