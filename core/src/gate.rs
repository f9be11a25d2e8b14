//! The stages joined: bytes in, one verdict a line out, with the session policy, the counters and the reply cap.
//!
//! Stage order holds over the whole line: the first stage that finds a fault gives the verdict, even where a later stage's
//! fault stands further left. Whatever the policy, a refused line leaves no state but the counters, the sequence number, the
//! run of replies, and whether the session is over.

use crate::audit::Fingerprint;
use crate::code::{Code, Fault, Stage};
use crate::framer::{Cut, Framer, inspect, is_surrounded, strip_cr};
use crate::json::{KeyHash, Stop, Text, Unescaped, Walker, walk};
use crate::limits::{Direction, MAX_METHOD, Profile, Switch, Switches};
use crate::mcp::{Names, Revision};
use crate::options::{BadOptions, Batches, ErrorId, Options, Policy};
use crate::refusal::Refusal;
use crate::rpc::{Envelope, Member, Message, Reader, Shape, Slot};
use crate::storage::Storage;

/// A verdict, or none yet.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub enum Event<'a> {
    /// No line has ended: feed what is left of the input, or read more.
    NeedMore,
    /// A line was accepted.
    Message(Message<'a>),
    /// A line was refused. It has had no effect and will have none.
    Refused(Refusal<'a>),
    /// The session is over; the input was consumed unread.
    Closed,
}

/// What one feed came to.
#[derive(Debug)]
#[must_use]
pub struct Fed<'a> {
    /// Bytes of the input that are dealt with. May be 0 beside a refusal that came before its line's end.
    pub consumed: usize,
    /// The verdict.
    pub event: Event<'a>,
}

/// What a gate has counted since its start or reset. Refusals only: what was executed is counted elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Lines accepted.
    pub accepted: u64,
    /// Empty lines skipped, where the switch allows them.
    pub blank_lines: u64,
    /// Carriage returns stripped before a line feed.
    pub stripped_crs: u64,
    /// Replies that were due.
    pub replies: u64,
    refused: [u64; 3],
}

impl Counters {
    /// Lines refused by a stage.
    #[must_use]
    pub fn refused(&self, stage: Stage) -> u64 {
        self.refused.get(stage as usize).copied().unwrap_or(0)
    }

    /// Lines refused.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }
}

/// Judges one stream, line by line.
///
/// ```
/// use linegate::{AuditKey, Direction, Event, Gate, Inline, Options};
///
/// let options = Options::new(Direction::FromClient, AuditKey::new(*b"sixteen random b"));
/// let mut gate = Gate::new(options, Inline::<4096, 128>::new())?;
/// let mut rest: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{not json}\n{\"jsonrpc\"";
/// let (mut accepted, mut refused) = (0, 0);
/// while !rest.is_empty() {
///     let fed = gate.feed(rest);
///     match fed.event {
///         Event::Message(message) => { assert_eq!(message.method(), Some("ping")); accepted += 1 }
///         Event::Refused(refusal) => { assert_eq!((refusal.code().number(), refusal.at()), (202, 1)); refused += 1 }
///         Event::NeedMore | Event::Closed => {}
///         _ => {}
///     }
///     rest = &rest[fed.consumed..];
/// }
/// assert_eq!((accepted, refused), (1, 1));
/// # Ok::<(), linegate::BadOptions>(())
/// ```
pub struct Gate<S> {
    storage: S,
    framer: Framer,
    judge: Judge,
    session: Session,
}

/// What a session remembers.
#[derive(Default)]
struct Session {
    closed: bool,
    sequence: u64,
    replies_in_a_row: u32,
    counters: Counters,
}

/// The judgement of a line, which remembers nothing from line to line.
struct Judge {
    options: Options,
    text: Text,
    shape: Shape,
    hash: KeyHash,
    /// The message that was read last.
    envelope: Envelope,
    /// Its method, where it was written with escapes.
    method: [u8; MAX_METHOD],
}

/// A line's verdict, by places in it.
enum Verdict {
    Accept { loosened: Switches, batch: bool, method_len: usize },
    Refuse { fault: Fault, id: Option<Slot>, answer: bool },
}

