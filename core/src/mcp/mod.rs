//! What the Model Context Protocol adds to JSON-RPC: its revisions, and for each who may send which method with which params
//! (rules 401 to 410, and the part of 313 that needs to know the method).

mod filter;
mod meta_key;
mod revision;
mod shape;
mod table;
mod tables;

pub(crate) use filter::Filter;
pub use revision::Revision;
pub(crate) use shape::{Answered, CAPABILITIES, Line, Shapes, VERSION, declared, is_reserved};
pub(crate) use table::{Method, Set};
