//! The C face of linegate, as thin as it can be: pointers in, a status out, every judgement in the core.
//!
//! `include/linegate.h` is generated from the items of this crate and is the manual. Without the feature `hosted` the crate
//! is `no_std` and has no path to a panic, which tests/c proves by linking; with it [`boundary`] catches what may come.

#![cfg_attr(not(feature = "hosted"), no_std)]
#![allow(non_camel_case_types, reason = "the names are those of the header")]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a pointer must be is said once, at the top of the header, and at each argument"
)]

#[macro_use]
mod boundary;
mod grow;
mod names;

// In the order in which the header tells of them.
mod status;

mod options;

mod storage;

mod event;

mod feed;

mod tell;

mod value;

mod table;

mod action;

mod ticket;

mod session;

mod writer;

#[cfg(feature = "hosted")]
mod hosted;

pub use action::*;
pub use event::*;
pub use feed::*;
#[cfg(feature = "hosted")]
pub use hosted::*;
pub use options::*;
pub use session::*;
pub use status::*;
pub use storage::*;
pub use table::*;
pub use tell::*;
pub use ticket::*;
pub use value::*;
pub use writer::*;

#[cfg(all(not(feature = "hosted"), not(test)))]
mod bare {
    use core::panic::PanicInfo;

    #[cfg(feature = "link-proof")]
    unsafe extern "C" {
        fn linegate_PANIC_PATH_REMAINS() -> !;
    }

    /// The proof's negative control: a link that keeps it must fail.
    #[cfg(feature = "link-proof")]
    #[unsafe(no_mangle)]
    extern "C" fn linegate_planted_panic(len: usize) -> usize {
        assert!(len > 7, "planted");
        len
    }

    /// Nothing leads here: see the link proof.
    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        #[cfg(feature = "link-proof")]
        // SAFETY: never linked; that is the point.
        unsafe {
            linegate_PANIC_PATH_REMAINS()
        }
        #[cfg(not(feature = "link-proof"))]
        loop {
            core::hint::spin_loop();
        }
    }
}
