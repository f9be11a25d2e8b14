//! A gate's memory on the heap: it grows with the longest line and the widest object seen, and never shrinks.

use linegate::{Limits, Storage};

/// Storage that starts empty and grows up to the gate's limits.
///
/// A gate whose lines all lie whole in the input that it is fed never asks it for a frame buffer.
pub struct HeapStorage {
    frame: Vec<u8>,
    keys: Vec<u64>,
    largest_frame: usize,
}

impl HeapStorage {
    /// Storage that is bounded by the gate's limits alone. A line's buffer may reserve twice what the line needs.
    #[must_use]
    pub const fn new() -> Self {
        Self { frame: Vec::new(), keys: Vec::new(), largest_frame: usize::MAX }
    }

    /// Storage that never reserves more for a line than `limits.max_frame` bytes.
    #[must_use]
    pub fn with_limits(limits: &Limits) -> Self {
        Self { largest_frame: usize::try_from(limits.max_frame).unwrap_or(usize::MAX), ..Self::new() }
    }
}

impl std::fmt::Debug for HeapStorage {
    /// Shows how much it holds, never what.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeapStorage")
            .field("frame", &self.frame.len())
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

impl Default for HeapStorage {
    fn default() -> Self {
        Self::new()
    }
}

impl Storage for HeapStorage {
    fn parts(&mut self) -> (&mut [u8], &mut [u64]) {
        (&mut self.frame, &mut self.keys)
    }

    fn frame(&self) -> &[u8] {
        &self.frame
    }

    fn capacity(&self) -> (usize, usize) {
        (self.largest_frame, usize::MAX)
    }

    fn grow_frame(&mut self, bytes: usize) {
        if bytes <= self.frame.len() {
            return;
        }
        if bytes > self.frame.capacity() {
            // Doubling keeps a line that arrives in many pieces linear.
            let doubled = self.frame.capacity().saturating_mul(2).min(self.largest_frame);
            self.frame.reserve_exact(doubled.max(bytes) - self.frame.len());
        }
        self.frame.resize(bytes, 0);
    }

    fn grow_keys(&mut self, slots: usize) {
        // The gate reads a line again after each step, so there are only three: what honest lines need, what large ones do, all.
        let longer = [256, 4096].into_iter().find(|step| *step > self.keys.len()).unwrap_or(slots).min(slots);
        if longer > self.keys.len() {
            self.keys.resize(longer, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_what_is_asked_and_keeps_its_content() {
        let mut storage = HeapStorage::new();
        storage.grow_frame(3);
        storage.parts().0.copy_from_slice(b"abc");
        storage.grow_frame(1000);
        assert_eq!(storage.frame().len(), 1000);
        assert_eq!(&storage.frame()[..3], b"abc");
        storage.grow_frame(5);
        assert_eq!(storage.frame().len(), 1000);
    }

    #[test]
    fn keys_grow_stepwise_up_to_the_bound() {
        let mut storage = HeapStorage::new();
        let mut seen = 0;
        loop {
            storage.grow_keys(1000);
            let len = storage.parts().1.len();
            if len == seen {
                break;
            }
            assert!(len > seen && len <= 1000);
            seen = len;
        }
        assert_eq!(seen, 1000);
    }
}
