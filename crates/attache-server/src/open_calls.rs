//! How many streams and waiting calls one caller and one address may have open.
//!
//! A stream, and a send that waits for its task, take a connection or a part of one for as long as the task runs. So
//! each caller has a limit that leaves connections to the others, and a few beyond it for answers to approvals.

use attache_domain::Fault;

use crate::Limits;
use crate::admission::{Admission, Network, Origin};
use crate::app::Admitted;
use crate::auth::Caller;
use crate::counts::{Counted, Counts};

/// How many answers to approvals a caller may wait on beyond its limit.
const FOR_ANSWERS: usize = 64;

#[derive(Debug)]
pub(crate) struct OpenCalls {
    per_caller: usize,
    per_address: usize,
    callers: Counts<String>,
    addresses: Counts<Network>,
}

/// One stream or waiting call, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenCall {
    _caller: Counted<String>,
    _address: Option<Counted<Network>>,
}

/// What the call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Any,
    /// A task waits for this answer.
    Answer,
}

impl OpenCalls {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // However few connections there are, a quarter of them is left to others.
            per_caller: limits.streams_per_caller.min((limits.connections * 3 / 4).max(1)),
            per_address: limits.streams_per_address,
            callers: Counts::default(),
            addresses: Counts::default(),
        }
    }

    /// For a stream that is no task's: it is never served by the reserve.
    pub(crate) fn take_stream(&self, admitted: Admitted) -> Result<OpenCall, Fault> {
        if admitted.origin.admission == Admission::Reserve {
            return Err(Fault::Busy { what: "all connections are taken" });
        }
        self.take(admitted.caller, admitted.origin, Purpose::Any)
    }

    pub(crate) fn take(&self, caller: Caller, origin: Origin, purpose: Purpose) -> Result<OpenCall, Fault> {
        let beyond = if purpose == Purpose::Answer { FOR_ANSWERS } else { 0 };
        let reached = |whose: &str, limit: usize| Fault::LimitReached {
            what: format!(
                "{whose} has {limit} streams and waiting calls open, which is the most it may have; end some of them"
            ),
        };
        let address = match origin.network {
            Network::Loopback => None,
            network => Some(
                self.addresses
                    .take(network, self.per_address + beyond)
                    .ok_or_else(|| reached("this address", self.per_address))?,
            ),
        };
        // Streams that need no credentials are a small part of all.
        let limit = if caller.owner.is_empty() { self.per_caller.div_ceil(8) } else { self.per_caller };
        let caller = self
            .callers
            .take(caller.owner.to_owned(), limit + beyond)
            .ok_or_else(|| reached("this caller", limit))?;
        Ok(OpenCall { _caller: caller, _address: address })
    }
}
