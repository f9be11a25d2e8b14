//! The key of fingerprints and hashes, drawn from the operating system.

use std::io;

use linegate::AuditKey;

/// A key that no peer knows, for one process.
///
/// # Errors
///
/// The operating system gives no randomness. A host that goes on with a fixed key loses what [`AuditKey`] says.
pub fn random_key() -> io::Result<AuditKey> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(AuditKey::new(bytes))
}
