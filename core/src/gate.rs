//! The stages joined: bytes in, one verdict a line out, with the session policy, the counters and the reply cap.
//!
//! Stage order holds over the whole line: the first stage that finds a fault gives the verdict, even where a later stage's
//! fault stands further left. Whatever the policy, a refused line leaves no state but the counters, the sequence number, the
//! run of replies, whether the session is over, and, in a session, that a request it answered waits no longer.

use core::iter;

use crate::audit::Fingerprint;
use crate::code::{Code, Fault, Stage};
use crate::framer::{Cut, Framer, inspect, is_surrounded, strip_cr};
use crate::json::{Cursor, KeyHash, Stop, Text, Unescaped, Walker, is_sound, walk};
use crate::limits::{Direction, MAX_DEPTH, MAX_METHOD, Profile, Switch, Switches};
use crate::mcp::{Filter, Line, Method, Set, Shapes};
use crate::options::{BadOptions, Batches, ErrorId, Options, Policy};
use crate::refusal::Refusal;
use crate::rpc::{Envelope, Kind, Member, Message, Parts, Reader, Shape, Slot as Place};
use crate::session::{Passed, Slot, Tracker, Tracking};
use crate::storage::Storage;

/// Bytes of an unsupported version between its quotes up to which the reply says it again (407).
const MAX_REQUESTED: usize = 255;

/// How deep a client's refused line is read for the id of its reply.
const ECHO_DEPTH: usize = 64;

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
    refused: [u64; 5],
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
    shapes: Shapes,
    hash: KeyHash,
    /// The message that was read last.
    envelope: Envelope,
    /// Its method, where it was written with escapes.
    method: [u8; MAX_METHOD],
}

/// A line's verdict, by places in it.
enum Verdict {
    Accept { loosened: Switches, batch: bool, method_len: usize },
    Refuse(Refused),
}

/// Why a line is refused, and what its reply may know of it.
struct Refused {
    fault: Fault,
    /// The id that stands in it beyond doubt.
    id: Option<Place>,
    /// Whether it asks for an answer.
    answer: bool,
    /// Whether it looks like an answer.
    response: bool,
    /// The revisions that it was judged by, if it got so far.
    by: Set,
}

impl Refused {
    /// Of a line in which nothing can be read.
    const fn unread(fault: Fault) -> Self {
        Self { fault, id: None, answer: true, response: false, by: Set::NONE }
    }

    /// Of a message whose envelope was read.
    fn read(fault: Fault, envelope: &Envelope, content: &[u8], shape: &Shape) -> Self {
        let (answer, response) = (envelope.wants_answer(), envelope.is_response());
        Self { fault, id: envelope.echo(content, shape), answer, response, by: Set::NONE }
    }
}

/// A fault of the stages that ask for a revision, and the revisions that they asked for.
struct Misfit {
    fault: Fault,
    by: Set,
}

