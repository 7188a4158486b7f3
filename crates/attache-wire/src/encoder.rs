//! The encoder of one request: writes every payload of its response in the form that the client reads.
//!
//! The server chooses it once, when the request's version and binding are known. Bindings only frame what it writes.

use std::sync::Arc;

use attache_domain::{
    CommandSpec, ContextId, DevtoolEvent, Message, PushConfigPage, ReplayGap, Seq, StoredPushConfig, TaskId,
    TaskView, Update,
};

use crate::devtool::commands::{self, ExecutionStatus};
use crate::devtool::{DevtoolFrame, Profile, live, rest_api};
use crate::encode::{self, TaskPage, TaskShape};
use crate::replay::{self, ReplayMark};
use crate::{Dialect, Version, proto};

/// JSON in one of its dialects, or protobuf in one of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Json(Dialect),
    Proto(Version),
}

impl Encoding {
    pub fn version(self) -> Version {
        match self {
            Self::Json(dialect) => dialect.version(),
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
    /// The key under which an event or task encoded for `profile` is cached. Equal keys mean equal bytes.
    pub fn index(&self, profile: Profile) -> usize {
        let plain = match self.encoding {
            Encoding::Json(dialect) => profile.index(dialect),
            Encoding::Proto(version) => proto::index(profile, version),
        };
        if self.epoch.is_some() { replay::marked_index(plain) } else { plain }
    }

    /// A bare task: the answer to get and cancel.
    pub fn write_task(&self, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
        let start = out.len();
        match self.encoding {
            Encoding::Json(dialect) => encode::write_task(dialect, view, shape, out),
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
        match shape.profile {
            Profile::Live => return live::write_state(view, self.epoch.as_deref(), gap, out),
            Profile::RestApi => return rest_api::write_state(view, out),
            Profile::Plain | Profile::Developer | Profile::Gemini => {}
        }
        let start = out.len();
        match self.encoding {
            Encoding::Json(dialect) => encode::write_task_item(dialect, view, shape, out),
            Encoding::Proto(version) => proto::write_task_item(version, view, shape, out),
        }
        self.mark_item(view.progress.head, gap, out, start);
    }

    pub fn write_message_item(&self, message: &Message, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(dialect) => encode::write_message_item(dialect, message, out),
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
            Encoding::Json(dialect) => encode::write_update(dialect, task, context, update, out),
            Encoding::Proto(version) => proto::write_update(version, task, context, update, out),
        }
        self.mark_item(seq, None, out, start);
    }

    /// One event of a stream for clients of the development-tool extension. On an error nothing is written.
    pub fn write_devtool_frame(
        &self,
        profile: Profile,
        frame: &DevtoolFrame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        // Its cursors are no marks.
        if profile == Profile::Live {
            live::write(frame, self.epoch.as_deref(), out);
            return Ok(());
        }
        let start = out.len();
        match self.encoding {
            Encoding::Json(dialect) => profile.write(dialect, frame, out),
            Encoding::Proto(version) => proto::write_devtool_frame(profile, version, frame, out)?,
        }
        self.mark_item(frame.seq, None, out, start);
        Ok(())
    }

    /// An event of the live endpoint at `seq`, without the context that some kinds need.
    pub fn write_live_event(&self, task: &TaskId, seq: Seq, happening: DevtoolEvent<'_>, out: &mut Vec<u8>) {
        live::write_happening(&happening, task, self.epoch.as_deref().map(|epoch| (epoch, seq)), out);
    }

    pub fn write_list(&self, page: &TaskPage, shape: TaskShape, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(_) => encode::write_list(page, shape, out),
            Encoding::Proto(_) => proto::write_list(page, shape, out),
        }
    }

    pub fn write_push_config(&self, stored: &StoredPushConfig, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(dialect) => encode::write_push_config(dialect, stored, out),
            Encoding::Proto(version) => proto::write_push_config(version, stored, out),
        }
    }

    pub fn write_push_configs(&self, page: &PushConfigPage, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Json(dialect) => encode::write_push_configs(dialect, page, out),
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
            Encoding::Json(dialect) => replay::add_mark_to_item(dialect, &mark, out, start),
            Encoding::Proto(version) => proto::add_mark_to_item(version, &mark, out, start),
        }
    }

    fn mark<'a>(&'a self, seq: Seq, gap: Option<&'a ReplayGap>) -> Option<ReplayMark<'a>> {
        self.epoch.as_ref().map(|epoch| ReplayMark { epoch, seq, gap })
    }
}
