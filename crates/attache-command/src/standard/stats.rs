//! `stats`: the totals of the conversation.

use async_trait::async_trait;
use attache_domain::Usage;
use serde_json::json;

use crate::{Command, CommandError, CommandRequest, CommandStep};

pub(crate) struct Stats;

#[async_trait]
impl Command for Stats {
    fn name(&self) -> &str {
        "stats"
    }

    fn other_names(&self) -> &[&str] {
        &["usage"]
    }

    fn description(&self) -> &str {
        "Shows what this conversation has come to: tasks, answers, tool calls and tokens."
    }

    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError> {
        let model = request.context.model();
        let crate::ConversationStats { tasks, answers, calls, usage } = request.context.stats();
        let Usage { input, cached, output, thoughts } = usage;
        let total = input.saturating_add(output);
        let text = format!(
            "Model: {model}\nTasks: {tasks}\nAnswers: {answers}\nTool calls: {calls}\n\
             Tokens: {total} ({input} in, {cached} of them cached; {output} out, {thoughts} of them thoughts)"
        );
        let usage = json!({
            "inputTokens": input,
            "cachedTokens": cached,
            "outputTokens": output,
            "thoughtTokens": thoughts,
            "totalTokens": total,
        });
        let data =
            json!({ "model": model, "tasks": tasks, "answers": answers, "calls": calls, "usage": usage });
        Ok(CommandStep::done(text, data))
    }
}
