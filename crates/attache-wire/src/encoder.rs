//! The encoder of one request: writes every payload of its response in the form that the client reads.
//!
//! The server chooses it once, when the request's version and binding are known. Bindings only frame what it writes.

use std::sync::Arc;

use attache_domain::{
    CommandSpec, ContextId, Message, PushConfigPage, ReplayGap, Seq, StoredPushConfig, TaskId, TaskView,
    Update,
};

use crate::devtool::commands::{self, ExecutionStatus};
use crate::devtool::{DevtoolFrame, Dialect, live, rest_api};
use crate::encode::{self, TaskPage, TaskShape};
use crate::replay::{self, ReplayMark};
use crate::{JsonForm, Version, proto};

/// JSON in one of its forms, or protobuf in one of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Json(JsonForm),
    Proto(Version),
}

impl Encoding {
    pub fn version(self) -> Version {
        match self {
            Self::Json(json_form) => json_form.version(),
            Self::Proto(version) => version,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Encoder {
    pub encoding: Encoding,
    /// The name of the log, set when the client activated the replay extension: tasks and events then carry their cursor.
    pub epoch: Option<Arc<str>>,
}

impl Encoder {
    /// The key under which an event or task encoded for `dialect` is cached. Equal keys mean equal bytes.
    pub fn index(&self, dialect: Dialect) -> usize {
        let plain = match self.encoding {
            Encoding::Json(json_form) => dialect.index(json_form),
            Encoding::Proto(version) => proto::index(dialect, version),
        };
        if self.epoch.is_some() { replay::marked_index(plain) } else { plain }
    }

    /// A bare task: the answer to get and cancel.
    pub fn write_task(&self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        let start = out.len();
        match self.encoding {
            Encoding::Json(json_form) => encode::write_task(json_form, view, shape, out),
            Encoding::Proto(version) => proto::write_task(version, view, shape, out),
        }
        let Some(mark) = self.mark(view.progress.head, None) else { return };
        match self.encoding {
            Encoding::Json(_) => replay::add_mark_to_task(&mark, out, start),
            Encoding::Proto(version) => proto::add_mark_to_task(version, &mark, out, start),
        }
    }

    /// A task as the answer to send, or as the first item of a stream. `gap` is what the client has missed for good. The live
    /// endpoint and the streams of the REST API have no tasks, so their clients get the state.
    pub fn write_task_item(
        &self,
        view: &TaskView,
        shape: TaskShape,
        gap: Option<&ReplayGap>,
        out: &mut Vec<u8>,
    ) {
        match shape.dialect {
            Dialect::Live => return live::write_state(view, self.epoch.as_deref(), gap, out),
            Dialect::RestApi => return rest_api::write_state(view, out),
            Dialect::Plain | Dialect::Developer | Dialect::Gemini => {}
        }
        let start = out.len();
        match self.encoding {
            Encoding::Json(json_form) => encode::write_task_item(json_form, view, shape, out),
            Encoding::Proto(version) => proto::write_task_item(version, view, shape, out),
        }
        self.mark_item(view.progress.head, gap, out, start);
    }

    /// What a stream of the REST API shows before the event that settles its prompt. False: nothing was written.
    pub fn write_last_words(&self, frame: &DevtoolFrame<'_>, out: &mut Vec<u8>) -> bool {
        rest_api::write_last_words(frame, out)
    }

    /// The first event of a stream of the REST API whose prompt waits for others.
    pub fn write_queued(&self, view: &TaskView, out: &mut Vec<u8>) {
        rest_api::write_queued(view, out);
    }

    pub fn write_message_item(&self, message: &Message, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(json_form) => encode::write_message_item(json_form, message, out),
            Encoding::Proto(version) => proto::write_message_item(version, message, out),
        }
    }

    /// One event of a stream for clients of plain A2A.
    pub fn write_update(
        &self,
        (task, context): (&TaskId, &ContextId),
        seq: Seq,
        update: &Update<'_>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        match self.encoding {
            Encoding::Json(json_form) => encode::write_update(json_form, task, context, update, out),
            Encoding::Proto(version) => proto::write_update(version, task, context, update, out),
        }
        self.mark_item(seq, None, out, start);
    }

    /// One event of a stream for clients of the development-tool extension. On an error nothing is written.
    pub fn write_devtool_frame(
        &self,
        dialect: Dialect,
        frame: &DevtoolFrame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        // Its cursors are no marks.
        if dialect == Dialect::Live {
            live::write(frame, self.epoch.as_deref(), out);
            return Ok(());
        }
        let start = out.len();
        match self.encoding {
            Encoding::Json(json_form) => dialect.write(json_form, frame, out),
            Encoding::Proto(version) => proto::write_devtool_frame(dialect, version, frame, out)?,
        }
        self.mark_item(frame.seq, None, out, start);
        Ok(())
    }

    pub fn write_list(&self, page: &TaskPage, shape: TaskShape, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(_) => encode::write_list(page, shape, out),
            Encoding::Proto(_) => proto::write_list(page, shape, out),
        }
    }

    pub fn write_push_config(&self, stored: &StoredPushConfig, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(json_form) => encode::write_push_config(json_form, stored, out),
            Encoding::Proto(version) => proto::write_push_config(version, stored, out),
        }
    }

    pub fn write_push_configs(&self, page: &PushConfigPage, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(json_form) => encode::write_push_configs(json_form, page, out),
            Encoding::Proto(version) => proto::write_push_configs(version, page, out),
        }
    }

    pub fn write_commands(&self, specs: &[CommandSpec], out: &mut Vec<u8>) -> Result<(), String> {
        match self.encoding {
            Encoding::Json(_) => commands::write_list(specs, out),
            Encoding::Proto(_) => proto::write_commands(specs, out)?,
        }
        Ok(())
    }

    /// The answer to a command; `task` is empty when the command was refused.
    pub fn write_execution(
        &self,
        task: &str,
        status: ExecutionStatus,
        message: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match self.encoding {
            Encoding::Json(_) => commands::write_execution(task, status, message, out),
            Encoding::Proto(_) => proto::write_execution(task, status, message, out)?,
        }
        Ok(())
    }

    fn mark_item(&self, seq: Seq, gap: Option<&ReplayGap>, out: &mut Vec<u8>, start: usize) {
        let Some(mark) = self.mark(seq, gap) else { return };
        match self.encoding {
            Encoding::Json(json_form) => replay::add_mark_to_item(json_form, &mark, out, start),
            Encoding::Proto(version) => proto::add_mark_to_item(version, &mark, out, start),
        }
    }

    fn mark<'a>(&'a self, seq: Seq, gap: Option<&'a ReplayGap>) -> Option<ReplayMark<'a>> {
        self.epoch.as_ref().map(|epoch| ReplayMark { epoch, seq, gap })
    }
}
