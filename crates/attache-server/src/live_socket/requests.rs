//! What clients send over the WebSocket.

use attache_domain::{Cursor, Fault, GetTask, Interface, SendMessage, TaskId};
use attache_wire::devtool::live_routes;
use attache_wire::devtool::live_tools::session_of;
use attache_wire::jsonrpc::{self, RequestId};
use attache_wire::replay;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message as Frame;

use super::text_frame::TextFrame;
use super::{LiveSocket, write_fault};
use crate::live_answers::{is_answer, task_of_answer};
use crate::live_routes::{LiveRequest, complete, read_request};
use crate::task_stream::Framer;

impl LiveSocket {
    pub(super) async fn receive(&mut self, frame: Frame) {
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Binary(_) => {
                let fault = Fault::InvalidRequest { what: "a message must be a text frame".into() };
                return self.add_fault(&RequestId::Null, &fault);
            }
            // Pings are answered by the protocol.
            Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_) | Frame::Frame(_) => return,
        };
        let (id, read) = read_request(text.as_bytes(), self.app.options.limits.json_depth);
        let handled = match read {
            Ok(LiveRequest::Message(send)) => self.begin(*send).await,
            Ok(LiveRequest::Subscribe { task, after }) => self.subscribe(task, after.as_ref()).await,
            Ok(LiveRequest::Register(register)) => self.register_tools(register).await,
            Ok(LiveRequest::Unregister(unregister)) => self.unregister_tools(&unregister).await,
            Err(fault) => Err(fault),
        };
        match handled {
            Err(fault) => self.add_fault(&id, &fault),
            // A request without an id wants no response.
            Ok(_) if id == RequestId::Null => {}
            Ok(result) => {
                let opened = TextFrame.open_unnumbered(&mut self.out);
                jsonrpc::write_result_open(&id, &mut self.out);
                self.out.extend_from_slice(result.to_string().as_bytes());
                jsonrpc::write_result_close(&mut self.out);
                TextFrame.close(opened, &mut self.out);
            }
        }
    }

    /// Hands a message to its task, and returns the task for the response.
    async fn begin(&mut self, mut send: SendMessage) -> Result<Value, Fault> {
        if let Some(only) = &self.only {
            live_routes::address(&mut send, only)?;
        }
        if is_answer(&send) {
            let task = task_of_answer(&self.app, &self.scope, &send).await?;
            send.message.task = Some(task);
        } else if send.message.task.is_none() {
            send.message.task = self.current.clone();
        }
        complete(&self.app, &self.headers, &mut send, self.origin, Interface::WebSocket);
        let task = send.message.task.clone();
        let started = self.app.session.begin(&self.scope, send).await.map_err(|fault| match &task {
            Some(task) => live_routes::name_calls(fault, task),
            None => fault,
        })?;
        self.current = Some(started.view.task.clone());
        Ok(live_routes::created(&started.view))
    }

    /// Shows the task from a cursor on, or its state and then its events.
    async fn subscribe(&mut self, task: Option<TaskId>, after: Option<&Cursor>) -> Result<Value, Fault> {
        let task = session_of(task, self.only.as_ref(), self.current.as_ref())?;
        self.followed.restart(&task, after).await?;
        let get = GetTask { task: task.clone(), history_length: None, at: None };
        let seen = self.app.session.get(&self.scope, &get).await?;
        self.current = Some(task);
        let mut result = live_routes::created(&seen.view);
        let cursor = replay::encode_cursor(self.app.session.epoch(), seen.view.progress.last_shown());
        result["cursor"] = cursor.into();
        Ok(result)
    }

    pub(super) fn add_fault(&mut self, id: &RequestId, fault: &Fault) {
        write_fault(id, fault, &mut self.out);
    }
}
