//! What [`linegate`] needs of an operating system and must not know itself: memory that grows, a random key, and the
//! supervision of a server that runs as a child process.
//!
//! The gate judges bytes; this package starts and ends things. It holds no rule of the protocol.

#![forbid(unsafe_code)]

mod key;
mod storage;
#[cfg(unix)]
pub mod supervise;

pub use key::random_key;
pub use storage::HeapStorage;

/// The examples of the README, compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
