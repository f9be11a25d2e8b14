//! What the targets share: options made of the first bytes, a stream's events as plain values, a JSON reader that refuses
//! duplicate keys, and a source of choices that depends on the input alone.

use std::collections::HashSet;
use std::fmt;

use linegate::{
    AuditKey, Batches, Direction, ErrorId, Event, Fed, Gate, Inline, Kind, Options, Policy, Profile, REPLY_LEN, Record,
    Revision, Switches,
};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Key of every gate here: the same input must do the same.
pub const KEY: AuditKey = AuditKey::new(*b"a key for fuzzin");

/// Storage of a few lines: small enough that its bounds are met.
pub type Storage = Inline<2048, 320>;

/// Options from the first bytes of an input, and what follows them. `None` where the bytes don't suffice.
pub fn options(data: &[u8]) -> Option<(Options, &[u8])> {
    let (&[a, b, c, d], rest) = data.split_first_chunk::<4>()?;
    let pick = |byte: u8, count: usize| usize::from(byte) % count;
    let direction = if a & 1 == 0 { Direction::FromClient } else { Direction::FromServer };
    let mut options = Options::new(direction, KEY);
    if let Some(profile) = Profile::ALL.get(pick(a >> 1 & 3, 4)) {
        options = options.with_profile(*profile);
    }
    options.policy = [Policy::Continue, Policy::CloseMalformed, Policy::CloseAll][pick(a >> 3 & 3, 3)];
    options.revision = Revision::ALL[pick(b, Revision::ALL.len())];
    options.batches = [Batches::ByRevision, Batches::Allow, Batches::Refuse][pick(a >> 5 & 3, 3)];
    options.error_id = [ErrorId::ByRevision, ErrorId::Null, ErrorId::Absent][pick(b >> 4, 3)];
    if c != 0 {
        options.limits.max_frame = 4 + 16 * u32::from(c);
    }
    if d & 0x0F != 0 {
        options.limits.max_depth = u16::from(d & 0x0F) * 4;
    }
    if d & 0xF0 != 0 {
        options.limits.max_keys = u32::from(d >> 4);
        options.limits.max_id = u16::from(d >> 4);
        options.limits.max_replies = u32::from(d >> 4);
    }
    Some((options, rest))
}

/// One event as a plain value: everything that a host can see of it.
#[derive(Debug, PartialEq)]
pub enum Seen {
    /// An accepted line, and how many bytes of the stream were consumed with it.
    Message {
        end: usize,
        bytes: Vec<u8>,
        kind: Kind,
        method: Option<String>,
        id: Option<Vec<u8>>,
        params: Option<Vec<u8>>,
        result: Option<Vec<u8>>,
        error: Option<Vec<u8>>,
        loosened: Switches,
        sequence: u64,
        line_len: usize,
    },
    /// A refused line.
    Refused { record: Record, closes: bool, id: Option<Vec<u8>>, rpc_code: Option<i32>, reply: Option<Vec<u8>> },
    /// The end of the session.
    Closed,
}

fn see(event: &Event<'_>, end: usize) -> Option<Seen> {
    let vec = |bytes: &[u8]| bytes.to_vec();
    match event {
        Event::NeedMore => None,
        Event::Message(message) => Some(Seen::Message {
            end,
            bytes: vec(message.bytes()),
            kind: message.kind(),
            method: message.method().map(str::to_owned),
            id: message.id().map(vec),
            params: message.params().map(|value| vec(value.bytes())),
            result: message.result().map(|value| vec(value.bytes())),
            error: message.error().map(|value| vec(value.bytes())),
            loosened: message.loosened(),
            sequence: message.sequence(),
            line_len: message.line_len(),
        }),
        Event::Refused(refusal) => {
            let mut reply = [0; REPLY_LEN];
            let len = refusal.write_reply(&mut reply).expect("REPLY_LEN suffices");
            assert!(refusal.rpc_code().is_some() || !refusal.reply_due());
            Some(Seen::Refused {
                record: refusal.record(),
                closes: refusal.closes(),
                id: refusal.id().map(vec),
                rpc_code: refusal.rpc_code(),
                reply: refusal.reply_due().then(|| vec(&reply[..len])),
            })
        }
        Event::Closed => Some(Seen::Closed),
        other => panic!("unknown event {other:?}"),
    }
}

/// Feeds the pieces, then the end of input, and tells what was seen.
pub fn session<'i>(gate: &mut Gate<Storage>, pieces: impl Iterator<Item = &'i [u8]>) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut end = 0;
    for piece in pieces {
        let mut rest = piece;
        let mut stuck = 0;
        loop {
            let Fed { consumed, event } = gate.feed(rest);
            rest = &rest[consumed..];
            end += consumed;
            let event = see(&event, end);
            stuck = if consumed == 0 { stuck + 1 } else { 0 };
            assert!(stuck < 3, "the gate doesn't go on");
            if event != Some(Seen::Closed) || seen.last() != Some(&Seen::Closed) {
                seen.extend(event);
            }
            if rest.is_empty() {
                break;
            }
        }
    }
    let last = see(&gate.finish(), end);
    assert!(gate.is_closed());
    if last != Some(Seen::Closed) || seen.last() != Some(&Seen::Closed) {
        seen.extend(last);
    }
    let after = gate.feed(b"{}\n");
    assert!(after.consumed == 3 && matches!(after.event, Event::Closed), "a closed gate takes bytes and judges none");
    seen
}

/// Choices that depend on the input alone (xorshift over its FNV hash).
pub struct Choices(u64);

impl Choices {
    /// Choices for an input.
    pub fn of(data: &[u8]) -> Self {
        let hash = data
            .iter()
            .fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
        Self(hash | 1)
    }

    /// A number below `bound`, which isn't 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }
}

/// Choices that the input makes byte by byte.
pub struct Script<'d>(&'d [u8]);

impl<'d> Script<'d> {
    /// Longest script: enough for some two dozen calls.
    const LONGEST: usize = 96;

    /// The script of an input, and what follows it. `None` where there is none.
    pub fn of(data: &'d [u8]) -> Option<(Self, &'d [u8])> {
        let (len, rest) = data.split_first()?;
        let len = usize::from(*len) % (Self::LONGEST + 1);
        let (script, rest) = rest.split_at_checked(len)?;
        Some((Self(script), rest))
    }

    /// A number below `bound`, which isn't 0; 0 where the script is over.
    pub fn below(&mut self, bound: usize) -> usize {
        let mut value = 0;
        for _ in 0..if bound > 256 { 2 } else { 1 } {
            let Some((byte, rest)) = self.0.split_first() else { return 0 };
            self.0 = rest;
            value = value << 8 | usize::from(*byte);
        }
        value % bound
    }

    /// Whether nothing is left to choose.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether the text is JSON to serde_json, down to the last value, with no object that has a key twice.
pub fn unique(text: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<Unique>(text).map(|Unique| ())
}

struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Unique.deserialize(deserializer)
    }
}

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Self;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON with unique keys")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<Unique>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            members.next_value::<Unique>()?;
            if !keys.insert(key) {
                return Err(A::Error::custom("a key twice"));
            }
        }
        Ok(self)
    }
}
