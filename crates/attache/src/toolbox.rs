//! The standard tools of a conversation.

use std::sync::Arc;

use attache_tool::Registry;
use attache_tool_std::{
    BackgroundProcesses, Glob, GrepSearch, ListBackgroundProcesses, ListDirectory, ReadBackgroundOutput,
    ReadFile, Reads, Replace, RunShellCommand, SaveMemory, ShellOptions, WriteFile, WriteTodos,
};

/// What a conversation has read and started is nothing to the others.
pub(crate) fn new_kit() -> Registry {
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