impl<S: Storage> Gate<S> {
    /// A gate with these options over this storage. Limits that the storage can't hold are lowered to what it can.
    ///
    /// # Errors
    /// [`BadOptions`] (903) says which option has a value it can't have, and what would be right.
    pub fn new(mut options: Options, storage: S) -> Result<Self, BadOptions> {
        options.validate()?;
        let (frame, keys) = storage.capacity();
        let depth = usize::from(options.limits.max_depth);
        if frame < 4 {
            return Err(BadOptions { option: "storage", text: "the frame buffer must hold 4 bytes or more" });
        }
        if keys <= depth {
            return Err(BadOptions { option: "storage", text: "the key table must have more slots than max_depth" });
        }
        options.limits.max_frame = options.limits.max_frame.min(u32::try_from(frame).unwrap_or(u32::MAX));
        options.limits.max_keys = options.limits.max_keys.min(u32::try_from(keys - depth).unwrap_or(u32::MAX));
        Ok(Self {
            storage,
            framer: Framer::new(options.limits.max_frame as usize),
            judge: Judge::new(options),
            session: Session::default(),
        })
    }

    /// Judges input up to the end of one line at most. The caller loops until all of it is consumed.
    ///
    /// What the event lends lives until the next call. After the session's end all input is consumed and
    /// [`Event::Closed`] given, for ever.
    pub fn feed<'a>(&'a mut self, input: &'a [u8]) -> Fed<'a> {
        let mut consumed = 0;
        let (len, content_len, inside) = loop {
            if self.session.closed {
                return Fed { consumed: input.len(), event: Event::Closed };
            }
            let rest = input.get(consumed..).unwrap_or_default();
            let held = self.framer.held();
            let (used, cut) = self.framer.cut(rest, &mut self.storage);
            consumed += used;
            match cut {
                Cut::NeedMore => return Fed { consumed, event: Event::NeedMore },
                Cut::Early { fault, covered } => {
                    self.session.sequence += 1;
                    let held = self.storage.frame().get(..held.min(covered)).unwrap_or_default();
                    let fresh = rest.get(..covered - held.len()).unwrap_or_default();
                    let fingerprint = Fingerprint::new(self.judge.options.audit_key, &[held, fresh]);
                    let refusal = self.session.refuse(&self.judge.options, fault, covered, fingerprint, None, true);
                    return Fed { consumed, event: Event::Refused(refusal) };
                }
                Cut::Line { len, inside } => {
                    let inside = inside.then_some(rest);
                    let (content, stripped) = strip_cr(within(inside, self.storage.frame(), len));
                    self.session.counters.stripped_crs += u64::from(stripped);
                    self.session.sequence += 1;
                    if content.is_empty() && self.judge.options.allowed.contains(Switch::BlankLines) {
                        self.session.counters.blank_lines += 1;
                        continue;
                    }
                    break (len, content.len(), inside);
                }
            }
        };
        let verdict = loop {
            let (frame, keys) = self.storage.parts();
            let ahead = inside.unwrap_or_else(|| within(None, frame, content_len));
            match self.judge.content(ahead, content_len, keys) {
                Ok(verdict) => break verdict,
                Err(ShortTable) => {
                    let (limits, slots) = (&self.judge.options.limits, keys.len());
                    self.storage.grow_keys(limits.max_keys as usize + usize::from(limits.max_depth));
                    if self.storage.parts().1.len() <= slots {
                        // The storage, against its word, has no more.
                        break Verdict::Refuse {
                            fault: Fault { code: Code::TooManyKeys, at: 0 },
                            id: None,
                            answer: true,
                        };
                    }
                }
            }
        };
        match verdict {
            Verdict::Accept { loosened, batch, method_len } => {
                self.session.replies_in_a_row = 0;
                self.session.counters.accepted += 1;
                let text = within(inside, self.storage.frame(), content_len);
                let envelope = (!batch).then_some(&self.judge.envelope);
                let method = envelope
                    .and_then(|envelope| envelope.get(Member::Method))
                    .and_then(|slot| if slot.plain { slot.string(text) } else { self.judge.method.get(..method_len) });
                let (sequence, line_len) = (self.session.sequence, len);
                let message = Message { text, envelope, method, loosened, sequence, line_len };
                Fed { consumed, event: Event::Message(message) }
            }
            Verdict::Refuse { fault, id, answer } => {
                let line = within(inside, self.storage.frame(), len);
                let fingerprint = Fingerprint::new(self.judge.options.audit_key, &[line]);
                let id = id.map(|id| id.of(line));
                let refusal = self.session.refuse(&self.judge.options, fault, len, fingerprint, id, answer);
                Fed { consumed, event: Event::Refused(refusal) }
            }
        }
    }

