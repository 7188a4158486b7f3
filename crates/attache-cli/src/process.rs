//! The working folder and the environment of the process.

use std::path::Path;

use attache_config::Environment;

#[derive(Clone, Copy)]
pub struct ProcessContext<'a> {
    pub current_dir: &'a Path,
    pub environment: Environment<'a>,
}
