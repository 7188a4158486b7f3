//! What commands learn from the process that they run in.

use std::path::Path;

use attache_config::Environment;

#[derive(Clone, Copy)]
pub struct ProcessContext<'a> {
    pub current_dir: &'a Path,
    pub environment: Environment<'a>,
}
