//! The parameters of send and stream.

use attache_domain::{SendConfiguration, SendMessage, SendOptions};

use super::decoder::{Decoder, Members};
use super::{history_length, message, push};
use crate::Dialect;
use crate::devtool::incoming;

pub(super) fn read(reading: &mut Decoder, mut members: Members<'_>) -> Option<SendMessage> {
    let message = message::read_member(reading, &mut members);
    let configuration = read_configuration(reading, &mut members);
    let metadata = members.object(reading, "metadata");
    let (mut message, answers) = message?;
    incoming::read_request(reading, &mut message, metadata.as_ref());
    Some(SendMessage { message, answers, configuration, metadata, options: SendOptions::default() })
}

fn read_configuration(reading: &mut Decoder, parent: &mut Members<'_>) -> SendConfiguration {
    let Some(value) = parent.take("configuration") else { return SendConfiguration::default() };
    let above = parent.place();
    let Some(mut members) = reading.members(value, above.member("configuration")) else {
        return SendConfiguration::default();
    };
    SendConfiguration {
        accepted_output_modes: members.texts(reading, "acceptedOutputModes"),
        push: push::read_inline(reading, &mut members),
        history_length: history_length(reading, &mut members),
        return_immediately: return_immediately(reading, &mut members),
    }
}

/// 0.3 has the inverse flag. Its protobuf form cannot tell false from absent, so an absent flag in a configuration
/// means false.
fn return_immediately(reading: &mut Decoder, members: &mut Members<'_>) -> bool {
    match reading.dialect() {
        Dialect::V1_0 => members.boolean(reading, "returnImmediately").unwrap_or(false),
        Dialect::V0_3Rpc => !members.boolean(reading, "blocking").unwrap_or(true),
        Dialect::V0_3Rest => !members.boolean(reading, "blocking").unwrap_or(false),
    }
}
