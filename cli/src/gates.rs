//! Making gates: every one of this program has a random key and storage that grows to its limits.

use linegate::{Direction, Gate, Options};
use linegate_host::{HeapStorage, random_key};

/// The defaults for lines from there.
pub fn options(from: Direction) -> Result<Options, String> {
    let key = random_key().map_err(|error| format!("the system gives no random key: {error}"))?;
    Ok(Options::new(from, key))
}

/// A gate with these options.
pub fn open(options: Options) -> Result<Gate<HeapStorage>, String> {
    let storage = HeapStorage::with_limits(&options.limits);
    Gate::new(options, storage).map_err(|bad| bad.to_string())
}
