//! The stages joined: bytes in, one verdict a line out, with the session policy, the counters and the reply cap. What a line
//! comes to is for [`judge`](crate::judge) to say.
//!
//! Stage order holds over the whole line: the first stage that finds a fault gives the verdict, even where a later stage's
//! fault stands further left. Whatever the policy, a refused line leaves no state but the counters, the sequence number, the
//! run of replies, whether the session is over, and, in a session, that a request it answered waits no longer.

use crate::audit::Fingerprint;
use crate::code::{Code, Fault};
use crate::framer::{Cut, Framer, strip_cr};
use crate::judge::{Judge, Refused, ShortTable, Verdict};
use crate::limits::{MOST_KEYS, Switch};
use crate::message::Message;
use crate::options::{BadOptions, Options};
use crate::refusal::Refusal;
use crate::rpc::Member;
use crate::session::{Slot, Tracker, Tracking};
use crate::standing::{Counters, Last, Standing};
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
    standing: Standing,
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
        let most_keys = u32::try_from(keys - depth).unwrap_or(u32::MAX).min(MOST_KEYS);
        options.limits.max_keys = options.limits.max_keys.min(most_keys);
        Ok(Self {
            storage,
            framer: Framer::new(options.limits.max_frame as usize),
            judge: Judge::new(options),
            standing: Standing::default(),
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
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn feed_any<'a, const TRACKED: bool>(&'a mut self, input: &'a [u8], mut tracking: Option<Tracking<'_>>) -> Fed<'a> {
        self.standing.last = None;
        let mut consumed = 0;
        let (len, content_len, inside) = loop {
            if self.standing.closed {
                return Fed { consumed: input.len(), event: Event::Closed };
            }
            let rest = input.get(consumed..).unwrap_or_default();
            let held = self.framer.held();
            let (used, cut) = self.framer.cut(rest, &mut self.storage);
            consumed += used;
            match cut {
                Cut::NeedMore => return Fed { consumed, event: Event::NeedMore },
                Cut::Early { fault, covered } => {
                    self.standing.sequence += 1;
                    let held = self.storage.frame().get(..held.min(covered)).unwrap_or_default();
                    let fresh = rest.get(..covered - held.len()).unwrap_or_default();
                    let seen = Seen { pieces: [held, fresh], line: &[], len: covered };
                    let refused = Refused::unread(fault);
                    let refusal = refuse::<TRACKED>(&self.judge, &mut self.standing, refused, seen, tracking.as_mut());
                    return Fed { consumed, event: Event::Refused(refusal) };
                }
                Cut::Line { len, inside } => {
                    let inside = inside.then_some(rest);
                    let (content, stripped) = strip_cr(within(inside, self.storage.frame(), len));
                    self.standing.counters.stripped_crs += u64::from(stripped);
                    self.standing.sequence += 1;
                    if content.is_empty() && self.judge.options.allowed.contains(Switch::BlankLines) {
                        self.standing.counters.blank_lines += 1;
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
            Verdict::Accept { loosened, batch, method_len, revisions } => {
                self.standing.accept();
                let (stripped, method_len) = (content_len < len, method_len as u8);
                let last = Last { len, stripped, method_len, batch, loosened, revisions };
                self.standing.last = inside.is_none().then_some(last);
                let message = self.message(inside, last);
                Fed { consumed, event: Event::Message(message) }
            }
            Verdict::Refuse(refused) => {
                let line = within(inside, self.storage.frame(), len);
                let seen = Seen { pieces: [line, &[]], line, len };
                let refusal = refuse::<TRACKED>(&self.judge, &mut self.standing, refused, seen, tracking.as_mut());
                Fed { consumed, event: Event::Refused(refusal) }
            }
        }
    }

    #[inline(always)]
    fn message<'a>(&'a mut self, inside: Option<&'a [u8]>, last: Last) -> Message<'a> {
        let Last { len, stripped, method_len, batch, loosened, revisions } = last;
        let line = within(inside, self.storage.frame(), len);
        let text = line.get(..len - usize::from(stripped)).unwrap_or_default();
        let envelope = (!batch).then_some(&self.judge.envelope);
        let method = envelope.and_then(|envelope| envelope.get(Member::Method)).and_then(|slot| {
            if slot.plain { slot.string(text) } else { self.judge.method.get(..usize::from(method_len)) }
        });
        let (options, standing) = (&self.judge.options, &mut self.standing);
        Message { text, line, envelope, method, loosened, revisions, options, standing }
    }

    /// The message that the last feed accepted, once more, where its line lies in the storage.
    pub(crate) fn last_message(&mut self) -> Option<Message<'_>> {
        let last = self.standing.last?;
        Some(self.message(None, last))
    }

    /// The end of input. A line without its line feed is refused (104); the session is over either way.
    pub fn finish(&mut self) -> Event<'_> {
        self.standing.last = None;
        let cut_off = self.framer.finish().filter(|_| !self.standing.closed);
        let event = match cut_off {
            None => Event::Closed,
            Some(len) => {
                self.standing.sequence += 1;
                let line = self.storage.frame().get(..len).unwrap_or_default();
                let fault = Fault { code: Code::Truncated, at: len };
                let refused = Refused { answer: false, ..Refused::unread(fault) };
                let seen = Seen { pieces: [line, &[]], line: &[], len };
                Event::Refused(refuse::<false>(&self.judge, &mut self.standing, refused, seen, None))
            }
        };
        self.standing.closed = true;
        event
    }

    /// Begins a new session with the same options: counters, sequence and what is held of a line are gone.
    pub fn reset(&mut self) {
        self.framer = Framer::new(self.judge.options.limits.max_frame as usize);
        self.standing = Standing::default();
    }

    /// Whether the session is over.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.standing.closed
    }

    /// Whether the input stands inside a line that was refused before its end: what comes up to its line feed is discarded.
    #[must_use]
    pub const fn discarding(&self) -> bool {
        self.framer.discarding()
    }

    /// What was counted since the start or reset.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.standing.counters
    }

    /// The options, with limits as the storage can hold them.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.judge.options
    }
}

/// What is there of a line that is refused.
struct Seen<'p, 'a> {
    /// Its bytes, as far as they were looked at.
    pieces: [&'p [u8]; 2],
    /// The line, if it was read whole.
    line: &'a [u8],
    len: usize,
}

/// Refuses a line: counts it, and says what may be told.
#[cold]
#[inline(never)]
fn refuse<'a, const TRACKED: bool>(
    judge: &Judge,
    standing: &mut Standing,
    refused: Refused,
    seen: Seen<'_, 'a>,
    tracking: Option<&mut Tracking<'_>>,
) -> Refusal<'a> {
    let fingerprint = Fingerprint::new(judge.options.audit_key, &seen.pieces);
    let told = judge.told::<TRACKED>(refused, seen.len, fingerprint, seen.line, tracking);
    standing.refuse(&judge.options, told)
}

/// The first `len` bytes of a line: of the input if it lies whole `inside` of that, else of the frame buffer.
#[cfg_attr(not(feature = "small"), inline(always))]
fn within<'a>(inside: Option<&'a [u8]>, frame: &'a [u8], len: usize) -> &'a [u8] {
    inside.unwrap_or(frame).get(..len).unwrap_or_default()
}

impl<S> core::fmt::Debug for Gate<S> {
    /// Shows where the session stands, never what is held of a line.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Gate")
            .field("options", &self.judge.options)
            .field("closed", &self.standing.closed)
            .field("counters", &self.standing.counters)
            .finish_non_exhaustive()
    }
}
