//! Makes the first connection, then watches it and the lists of the server.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Server, lists};
use crate::ServerState;
use crate::connection::Connection;

/// The shortest interval between two reads of a list.
const RELIST_DELAY: Duration = Duration::from_secs(1);

enum ConnectionEvent {
    ListsChanged(Arc<Connection>),
    Lost(Arc<Connection>, String),
}

impl Server {
    /// Runs until the server is closed.
    pub(crate) async fn watch(self: Arc<Self>) {
        let closed = self.closed.clone();
        let attending = async move {
            if self.approved.subscribe().wait_for(|approved| *approved).await.is_err() {
                return;
            }
            // The failure is in the status; the next call retries.
            let _ = self.connection().await;
            let mut current = self.current.subscribe();
            loop {
                let connection = current.borrow_and_update().clone();
                let event = tokio::select! {
                    changed = current.changed() => match changed {
                        Ok(()) => continue,
                        Err(_) => return,
                    },
                    event = next_event(connection) => event,
                };
                match event {
                    ConnectionEvent::ListsChanged(connection) => {
                        self.relist(&connection).await;
                        sleep(RELIST_DELAY).await;
                    }
                    ConnectionEvent::Lost(connection, why) => {
                        connection.close().await;
                        self.lost(&connection, why);
                        if current.changed().await.is_err() {
                            return;
                        }
                    }
                }
            }
        };
        tokio::select! {
            () = attending => {}
            () = closed.cancelled() => {}
        }
    }

    async fn relist(self: &Arc<Self>, connection: &Connection) {
        match lists::read(self, connection).await {
            Ok(listed) => self.publish(connection, listed),
            Err(error) => tracing::debug!(server = self.options.name, %error, "its tools stay as they were"),
        }
    }

    /// The tools stay: a call of one reconnects.
    fn lost(&self, connection: &Arc<Connection>, why: String) {
        let is_current =
            self.current.borrow().as_ref().is_some_and(|current| Arc::ptr_eq(current, connection));
        // A running connection attempt reports its own state.
        if is_current && self.status().state == ServerState::Connected {
            self.change(|view| view.state = ServerState::Failed { why });
        }
    }
}

async fn next_event(connection: Option<Arc<Connection>>) -> ConnectionEvent {
    let Some(connection) = connection else { return pending().await };
    tokio::select! {
        biased;
        why = connection.over() => ConnectionEvent::Lost(connection.clone(), why),
        () = connection.lists_changed() => ConnectionEvent::ListsChanged(connection.clone()),
    }
}
