//! The tracker: what has to be remembered from line to line to know whether a message has its place in the session (451 to
//! 459), of which request a response is the answer (408), and, where the host named no revision, by which one a line is to
//! be judged.
//!
//! It sees both directions of one session and remembers a bounded number of requests of each. Ids and progress tokens are
//! kept as keyed hashes of their type and decoded value, so that their length costs nothing; 128 bits that nobody can make
//! collide stand for the id itself.

mod requests;

use core::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

pub use self::requests::Slot;
use self::requests::{Key, Requests, State, Used};
use crate::code::{Code, Fault, Stage};
use crate::json::{Cursor, Unescaped};
use crate::limits::{AuditKey, Direction};
use crate::mcp::{Answered, CAPABILITIES, Line, Method, Revision, Set, VERSION, declared};
use crate::options::{BadOptions, Options};
use crate::refusal::Refusal;
use crate::rpc::{Kind, Member};

/// The key of `_meta` that says to which subscription a notification belongs.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// The notification that opens a subscription.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// Those that belong to one.
const SUBSCRIBED: [&str; 5] = [
    ACKNOWLEDGED,
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];
/// What a client may send before its session began (451).
const BEFORE_INITIALIZE: [&str; 3] = ["initialize", "ping", "server/discover"];

/// How far the handshake of the older revisions has come.
#[derive(Clone, Copy)]
enum Handshake {
    None,
    /// `initialize` waits for its answer; it asked for this revision.
    Pending(Key, Set),
    /// It was answered; the session is of this revision.
    Done(Set),
}

/// Remembers one session for the two gates of its directions.
///
/// ```
/// use linegate::{AuditKey, Direction, Event, Gate, Inline, Options, Slot, Tracker};
///
/// let key = AuditKey::new(*b"sixteen random b");
/// let (client, server) = (Options::new(Direction::FromClient, key), Options::new(Direction::FromServer, key));
/// // Four slots for each request of either side that may be in flight at once.
/// let mut tracker = Tracker::new(&client, &server, [Slot::EMPTY; 4 * 8])?;
/// let mut client = Gate::new(client, Inline::<1024, 128>::new())?;
/// let mut server = Gate::new(server, Inline::<1024, 128>::new())?;
/// // Each line goes through its sender's gate, with the tracker. Where one gate has closed the host stops both.
/// let fed = client.feed_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", &mut tracker);
/// assert!(matches!(fed.event, Event::Message(_)));
/// assert_eq!(tracker.in_flight(Direction::FromClient), 1);
/// let fed = server.feed_with(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n", &mut tracker);
/// let Event::Refused(refusal) = fed.event else { unreachable!() };
/// assert_eq!(refusal.code().name(), "unknown_response");
/// # Ok::<(), linegate::BadOptions>(())
/// ```
pub struct Tracker<T> {
    slots: T,
    memory: Memory,
}

/// All but the slots.
struct Memory {
    key: AuditKey,
    /// The revision, where the host named one.
    fixed: Option<Set>,
    handshake: Handshake,
    /// A request of 2026-07-28 had a result.
    modern: bool,
    client: Used,
    server: Used,
    late_responses: u64,
}

impl Memory {
    const fn new(key: AuditKey, fixed: Option<Set>) -> Self {
        let unused = Used::NONE;
        Self {
            key,
            fixed,
            handshake: Handshake::None,
            modern: false,
            client: unused,
            server: unused,
            late_responses: 0,
        }
    }
}