/// A refused line with what may be said of it.
struct Told<'a> {
    fault: Fault,
    frame_len: usize,
    fingerprint: Fingerprint,
    id: Option<&'a [u8]>,
    answer: bool,
    /// The id of the request that its refusal leaves without an answer.
    settles: Option<&'a [u8]>,
    /// The version that it asked for in vain.
    requested: Option<&'a [u8]>,
    /// The revisions that it may be of.
    revisions: Set,
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
        self.feed_any::<false>(input, None)
    }

    /// The same, with the session that the line belongs to: the tracker is that of the two gates of one session, each of which
    /// is always fed with it.
    pub fn feed_with<'a, T: AsRef<[Slot]> + AsMut<[Slot]>>(
        &'a mut self,
        input: &'a [u8],
        tracker: &mut Tracker<T>,
    ) -> Fed<'a> {
        self.feed_any::<true>(input, Some(tracker.tracking()))
    }

    /// Where nothing is tracked, the code for it isn't linked either.
    #[inline(always)]
    fn feed_any<'a, const TRACKED: bool>(&'a mut self, input: &'a [u8], mut tracking: Option<Tracking<'_>>) -> Fed<'a> {
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
                    let told = self.judge.told::<TRACKED>(
                        Refused::unread(fault),
                        covered,
                        fingerprint,
                        &[],
                        tracking.as_mut(),
                    );
                    let refusal = self.session.refuse(&self.judge.options, told);
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
            match self.judge.content::<TRACKED>(ahead, content_len, keys, tracking.as_mut()) {
                Ok(verdict) => break verdict,
                Err(ShortTable) => {
                    let (limits, slots) = (&self.judge.options.limits, keys.len());
                    self.storage.grow_keys(limits.max_keys as usize + usize::from(limits.max_depth));
                    if self.storage.parts().1.len() <= slots {
                        // The storage, against its word, has no more.
                        break Verdict::Refuse(Refused::unread(Fault { code: Code::TooManyKeys, at: 0 }));
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
            Verdict::Refuse(refused) => {
                let line = within(inside, self.storage.frame(), len);
                let fingerprint = Fingerprint::new(self.judge.options.audit_key, &[line]);
                let told = self.judge.told::<TRACKED>(refused, len, fingerprint, line, tracking.as_mut());
                let refusal = self.session.refuse(&self.judge.options, told);
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
                let refused = Refused { answer: false, ..Refused::unread(fault) };
                let told = self.judge.told::<false>(refused, len, fingerprint, &[], None);
                Event::Refused(self.session.refuse(&self.judge.options, told))
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
    fn refuse<'a>(&mut self, options: &Options, told: Told<'a>) -> Refusal<'a> {
        let Told { fault: Fault { code, at }, frame_len, fingerprint, id, answer, settles, requested, revisions } =
            told;
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
            ErrorId::ByRevision => !revisions.omits_error_id(),
            ErrorId::Null => true,
            ErrorId::Absent => false,
        };
        let (sequence, direction) = (self.sequence, options.direction);
        let supported = options.versions;
        Refusal {
            code,
            at,
            frame_len,
            sequence,
            direction,
            fingerprint,
            id,
            rpc_code,
            reply_due,
            null_id,
            closes,
            settles,
            requested,
            supported,
        }
    }
}

/// The key table is shorter than the limits allow.
struct ShortTable;

impl Judge {
    fn new(options: Options) -> Self {
        let limits = &options.limits;
        let batches = match options.batches {
            Batches::ByRevision => options.revision.has_batches(),
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
            shapes: Shapes {
                methods: options.revision.methods(),
                from: options.direction,
                max_id: usize::from(limits.max_id),
                supported: options.versions,
                extra_methods: options.methods,
                extra_result_types: options.result_types,
            },
            hash: KeyHash::new(options.audit_key),
            envelope: Envelope::default(),
            method: [0; MAX_METHOD],
            options,
        }
    }

