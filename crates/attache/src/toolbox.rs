//! The standard tools, with what each conversation has read and started kept apart from the others.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use attache_agent::Toolbox;
use attache_domain::{ContextId, Scope};
use attache_tool::Registry;
use attache_tool_std::{
    BackgroundProcesses, Glob, GrepSearch, ListBackgroundProcesses, ListDirectory, ReadBackgroundOutput,
    ReadFile, Reads, Replace, RunShellCommand, SaveMemory, ShellOptions, WriteFile, WriteTodos,
};

/// Conversations whose tools are kept; what the oldest have in the background ends with them.
const MOST_CONVERSATIONS: usize = 256;

#[derive(Default)]
pub(crate) struct StandardToolbox {
    kits: Mutex<Kits>,
}

#[derive(Default)]
struct Kits {
    kits: HashMap<(Scope, ContextId), Registry>,
    order: VecDeque<(Scope, ContextId)>,
}

impl Toolbox for StandardToolbox {
    fn open(&self, scope: &Scope, context: &ContextId) -> Registry {
        let key = (scope.clone(), context.clone());
        let mut guard = self.kits.lock().unwrap_or_else(PoisonError::into_inner);
        let Kits { kits, order } = &mut *guard;
        if let Some(kit) = kits.get(&key) {
            return kit.clone();
        }
        let kit = new_kit();
        kits.insert(key.clone(), kit.clone());
        order.push_back(key);
        if order.len() > MOST_CONVERSATIONS {
            order.pop_front().and_then(|oldest| kits.remove(&oldest));
        }
        kit
    }
}

fn new_kit() -> Registry {
    let (reads, background) = (Arc::new(Reads::default()), Arc::new(BackgroundProcesses::default()));
    let mut kit = Registry::default();
    kit.add(Arc::new(ReadFile::new(reads.clone())));
    kit.add(Arc::new(ListDirectory::default()));
    kit.add(Arc::new(Glob::default()));
    kit.add(Arc::new(GrepSearch::default()));
    kit.add(Arc::new(WriteFile::new(reads.clone())));
    kit.add(Arc::new(Replace::new(reads)));
    kit.add(Arc::new(RunShellCommand::new(ShellOptions::default(), background.clone())));
    kit.add(Arc::new(ListBackgroundProcesses::new(background.clone())));
    kit.add(Arc::new(ReadBackgroundOutput::new(background)));
    kit.add(Arc::new(WriteTodos::default()));
    kit.add(Arc::new(SaveMemory::default()));
    kit
}
