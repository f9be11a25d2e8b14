//! The judgement of one line: JSON, JSON-RPC, MCP and the session in their order, each with what it must know, and what may
//! be said of a line that is refused. It remembers nothing from line to line; what a session remembers is the tracker's.

use core::iter;

use crate::audit::Fingerprint;
use crate::code::{Code, Fault, INVALID_REQUEST};
use crate::framer::{inspect, is_surrounded};
use crate::json::{Cursor, KeyHash, Stop, Text, Unescaped, Walker, is_sound, walk};
use crate::limits::{Direction, MAX_DEPTH, MAX_METHOD, Profile, Switch, Switches};
#[cfg(feature = "mcp")]
use crate::mcp::Filter;
use crate::mcp::{Line, Method, Set, Shapes};
use crate::options::{Batches, Options};
use crate::refusal::{Detail, Reply};
#[cfg(not(feature = "mcp"))]
use crate::rpc::Unread;
use crate::rpc::{Envelope, Kind, Member, Parts, Reader, Shape, Slot};
use crate::session::{Passed, Tracking};

/// Bytes of an unsupported version between its quotes up to which the reply says it again (407).
const MAX_REQUESTED: usize = 255;

/// What reads nothing inside params and results.
#[cfg(feature = "mcp")]
const IDLE: Filter<'_> = Filter::IDLE;
#[cfg(not(feature = "mcp"))]
const IDLE: Unread = Unread;

/// How deep a client's refused line is read for the id of its reply.
const ECHO_DEPTH: usize = 64;

/// The judgement of a line, which remembers nothing from line to line.
pub(crate) struct Judge {
    pub(crate) options: Options,
    text: Text,
    shape: Shape,
    shapes: Shapes,
    hash: KeyHash,
    /// The message that was read last.
    pub(crate) envelope: Envelope,
    /// Its method, where it was written with escapes.
    pub(crate) method: [u8; MAX_METHOD],
}

/// A line's verdict, by places in it.
pub(crate) enum Verdict {
    Accept {
        loosened: Switches,
        batch: bool,
        method_len: usize,
        /// The revisions that it may be of.
        revisions: Set,
    },
    Refuse(Refused),
}

/// Why a line is refused, and what its reply may know of it.
pub(crate) struct Refused {
    pub(crate) fault: Fault,
    /// The id that stands in it beyond doubt.
    pub(crate) id: Option<Slot>,
    /// Whether it asks for an answer.
    pub(crate) answer: bool,
    /// Whether it looks like an answer.
    pub(crate) response: bool,
    /// The revisions that it was judged by, if it got so far.
    pub(crate) by: Set,
}

impl Refused {
    /// Of a line in which nothing can be read.
    pub(crate) const fn unread(fault: Fault) -> Self {
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
pub(crate) struct Told<'a> {
    pub(crate) fault: Fault,
    pub(crate) frame_len: usize,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) reply: Reply,
    pub(crate) detail: Detail,
    /// The id of the request that its refusal leaves without an answer.
    pub(crate) settles: Option<&'a [u8]>,
    /// The version that it asked for in vain.
    pub(crate) requested: Option<&'a [u8]>,
    /// The revisions that it may be of.
    pub(crate) revisions: Set,
}

/// The key table is shorter than the limits allow.
pub(crate) struct ShortTable;

impl Judge {
    pub(crate) fn new(options: Options) -> Self {
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
    pub(crate) fn content<const TRACKED: bool>(
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
        #[cfg(feature = "mcp")]
        let inside = || Filter::new(&self.shapes);
        #[cfg(not(feature = "mcp"))]
        let inside = || Unread;
        loop {
            let mut reader = Reader::new(content, &self.shape, inside(), &mut self.envelope);
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
        let is_json = fault.code.rpc_code() == Some(INVALID_REQUEST);
        let mut envelope = Envelope::default();
        let mut reader = Reader::new(content, &self.shape, IDLE, &mut envelope);
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
    #[cfg_attr(not(feature = "small"), inline(always))]
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
        let sure = cfg!(not(feature = "mcp")) || by.is_empty() || (!TRACKED && certain.meets(by));
        let mut revisions = certain.and(by);
        if !sure {
            match self.judge_protocol::<TRACKED>(content, batch, certain, tracking) {
                Ok(taken) => revisions = taken,
                Err(misfit) => return refuse(misfit),
            }
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
        Verdict::Accept { loosened: loosened.minus(Profile::Strict.allowed()), batch, method_len, revisions }
    }

    /// What MCP and the session have against a message that JSON-RPC takes, by reading it again; else the revisions that it may
    /// be of.
    #[inline(never)]
    fn judge_protocol<const TRACKED: bool>(
        &self,
        content: &[u8],
        batch: bool,
        certain: Set,
        tracking: Option<&mut Tracking<'_>>,
    ) -> Result<Set, Misfit> {
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
                return self.shapes.judge(&line, by, None).map_or(Ok(by), |fault| Err(Misfit { fault, by }));
            };
            let method = self.method_of(&line);
            let by = tracking.revisions(&line, method, self.options.direction);
            return self
                .judge_shape(&line, method, by, certain, tracking)
                .and_then(|taken| tracking.admit(iter::once(self.passed(line, taken))).map(|()| taken))
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
        let admitted = tracking.map_or(Ok(()), |tracking| tracking.admit(lines.map(|line| self.passed(line, by))));
        admitted.map(|()| by).map_err(misfit)
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
    pub(crate) fn told<'a, const TRACKED: bool>(
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
        let reply = if answer { Reply::to(fault.code) } else { Reply::None };
        Told { fault, frame_len, fingerprint, id, reply, detail: Detail::default(), settles, requested, revisions }
    }
}
