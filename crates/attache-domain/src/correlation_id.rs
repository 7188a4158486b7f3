//! The id of a call for clients that see the calls of many tasks.
//!
//! The ids of calls are unique within a task only, because some models number their calls. A correlation id holds the id of
//! the task as well, so an answer with it names its task. It is derived: a restart and a replay show the same one.

use crate::{AnswerLine, CallId, MessageAnswers, PartAnswers, TaskId, TextAnswers};

/// Ids of tasks have none.
const SEPARATOR: char = '.';

impl CallId {
    /// The correlation id of this call of `task`.
    pub fn correlation_id(&self, task: &TaskId) -> String {
        format!("{task}{SEPARATOR}{}", self.0)
    }

    /// The task that this id names if it is a correlation id. A model may choose an id of the same form, so the task may
    /// not exist.
    pub fn correlated_task(&self) -> Option<TaskId> {
        let (task, _) = self.0.split_once(SEPARATOR)?;
        (!task.is_empty()).then(|| TaskId::from(task))
    }
}

/// The id within `task` of a call that is named by that or by its correlation id.
fn id_within<'a>(task: &TaskId, name: &'a str) -> &'a str {
    let rest = name.strip_prefix(task.as_str()).and_then(|rest| rest.strip_prefix(SEPARATOR));
    rest.unwrap_or(name)
}

impl MessageAnswers {
    /// The same answers with the ids that the calls have within `task`. Correlation ids of other tasks stay, and fit no
    /// call.
    pub fn within(mut self, task: &TaskId) -> Self {
        for part in &mut self.parts {
            match part {
                PartAnswers::Data(items) => {
                    for call in items.iter_mut().filter_map(|item| item.call.as_mut()) {
                        shorten(task, &mut call.0);
                    }
                }
                PartAnswers::Text(TextAnswers { named, lines, .. }) => {
                    named.iter_mut().for_each(|named| shorten(task, &mut named.name));
                    for AnswerLine { named, .. } in lines {
                        named.iter_mut().for_each(|named| shorten(task, &mut named.name));
                    }
                }
                PartAnswers::None => {}
            }
        }
        self
    }
}

fn shorten(task: &TaskId, id: &mut String) {
    let within = id_within(task, id);
    if within.len() < id.len() {
        *id = within.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataAnswer;

    fn within(task: &str, call: &str) -> String {
        let item = DataAnswer { call: Some(CallId(call.into())), ..DataAnswer::default() };
        let answers = MessageAnswers { parts: vec![PartAnswers::Data(vec![item])] }.within(&task.into());
        match &answers.parts[0] {
            PartAnswers::Data(items) => items[0].call.clone().unwrap().0,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn calls_of_two_tasks_with_one_id_have_different_correlation_ids() {
        let call = CallId("call-1.0".into());
        let (one, two) = (call.correlation_id(&"t1".into()), call.correlation_id(&"t2".into()));
        assert_ne!(one, two);
        assert_eq!(CallId(one.clone()).correlated_task(), Some("t1".into()));
        assert_eq!(within("t1", &one), "call-1.0");
        assert_eq!(within("t1", "call-1.0"), "call-1.0");
        assert_eq!(within("t2", &one), one, "the call of another task");
        assert_eq!(within("t", &one), one, "a task whose id is the beginning of another one");
    }

    #[test]
    fn other_ids_name_no_task() {
        for id in ["call-1-0", "", ".x"] {
            assert_eq!(CallId(id.into()).correlated_task(), None, "{id}");
        }
    }
}