    /// The end of input. A line without its line feed is refused (104); the session is over either way.
    pub fn finish(&mut self) -> Event<'_> {
        let cut_off = self.framer.finish().filter(|_| !self.session.closed);
        let event = match cut_off {
            None => Event::Closed,
            Some(len) => {
                self.session.sequence += 1;
                let line = self.storage.frame().get(..len).unwrap_or_default();
                let fingerprint = Fingerprint::new(self.judge.options.audit_key, &[line]);
                let fault = Fault { code: Code::Truncated, at: len };
                Event::Refused(self.session.refuse(&self.judge.options, fault, len, fingerprint, None, false))
            }
        };
        self.session.closed = true;
        event
    }

    /// Begins a new session with the same options: counters, sequence and what is held of a line are gone.
    pub fn reset(&mut self) {
        self.framer = Framer::new(self.judge.options.limits.max_frame as usize);
        self.session = Session::default();
    }

    /// Whether the session is over.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.session.closed
    }

    /// Whether the input stands inside a line that was refused before its end: what comes up to its line feed is discarded.
    #[must_use]
    pub const fn discarding(&self) -> bool {
        self.framer.discarding()
    }

    /// What was counted since the start or reset.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.session.counters
    }

    /// The options, with limits as the storage can hold them.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.judge.options
    }
}

/// The first `len` bytes of a line: of the input if it lies whole `inside` of that, else of the frame buffer.
#[inline(always)]
fn within<'a>(inside: Option<&'a [u8]>, frame: &'a [u8], len: usize) -> &'a [u8] {
    inside.unwrap_or(frame).get(..len).unwrap_or_default()
}

impl<S> core::fmt::Debug for Gate<S> {
    /// Shows where the session stands, never what is held of a line.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Gate")
            .field("options", &self.judge.options)
            .field("closed", &self.session.closed)
            .field("counters", &self.session.counters)
            .finish_non_exhaustive()
    }
}

impl Session {
    fn refuse<'a>(
        &mut self,
        options: &Options,
        fault: Fault,
        frame_len: usize,
        fingerprint: Fingerprint,
        id: Option<&'a [u8]>,
        answer: bool,
    ) -> Refusal<'a> {
        let Fault { code, at } = fault;
        if let Some(count) = self.counters.refused.get_mut(code.stage() as usize) {
            *count += 1;
        }
        let rpc_code = code.rpc_code().filter(|_| answer && options.direction == Direction::FromClient);
        let reply_due = rpc_code.is_some() && self.replies_in_a_row < options.limits.max_replies;
        if reply_due {
            self.replies_in_a_row += 1;
            self.counters.replies += 1;
        }
        let closes = match options.policy {
            Policy::CloseAll => true,
            Policy::CloseMalformed => code.closes(),
            Policy::Continue => code == Code::Truncated,
        };
        self.closed |= closes;
        let null_id = match options.error_id {
            ErrorId::ByRevision => !options.revision.omits_error_id(),
            ErrorId::Null => true,
            ErrorId::Absent => false,
        };
        let (sequence, direction) = (self.sequence, options.direction);
        Refusal { code, at, frame_len, sequence, direction, fingerprint, id, rpc_code, reply_due, null_id, closes }
    }
}

/// The key table is shorter than the limits allow.
struct ShortTable;

impl Judge {
    fn new(options: Options) -> Self {
        let limits = &options.limits;
        let batches = match options.batches {
            Batches::ByRevision => options.revision == Revision::V2025_03_26,
            Batches::Allow => true,
            Batches::Refuse => false,
        };
        Self {
            text: Text {
                allowed: options.allowed,
                max_depth: usize::from(limits.max_depth),
                max_keys: limits.max_keys as usize,
                unique_keys: true,
            },
            shape: Shape {
                allowed: options.allowed,
                batches,
                plain: !options.revision.is_mcp(),
                max_id: usize::from(limits.max_id),
            },
            hash: KeyHash::new(options.audit_key),
            envelope: Envelope::default(),
            method: [0; MAX_METHOD],
            options,
        }
    }

