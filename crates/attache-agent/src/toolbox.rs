//! The seam to whoever hands out tools.

use attache_domain::{ContextId, Scope};
use attache_tool::Registry;

/// Gives every conversation its own tools: what one has read or started is nothing to the others.
pub trait Toolbox: Send + Sync + 'static {
    fn open(&self, scope: &Scope, context: &ContextId) -> Registry;
}

/// Tools that keep nothing can be the same for all.
impl Toolbox for Registry {
    fn open(&self, _scope: &Scope, _context: &ContextId) -> Registry {
        self.clone()
    }
}