    /// Judges a whole line without its line break, which may follow: the first `len` bytes of `ahead`.
    fn content<const TRACKED: bool>(
        &mut self,
        ahead: &[u8],
        len: usize,
        table: &mut [u64],
        tracking: Option<&mut Tracking<'_>>,
    ) -> Result<Verdict, ShortTable> {
        let content = ahead.get(..len).unwrap_or_default();
        if content.is_empty() {
            return Ok(Verdict::Refuse(Refused::unread(Fault { code: Code::FrameEmpty, at: 0 })));
        }
        let mut loosened = Switches::NONE;
        if is_surrounded(content) {
            if !self.options.allowed.contains(Switch::SurroundingSpace) {
                return Ok(self.refuse_frame(content));
            }
            loosened = loosened.with(Switch::SurroundingSpace);
        }
        let mut fold = true;
        let filter = || Filter::new(&self.shapes);
        loop {
            let mut reader = Reader::new(content, &self.shape, filter(), &mut self.envelope);
            match walk(ahead, len, &self.text, table, &self.hash, fold, |walker, at| reader.line(walker, at)) {
                Ok(needed) => {
                    let fault = reader.verdict();
                    let needed = loosened.union(needed).union(reader.needed);
                    let (batch, certain) = (reader.is_batch(), reader.taken());
                    return Ok(self.conclude::<TRACKED>(content, batch, fault, certain, needed, tracking));
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
        let unread = Verdict::Refuse(Refused::unread(fault));
        let is_json = fault.code.rpc_code() == Some(crate::code::INVALID_REQUEST);
        let mut envelope = Envelope::default();
        let mut reader = Reader::new(content, &self.shape, Filter::IDLE, &mut envelope);
        let root = |walker: &mut Walker<'_, '_>, at| reader.line(walker, at);
        // A server's line may be the answer that a client waits for, however deep it is.
        let depth = match self.options.direction {
            Direction::FromClient => ECHO_DEPTH,
            Direction::FromServer => usize::from(MAX_DEPTH),
        };
        if !is_json || walk(content, content.len(), &Text::grammar(depth), &mut [], &self.hash, false, root).is_err() {
            return unread;
        }
        if reader.is_batch() {
            return unread;
        }
        Verdict::Refuse(Refused::read(fault, reader.envelope, content, &self.shape))
    }

    /// The verdict on a line whose text is in order, after what JSON-RPC has against it, which may be nothing. `certain`: the
    /// revisions that are known to take the message.
    #[inline(always)]
    fn conclude<const TRACKED: bool>(
        &mut self,
        content: &[u8],
        batch: bool,
        fault: Option<Fault>,
        certain: Set,
        loosened: Switches,
        tracking: Option<&mut Tracking<'_>>,
    ) -> Verdict {
        let refuse = |misfit: Misfit| {
            let Misfit { fault, by } = misfit;
            Verdict::Refuse(if batch {
                Refused { by, ..Refused::unread(fault) }
            } else {
                Refused { by, ..Refused::read(fault, &self.envelope, content, &self.shape) }
            })
        };
        if let Some(fault) = fault {
            return refuse(Misfit { fault, by: Set::NONE });
        }
        let by = self.options.revision.set();
        let sure = by.is_empty() || (!TRACKED && certain.meets(by));
        if !sure && let Err(misfit) = self.judge_protocol::<TRACKED>(content, batch, certain, tracking) {
            return refuse(misfit);
        }
        // A method that was written with escapes is kept without.
        let mut method_len = 0;
        if let Some(method) = self.envelope.get(Member::Method).filter(|method| !batch && !method.plain) {
            let raw = method.string(content).unwrap_or_default();
            for (place, byte) in self.method.iter_mut().zip(Unescaped::new(raw)) {
                *place = byte;
                method_len += 1;
            }
        }
        Verdict::Accept { loosened: loosened.minus(Profile::Strict.allowed()), batch, method_len }
    }

    /// What MCP and the session have against a message that JSON-RPC takes, by reading it again.
    #[inline(never)]
    fn judge_protocol<const TRACKED: bool>(
        &self,
        content: &[u8],
        batch: bool,
        certain: Set,
        tracking: Option<&mut Tracking<'_>>,
    ) -> Result<(), Misfit> {
        let tracking = if TRACKED { tracking } else { None };
        let whole = Cursor::new(content.trim_ascii());
        let line = |value: Cursor<'_>, parts: Parts| {
            let closing = value.place(content) + value.bytes().len() - 1;
            Line { text: content, parts, closing }
        };
        if !batch {
            let line = line(whole, self.envelope.slots);
            let Some(tracking) = tracking else {
                let by = self.options.revision.set();
                return self.shapes.judge(&line, by, None).map_or(Ok(()), |fault| Err(Misfit { fault, by }));
            };
            let method = self.method_of(&line);
            let by = tracking.revisions(&line, method, self.options.direction);
            return self
                .judge_shape(&line, method, by, certain, tracking)
                .and_then(|taken| tracking.admit(iter::once(self.passed(line, taken))))
                .map_err(|fault| Misfit { fault, by });
        }
        // Stage by stage over the whole line. Batches are of one revision, which the host named.
        let by = self.options.revision.set();
        let lines = whole.elements().map(|element| line(element, Parts::of(content, &element)));
        let misfit = |fault| Misfit { fault, by };
        for line in lines.clone() {
            let answered = tracking.as_ref().and_then(|tracking| tracking.answered(&line, self.options.direction));
            self.shapes.judge(&line, by, answered.as_ref()).map_or(Ok(()), |fault| Err(misfit(fault)))?;
        }
        tracking.map_or(Ok(()), |tracking| tracking.admit(lines.map(|line| self.passed(line, by)))).map_err(misfit)
    }

    /// The MCP stage with what the session knows: the revisions that take a message.
    fn judge_shape(
        &self,
        line: &Line<'_>,
        method: Option<&'static Method>,
        by: Set,
        certain: Set,
        tracking: &Tracking<'_>,
    ) -> Result<Set, Fault> {
        if method.is_some() && certain.meets(by) && !by.meets(Set::MODERN) {
            return Ok(certain.and(by));
        }
        let (shapes, from) = (&self.shapes, self.options.direction);
        if by == Set::MODERN
            && from == Direction::FromServer
            && line.parts.kind() == Kind::Notification
            && method.is_some_and(|method| method.is("notifications/cancelled"))
            && let Some(id) = tracking.cancelled_in_vain(line)
        {
            return Err(Fault { code: Code::WrongDirection, at: id.place(line.text) });
        }
        let answered = tracking.answered(line, from);
        let takers = by.newest_first().filter(|one| shapes.judge_by(line, *one, answered.as_ref()).is_none());
        let taken = takers.fold(Set::NONE, Set::or);
        if taken.is_empty() { shapes.judge(line, by, answered.as_ref()).map_or(Ok(taken), Err) } else { Ok(taken) }
    }

    fn passed<'t>(&self, line: Line<'t>, taken: Set) -> Passed<'t> {
        Passed { line, from: self.options.direction, method: self.method_of(&line), taken }
    }

