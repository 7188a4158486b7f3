//! The parameters of send and stream.

use attache_domain::{SendConfiguration, SendMessage, SendOptions};

use super::decoder::{Decoder, Members};
use super::{history_length, message, push};
use crate::JsonForm;
use crate::devtool::incoming;

pub(super) fn read(decoder: &mut Decoder, mut members: Members<'_>) -> Option<SendMessage> {
    let message = message::read_member(decoder, &mut members);
    let configuration = read_configuration(decoder, &mut members);
    let mut metadata = members.object(decoder, "metadata");
    let (mut message, answers) = message?;
    incoming::read_request(decoder, &mut message, metadata.as_mut());
    Some(SendMessage { message, answers, configuration, metadata, options: SendOptions::default() })
}

fn read_configuration(decoder: &mut Decoder, parent: &mut Members<'_>) -> SendConfiguration {
    let Some(value) = parent.take("configuration") else { return SendConfiguration::default() };
    let above = parent.path();
    let Some(mut members) = decoder.members(value, above.member("configuration")) else {
        return SendConfiguration::default();
    };
    SendConfiguration {
        accepted_output_modes: members.texts(decoder, "acceptedOutputModes"),
        push: push::read_inline(decoder, &mut members),
        history_length: history_length(decoder, &mut members),
        return_immediately: return_immediately(decoder, &mut members),
    }
}

/// 0.3 has the inverse flag. Its protobuf form cannot tell false from absent, so an absent flag in a configuration
/// means false.
fn return_immediately(decoder: &mut Decoder, members: &mut Members<'_>) -> bool {
    match decoder.json_form() {
        JsonForm::V1_0 => members.boolean(decoder, "returnImmediately").unwrap_or(false),
        JsonForm::V0_3Rpc => !members.boolean(decoder, "blocking").unwrap_or(true),
        JsonForm::V0_3Rest => !members.boolean(decoder, "blocking").unwrap_or(false),
    }
}
