//! An encoding that never changes, made once for each dialect and shared by all readers.

use std::sync::Mutex;

use attache_domain::IgnorePoison;

/// Each with the number of its dialect. Most often there is one.
#[derive(Debug, Default)]
pub(crate) struct EncodedEvents {
    made: Mutex<Vec<(usize, Box<[u8]>)>>,
}

impl EncodedEvents {
    /// Appends the encoding in dialect number `dialect` to `out`. Calls `spell` only the first time.
    pub(crate) fn write(&self, dialect: usize, out: &mut Vec<u8>, spell: impl FnOnce(&mut Vec<u8>)) {
        let mut made = self.made.lock().ignore_poison();
        if let Some((_, known)) = made.iter().find(|(known, _)| *known == dialect) {
            return out.extend_from_slice(known);
        }
        let start = out.len();
        spell(out);
        made.push((dialect, out[start..].into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_is_spelled_once() {
        let spellings = EncodedEvents::default();
        let mut out = b"> ".to_vec();
        spellings.write(0, &mut out, |out| out.extend_from_slice(b"zero "));
        spellings.write(1, &mut out, |out| out.extend_from_slice(b"one "));
        spellings.write(0, &mut out, |_| panic!("spelled before"));
        assert_eq!(out, b"> zero one zero ");
    }
}
