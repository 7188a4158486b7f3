//! Parses calls of tools, and conditions on their results.

use super::super::error::Problem;
use super::super::keys::{CALL, Fields, WHEN};
use super::super::limits::MAX_CALLS;
use super::super::rule::{CallTemplate, StepCondition};
use super::super::template::Template;
use super::super::yaml::{Kind, Node};
use super::pattern_of;
use super::step::StepParser;

impl StepParser<'_> {
    pub(super) fn call(&mut self, node: Node) -> Result<CallTemplate, Problem> {
        let mut fields = Fields::of(node, &CALL)?;
        let tool = fields.require("tool")?;
        let line = tool.line;
        let tool = self.text(tool)?;
        if matches!(&tool, Template::Literal(name) if name.trim().is_empty()) {
            return Err(Problem::new(line, "`tool` must not be empty: write the name of a tool"));
        }
        let input = match fields.take("input") {
            None => Vec::new(),
            Some(node) => {
                let Kind::Map(entries) = node.kind else { return Err(node.unexpected("a map")) };
                let entries = entries.into_iter().map(|(key, node)| Ok((key, self.data(node)?)));
                entries.collect::<Result<_, Problem>>()?
            }
        };
        Ok(CallTemplate { tool, input })
    }

    pub(super) fn calls(&mut self, node: Node) -> Result<Vec<CallTemplate>, Problem> {
        let line = node.line;
        let nodes = node.into_list("a list of calls")?;
        if nodes.is_empty() {
            return Err(Problem::new(line, "`calls` has an empty list: give it at least one call"));
        }
        if nodes.len() > MAX_CALLS {
            let what = format!("there are {} calls, and one step has at most {MAX_CALLS}", nodes.len());
            return Err(Problem::new(line, what));
        }
        nodes.into_iter().map(|node| self.call(node)).collect()
    }

    pub(super) fn when(&mut self, node: Node) -> Result<StepCondition, Problem> {
        let mut fields = Fields::of(node, &WHEN)?;
        let failed = fields.take("failed").map(Node::into_bool).transpose()?;
        let result = fields.take("result").map(|node| pattern_of(node, "result")).transpose()?;
        if failed.is_none() && result.is_none() {
            return Err(Problem::new(fields.line, "`when` needs `failed` or `result`"));
        }
        if self.scope.calls == 0 {
            let what =
                "`when` looks at the result of a call, but there is no `call` before this step in its turn";
            return Err(Problem::new(fields.line, what));
        }
        Ok(StepCondition { failed, result })
    }
}
