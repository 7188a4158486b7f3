//! All checks. An id is that of the rule in the list of requirements, with a word if the rule has several checks.

mod across;
mod card;
mod card_contents;
mod data;
mod deliveries;
mod envelope;
mod errors;
mod extensions;
mod grpc;
mod history;
mod identity;
mod listing;
mod push;
mod routes;
mod security;
mod sending;
mod streaming;
mod subscribing;
mod tasks;
mod tenants;
mod versions;

use crate::check::Check;

pub(crate) fn all() -> Vec<Check> {
    [
        card::checks(),
        card_contents::checks(),
        data::checks(),
        identity::checks(),
        sending::checks(),
        history::checks(),
        streaming::checks(),
        subscribing::checks(),
        tasks::checks(),
        listing::checks(),
        push::checks(),
        deliveries::checks(),
        versions::checks(),
        extensions::checks(),
        errors::checks(),
        envelope::checks(),
        grpc::checks(),
        routes::checks(),
        security::checks(),
        tenants::checks(),
        across::checks(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_checks_have_one_id() {
        let mut seen = BTreeSet::new();
        let twice: Vec<_> = all().iter().map(|check| check.id).filter(|id| !seen.insert(*id)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn every_check_is_asked_of_some_version() {
        use crate::protocol::Version;
        let idle = all()
            .iter()
            .any(|check| check.strength(Version::V0_3).is_none() && check.strength(Version::V1_0).is_none());
        assert!(!idle);
    }
}
