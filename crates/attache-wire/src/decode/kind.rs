//! The `kind` members by which 0.3 tells its objects and parts apart.

use super::decoder::{Decoder, Members, excerpt};
use crate::JsonForm;

/// The specification's own examples leave the kind of a message out, so only a wrong one is refused.
pub(super) fn check_message_kind(decoder: &mut Decoder, members: &mut Members<'_>) {
    if decoder.json_form() == JsonForm::V1_0 {
        return;
    }
    if let Some(kind) = members.text(decoder, "kind").filter(|kind| kind != "message") {
        let here = members.path();
        decoder.refuse::<()>(here.member("kind"), format!("must be \"message\", not {:?}", excerpt(&kind)));
    }
}

/// The kind that a part names, if any. The outer `None` is an unknown kind.
pub(super) fn part_kind(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<Option<&'static str>> {
    let here = members.path();
    let Some(value) = members.take("kind") else { return Some(None) };
    let named = decoder.text(value, here.member("kind"))?;
    match ["text", "file", "data"].into_iter().find(|kind| *kind == named) {
        Some(kind) => Some(Some(kind)),
        None => decoder.refuse(
            here.member("kind"),
            format!("must be \"text\", \"file\" or \"data\", not {:?}", excerpt(&named)),
        ),
    }
}
