//! What a turn has come to that may not be durable yet.
//!
//! An answer of the model, and calls that change nothing, need not wait for the log: after a crash they are had again. So
//! the next step may follow at once, the next question to the model included, and all of it is written together.

use std::sync::Arc;

use attache_domain::{CallRecords, Exchange, ModelAnswer, TaskView, ToolResult, Usage};
use attache_model::Prompt;

use crate::tokens;

/// What the task will show once everything reported is durable.
pub(crate) struct Ahead {
    /// How many exchanges the task shows before these.
    shown: usize,
    exchanges: Vec<Arc<Exchange>>,
    /// The calls of the latest answer as it asks for them.
    pub(crate) call_records: Arc<CallRecords>,
    /// Answers of the model in the task.
    pub(crate) rounds: u32,
    /// Tokens of the task.
    pub(crate) usage: Usage,
    latest_usage: Usage,
}

impl Ahead {
    /// Of a task that shows everything it has come to.
    pub(crate) fn of(view: &TaskView) -> Self {
        Self {
            shown: view.exchanges.len(),
            exchanges: Vec::new(),
            call_records: Arc::default(),
            rounds: view.rounds,
            usage: view.usage,
            latest_usage: Usage::default(),
        }
    }

    pub(crate) fn answered(&mut self, answer: &ModelAnswer, view: &TaskView) {
        let durable = self.durable(view);
        self.exchanges.drain(..durable);
        self.shown += durable;
        self.exchanges.push(Arc::new(Exchange::Model(answer.said.clone())));
        self.call_records = Arc::new(CallRecords::of(answer));
        self.rounds += 1;
        self.usage.add(&answer.usage);
        self.latest_usage = answer.usage;
    }

    /// What came of all calls of the latest answer.
    pub(crate) fn with(mut self, results: Vec<ToolResult>) -> Self {
        self.exchanges.push(Arc::new(Exchange::Results(results)));
        self
    }

    /// The model may be asked before these are durable: those who spell the prompt know that many by what they say.
    pub(crate) fn is_short(&self) -> bool {
        self.exchanges.len() <= Prompt::NEWEST
    }

    /// What `view` does not show yet.
    pub(crate) fn beyond(&self, view: &TaskView) -> &[Arc<Exchange>] {
        &self.exchanges[self.durable(view)..]
    }

    /// How many tokens the next prompt takes: what the provider counted, and an estimate of what was said since. None
    /// when it counts nothing.
    pub(crate) fn size(&self) -> Option<u64> {
        let counted = self.latest_usage.input + self.latest_usage.output;
        let is_new = |exchange: &&Arc<Exchange>| !matches!(***exchange, Exchange::Model(_));
        let new = self.exchanges.iter().rev().take_while(is_new);
        (counted > 0).then(|| counted + new.map(|exchange| tokens::of_exchange(exchange)).sum::<u64>())
    }

    fn durable(&self, view: &TaskView) -> usize {
        view.exchanges.len().saturating_sub(self.shown).min(self.exchanges.len())
    }
}
