//! Furnishes conversations: each gets its own tools, rules and model, and keeps them for as long as its wishes stay.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use attache_agent::{
    Mind, PolicyOptions, PolicyReferee, Refusal, WorkLimits, Wishes, Workplace, Workplaces, instructions,
};
use attache_domain::{ContextId, Scope};
use attache_tool::Workspace;

use crate::toolbox;

/// Conversations whose workplaces are kept; what the oldest have in the background ends with them.
const MOST_CONVERSATIONS: usize = 256;

/// What all conversations have in common.
pub(crate) struct Furnisher {
    pub(crate) mind: Mind,
    pub(crate) policy: PolicyOptions,
    pub(crate) root: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    places: HashMap<(Scope, ContextId), (Wishes, Arc<Workplace>)>,
    order: VecDeque<(Scope, ContextId)>,
}

impl Furnisher {
    pub(crate) fn new(mind: Mind, policy: PolicyOptions, root: PathBuf, workspace: Arc<Workspace>) -> Self {
        Self { mind, policy, root, workspace, open: Mutex::default() }
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn furnish(&self, wishes: &Wishes) -> Result<Workplace, Refusal> {
        Ok(Workplace {
            mind: self.mind(wishes)?,
            toolbox: Arc::new(toolbox::new_kit()),
            referee: Arc::new(PolicyReferee::new(self.policy.clone())),
            workspace: self.workspace.clone(),
            instructions: instructions(&self.root),
            opening: Vec::new(),
            mentions: None,
            limits: WorkLimits::default(),
        })
    }
}

#[async_trait]
impl Workplaces for Furnisher {
    fn mind(&self, _wishes: &Wishes) -> Result<Mind, Refusal> {
        Ok(self.mind.clone())
    }

    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        wishes: &Wishes,
    ) -> Result<Arc<Workplace>, Refusal> {
        let key = (scope.clone(), context.clone());
        if let Some((granted, place)) = self.opened().places.get(&key)
            && granted == wishes
        {
            return Ok(place.clone());
        }
        let place = Arc::new(self.furnish(wishes)?);
        self.opened().keep(key, (wishes.clone(), place.clone()));
        Ok(place)
    }
}

impl Open {
    fn keep(&mut self, key: (Scope, ContextId), place: (Wishes, Arc<Workplace>)) {
        if self.places.insert(key.clone(), place).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > MOST_CONVERSATIONS {
            let Some(oldest) = self.order.pop_front() else { break };
            self.places.remove(&oldest);
        }
    }
}
