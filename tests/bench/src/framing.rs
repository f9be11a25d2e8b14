//! The second table: what cutting a stream into lines costs when it comes in pieces, from one byte to 64 KiB, beside the
//! standard library's own line reader.

use std::io::{BufRead, Read};

use linegate::Profile;
use serde::de::IgnoredAny;

use crate::corpus::Corpus;
use crate::peers::{self, Pass};

/// The sizes of the pieces.
pub const CHUNKS: [usize; 6] = [1, 7, 64, 512, 4096, 65536];
/// The rows of the table, the base first.
pub const NAMES: [&str; 3] = ["BufRead::read_until", "read_until + serde_json IgnoredAny", "linegate strict"];

/// The contenders for pieces of `chunk` bytes, in the order of [`NAMES`].
pub fn contenders(corpus: &Corpus, chunk: usize) -> Vec<(&'static str, Pass<'_>)> {
    let [plain, checked, gate] = NAMES;
    vec![
        (plain, Box::new(move || read_until(corpus, chunk, |_| true)) as Pass<'_>),
        (
            checked,
            Box::new(move || read_until(corpus, chunk, |line| serde_json::from_slice::<IgnoredAny>(line).is_ok())),
        ),
        (gate, peers::linegate(corpus, Profile::Strict, chunk)),
    ]
}

/// A stream that gives at most `size` bytes at a time, without copying.
struct Pieces<'c> {
    rest: &'c [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let taken = self.fill_buf()?.read(out)?;
        self.consume(taken);
        Ok(taken)
    }
}

impl BufRead for Pieces<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(&self.rest[..self.rest.len().min(self.size)])
    }

    fn consume(&mut self, amount: usize) {
        self.rest = &self.rest[amount..];
    }
}

#[inline(never)]
fn read_until(corpus: &Corpus, size: usize, check: impl Fn(&[u8]) -> bool) -> usize {
    let mut pieces = Pieces { rest: &corpus.stream, size };
    let (mut line, mut taken) = (Vec::new(), 0);
    while pieces.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        line.pop();
        taken += usize::from(check(&line));
        line.clear();
    }
    taken
}
