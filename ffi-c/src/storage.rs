//! A gate in the caller's memory: how much it needs, how it is laid out, and how it comes to be there.

use core::mem::{align_of, size_of};
use core::ptr;
use core::slice;

#[cfg(feature = "hosted")]
use gate::AuditKey;
use gate::{Borrowed, Options, Storage, Switches};
#[cfg(feature = "hosted")]
use linegate_host::HeapStorage;

use crate::boundary::is_missing;
use crate::feed::linegate;
use crate::names::Names;
use crate::options::{self, Refused, linegate_options, options_of, switches};
use crate::status::{
    LINEGATE_BAD_OPTIONS, LINEGATE_BUFFER_TOO_SMALL, LINEGATE_NULL_ARGUMENT, LINEGATE_OK, linegate_status,
};

/// The memory of a gate's lines and keys.
pub(crate) enum Memory {
    /// In the storage behind the gate itself.
    Given(Borrowed<'static>),
    /// On the heap, as long as the lines ask for.
    #[cfg(feature = "hosted")]
    Grown(HeapStorage),
}

impl Storage for Memory {
    fn parts(&mut self) -> (&mut [u8], &mut [u64]) {
        match self {
            Self::Given(storage) => storage.parts(),
            #[cfg(feature = "hosted")]
            Self::Grown(storage) => storage.parts(),
        }
    }

    fn frame(&self) -> &[u8] {
        match self {
            Self::Given(storage) => storage.frame(),
            #[cfg(feature = "hosted")]
            Self::Grown(storage) => storage.frame(),
        }
    }

    fn capacity(&self) -> (usize, usize) {
        match self {
            Self::Given(storage) => storage.capacity(),
            #[cfg(feature = "hosted")]
            Self::Grown(storage) => storage.capacity(),
        }
    }

    fn grow_frame(&mut self, bytes: usize) {
        match self {
            Self::Given(storage) => storage.grow_frame(bytes),
            #[cfg(feature = "hosted")]
            Self::Grown(storage) => storage.grow_frame(bytes),
        }
    }

    fn grow_keys(&mut self, slots: usize) {
        match self {
            Self::Given(storage) => storage.grow_keys(slots),
            #[cfg(feature = "hosted")]
            Self::Grown(storage) => storage.grow_keys(slots),
        }
    }
}

/// Where the parts of a gate lie in its storage: itself, its names, the key table, the frame buffer, the text of its names.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    names: usize,
    keys: usize,
    keys_len: usize,
    frame: usize,
    frame_len: usize,
    text: usize,
    pub(crate) total: usize,
}

/// The first multiple of `align`, a power of two, from `at` on.
fn aligned(at: usize, align: usize) -> Option<usize> {
    Some(at.checked_add(align - 1)? & !(align - 1))
}

impl Layout {
    fn new(keys_len: usize, frame_len: usize, names_len: usize, text_len: usize) -> Option<Self> {
        let names = aligned(size_of::<linegate>(), align_of::<&str>())?;
        let keys = aligned(names.checked_add(names_len.checked_mul(size_of::<&str>())?)?, align_of::<u64>())?;
        let frame = keys.checked_add(keys_len.checked_mul(size_of::<u64>())?)?;
        let text = frame.checked_add(frame_len)?;
        let total = aligned(text.checked_add(text_len)?, align_of::<linegate>())?;
        Some(Self { names, keys, keys_len, frame, frame_len, text, total })
    }
}

/// Options that were read and checked, with the names that the caller's memory holds.
pub(crate) struct Plan {
    options: Options,
    granted: Switches,
    names: [Names; 3],
    names_len: usize,
    text_len: usize,
    /// The audit key; all zero where the caller set none.
    key: [u8; 16],
}

impl Plan {
    /// Reads the options. The names are judged where the gate is made.
    ///
    /// # Safety
    /// The pointer and what it leads to are as the header asks.
    pub(crate) unsafe fn read<R: Refused>(raw: *const linegate_options) -> Result<Self, R> {
        // SAFETY: the caller's promise.
        let raw = unsafe { options::read(raw) }?;
        let options = options_of(&raw)?;
        let granted = switches("grant", raw.grant)?;
        let names = Names::of(&raw);
        let (mut names_len, mut text_len) = (0_usize, 0_usize);
        for list in names {
            for place in 0..list.len() {
                // SAFETY: the caller's promise.
                let name = unsafe { list.get(place) }?;
                // No array in memory is so long.
                (names_len, text_len) = (names_len.saturating_add(1), text_len.saturating_add(name.len()));
            }
        }
        Ok(Self { options, granted, names, names_len, text_len, key: raw.audit_key })
    }

