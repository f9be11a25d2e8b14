//! Who is measured: each peer as a function that goes over a whole corpus once and says how many lines it took. What each
//! leaves unchecked stands in the README; nobody is made to do work that its users wouldn't ask it for.

use linegate::{AuditKey, Borrowed, Event, Gate, Options, Policy, Profile, Revision};
use serde::de::IgnoredAny;
use serde_json::Value;
use sonic_rs::LazyValue;

use crate::corpus::Corpus;

/// The names of the peers, the base first.
pub const NAMES: [&str; 10] = [
    BASE,
    "serde_json IgnoredAny + UTF-8",
    "LF + serde_json IgnoredAny",
    "sonic-rs IgnoredAny",
    "sonic-rs LazyValue",
    "serde_json Value",
    "limit: LF search alone",
    GATE,
    "linegate strict, 64 KiB chunks",
    "linegate data, one slice",
];
/// The peer that all others are divided by.
pub const BASE: &str = "serde_json IgnoredAny";
/// The gate as it is judged by `--check`.
pub const GATE: &str = "linegate strict, one slice";

/// One pass over a corpus: the number of lines taken.
pub type Pass<'c> = Box<dyn FnMut() -> usize + 'c>;

/// The peer of that name over that corpus.
pub fn pass<'c>(name: &str, corpus: &'c Corpus) -> Option<Pass<'c>> {
    Some(match name {
        BASE => Box::new(|| serde_ignored(corpus)),
        "serde_json IgnoredAny + UTF-8" => Box::new(|| serde_ignored_utf8(corpus)),
        "LF + serde_json IgnoredAny" => Box::new(|| serde_lines(corpus)),
        "sonic-rs IgnoredAny" => Box::new(|| sonic_ignored(corpus)),
        "sonic-rs LazyValue" => Box::new(|| sonic_lazy(corpus)),
        "serde_json Value" => Box::new(|| serde_value(corpus)),
        "limit: LF search alone" => Box::new(|| line_feeds(corpus)),
        GATE => linegate(corpus, Profile::Strict, usize::MAX),
        "linegate strict, 64 KiB chunks" => linegate(corpus, Profile::Strict, 1 << 16),
        "linegate data, one slice" => linegate(corpus, Profile::Data, usize::MAX),
        _ => return None,
    })
}

#[inline(never)]
fn serde_ignored(corpus: &Corpus) -> usize {
    corpus.frames().filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok()).count()
}

#[inline(never)]
fn serde_ignored_utf8(corpus: &Corpus) -> usize {
    corpus
        .frames()
        .filter(|line| str::from_utf8(line).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok()))
        .count()
}

#[inline(never)]
fn serde_lines(corpus: &Corpus) -> usize {
    let mut start = 0;
    memchr::memchr_iter(b'\n', &corpus.stream)
        .filter(|&end| {
            let line = &corpus.stream[start..end];
            start = end + 1;
            serde_json::from_slice::<IgnoredAny>(line).is_ok()
        })
        .count()
}

#[inline(never)]
fn sonic_ignored(corpus: &Corpus) -> usize {
    corpus.frames().filter(|line| sonic_rs::from_slice::<IgnoredAny>(line).is_ok()).count()
}

#[inline(never)]
fn sonic_lazy(corpus: &Corpus) -> usize {
    corpus.frames().filter(|line| sonic_rs::from_slice::<LazyValue>(line).is_ok()).count()
}

#[inline(never)]
fn serde_value(corpus: &Corpus) -> usize {
    corpus.frames().filter(|line| serde_json::from_slice::<Value>(line).is_ok()).count()
}

#[inline(never)]
fn line_feeds(corpus: &Corpus) -> usize {
    memchr::memchr_iter(b'\n', &corpus.stream).count()
}

/// The gate over the corpus as one stream, handed over `chunk` bytes at a time.
///
/// Keys are hashed under a secret, and whether two of a line's keys look alike at first is a matter of that secret: each part
/// of the corpus has a gate of its own, so that luck evens out.
pub fn linegate(corpus: &Corpus, profile: Profile, chunk: usize) -> Pass<'_> {
    let part = corpus.lines.len().div_ceil(SECRETS.into());
    let parts = corpus.lines.chunks(part).map(|lines| &corpus.stream[lines[0].0..=lines[lines.len() - 1].1]);
    let mut fed: Vec<_> = (0..SECRETS).zip(parts).map(|(secret, part)| (gate(corpus, profile, secret), part)).collect();
    Box::new(move || fed.iter_mut().map(|(gate, part)| feed(gate, part, chunk)).sum())
}

/// How many parts with secrets of their own a corpus is measured in.
const SECRETS: u8 = 16;

/// A gate with every rule of `profile` on, which a refusal doesn't close. Its storage lives as long as the process, as in
/// a host.
fn gate(corpus: &Corpus, profile: Profile, secret: u8) -> Gate<Borrowed<'static>> {
    let longest = corpus.lines.iter().map(|(start, end)| end - start).max().unwrap_or(0);
    let mut options = Options::new(corpus.direction, AuditKey::new([secret; 16])).with_profile(profile);
    options.revision = Revision::AUTO;
    options.policy = Policy::Continue;
    let frame = Box::leak(vec![0; longest + 2].into_boxed_slice());
    let keys = Box::leak(vec![0; 1 << 16].into_boxed_slice());
    match Gate::new(options, Borrowed::new(frame, keys)) {
        Ok(gate) => gate,
        Err(bad) => panic!("{bad}"),
    }
}

#[inline(never)]
fn feed(gate: &mut Gate<Borrowed<'static>>, stream: &[u8], chunk: usize) -> usize {
    let mut taken = 0;
    for mut input in stream.chunks(chunk) {
        while !input.is_empty() {
            let fed = gate.feed(input);
            taken += usize::from(matches!(fed.event, Event::Message(_)));
            input = &input[fed.consumed..];
        }
    }
    taken
}

/// The first line of the corpus that a gate of `profile` refuses, with the reason.
pub fn refused(corpus: &Corpus, profile: Profile) -> Option<String> {
    let mut gate = gate(corpus, profile, 0);
    let mut input = &corpus.stream[..];
    while !input.is_empty() {
        let fed = gate.feed(input);
        if let Event::Refused(refusal) = fed.event {
            let (line, code, at) = (refusal.sequence(), refusal.code().name(), refusal.at());
            return Some(format!("line {line}: {code} at {at}"));
        }
        input = &input[fed.consumed..];
    }
    None
}
