//! Push configurations: kept as records, one by one, beside the task they are about.

use attache_domain::{
    Fault, KeptPushConfig, ListPushConfigs, PushConfigId, PushConfigPage, PushWish, Scope, TaskId,
};

use crate::SessionService;

impl SessionService {
    /// Keeps a configuration, in place of one with the same name.
    pub async fn create_push_config(
        &self,
        scope: &Scope,
        task: &TaskId,
        _wish: PushWish,
    ) -> Result<KeptPushConfig, Fault> {
        self.visible(scope, task).await?;
        Err(Fault::PushNotSupported)
    }

    /// The configuration of that name; without a name, the one that must be meant.
    pub async fn push_config(
        &self,
        scope: &Scope,
        task: &TaskId,
        _config: Option<&PushConfigId>,
    ) -> Result<KeptPushConfig, Fault> {
        self.visible(scope, task).await?;
        Err(Fault::PushNotSupported)
    }

    pub async fn push_configs(&self, scope: &Scope, list: &ListPushConfigs) -> Result<PushConfigPage, Fault> {
        self.visible(scope, &list.task).await?;
        Err(Fault::PushNotSupported)
    }

    /// Nothing is told to it any more once this returns. Deleting what is not there is no error.
    pub async fn delete_push_config(
        &self,
        scope: &Scope,
        task: &TaskId,
        _config: &PushConfigId,
    ) -> Result<(), Fault> {
        self.visible(scope, task).await?;
        Err(Fault::PushNotSupported)
    }
}