    /// Reads the options, and judges all that the making of a gate would.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    pub(crate) unsafe fn read_whole<R: Refused>(raw: *const linegate_options) -> Result<Self, R> {
        // SAFETY: the caller's promise.
        let plan = unsafe { Self::read(raw) }?;
        // SAFETY: likewise.
        unsafe { Names::check(&plan.names, &plan.options) }?;
        if plan.whole().is_none() {
            return Err(R::bad("max_frame", "the storage of a gate is addressable"));
        }
        Ok(plan)
    }

    /// The layout with all that the limits allow in it.
    pub(crate) fn whole(&self) -> Option<Layout> {
        let limits = &self.options.limits;
        let keys = usize::try_from(limits.max_keys).ok()?.checked_add(limits.max_depth.into())?;
        Layout::new(keys, usize::try_from(limits.max_frame).ok()?, self.names_len, self.text_len)
    }

    /// The layout of a gate whose lines and keys lie elsewhere.
    #[cfg(feature = "hosted")]
    pub(crate) fn without_lines(&self) -> Option<Layout> {
        Layout::new(0, 0, self.names_len, self.text_len)
    }

    #[cfg(feature = "hosted")]
    pub(crate) const fn limits(&self) -> &gate::Limits {
        &self.options.limits
    }

    /// Makes the gate at `place`.
    ///
    /// # Safety
    /// `place` is aligned for a gate, as long as the layout says, and nobody else's; the names are still there.
    pub(crate) unsafe fn build(
        mut self,
        place: *mut u8,
        layout: &Layout,
        memory: Memory,
    ) -> Result<*mut linegate, linegate_status> {
        // SAFETY: both lie in the place.
        let (mut entry, mut text) = unsafe { (place.add(layout.names).cast::<&'static str>(), place.add(layout.text)) };
        let mut lists: [&'static [&'static str]; 3] = [&[]; 3];
        for (list, names) in lists.iter_mut().zip(self.names) {
            let first = entry;
            for at in 0..names.len() {
                // SAFETY: as when the plan was read, which counted names and bytes; the layout has room for as many.
                unsafe {
                    let name = names.get::<linegate_status>(at)?;
                    ptr::copy_nonoverlapping(name.as_ptr(), text, name.len());
                    entry.write(core::str::from_utf8_unchecked(slice::from_raw_parts(text, name.len())));
                    text = text.add(name.len());
                    entry = entry.add(1);
                }
            }
            if names.len() > 0 {
                // SAFETY: just written; it lives as long as the gate, which is all that reads it.
                *list = unsafe { slice::from_raw_parts(first, names.len()) };
            }
        }
        let [methods, result_types, versions] = lists;
        (self.options.methods, self.options.result_types) = (methods, result_types);
        if !versions.is_empty() {
            self.options.versions = versions;
        }
        #[cfg(feature = "hosted")]
        if self.key == [0; 16] {
            self.key = linegate_host::random_bytes().map_err(|_| crate::status::LINEGATE_INTERNAL)?;
            self.options.audit_key = AuditKey::new(self.key);
        }
        let place = place.cast::<linegate>();
        // SAFETY: the place is aligned and long enough.
        unsafe { linegate::write(place, self.options, self.granted, self.key, memory) }?;
        Ok(place)
    }

    /// The memory behind a gate at `place`.
    ///
    /// # Safety
    /// As for [`build`](Self::build), with a layout that has room for lines.
    unsafe fn behind(place: *mut u8, layout: &Layout) -> Memory {
        // SAFETY: both lie in the place, apart from each other; bytes and words of any value are theirs.
        unsafe {
            Memory::Given(Borrowed::new(
                slice::from_raw_parts_mut(place.add(layout.frame), layout.frame_len),
                slice::from_raw_parts_mut(place.add(layout.keys).cast::<u64>(), layout.keys_len),
            ))
        }
    }
}

/// How many bytes of storage linegate_init needs for a gate with these options: about max_frame, 8 * (max_keys +
/// max_depth), the names, and 1 KiB. With the defaults that is about 9 MiB: set the limits on a device.
///
/// Returns: bytes; 0 where the options are NULL or linegate_init would refuse them. Not all that a name must be is judged here:
/// linegate_init and linegate_options_check do. Thread: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_storage_size(options: *const linegate_options) -> usize {
    boundary!(or 0; {
        // SAFETY: the caller's promise.
        unsafe { Plan::read::<linegate_status>(options) }.ok().and_then(|plan| plan.whole()).map_or(0, |layout| layout.total)
    })
}

/// How the storage of a gate must be aligned, in bytes: at most 16. What malloc gives is aligned so.
///
/// Returns: a power of two. Thread: any.
#[unsafe(no_mangle)]
pub extern "C" fn linegate_storage_align() -> usize {
    align_of::<linegate>()
}

/// Makes a gate in storage of the caller's. There is nothing to free: the gate is gone when the storage is. It must not be
/// moved; while the gate is used the storage is the gate's alone.
///
/// Tickets begin at a number of the storage's place and options.audit_key. So a gate that is made where another lay, with the
/// same key, gives the same tickets again, and takes one that the other gave for its own: forget them, or give another key (a
/// hosted library draws one where it is all zero). linegate_reset needs neither: its tickets count on.
///
/// Returns: 0, and the gate in *gate; 901 where an argument, or a name in the options, is NULL or the storage is misaligned;
/// 902 where it is shorter than linegate_storage_size says; 903 where an option can't have its value; 999 where a hosted
/// library finds no randomness. *gate is NULL then.
/// Owner: the caller owns the storage and keeps it until the last call with the gate. Thread: any; the gate then belongs to
/// one thread at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linegate_init(
    storage: *mut core::ffi::c_void,
    len: usize,
    options: *const linegate_options,
    gate: *mut *mut linegate,
) -> linegate_status {
    boundary!(gate; {
        // SAFETY: the caller's promise.
        unsafe { gate.write(ptr::null_mut()) };
        if is_missing(storage.cast::<linegate>()) || is_missing(options) {
            return LINEGATE_NULL_ARGUMENT;
        }
        // SAFETY: the caller's promise.
        let made = unsafe { Plan::read::<linegate_status>(options) }.and_then(|plan| {
            let layout = plan.whole().ok_or(LINEGATE_BAD_OPTIONS)?;
            if len < layout.total {
                return Err(LINEGATE_BUFFER_TOO_SMALL);
            }
            let place = storage.cast::<u8>();
            // SAFETY: aligned, long enough, and the gate's alone: the caller's promise.
            unsafe { plan.build(place, &layout, Plan::behind(place, &layout)) }
        });
        match made {
            Ok(made) => {
                // SAFETY: the caller's promise.
                unsafe { gate.write(made) };
                LINEGATE_OK
            }
            Err(status) => status,
        }
    })
}
