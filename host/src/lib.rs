//! What [`linegate`] needs of an operating system and must not know itself: memory that grows, a random key, a server's loop
//! over a pipe, an audit file, and the supervision of a server that runs as a child process.
//!
//! The gate judges bytes; this package starts and ends things. It holds no rule of the protocol.

#![forbid(unsafe_code)]

mod audit;
mod key;
#[cfg(feature = "schema")]
mod schema;
mod serve;
mod storage;
#[cfg(unix)]
pub mod supervise;

pub use audit::{AuditFile, refused_line};
pub use key::random_key;
#[cfg(feature = "schema")]
pub use schema::{BadSchema, Schema};
pub use serve::{Served, serve};
pub use storage::HeapStorage;

/// The examples of the README, compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