impl<T: AsRef<[Slot]> + AsMut<[Slot]>> Tracker<T> {
    /// A tracker for the gates that have these options. A quarter of the slots is the number of requests of one side that
    /// may be in flight at once (456).
    ///
    /// # Errors
    /// [`BadOptions`] (903) where the two options don't make one session, one of each direction, both of the same revision of
    /// MCP: a tracker that sees one direction would refuse every response.
    pub fn new(client: &Options, server: &Options, slots: T) -> Result<Self, BadOptions> {
        let directions = (client.direction, server.direction) == (Direction::FromClient, Direction::FromServer);
        let revision = client.revision;
        for (fits, option, text) in [
            (directions, "direction", "a tracker needs a client's options and a server's, in this order"),
            (
                revision == server.revision && revision.is_mcp(),
                "revision",
                "a tracker needs two gates of the same revision of MCP, or both auto",
            ),
            (slots.as_ref().len() >= 4, "slots", "a tracker needs 4 slots or more"),
        ] {
            if !fits {
                return Err(BadOptions { option, text });
            }
        }
        let fixed = (revision.set() != Set::ALL).then(|| revision.set());
        Ok(Self { slots, memory: Memory::new(client.audit_key, fixed) })
    }

    /// Forgets the session.
    pub fn reset(&mut self) {
        self.memory = Memory::new(self.memory.key, self.memory.fixed);
    }

    /// Ends the wait for the answer to a call that was refused (501 to 505) after the gate had passed its message: the refusal's reply
    /// answers it. Whether it was in flight.
    ///
    /// Either way out is right for that reply: straight to the wire, or through the server's gate with this tracker, which
    /// takes one response to a request that ended so. A line that was refused was never in flight, and changes nothing here: its
    /// reply has no place in the session, and goes straight to the wire.
    ///
    /// ```
    /// use linegate::{AuditKey, Direction, Event, Gate, Inline, Options, Slot, Tracker};
    ///
    /// let key = AuditKey::new(*b"sixteen random b");
    /// let (client, server) = (Options::new(Direction::FromClient, key), Options::new(Direction::FromServer, key));
    /// let mut tracker = Tracker::new(&client, &server, [Slot::EMPTY; 4])?;
    /// let mut client = Gate::new(client, Inline::<1024, 128>::new())?;
    /// for _ in 0..200 {
    ///     let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    ///     let Event::Message(message) = client.feed_with(line, &mut tracker).event else { unreachable!() };
    ///     let call = message.into_call(linegate::Switches::NONE).expect("a request asks for something");
    ///     assert!(tracker.settle(&call.unknown()));
    /// }
    /// assert_eq!(tracker.in_flight(Direction::FromClient), 0);
    /// # Ok::<(), linegate::BadOptions>(())
    /// ```
    pub fn settle(&mut self, refusal: &Refusal<'_>) -> bool {
        let Some(id) = refusal.id.filter(|_| refusal.code.stage() == Stage::Action) else { return false };
        self.tracking().free(refusal.direction.other(), &Cursor::new(id), State::Denied)
    }

    pub(crate) fn tracking(&mut self) -> Tracking<'_> {
        let slots = self.slots.as_mut();
        let half = slots.len() / 4 * 2;
        let (client, server) = slots.split_at_mut_checked(half).unwrap_or_default();
        let server = server.get_mut(..half).unwrap_or_default();
        let Memory { key, fixed, handshake, modern, client: client_used, server: server_used, late_responses } =
            &mut self.memory;
        Tracking {
            client: Requests { used: client_used, slots: client },
            server: Requests { used: server_used, slots: server },
            key: *key,
            fixed: *fixed,
            handshake,
            modern,
            late_responses,
        }
    }
}

impl<T> Tracker<T> {
    /// Requests of that sender that wait for their answers.
    #[must_use]
    pub const fn in_flight(&self, from: Direction) -> usize {
        match from {
            Direction::FromClient => self.memory.client.live,
            Direction::FromServer => self.memory.server.live,
        }
    }

    /// Responses to requests that had been cancelled (455). They are legal: the two crossed each other on their ways.
    #[must_use]
    pub const fn late_responses(&self) -> u64 {
        self.memory.late_responses
    }
}

