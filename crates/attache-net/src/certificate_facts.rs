//! What a client certificate says of itself: its version and how long it counts.
//!
//! Reads no more of X.509 than that, of a file that the user names. Not here: whether anything trusts it.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

pub(crate) struct CertificateFacts {
    /// As people count: 3 for what is made today.
    version: u8,
    not_before: Timestamp,
    not_after: Timestamp,
}

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The tag that the version has around it.
const VERSION: u8 = 0xa0;

impl CertificateFacts {
    /// None for what is no certificate.
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let mut certificate = Der(Der(der).next(SEQUENCE)?);
        let mut signed = Der(certificate.next(SEQUENCE)?);
        // The first version has no number.
        let version = match signed.next(VERSION) {
            Some(inside) => Der(inside).next(INTEGER)?.last()?.saturating_add(1),
            None => 1,
        };
        signed.next(INTEGER)?;
        let (_algorithm, _issuer) = (signed.next(SEQUENCE)?, signed.next(SEQUENCE)?);
        let mut validity = Der(signed.next(SEQUENCE)?);
        Some(Self { version, not_before: validity.time()?, not_after: validity.time()? })
    }

    /// Why it would be refused, as what follows "holds a certificate".
    pub(crate) fn check(&self, now: SystemTime) -> Result<(), String> {
        let now = Timestamp::try_from(now).unwrap_or(Timestamp::MAX);
        if self.version < 3 {
            let version = self.version;
            return Err(format!(
                "of X.509 version {version}, which TLS libraries refuse; make one of version 3 (with openssl x509: -extfile)"
            ));
        }
        if self.not_after < now {
            return Err(format!("that ended at {}", self.not_after));
        }
        if now < self.not_before {
            return Err(format!("that counts from {} on", self.not_before));
        }
        Ok(())
    }
}

/// A sequence of values in DER.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the next value if it has this tag; else nothing is read.
    fn next(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (&found, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first().filter(|_| found == tag)?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(content)
    }

    /// `491231235959Z`, or with the whole year.
    fn time(&mut self) -> Option<Timestamp> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let whole = match self.next(UTC_TIME) {
            Some(short) => {
                let short = text(short)?;
                let century = if short.get(..2)? < "50" { "20" } else { "19" };
                format!("{century}{short}")
            }
            None => text(self.next(GENERALIZED_TIME)?)?.to_owned(),
        };
        let time = DateTime::strptime("%Y%m%d%H%M%SZ", whole).ok()?;
        Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value with a tag.
    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        let head = match length {
            [0, short @ 0..0x80] => vec![tag, short],
            [0, length] => vec![tag, 0x81, length],
            [high, low] => vec![tag, 0x82, high, low],
        };
        [head, content.to_owned()].concat()
    }

    fn certificate(version: Option<u8>, from: (u8, &str), to: (u8, &str)) -> Vec<u8> {
        let version = version.map(|version| value(VERSION, &value(INTEGER, &[version]))).unwrap_or_default();
        let validity = [value(from.0, from.1.as_bytes()), value(to.0, to.1.as_bytes())].concat();
        let issuer = value(SEQUENCE, &[0; 300]);
        let parts = [version, value(INTEGER, &[7]), value(SEQUENCE, &[]), issuer, value(SEQUENCE, &validity)];
        value(SEQUENCE, &value(SEQUENCE, &parts.concat()))
    }

    #[track_caller]
    fn check(der: &[u8], now: &str, expected: Result<(), &str>) {
        let now: Timestamp = now.parse().unwrap();
        let found = CertificateFacts::read(der).unwrap().check(now.into());
        assert_eq!(found.is_ok(), expected.is_ok(), "{found:?}");
        if let (Err(found), Err(part)) = (found, expected) {
            assert!(found.contains(part), "{found}");
        }
    }

    #[test]
    fn a_certificate_is_refused_that_is_old_or_not_yet_good() {
        let short = |time| (UTC_TIME, time);
        let der = certificate(Some(2), short("200101000000Z"), short("491231235959Z"));
        check(&der, "2020-01-01T00:00:00Z", Ok(()));
        check(&der, "2049-12-31T23:59:59Z", Ok(()));
        check(&der, "2050-01-01T00:00:00Z", Err("ended at 2049-12-31T23:59:59Z"));
        check(&der, "2019-12-31T23:59:59Z", Err("counts from 2020-01-01T00:00:00Z on"));
        let der = certificate(Some(2), short("500101000000Z"), (GENERALIZED_TIME, "20600101000000Z"));
        check(&der, "2059-01-01T00:00:00Z", Ok(()));
        check(&der, "2061-01-01T00:00:00Z", Err("ended at 2060-01-01T00:00:00Z"));
        for version in [None, Some(1)] {
            let der = certificate(version, short("200101000000Z"), short("491231235959Z"));
            check(&der, "2026-01-01T00:00:00Z", Err("version 3"));
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_no_certificate() {
        let der = certificate(Some(2), (UTC_TIME, "200101000000Z"), (UTC_TIME, "491231235959Z"));
        for end in 0..der.len() {
            assert!(CertificateFacts::read(&der[..end]).is_none(), "{end}");
        }
        let odd = certificate(Some(2), (UTC_TIME, "yesterday"), (UTC_TIME, "491231235959Z"));
        assert!(CertificateFacts::read(&odd).is_none());
        assert!(CertificateFacts::read(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]).is_none());
    }
}
