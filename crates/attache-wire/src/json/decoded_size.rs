//! Estimates from its bytes how much memory a body takes once it is decoded.
//!
//! A list of tiny objects takes a hundred times its text in memory, so a body within the size limit can still be too
//! large. The check runs before anything is allocated. The estimate errs upwards; bodies that are too short to exceed
//! the limit are not scanned.

use attache_domain::Fault;

use super::end_of_string;

/// Memory for the first members of an object, and for the first items of an array.
const OBJECT_BYTES: usize = 640;
const ARRAY_BYTES: usize = 128;
/// Memory for each further item; both grow in advance.
const ITEM_BYTES: usize = 96;

/// Decoded JSON takes at most so many times its length: `{"":{"":{"":0}}}` comes close.
const MAX_GROWTH: usize = 160;

/// Refuses a body that would take more than `limit` bytes of memory.
pub fn check_decoded_size(body: &[u8], limit: usize) -> Result<(), Fault> {
    if body.len() <= limit / MAX_GROWTH || decoded_size_up_to(body, limit) <= limit {
        return Ok(());
    }
    Err(decoded_size_fault(limit))
}

pub(crate) fn decoded_size_fault(limit: usize) -> Fault {
    let megabytes = limit >> 20;
    let what = format!(
        "the request holds so many values that it would take more than {megabytes} MiB of memory, which is the limit here"
    );
    Fault::InvalidRequest { what }
}

/// Stops counting at the limit. Whether the body is JSON at all is left to the parser.
fn decoded_size_up_to(body: &[u8], limit: usize) -> usize {
    let mut weight = body.len();
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        at += 1;
        weight += match byte {
            b'"' => {
                at = end_of_string(body, at);
                0
            }
            b'{' if body.get(at) != Some(&b'}') => OBJECT_BYTES,
            b'[' if body.get(at) != Some(&b']') => ARRAY_BYTES,
            b',' => ITEM_BYTES,
            _ => 0,
        };
        if weight > limit {
            break;
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 4 << 20;

    fn list(item: &str, length: usize) -> String {
        format!("[{}]", vec![item; length / (item.len() + 1)].join(","))
    }

    #[test]
    fn many_small_values_are_too_heavy_and_few_large_ones_are_not() {
        let length = 1 << 19;
        for item in ["[]", "{}", r#"{"":0}"#, "[0]", "1", r#""""#, r#"[{"":[{}]}]"#] {
            let fault = check_decoded_size(list(item, length).as_bytes(), LIMIT).unwrap_err();
            assert!(fault.to_string().contains("4 MiB"), "{item}: {fault}");
        }
        let text = format!("[\"{}\"]", "[{,".repeat(length));
        assert_eq!(check_decoded_size(text.as_bytes(), LIMIT), Ok(()));
        let sentences = list(&format!("\"{}\"", "word ".repeat(20)), length);
        assert_eq!(check_decoded_size(sentences.as_bytes(), LIMIT), Ok(()));
    }

    #[test]
    fn what_is_not_weighed_could_not_be_too_heavy() {
        let objects = format!("{}0{}", r#"{"":"#.repeat(100), "}".repeat(100));
        for body in [list(r#"{"":0}"#, 4096), list(&objects, 4096), list("[0]", 4096), list("1", 4096)] {
            let weight = decoded_size_up_to(body.as_bytes(), usize::MAX);
            assert!(weight <= MAX_GROWTH * body.len(), "{} bytes weigh {weight}", body.len());
        }
    }
}
