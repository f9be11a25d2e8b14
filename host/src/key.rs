//! The key of fingerprints and hashes, drawn from the operating system.

use std::io;

use linegate::AuditKey;

/// 16 bytes that nobody knows.
///
/// # Errors
///
/// The operating system gives no randomness.
pub fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// A key that no peer knows, for one process.
///
/// # Errors
///
/// The operating system gives no randomness. A host that goes on with a fixed key loses what [`AuditKey`] says.
pub fn random_key() -> io::Result<AuditKey> {
    random_bytes().map(AuditKey::new)
}
