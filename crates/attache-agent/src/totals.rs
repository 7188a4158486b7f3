//! Totals of a conversation: tasks, answers, calls and tokens.

use attache_command::ConversationStats;
use attache_domain::{TaskView, Usage};

#[derive(Debug, Clone, Default)]
pub(crate) struct ConversationTotals {
    tasks: u32,
    answers: u32,
    calls: u32,
    usage: Usage,
}

impl ConversationTotals {
    pub(crate) fn of(views: &[TaskView]) -> Self {
        let mut tally = Self::default();
        views.iter().for_each(|view| tally.add(view));
        tally
    }

    pub(crate) fn add(&mut self, view: &TaskView) {
        self.tasks += 1;
        self.answers += view.rounds;
        self.calls += view.finished_calls;
        self.usage.add(&view.usage);
    }
}

impl From<ConversationTotals> for ConversationStats {
    fn from(ConversationTotals { tasks, answers, calls, usage }: ConversationTotals) -> Self {
        Self { tasks, answers, calls, usage }
    }
}
