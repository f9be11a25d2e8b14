//! What the Model Context Protocol adds to JSON-RPC: its revisions, and the names inside `params` and `_meta`.

mod names;
mod revision;
mod tables;

pub(crate) use names::Names;
pub use revision::Revision;
