//! What stands around [`linegate`] in hosted Rust.
//!
//! For a server's own standard input and output: [`Session`], which [serves a table of actions](Session::serve) with an
//! [`AuditFile`], or makes for a server on an SDK the streams of which only accepted lines come out ([`GatedReader`]) or into
//! which only such go ([`GatedWriter`]); on unix the guard that keeps everything else off them ([`StdioGuard`]). For a program
//! that stands between others: memory that grows, a random key, and the supervision of a server that runs as a child process.
//!
//! The gate judges bytes; this package moves them. It holds no rule of the protocol.
//!
//! Features, off by default: `tokio` adds `AsyncGatedReader` and `AsyncGatedWriter`; `schema` adds `Schema`, arguments by JSON
//! Schema.

// One function must: see stdio.rs.
#![deny(unsafe_code)]

mod audit;
mod facts;
mod filter;
mod held;
mod intake;
mod key;
mod named;
mod outbox;
mod reader;
#[cfg(feature = "schema")]
mod schema;
mod serve;
mod session;
#[cfg(unix)]
mod stdio;
mod storage;
#[cfg(unix)]
pub mod supervise;
#[cfg(feature = "tokio")]
mod tokio;
mod writer;

pub use self::audit::{AuditFile, observed_line, refused_line};
pub use self::facts::{CallFacts, RefusedLine};
pub use self::held::{Asked, Chunk, HeldGate, SharedTracker, Stage};
pub use self::key::{random_bytes, random_key};
pub use self::named::{named_options, named_switches, names};
pub use self::reader::GatedReader;
#[cfg(feature = "schema")]
pub use self::schema::{BadSchema, Schema};
pub use self::serve::Served;
pub use self::session::Session;
#[cfg(unix)]
pub use self::stdio::{StdinGuard, StdioGuard, StdoutGuard};
pub use self::storage::HeapStorage;
#[cfg(all(feature = "tokio", unix))]
pub use self::tokio::AsyncStdio;
#[cfg(feature = "tokio")]
pub use self::tokio::{AsyncGatedReader, AsyncGatedWriter};
pub use self::writer::{GatedWriter, LineError};

/// The examples of the README, compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
