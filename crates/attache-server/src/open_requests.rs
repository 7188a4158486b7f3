//! Limits the streams and waiting calls of one caller and one address.
//!
//! A stream, or a send that waits for its task, occupies a connection while the task runs. Each caller has a limit that
//! leaves connections to the others, and a few calls beyond it for answers to approvals.

use attache_domain::Fault;

use crate::Limits;
use crate::app::RequestOrigin;
use crate::auth::Caller;
use crate::connection_origin::{Admission, ConnectionOrigin, PeerNetwork};
use crate::keyed_counts::{KeyedCount, KeyedCounts};

/// Calls beyond a caller's limit, for answers to approvals only.
const RESERVED_FOR_ANSWERS: usize = 64;

#[derive(Debug)]
pub(crate) struct OpenRequests {
    per_caller: usize,
    per_address: usize,
    callers: KeyedCounts<Caller>,
    addresses: KeyedCounts<PeerNetwork>,
}

/// One stream or waiting call, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    _caller: KeyedCount<Caller>,
    _address: Option<KeyedCount<PeerNetwork>>,
}

/// What the call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestPurpose {
    Any,
    /// A task waits for this answer.
    Answer,
}

impl OpenRequests {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // A quarter of the connections is left to other callers.
            per_caller: limits.streams_per_caller.min((limits.connections * 3 / 4).max(1)),
            per_address: limits.streams_per_address,
            callers: KeyedCounts::default(),
            addresses: KeyedCounts::default(),
        }
    }

    /// For a stream without a task; reserve connections never serve one.
    pub(crate) fn take_stream(&self, origin: RequestOrigin) -> Result<OpenRequest, Fault> {
        if origin.connection.admission == Admission::Reserve {
            return Err(Fault::Busy { what: "all connections are taken" });
        }
        self.take(origin.caller, origin.connection, RequestPurpose::Any)
    }

    pub(crate) fn take(
        &self,
        caller: Caller,
        origin: ConnectionOrigin,
        purpose: RequestPurpose,
    ) -> Result<OpenRequest, Fault> {
        let beyond = if purpose == RequestPurpose::Answer { RESERVED_FOR_ANSWERS } else { 0 };
        let reached = |whose: &str, limit: usize| Fault::LimitReached {
            what: format!(
                "{whose} has {limit} streams and waiting calls open, which is the most it may have; end some of them"
            ),
        };
        let address = match origin.network {
            PeerNetwork::Loopback => None,
            network => Some(
                self.addresses
                    .take(network, self.per_address + beyond)
                    .ok_or_else(|| reached("this address", self.per_address))?,
            ),
        };
        // Streams without credentials get a small part of the limit.
        let limit = if caller.is_anonymous() { self.per_caller.div_ceil(8) } else { self.per_caller };
        let caller =
            self.callers.take(caller, limit + beyond).ok_or_else(|| reached("this caller", limit))?;
        Ok(OpenRequest { _caller: caller, _address: address })
    }
}