impl<T> core::fmt::Debug for Tracker<T> {
    /// Shows how much is remembered, never ids.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tracker")
            .field("client_in_flight", &self.memory.client.live)
            .field("server_in_flight", &self.memory.server.live)
            .field("late_responses", &self.memory.late_responses)
            .finish_non_exhaustive()
    }
}

/// A tracker while a line is judged.
pub(crate) struct Tracking<'a> {
    client: Requests<'a>,
    server: Requests<'a>,
    key: AuditKey,
    fixed: Option<Set>,
    handshake: &'a mut Handshake,
    modern: &'a mut bool,
    late_responses: &'a mut u64,
}

/// A message that the stages before have passed.
#[derive(Clone, Copy)]
pub(crate) struct Passed<'t> {
    pub(crate) line: Line<'t>,
    pub(crate) from: Direction,
    /// The protocol's method of a request or notification.
    pub(crate) method: Option<&'static Method>,
    /// The revisions that take it: one, or several while it isn't known which the session speaks.
    pub(crate) taken: Set,
}

impl<'t> Passed<'t> {
    fn is(&self, method: &str) -> bool {
        self.method.is_some_and(|row| row.is(method))
    }

    fn is_any_of(&self, methods: &[&str]) -> bool {
        methods.iter().any(|method| self.is(method))
    }

    fn id(&self) -> Option<Cursor<'t>> {
        self.line.get(Member::Id)
    }

    fn param(&self, name: &str) -> Option<Cursor<'t>> {
        self.line.get(Member::Params)?.get(name)
    }

    fn fault(&self, code: Code, value: Option<Cursor<'_>>) -> Result<(), Fault> {
        Err(Fault { code, at: value.map_or(0, |value| value.place(self.line.text)) })
    }

    fn fault_at(&self, code: Code, member: Member) -> Result<(), Fault> {
        self.fault(code, self.line.get(member))
    }
}

