//! Where a gate keeps a line that arrives in pieces, and the keys of the objects that are open while it is checked.
//!
//! The memory is the host's: arrays in a static or on a stack ([`Inline`]), slices from anywhere ([`Borrowed`]), or, in
//! hosted code, a buffer that grows up to the gate's limits (`linegate_host::HeapStorage`). The gate never zeroes it, and
//! what a line left there is overwritten by the next.

/// Memory of a gate.
pub trait Storage {
    /// The frame buffer and the key table, as large as they are now. A key table slot holds one key or one open object.
    fn parts(&mut self) -> (&mut [u8], &mut [u64]);

    /// The frame buffer.
    fn frame(&self) -> &[u8];

    /// The most bytes of a line and the most key slots it can ever hold.
    fn capacity(&self) -> (usize, usize);

    /// Makes the frame buffer at least `bytes` long, keeping its content. The gate asks for no more than its limits and
    /// [`capacity`](Self::capacity) allow; storage of a fixed size has nothing to do. Where it stays shorter all the same, the
    /// line is refused (101).
    fn grow_frame(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Makes the key table longer than it is, to `slots` at most. Each time it is asked the line is read again from its start, so
    /// a table should grow in few steps. Storage of a fixed size has nothing to do. Where it stays as short as it was, the line
    /// is refused (210).
    fn grow_keys(&mut self, slots: usize) {
        let _ = slots;
    }
}

impl<S: Storage + ?Sized> Storage for &mut S {
    fn parts(&mut self) -> (&mut [u8], &mut [u64]) {
        (**self).parts()
    }

    fn frame(&self) -> &[u8] {
        (**self).frame()
    }

    fn capacity(&self) -> (usize, usize) {
        (**self).capacity()
    }

    fn grow_frame(&mut self, bytes: usize) {
        (**self).grow_frame(bytes);
    }

    fn grow_keys(&mut self, slots: usize) {
        (**self).grow_keys(slots);
    }
}

/// Storage inside one value: `FRAME` bytes for a line, `KEYS` slots of 8 bytes for keys.
///
/// The longest line is `FRAME` bytes; the most keys alive at once are `KEYS` less the gate's `max_depth`.
pub struct Inline<const FRAME: usize, const KEYS: usize> {
    frame: [u8; FRAME],
    keys: [u64; KEYS],
}

impl<const FRAME: usize, const KEYS: usize> Inline<FRAME, KEYS> {
    /// Empty storage, usable in a static.
    #[must_use]
    pub const fn new() -> Self {
        Self { frame: [0; FRAME], keys: [0; KEYS] }
    }
}

impl<const FRAME: usize, const KEYS: usize> Default for Inline<FRAME, KEYS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const FRAME: usize, const KEYS: usize> Storage for Inline<FRAME, KEYS> {
    fn parts(&mut self) -> (&mut [u8], &mut [u64]) {
        (&mut self.frame, &mut self.keys)
    }

    fn frame(&self) -> &[u8] {
        &self.frame
    }

    fn capacity(&self) -> (usize, usize) {
        (FRAME, KEYS)
    }
}

/// Storage in slices of the caller's.
pub struct Borrowed<'s> {
    frame: &'s mut [u8],
    keys: &'s mut [u64],
}

impl<'s> Borrowed<'s> {
    /// Storage in these two slices: the longest line is `frame` long; the most keys alive at once are the slots of `keys`
    /// less the gate's `max_depth`.
    #[must_use]
    pub const fn new(frame: &'s mut [u8], keys: &'s mut [u64]) -> Self {
        Self { frame, keys }
    }
}

impl Storage for Borrowed<'_> {
    fn parts(&mut self) -> (&mut [u8], &mut [u64]) {
        (self.frame, self.keys)
    }

    fn frame(&self) -> &[u8] {
        self.frame
    }

    fn capacity(&self) -> (usize, usize) {
        (self.frame.len(), self.keys.len())
    }
}
