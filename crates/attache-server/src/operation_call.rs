//! What the calls of all surfaces have in common: they need a right, they are counted, and refusals are logged.

use attache_domain::{Fault, OperationKind};
use attache_wire::Version;
use attache_wire::devtool::setting_names::name_setting;

use crate::app::{App, RequestOrigin};
use crate::framing::BindingName;

#[derive(Debug, Clone, Copy)]
pub(crate) struct OperationCall {
    pub(crate) kind: OperationKind,
    pub(crate) binding: BindingName,
    pub(crate) version: Version,
    pub(crate) origin: RequestOrigin,
}

impl OperationCall {
    /// Serves the call with `work` if the caller may make it.
    pub(crate) async fn serve<T>(
        &self,
        app: &App,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let result = match self.origin.caller.may_ask(self.kind) {
            Ok(()) => work.await,
            Err(fault) => Err(fault),
        };
        app.metrics.count_call(self.binding, self.version, self.kind, result.as_ref().err());
        if let Err(fault) = &result {
            self.log_refusal(fault);
        }
        result
    }

    /// Client text in a fault is quoted: it may hold line breaks and escape sequences.
    fn log_refusal(&self, fault: &Fault) {
        let (number, operation, reason) =
            (self.origin.number, self.kind.name(), name_setting(fault).to_string());
        match fault {
            Fault::Internal | Fault::InvalidAgentResponse { .. } => {
                tracing::error!(request = number, operation, reason, "a call failed");
            }
            _ => tracing::debug!(request = number, operation, reason, "a call was refused"),
        }
    }
}
