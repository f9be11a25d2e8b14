//! Lists of names in the options: read from the caller's memory, and judged by the core before any of them is kept.

use core::ffi::c_char;

use gate::Options;

use crate::boundary::is_missing;
use crate::options::{Refused, linegate_options};

/// A list of names in the caller's memory.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    option: &'static str,
    first: *const *const c_char,
    len: usize,
}

/// Versions that can be at most: each takes 4 bytes or more of 256. One more is too many.
const MOST_VERSIONS: usize = 65;

impl Names {
    /// The lists of the options: methods, result types, versions.
    pub(crate) const fn of(raw: &linegate_options) -> [Self; 3] {
        [
            Self { option: "methods", first: raw.methods, len: raw.methods_len },
            Self { option: "result_types", first: raw.result_types, len: raw.result_types_len },
            Self { option: "versions", first: raw.versions, len: raw.versions_len },
        ]
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The name at that place.
    ///
    /// # Safety
    /// The caller of the library promised an array of C strings, and `place` is below its length.
    pub(crate) unsafe fn get<'n, R: Refused>(&self, place: usize) -> Result<&'n str, R> {
        if is_missing(self.first) {
            return Err(R::missing(self.option));
        }
        // SAFETY: the promise.
        let name = unsafe { self.first.add(place).read() };
        if name.is_null() {
            return Err(R::missing(self.option));
        }
        // Versions may be longer by a byte than names; longer than that none is.
        for len in 0..=256 {
            // SAFETY: no byte before the NUL is one, and reading ends with it.
            if unsafe { name.add(len).read() } == 0 {
                // SAFETY: these bytes were just read.
                let bytes = unsafe { core::slice::from_raw_parts(name.cast::<u8>(), len) };
                return core::str::from_utf8(bytes).map_err(|_| R::bad(self.option, "names are UTF-8"));
            }
        }
        Err(R::bad(self.option, "names are of 255 bytes at most, with a NUL behind them"))
    }

    /// Whether the core takes them. Of methods and result types each is judged by itself, of versions all together.
    ///
    /// # Safety
    /// As for [`get`](Self::get).
    pub(crate) unsafe fn check<R: Refused>(lists: &[Self; 3], options: &Options) -> Result<(), R> {
        let [methods, result_types, versions] = lists;
        let mut tried = options.clone();
        for list in [methods, result_types] {
            for place in 0..list.len() {
                // SAFETY: the caller's promise. The name outlives the options that are made of it here.
                let name: &'static str = unsafe { list.get(place) }?;
                // SAFETY: likewise; core's options hold names of programs, which live for ever.
                let alone: &'static [&'static str] = unsafe { &*core::ptr::from_ref(core::slice::from_ref(&name)) };
                let tries = if list.option == methods.option { &mut tried.methods } else { &mut tried.result_types };
                *tries = alone;
                let judged = tried.validate();
                (tried.methods, tried.result_types) = (&[], &[]);
                judged.map_err(R::by_core)?;
            }
        }
        let mut held = [""; MOST_VERSIONS];
        for (place, slot) in held.iter_mut().enumerate().take(versions.len()) {
            // SAFETY: the caller's promise.
            *slot = unsafe { versions.get(place) }?;
        }
        let Some(held) = held.get(..versions.len().min(MOST_VERSIONS)).filter(|held| !held.is_empty()) else {
            return Ok(());
        };
        // SAFETY: as above.
        tried.versions = unsafe { &*core::ptr::from_ref(held) };
        tried.validate().map_err(R::by_core)
    }
}
