//! Push configurations of tasks, kept as records.

use std::sync::Arc;

use attache_domain::{
    Fault, ListPushConfigs, NewPushConfig, PushConfigId, PushConfigPage, PushShape, Scope, Seq,
    StoredPushConfig, TaskId, TaskKey, Update, hexadecimal, update_of,
};
use attache_store::StoreError;

use crate::live_task::LiveTask;
use crate::outbox::{Outbox, OutboxGuard, OutboxStats, RegisteredConfig};
use crate::service::internal;
use crate::{SessionService, replay};

/// The default page size.
const ALL: usize = 1000;

/// So far back the event is looked for that brought a task to rest.
const LOOK_BACK: u64 = 64;

impl SessionService {
    /// Keeps a configuration, in place of one with the same name.
    pub async fn create_push_config(
        &self,
        scope: &Scope,
        task: &TaskId,
        mut request: NewPushConfig,
    ) -> Result<StoredPushConfig, Fault> {
        let outbox = self.outbox()?;
        let live = self.visible(scope, task).await?;
        outbox.check(&request).await?;
        if request.config.id.as_str().is_empty() && request.shape == PushShape::EachUpdate {
            request.config.id = uuid::Uuid::new_v4().to_string().into();
        }
        let start = first_visible(&live).await.map_err(internal)?;
        Ok(outbox.register(&live.key, request, start).await?.kept)
    }

    /// The configuration of that name; without a name, the one that must be meant.
    pub async fn push_config(
        &self,
        scope: &Scope,
        task: &TaskId,
        config: Option<&PushConfigId>,
    ) -> Result<StoredPushConfig, Fault> {
        let outbox = self.outbox()?;
        let key = self.visible(scope, task).await?.key.clone();
        let found = outbox.find(&key, config).await.map_err(internal)?;
        found.ok_or_else(|| Fault::PushConfigNotFound { task: task.clone(), config: config.cloned() })
    }

    pub async fn push_configs(&self, scope: &Scope, list: &ListPushConfigs) -> Result<PushConfigPage, Fault> {
        let outbox = self.outbox()?;
        let key = self.visible(scope, &list.task).await?.key.clone();
        let after = match list.page_token.as_str() {
            "" => None,
            token => Some(read_token(token, &list.task).ok_or(Fault::BadPageToken)?),
        };
        let size = list.page_size.unwrap_or(ALL);
        let mut configs = outbox.page(&key, after, size + 1).await.map_err(internal)?;
        let more = configs.len() > size;
        configs.truncate(size);
        let next_page_token = match configs.last() {
            Some(last) if more => token(&list.task, &last.config.id),
            _ => String::new(),
        };
        Ok(PushConfigPage { configs, next_page_token })
    }

    /// When it returns, nothing more is sent. Deleting an unknown configuration is no error.
    pub async fn delete_push_config(
        &self,
        scope: &Scope,
        task: &TaskId,
        config: &PushConfigId,
    ) -> Result<(), Fault> {
        let outbox = self.outbox()?;
        let key = self.visible(scope, task).await?.key.clone();
        outbox.delete(&key, config).await.map_err(internal)
    }

    /// The current state of push notifications.
    pub fn outbox_stats(&self) -> OutboxStats {
        self.outbox.as_ref().map(|outbox| outbox.stats()).unwrap_or_default()
    }

    /// Held while a task changes, so that its configurations are active.
    pub(crate) async fn guard_outbox(&self, key: &TaskKey) -> Result<Option<OutboxGuard>, Fault> {
        match &self.outbox {
            Some(outbox) => outbox.guard(key).await.map(Some).map_err(internal),
            None => Ok(None),
        }
    }

    /// Stores the configuration of a message before anything else of the message.
    pub(crate) async fn register_push(
        &self,
        key: &TaskKey,
        request: Option<Box<NewPushConfig>>,
        start: Seq,
    ) -> Result<Option<RegisteredConfig>, Fault> {
        match request {
            Some(request) => Ok(Some(self.outbox()?.register(key, *request, start).await?)),
            None => Ok(None),
        }
    }

    /// The message was refused: what it brought is not kept.
    pub(crate) async fn discard_push(&self, registered: Option<RegisteredConfig>) {
        let (Some(outbox), Some(registered)) = (&self.outbox, registered) else { return };
        if registered.is_new
            && let Err(error) = outbox.delete(registered.guard.task(), &registered.kept.config.id).await
        {
            internal(error);
        }
    }

    pub(crate) fn outbox(&self) -> Result<&Arc<Outbox>, Fault> {
        self.outbox.as_ref().ok_or(Fault::PushNotSupported)
    }
}

/// The event after which delivery starts: the latest one. If the task rests already, the latest status is delivered,
/// because nothing else may follow.
async fn first_visible(live: &LiveTask) -> Result<Seq, StoreError> {
    let now = live.view();
    let head = now.progress.head;
    if !now.progress.is_settled() {
        return Ok(head);
    }
    let back = Seq(head.0.saturating_sub(LOOK_BACK).max(1));
    let Some(mut view) = live.view_at(back).await? else { return Ok(head) };
    let events = live.log().read(&live.key, back, replay::PAGE).await?;
    let mut found = head;
    for event in events.iter().filter(|event| event.seq <= head) {
        if let Some(Update::Status { closes: true, .. }) = update_of(&view.progress.update_context(), event) {
            found = Seq(event.seq.0 - 1);
        }
        view.apply(event);
    }
    Ok(found)
}

/// Leads on after the configuration shown last.
fn token(task: &TaskId, last: &PushConfigId) -> String {
    format!("{task}.{}", hexadecimal(last.as_str().as_bytes()))
}

fn read_token(text: &str, task: &TaskId) -> Option<PushConfigId> {
    let hex = text.strip_prefix(task.as_str())?.strip_prefix('.')?;
    if hex.len() % 2 != 0 || !hex.is_ascii() {
        return None;
    }
    let byte = |place: usize| u8::from_str_radix(hex.get(place..place + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok().map(PushConfigId::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_place_and_for_its_task_only() {
        let (task, config) = (TaskId::from("t"), PushConfigId::from("ä.1"));
        assert_eq!(read_token(&token(&task, &config), &task), Some(config.clone()));
        assert_eq!(read_token(&token(&task, &config), &TaskId::from("u")), None);
        for wrong in ["t", "t.6", "t.zz", "t.ä", "rubbish", "t.ff"] {
            assert_eq!(read_token(wrong, &task), None, "{wrong}");
        }
    }
}