    fn method_of(&self, line: &Line<'_>) -> Option<&'static Method> {
        self.shapes.method(&line.get(Member::Method)?)
    }

    /// What may be said of a refused line; and a request that it leaves without an answer waits no longer.
    fn told<'a, const TRACKED: bool>(
        &self,
        refused: Refused,
        frame_len: usize,
        fingerprint: Fingerprint,
        line: &'a [u8],
        tracking: Option<&mut Tracking<'_>>,
    ) -> Told<'a> {
        let Refused { fault, id, answer, response, by } = refused;
        let mut id = id.map(|id| id.of(line));
        let (mut settles, mut revisions) = (None, self.options.revision.set());
        if let (true, Some(tracking)) = (TRACKED, tracking) {
            let from = self.options.direction;
            revisions = if by.is_one() { by } else { tracking.known().unwrap_or(Set::NONE) };
            if response {
                settles = id.filter(|id| tracking.release(from, &Cursor::new(id)));
            } else {
                // An error with the id of a request that waits for its answer would end that one.
                id = id.filter(|id| !tracking.is_in_use(from, &Cursor::new(id)));
            }
        }
        let requested = (fault.code == Code::UnsupportedRevision).then(|| {
            let version = Cursor::starting(line, fault.at);
            let fits = version.inside().len() <= MAX_REQUESTED && is_sound(version.inside(), self.options.allowed);
            if fits { version.bytes() } else { b"\"\"" }
        });
        Told { fault, frame_len, fingerprint, id, answer, settles, requested, revisions }
    }
}
