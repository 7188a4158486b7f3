//! The card in protobuf, made of the document that is served over HTTP when somebody first asks for it.

use std::sync::OnceLock;

use attache_wire::{Version, proto};
use bytes::Bytes;

use crate::app::App;

#[derive(Default)]
pub(crate) struct GrpcCards {
    public: OnceLock<Option<Bytes>>,
    extended: [OnceLock<Option<Bytes>>; 2],
}

impl GrpcCards {
    /// The card that everybody may see, for 0.3: 1.0 has no call for it.
    pub(super) fn public(&self, app: &App) -> Option<&Bytes> {
        self.public.get_or_init(|| made_of(Version::V0_3, app.cards.superset())).as_ref()
    }

    pub(super) fn extended(&self, app: &App, version: Version) -> Option<&Bytes> {
        let place = usize::from(version == Version::V1_0);
        let made = self.extended[place].get_or_init(|| {
            let mut document = Vec::new();
            app.cards.write_extended(version, &mut document);
            made_of(version, &document)
        });
        made.as_ref()
    }
}

fn made_of(version: Version, document: &[u8]) -> Option<Bytes> {
    proto::encode_card(version, document)
        .inspect_err(|error| tracing::error!(%error, "the card cannot be written in protobuf"))
        .ok()
        .map(Bytes::from)
}
