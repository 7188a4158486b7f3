//! Ends processes of calls whose server was killed.

use std::sync::Arc;

use async_trait::async_trait;
use attache_tool::LeftoverProcesses;

use super::process_mark::ProcessMark;
use super::process_tree::ProcessTree;

/// Finds the processes of a call by their mark.
#[derive(Debug)]
pub struct MarkedProcesses {
    own: String,
}

impl MarkedProcesses {
    /// Processes with the mark `own` belong to this server and stay.
    pub fn other_than(own: impl Into<String>) -> Self {
        Self { own: own.into() }
    }
}

#[async_trait]
impl LeftoverProcesses for MarkedProcesses {
    async fn end(&self, mark: &str) -> Vec<i32> {
        if mark == self.own {
            return Vec::new();
        }
        Arc::new(ProcessTree::of_mark(ProcessMark::of(mark))).kill_all().await
    }
}
