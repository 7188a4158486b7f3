//! What proves to an agent who calls.

use attache_net::{HttpRequest, NetError, Secret};

/// Sent to the origins that the caller names, over https or to this machine; nowhere else, whatever a card or a redirect
/// says.
#[derive(Debug, Clone)]
pub enum Credential {
    Bearer(Secret),
    /// A header of its own, such as `X-API-Key`.
    ApiKey {
        header: String,
        key: Secret,
    },
}

impl Credential {
    pub(crate) fn add_to(&self, request: HttpRequest) -> Result<HttpRequest, NetError> {
        match self {
            Self::Bearer(token) => request.secret_header("authorization", "Bearer ", token),
            Self::ApiKey { header, key } => request.secret_header(header, "", key),
        }
    }
}
