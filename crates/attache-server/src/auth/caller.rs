//! An authenticated caller and its rights.

use attache_domain::{Fault, OperationKind, Right, Rights, Scope};

/// The owner of all tasks, with a token or without. It is one name for both, so that tasks keep their owner when a
/// token is added.
const OPERATOR: &str = "operator";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Caller {
    owner: &'static str,
    rights: Rights,
    /// The place of its token among those of clients.
    pub(super) client: Option<usize>,
}

impl Caller {
    /// For public paths.
    pub(crate) const ANONYMOUS: Self = Self { owner: "", rights: Rights::VIEW, client: None };
    /// With the server's own token, or a process of the user who runs the server.
    pub(super) const OPERATOR: Self = Self { owner: OPERATOR, rights: Rights::ALL, client: None };

    pub(super) fn client(place: usize, rights: Rights) -> Self {
        Self { owner: OPERATOR, rights, client: Some(place) }
    }

    pub(crate) fn is_anonymous(self) -> bool {
        self.owner.is_empty()
    }

    /// The tasks that the caller may see.
    pub(crate) fn scope(self, tenant: impl Into<String>) -> Scope {
        Scope::new(tenant.into(), self.owner)
    }

    pub(crate) fn rights(self) -> Rights {
        self.rights
    }

    /// Whether the caller may see the log of the process, which can be about anything in it.
    pub(crate) fn sees_log(self) -> bool {
        self.owner == OPERATOR && self.rights == Rights::ALL
    }

    /// Refuses an operation that the caller may not ask for. What a message needs depends on what it answers: the session
    /// checks that.
    pub(crate) fn may_ask(self, kind: OperationKind) -> Result<(), Fault> {
        match kind {
            OperationKind::Execute | OperationKind::Cancel => self.rights.require(Right::Prompt),
            // A push configuration holds credentials of the client that made it.
            OperationKind::PushCreate
            | OperationKind::PushGet
            | OperationKind::PushList
            | OperationKind::PushDelete => self.rights.require(Right::Prompt),
            OperationKind::Send
            | OperationKind::Stream
            | OperationKind::Get
            | OperationKind::List
            | OperationKind::Subscribe
            | OperationKind::ExtendedCard
            | OperationKind::Commands => self.rights.require(Right::View),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_needs_its_right() {
        use OperationKind::*;
        let check = |rights: Rights, allowed: &[OperationKind]| {
            for kind in OperationKind::ALL {
                let asked = Caller::client(0, rights).may_ask(kind);
                assert_eq!(asked.is_ok(), allowed.contains(&kind), "{rights:?} {kind:?}");
            }
        };
        let read = [Send, Stream, Get, List, Subscribe, ExtendedCard, Commands];
        check(Rights::VIEW, &read);
        check(Rights::VIEW.with(Right::Approve), &read);
        check(Rights::VIEW.with(Right::Prompt), &OperationKind::ALL);
        check(Rights::ALL, &OperationKind::ALL);
    }
}
