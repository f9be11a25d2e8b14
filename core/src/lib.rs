//! A gate for newline-delimited JSON-RPC and MCP on stdio: bytes in, checked messages or a reason out.
//!
//! Every line that the gate accepts is split into the same frames by every newline framer, parsed to the same value by every
//! mainstream JSON parser, and read as the same JSON-RPC message by every peer; every other line has no effect. (What the
//! sentence loses by each switch is said in [`Switch`].)
//!
//! ```text
//! bytes --framer--> line --json--> value --rpc--> shape --mcp--> method --session--> Message
//!                     \         \            \          \              \
//!                      1xx       2xx          3xx        40x            45x  ---> Refusal { code, at, .. }
//! ```
//!
//! The order is the same for every line, and the first stage that finds a fault gives the verdict. Nothing is repaired: what
//! is passed on is exactly the bytes that were checked. A fault of the peer is data, an [`Event`]; a fault of the caller is
//! an error of the API. Everything is bounded: see [`Limits`].
//!
//! No heap, no I/O, no panic, and no recursion that input could drive. [`Gate`] shows the loop; [`action`] goes on from an
//! accepted message to an effect.
//!
//! Features: `mcp` (on by default) is the stage of MCP and its revisions; without it a build knows plain JSON-RPC alone.
//! `small` makes the code a third of its size for devices, and slower: the verdicts are the same, but for
//! [`Limits::max_keys`], which is 256 at most. `typed` reads the arguments of an action as types of serde, without a heap.
//! `testing` has executors and authorizers for the tests of those who use this package.

#![no_std]
#![deny(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod action;
mod audit;
mod code;
mod find;
mod framer;
mod gate;
mod json;
mod judge;
mod limits;
#[cfg_attr(
    not(feature = "mcp"),
    allow(dead_code, unused_imports, reason = "without MCP its words are left, and no rule")
)]
mod mcp;
mod message;
mod options;
mod refusal;
mod response;
mod rpc;
mod session;
mod standing;
mod storage;

pub use audit::{Fingerprint, Record};
pub use code::{
    Code, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Stage, UNSUPPORTED_VERSION,
};
pub use gate::{Event, Fed, Gate};
pub use json::{Cursor, Elements, Kind as JsonKind, Members};
pub use limits::{AuditKey, Direction, Limits, MAX_DEPTH, MAX_FRAME, MAX_KEY, MAX_METHOD, Profile, Switch, Switches};
pub use mcp::Revision;
pub use message::Message;
pub use options::{BadOptions, Batches, ErrorId, Options, Policy};
pub use refusal::{REPLY_LEN, Refusal};
pub use response::{Line, TooSmall};
pub use rpc::Kind;
pub use session::{Slot, Tracker};
pub use standing::Counters;
pub use storage::{Borrowed, Inline, Storage};