impl<'a> Tracking<'a> {
    /// The requests of that sender.
    const fn of(&self, from: Direction) -> &Requests<'a> {
        match from {
            Direction::FromClient => &self.client,
            Direction::FromServer => &self.server,
        }
    }

    const fn of_mut(&mut self, from: Direction) -> &mut Requests<'a> {
        match from {
            Direction::FromClient => &mut self.client,
            Direction::FromServer => &mut self.server,
        }
    }

    /// The hash of an id or token.
    fn hash(&self, value: &Cursor<'_>) -> Key {
        let mut hasher = SipHasher24::new_with_key(&self.key.0);
        let token = value.bytes();
        match token.strip_prefix(b"\"") {
            // A string by its decoded bytes behind a quote, which no number begins with.
            Some(_) if token.contains(&b'\\') => {
                hasher.write(b"\"");
                Unescaped::new(value.inside()).for_each(|byte| hasher.write(&[byte]));
            }
            Some(_) => hasher.write(token.get(..token.len() - 1).unwrap_or_default()),
            // An integer has one spelling.
            None => hasher.write(token),
        }
        let hash = hasher.finish128();
        Key(hash.h1, hash.h2)
    }

    fn token(&self, value: &Cursor<'_>) -> u64 {
        // 0 stands for none.
        self.hash(value).0.max(1)
    }

    /// The request that a response answers, if it is in flight.
    fn request_of(&self, line: &Line<'_>, from: Direction) -> Option<&Slot> {
        let id = self.hash(&line.get(Member::Id)?);
        self.of(from.other()).find(id)
    }

    /// The revisions by which a message is to be judged.
    pub(crate) fn revisions(&self, line: &Line<'_>, method: Option<&'static Method>, from: Direction) -> Set {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let kind = line.parts.kind();
        let asks = kind == Kind::Request && from == Direction::FromClient;
        if asks && line.meta().is_some_and(|meta| meta.get(VERSION).is_some()) {
            return Set::MODERN;
        }
        if asks && method.is_some_and(|method| method.is("initialize")) {
            return asked_for(line);
        }
        if matches!(kind, Kind::Result | Kind::Error)
            && let Some(slot) = self.request_of(line, from)
        {
            return slot.revisions;
        }
        match *self.handshake {
            Handshake::Pending(_, version) | Handshake::Done(version) => version,
            Handshake::None if *self.modern && !answers_or_asks(kind, from) => Set::MODERN,
            Handshake::None => Set::ALL,
        }
    }

    /// The revision of the session, once it is known.
    pub(crate) fn known(&self) -> Option<Set> {
        match *self.handshake {
            _ if self.fixed.is_some() => self.fixed,
            Handshake::Pending(_, version) | Handshake::Done(version) => Some(version),
            _ if *self.modern => Some(Set::MODERN),
            _ => None,
        }
    }

    /// Whether an id belongs to a request of that sender that waits for its answer or was cancelled just now.
    pub(crate) fn is_in_use(&self, from: Direction, id: &Cursor<'_>) -> bool {
        let (id, requests) = (self.hash(id), self.of(from));
        requests.find(id).is_some() || requests.was_cancelled(id)
    }

    /// What a response answers, if that is in flight and a method of the protocol.
    pub(crate) fn answered(&self, line: &Line<'_>, from: Direction) -> Option<Answered> {
        let slot = self.request_of(line, from)?;
        Some(Answered { method: slot.method?, task: slot.task, declared: slot.declared })
    }

    /// Takes the messages of a line into the session, or none of them.
    pub(crate) fn admit<'t>(&mut self, messages: impl Iterator<Item = Passed<'t>> + Clone) -> Result<(), Fault> {
        let live = (self.client.used.live, self.server.used.live);
        for message in messages.clone() {
            if let Err(fault) = self.check(&message) {
                self.client.undo(live.0);
                self.server.undo(live.1);
                return Err(fault);
            }
        }
        messages.for_each(|message| self.apply(&message));
        Ok(())
    }

    /// Whether a message has its place in the session. Requests, and which of them a batch answers, are noted at once; what
    /// else a message changes waits for [`apply`](Self::apply), when all of the line is accepted.
    fn check(&mut self, message: &Passed<'_>) -> Result<(), Fault> {
        match message.line.parts.kind() {
            Kind::Request => self.check_request(message),
            Kind::Notification => self.check_notification(message),
            _ => self.check_response(message),
        }
    }

    /// A response with this id was refused, so that its request waits no longer. Whether there was one in flight.
    pub(crate) fn release(&mut self, from: Direction, id: &Cursor<'_>) -> bool {
        self.free(from, id, State::Answered)
    }

    /// Ends the request that waits for a sender's response with this id; whether there is one.
    fn free(&mut self, from: Direction, id: &Cursor<'_>, state: State) -> bool {
        let id = self.hash(id);
        let waits = self.of(from.other()).find(id).is_some();
        if waits {
            self.of_mut(from.other()).end(id, state);
            if self.is_handshake(from, id) {
                *self.handshake = Handshake::None;
            }
        }
        waits
    }

    /// Whether a sender's response with this id ends the handshake.
    fn is_handshake(&self, from: Direction, id: Key) -> bool {
        from == Direction::FromServer && matches!(*self.handshake, Handshake::Pending(pending, _) if pending == id)
    }

    /// Rule 451. A revision that begins without a handshake takes what it takes at once.
    fn check_begun(&self, message: &Passed<'_>) -> Result<(), Fault> {
        let legacy = !message.taken.meets(Set::MODERN);
        let waits = legacy && message.from == Direction::FromClient && matches!(self.handshake, Handshake::None);
        if waits && !message.is_any_of(&BEFORE_INITIALIZE) {
            return message.fault_at(Code::NotInitialized, Member::Method);
        }
        Ok(())
    }

    fn check_request(&mut self, message: &Passed<'_>) -> Result<(), Fault> {
        self.check_begun(message)?;
        let Passed { line, from, method, taken } = *message;
        let begins = from == Direction::FromClient && message.is("initialize");
        if begins && !matches!(self.handshake, Handshake::None) {
            return message.fault_at(Code::InitializeAgain, Member::Method);
        }
        let Some(id) = message.id() else { return Ok(()) };
        if self.is_in_use(from, &id) {
            return message.fault_at(Code::IdInUse, Member::Id);
        }
        let id = self.hash(&id);
        let meta = line.meta();
        let token = meta.and_then(|meta| meta.get("progressToken")).map_or(0, |token| self.token(&token));
        let task = method.is_some_and(|method| method.may_be_task(taken)) && message.param("task").is_some();
        let declared = declared(meta.and_then(|meta| meta.get(CAPABILITIES)));
        let slot = Slot { id, token, method, revisions: taken, task, declared, state: State::InFlight };
        if !self.of_mut(from).add(slot) {
            return message.fault_at(Code::TooManyInFlight, Member::Id);
        }
        Ok(())
    }

    fn check_notification(&self, message: &Passed<'_>) -> Result<(), Fault> {
        self.check_begun(message)?;
        let from = message.from;
        if message.is("notifications/progress")
            && let Some(token) = message.param("progressToken")
            && !self.of(from.other()).may_progress(self.token(&token))
        {
            return message.fault(Code::UnknownProgress, Some(token));
        }
        if message.taken == Set::MODERN && from == Direction::FromServer {
            return self.check_subscription(message);
        }
        Ok(())
    }

    /// Where a server of 2026-07-28 cancels something other than a subscription, the id of that (401).
    pub(crate) fn cancelled_in_vain<'t>(&self, line: &Line<'t>) -> Option<Cursor<'t>> {
        let id = line.get(Member::Params)?.get("requestId").filter(Cursor::is_id)?;
        let key = self.hash(&id);
        // One that has ended may have ended while this was on its way.
        let slot = self.client.find(key).or_else(|| self.client.ended(key));
        if slot.is_some_and(|slot| slot.is("subscriptions/listen")) { None } else { Some(id) }
    }

    /// Rule 459.
    fn check_subscription(&self, message: &Passed<'_>) -> Result<(), Fault> {
        let Some(tag) = message.line.meta().and_then(|meta| meta.get(SUBSCRIPTION)) else {
            let needs_one = message.is_any_of(&SUBSCRIBED);
            return if needs_one { message.fault_at(Code::UnknownSubscription, Member::Method) } else { Ok(()) };
        };
        let key = self.hash(&tag);
        let open = match self.client.find(key) {
            Some(slot) => slot.is("subscriptions/listen") && (slot.state == State::Open || message.is(ACKNOWLEDGED)),
            // The two may have crossed each other.
            None => self
                .client
                .ended(key)
                .is_some_and(|slot| slot.is("subscriptions/listen") && slot.state == State::Cancelled),
        };
        if open { Ok(()) } else { message.fault(Code::UnknownSubscription, Some(tag)) }
    }

    fn check_response(&mut self, message: &Passed<'_>) -> Result<(), Fault> {
        let Some(id) = known_id(message) else { return Ok(()) };
        let key = self.hash(&id);
        let requests = self.of_mut(message.from.other());
        let code = match requests.find_mut(key) {
            Some(slot) if slot.state == State::Answering => Code::AnsweredTwice,
            Some(slot) => {
                slot.state = State::Answering;
                return Ok(());
            }
            None => match requests.ended_mut(key) {
                Some(slot) if slot.state == State::Cancelled => {
                    slot.state = State::AnsweringLate;
                    return Ok(());
                }
                Some(slot) if slot.state == State::Denied => {
                    slot.state = State::AnsweringDenied;
                    return Ok(());
                }
                Some(_) => Code::AnsweredTwice,
                None => Code::UnknownResponse,
            },
        };
        message.fault(code, Some(id))
    }

    /// Remembers what an accepted message changes.
    fn apply(&mut self, message: &Passed<'_>) {
        match message.line.parts.kind() {
            Kind::Request => self.apply_request(message),
            Kind::Notification => self.apply_notification(message),
            _ => self.apply_response(message),
        }
    }

    fn apply_request(&mut self, message: &Passed<'_>) {
        if message.from == Direction::FromClient
            && message.is("initialize")
            && let Some(id) = message.id()
        {
            *self.handshake = Handshake::Pending(self.hash(&id), asked_for(&message.line));
        }
    }

    fn apply_notification(&mut self, message: &Passed<'_>) {
        let modern_server = message.taken.meets(Set::MODERN) && message.from == Direction::FromServer;
        if message.is("notifications/cancelled")
            && let Some(id) = message.param("requestId")
        {
            let id = self.hash(&id);
            // In 2026-07-28 a server cancels what the client subscribed to, else a side what it asked itself. While the
            // revision isn't known it may mean either.
            if modern_server && self.client.find(id).is_some_and(|slot| slot.is("subscriptions/listen")) {
                self.client.end(id, State::Cancelled);
            }
            let own = self.of_mut(message.from);
            if !(modern_server && message.taken.is_one())
                && own.find(id).is_some_and(|slot| !slot.is("initialize") && !slot.task)
            {
                own.end(id, State::Cancelled);
            }
        }
        if modern_server
            && message.is(ACKNOWLEDGED)
            && let Some(tag) = message.line.meta().and_then(|meta| meta.get(SUBSCRIPTION))
        {
            let id = self.hash(&tag);
            if let Some(slot) = self.client.find_mut(id) {
                slot.state = State::Open;
            }
        }
    }

    fn apply_response(&mut self, message: &Passed<'_>) {
        let Some(id) = known_id(message).map(|id| self.hash(&id)) else { return };
        let from = message.from;
        let Some(slot) = self.of(from.other()).find(id).copied() else {
            let late = self.of_mut(from.other()).answered_late(id);
            *self.late_responses += u64::from(late);
            return;
        };
        self.of_mut(from.other()).end(id, State::Answered);
        let result = message.line.get(Member::Result);
        if self.is_handshake(from, id) {
            *self.handshake = match (result, *self.handshake) {
                (Some(result), Handshake::Pending(_, asked)) => {
                    Handshake::Done(result.get("protocolVersion").and_then(|version| legacy(&version)).unwrap_or(asked))
                }
                _ => Handshake::None,
            };
        } else if slot.revisions == Set::MODERN && result.is_some() && matches!(*self.handshake, Handshake::None) {
            *self.modern = true;
        }
    }
}

/// Whether it is a client's request or response: in a session of 2026-07-28 that another handshake may follow, neither
/// belongs to it without saying so.
fn answers_or_asks(kind: Kind, from: Direction) -> bool {
    from == Direction::FromClient && kind != Kind::Notification
}

/// The id of a response; none of an error that doesn't know what it answers.
fn known_id<'t>(message: &Passed<'t>) -> Option<Cursor<'t>> {
    message.id().filter(|id| id.bytes() != b"null")
}

/// The revision with a handshake that has this name.
fn legacy(version: &Cursor<'_>) -> Option<Set> {
    let names = Revision::PUBLISHED.iter().zip(Set::ALL.oldest_first());
    names.filter(|(_, set)| set.meets(Set::LEGACY)).find(|(name, _)| version.is_str(name)).map(|(_, set)| set)
}

/// The revision that an `initialize` asks for; the newest with a handshake where it names none.
fn asked_for(line: &Line<'_>) -> Set {
    let version = line.get(Member::Params).and_then(|params| params.get("protocolVersion"));
    version.and_then(|version| legacy(&version)).unwrap_or(Set::NEWEST_LEGACY)
}