    /// Judges a whole line without its line break, which may follow: the first `len` bytes of `ahead`.
    fn content(&mut self, ahead: &[u8], len: usize, table: &mut [u64]) -> Result<Verdict, ShortTable> {
        let content = ahead.get(..len).unwrap_or_default();
        if content.is_empty() {
            return Ok(Verdict::Refuse { fault: Fault { code: Code::FrameEmpty, at: 0 }, id: None, answer: true });
        }
        let mut loosened = Switches::NONE;
        if is_surrounded(content) {
            if !self.options.allowed.contains(Switch::SurroundingSpace) {
                return Ok(self.refuse_frame(content));
            }
            loosened = loosened.with(Switch::SurroundingSpace);
        }
        let mut fold = true;
        let names = || Names::new(self.options.revision.is_mcp());
        loop {
            let mut reader = Reader::new(content, &self.shape, names(), &mut self.envelope);
            match walk(ahead, len, &self.text, table, &self.hash, fold, |walker, at| reader.line(walker, at)) {
                Ok(needed) => {
                    let loosened = loosened.union(needed);
                    return Ok(conclude(content, &reader, loosened, &self.shape, &mut self.method));
                }
                Err(Stop::ShortTable) => return Err(ShortTable),
                Err(Stop::Unfold) => {
                    fold = false;
                    loosened = loosened.with(Switch::CaseCollisions);
                }
                Err(Stop::Fault(fault)) => return Ok(self.refuse_text(content, fault)),
            }
        }
    }

    /// A fault of the text stage, unless the frame stage has one anywhere in the line.
    #[cold]
    fn refuse_text(&self, content: &[u8], fault: Fault) -> Verdict {
        match inspect(content, self.options.allowed) {
            Some(fault) => self.refuse(content, fault),
            None => self.refuse(content, fault),
        }
    }

    #[cold]
    fn refuse_frame(&self, content: &[u8]) -> Verdict {
        let fault = inspect(content, self.options.allowed);
        self.refuse(content, fault.unwrap_or(Fault { code: Code::SurroundingSpace, at: 0 }))
    }

    /// The verdict for a fault of the first two stages. Where the line is JSON all the same, a walk by grammar alone finds
    /// out whether an answer is due and which id it may carry.
    fn refuse(&self, content: &[u8], fault: Fault) -> Verdict {
        let is_json = fault.code.rpc_code() == Some(crate::code::INVALID_REQUEST);
        let mut envelope = Envelope::default();
        let mut reader = Reader::new(content, &self.shape, Names::new(false), &mut envelope);
        let root = |walker: &mut Walker<'_, '_>, at| reader.line(walker, at);
        if !is_json || walk(content, content.len(), &Text::GRAMMAR, &mut [], &self.hash, false, root).is_err() {
            return Verdict::Refuse { fault, id: None, answer: true };
        }
        if reader.is_batch() {
            return Verdict::Refuse { fault, id: None, answer: true };
        }
        let id = reader.envelope.echo(content, &self.shape);
        Verdict::Refuse { fault, id, answer: reader.envelope.wants_answer() }
    }
}

/// The verdict on a line whose text is in order. A method with escapes is put into `unescaped`.
#[inline(always)]
fn conclude(
    content: &[u8],
    reader: &Reader<'_, Names>,
    loosened: Switches,
    shape: &Shape,
    unescaped: &mut [u8; MAX_METHOD],
) -> Verdict {
    if let Some(fault) = reader.verdict() {
        let batch = reader.is_batch();
        let id = if batch { None } else { reader.envelope.echo(content, shape) };
        let answer = batch || reader.envelope.wants_answer();
        return Verdict::Refuse { fault, id, answer };
    }
    let batch = reader.is_batch();
    let loosened = loosened.union(reader.needed).minus(Profile::Strict.allowed());
    let mut method_len = 0;
    if let Some(method) = reader.envelope.get(Member::Method).filter(|method| !batch && !method.plain) {
        let raw = method.string(content).unwrap_or_default();
        for (place, byte) in unescaped.iter_mut().zip(Unescaped::new(raw)) {
            *place = byte;
            method_len += 1;
        }
    }
    Verdict::Accept { loosened, batch, method_len }
}
