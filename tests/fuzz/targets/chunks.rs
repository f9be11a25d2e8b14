//! A stream's events don't depend on how it was cut, nor on the session before.

#![no_main]

use std::iter::{from_fn, once};

use libfuzzer_sys::{Corpus, fuzz_target};
use linegate::Gate;
use linegate_fuzz::{Choices, Storage, options, session};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((options, stream)) = options(data) else { return Corpus::Reject };
    let Ok(mut gate) = Gate::new(options, Storage::new()) else { return Corpus::Reject };

    let whole = session(&mut gate, once(stream));
    let whole_counters = *gate.counters();

    gate.reset();
    assert_eq!(session(&mut gate, stream.chunks(1)), whole, "byte by byte");
    assert_eq!(*gate.counters(), whole_counters, "byte by byte");

    // Pieces of 0 to 40 bytes.
    let mut choices = Choices::of(data);
    let mut rest = stream;
    let cuts = from_fn(|| {
        let (piece, after) = rest.split_at(choices.below(41).min(rest.len()));
        (!rest.is_empty()).then(|| {
            rest = after;
            piece
        })
    });
    gate.reset();
    assert_eq!(session(&mut gate, cuts), whole, "in cuts");
    assert_eq!(*gate.counters(), whole_counters, "in cuts");
    Corpus::Keep
});
