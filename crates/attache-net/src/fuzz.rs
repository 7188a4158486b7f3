//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`. Nothing here dials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address_rules::without_brackets;
use crate::redirect::resolve_location;
use crate::sse::{EventTooLarge, SseEvent, SseParser};
use crate::{AddressRules, BaseUrl, HttpClient, HttpClientOptions, Url, is_loopback};

/// The address of a service, and after a line break a path below it or where a redirect leads.
pub fn urls(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let (address, rest) = text.split_once('\n').unwrap_or((&text, "a/b"));
    if let Ok(base) = BaseUrl::parse(address) {
        let url = Url::parse(&base.to_string()).expect("a base is a URL");
        assert!(url.scheme() == "https" || is_loopback(&url), "{url}");
        if let Ok(joined) = base.join(rest, None) {
            assert_eq!(joined.origin(), url.origin());
            let folder = url.path().trim_end_matches('/');
            assert!(
                joined.path().strip_prefix(folder).is_some_and(|below| below.starts_with('/')),
                "{joined}"
            );
            assert!(joined.username().is_empty() && joined.password().is_none(), "{joined}");
            assert!(joined.query().is_none() && joined.fragment().is_none(), "{joined}");
        }
    }
    let Ok(url) = Url::parse(address) else { return };
    if let Ok(next) = resolve_location(&url, rest) {
        assert!(matches!(next.scheme(), "http" | "https"), "{next}");
        assert!(url.scheme() != "https" || next.scheme() == "https", "{url} to {next}");
        assert!(next.username().is_empty() && next.password().is_none(), "{next}");
    }
}

/// A stream of events: wherever its bytes are cut, the same events come out, and none is too large.
pub fn events(stream: &[u8]) {
    let whole = read_events(stream.chunks(stream.len().max(1)));
    for size in [1, 3, 64] {
        let cut = read_events(stream.chunks(size));
        // Where a line that is too long is noticed depends on how much of it arrived at once.
        if whole.1.is_ok() && cut.1.is_ok() {
            assert_eq!(cut.0, whole.0, "in pieces of {size}");
        }
    }
    for event in whole.0 {
        // Each byte of invalid UTF-8 becomes a character of three bytes.
        assert!(event.data.map_or(0, |data| data.len()) <= 3 * MAX_EVENT);
    }
}

/// Small enough that generated streams exceed it now and then.
const MAX_EVENT: usize = 1000;

fn read_events<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<SseEvent>, Result<(), EventTooLarge>) {
    let mut parser = SseParser::new(MAX_EVENT);
    let mut result = Ok(());
    for piece in pieces {
        result = parser.push(piece);
        if result.is_err() {
            break;
        }
    }
    (std::iter::from_fn(|| parser.next_event()).collect(), result)
}

/// Addresses as numbers and as the host of a URL, and as an operator's exception.
pub fn addresses(bytes: &[u8]) {
    let public = AddressRules::public_only();
    let may = |address: IpAddr| public.check("a.test", address).is_ok();
    if let Some(octets) = bytes.first_chunk::<4>() {
        let address = Ipv4Addr::from(*octets);
        assert!(!may(address.into()) || is_ordinary(address), "{address}");
        let [a, b, c, d] = octets.map(u16::from);
        let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a << 8 | b, c << 8 | d);
        for mapped in [address.to_ipv6_mapped(), nat64] {
            assert_eq!(may(mapped.into()), may(address.into()), "{mapped} is {address}");
        }
    }
    if let Some(octets) = bytes.first_chunk::<16>() {
        let address = Ipv6Addr::from(*octets);
        assert!(!may(address.into()) || is_ordinary_v6(address), "{address}");
    }
    let text = String::from_utf8_lossy(bytes);
    as_host(&text, &public);
    as_exception(text.trim(), public);
}

/// An address in a URL is recognised in every form.
fn as_host(text: &str, public: &AddressRules) {
    let Ok(url) = Url::parse(&format!("http://{text}/")) else { return };
    let options = HttpClientOptions { addresses: public.clone(), ..HttpClientOptions::default() };
    let client = HttpClient::new(&options).expect("a client");
    // A URL writes addresses in brackets or with dots; a name has no brackets and does not end in a number.
    let host = url.host_str().unwrap_or_default();
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next().unwrap_or_default();
    let is_address =
        host.starts_with('[') || !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    assert_eq!(address.is_ok(), is_address, "{host}");
    if let Ok(address) = address {
        assert_eq!(client.check_url(&url).is_ok(), public.check(host, address).is_ok(), "{url}");
    }
}

/// An exception of the operator allows itself and nothing else.
fn as_exception(place: &str, public: AddressRules) {
    let secret = IpAddr::from([169, 254, 169, 254]);
    let Ok(rules) = public.allow(place) else { return };
    if let Ok(address) = without_brackets(place).parse::<IpAddr>() {
        assert!(rules.check("a.test", address).is_ok(), "{place}");
        assert!(
            address == secret || rules.check("a.test", secret).is_err() || is_mapped(address, secret),
            "{place}"
        );
    } else if !place.contains('/') {
        assert!(rules.check(place, secret).is_ok(), "{place}");
        assert!(
            rules.check("other.test", secret).is_err()
                || place.to_ascii_lowercase().starts_with("other.test"),
            "{place}"
        );
    }
}

fn is_mapped(address: IpAddr, inner: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().map(IpAddr::V4) == Some(inner))
}

fn is_ordinary(address: Ipv4Addr) -> bool {
    let special = address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_unspecified()
        || address.is_documentation();
    !special
}

fn is_ordinary_v6(address: Ipv6Addr) -> bool {
    let special = address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local();
    !special && address.to_ipv4().is_none_or(is_ordinary)
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Pieces of such texts, so that generated ones get past the first token.
    const WORDS: &[&str] = &[
        "https://",
        "http://",
        "example.com",
        "localhost",
        "127.0.0.1",
        "0x7f.1",
        "[::1]",
        "::ffff:",
        "10.0.0.0/8",
        ":8080",
        "/",
        "..",
        "%2e",
        "%2E%2e/",
        "\\",
        "\t",
        "?",
        "#",
        "@",
        "a",
        ".",
        "\n",
        "é",
        "data: ",
        "data:",
        "id: 1",
        "event: x",
        ": c",
        "\r\n",
        "\n\n",
    ];

    fn all(bytes: &[u8]) {
        urls(bytes);
        addresses(bytes);
        events(bytes);
    }

    #[test]
    fn what_once_did_harm_does_none() {
        urls(b"https://example.com/a/\n%2e%2e/x");
        urls(b"https://example.com/a/\n..\\x");
        addresses(b"100.../01016");
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(WORDS, 12, all);
    }
}
