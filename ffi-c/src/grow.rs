//! Structs that grow: the first member is the size that the caller compiled against. A caller older than the library gets
//! the members that it knows, but never fewer than the struct was first published with; of a newer one, members that the
//! library doesn't know must be zero on the way in, and come back as zero on the way out.

use core::mem::{MaybeUninit, size_of};
use core::ptr;

use crate::status::{LINEGATE_BAD_OPTIONS, linegate_status};

/// No struct will ever be longer: a size beyond it was never set.
const LONGEST: usize = 4096;

/// A struct of the header whose first member is its size.
///
/// # Safety
/// `repr(C)`, the first field is `size: usize`, and every pattern of bytes is a value, zero among them.
pub(crate) unsafe trait Grows: Copy {
    /// Bytes up to the last member that it was first published with: no caller has fewer. It never changes again.
    const FIRST: usize;
}

/// The size that the caller set; `None` where it can't be one.
///
/// # Safety
/// `place` can be read for a `usize`.
unsafe fn size_at<T: Grows>(place: *const T) -> Option<usize> {
    const { assert!(size_of::<usize>() <= T::FIRST && T::FIRST <= size_of::<T>() && size_of::<T>() <= LONGEST) };
    // SAFETY: the caller's promise.
    let size = unsafe { place.cast::<usize>().read() };
    (T::FIRST..=LONGEST).contains(&size).then_some(size)
}

/// Reads as much as the caller has. What it hasn't is zero.
///
/// # Safety
/// `from` can be read for as many bytes as its first member says.
pub(crate) unsafe fn read<T: Grows>(from: *const T) -> Result<T, linegate_status> {
    // SAFETY: the size is there, whatever else is.
    let size = unsafe { size_at(from) }.ok_or(LINEGATE_BAD_OPTIONS)?;
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller's promise, up to the size; the value is at least as long as what is copied.
    unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size.min(size_of::<T>())) };
    for at in size_of::<T>()..size {
        // SAFETY: within the size that the caller promised.
        if unsafe { from.cast::<u8>().add(at).read() } != 0 {
            return Err(LINEGATE_BAD_OPTIONS);
        }
    }
    // SAFETY: every pattern of bytes is a value.
    Ok(unsafe { value.assume_init() })
}

/// Writes as much as the caller has room for, but for the size, which stays what the caller set.
///
/// # Safety
/// `to` can be written for as many bytes as its first member says.
pub(crate) unsafe fn write<T: Grows>(to: *mut T, value: &T) -> Result<(), linegate_status> {
    // SAFETY: the size is there, whatever else is.
    let size = unsafe { size_at(to) }.ok_or(LINEGATE_BAD_OPTIONS)?;
    let head = size_of::<usize>();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller's promise, up to the size; nothing is read beyond the value.
    unsafe {
        let (to, from) = (to.cast::<u8>(), ptr::from_ref(value).cast::<u8>());
        ptr::copy_nonoverlapping(from.add(head), to.add(head), known - head);
        ptr::write_bytes(to.add(known), 0, size - known);
    }
    Ok(())
}

/// Whether a struct can be written, asked before anything else is done.
///
/// # Safety
/// `to` can be read for a `usize`.
pub(crate) unsafe fn has_size<T: Grows>(to: *const T) -> Result<(), linegate_status> {
    // SAFETY: the caller's promise.
    unsafe { size_at(to) }.map(|_| ()).ok_or(LINEGATE_BAD_OPTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct that has grown: `added` came later.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Grown {
        size: usize,
        first: usize,
        added: usize,
    }

    // SAFETY: repr(C), the size first, integers only.
    unsafe impl Grows for Grown {
        const FIRST: usize = core::mem::offset_of!(Self, first) + size_of::<usize>();
    }

    /// What the caller has: more than the library knows, of which `size` counts.
    fn given(size: usize) -> [usize; 4] {
        [size, 7, 8, 9]
    }

    #[test]
    fn a_caller_has_what_was_published_first_or_more() {
        let word = size_of::<usize>();
        for (size, read_as, written) in [
            (0, None, None),
            (word, None, None),
            (2 * word - 1, None, None),
            (2 * word, Some((7, 0)), Some([2 * word, 1, 8, 9])),
            (3 * word, Some((7, 8)), Some([3 * word, 1, 2, 9])),
            (4 * word, None, Some([4 * word, 1, 2, 0])),
            (LONGEST + 1, None, None),
            (usize::MAX, None, None),
        ] {
            let mut place = given(size);
            let place_at = place.as_mut_ptr().cast::<Grown>();
            // SAFETY: no size that is taken goes beyond the place.
            unsafe {
                assert_eq!(has_size(place_at).is_ok(), written.is_some(), "{size}");
                assert_eq!(read(place_at).ok().map(|read| (read.first, read.added)), read_as, "{size}");
                assert_eq!(
                    write(place_at, &Grown { size: 0, first: 1, added: 2 }).is_ok(),
                    written.is_some(),
                    "{size}"
                );
            }
            assert_eq!(place, written.unwrap_or(given(size)), "{size}");
        }
    }
}
