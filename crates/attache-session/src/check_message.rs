//! Checks what a message requests before it is taken.

use attache_domain::{Fault, ListCommands, Message, RequestedSettings, Scope};

use crate::SessionService;

impl SessionService {
    /// A model may be one that only the key of the conversation reaches, so a refused model is checked again with the
    /// settings of the conversation.
    pub(crate) async fn check_message(&self, scope: &Scope, message: &Message) -> Result<(), Fault> {
        let alone = message
            .requested
            .as_deref()
            .map(|requested| requested.clone().over(RequestedSettings::default()));
        let list = match self.agent.check(message, alone.as_ref()) {
            Err(Fault::SettingRefused { setting: "model", .. })
                if message.context.is_some() || message.task.is_some() =>
            {
                ListCommands {
                    context: message.context.clone(),
                    task: message.task.clone(),
                    settings: message.requested.clone(),
                }
            }
            checked => return checked,
        };
        let requested = Box::pin(self.requested_settings(scope, &list)).await?;
        self.agent.check(message, Some(&requested))
    }
}
