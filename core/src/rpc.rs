//! JSON-RPC 2.0: from a checked JSON value to a message (rules 301 to 316).
//!
//! [`Reader`] listens to the walker and keeps one slot for each name of the envelope: where its value lies, of which type
//! it is. When the message's closing brace comes the slots are judged. Faults are ordered by where they are met reading left
//! to right: names at the key, values at their first byte, what needs the whole object at its closing brace; 309 last of
//! all, because it alone says that a well-formed request was meant.

use crate::code::{Code, Fault};
use crate::find::SMALL;
use crate::json::{
    Cursor, Halt, Kind as Json, Listener, Spelling, Token, Unescaped, Walker, Words, folds_to, is_integer,
    is_safe_integer, is_sound,
};
use crate::limits::{MAX_METHOD, Switch, Switches};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `method` and `id`: asks for an effect and an answer.
    Request,
    /// `method` without `id`: is never answered.
    Notification,
    /// `result` and `id`: a request succeeded.
    Result,
    /// `error`: a request failed.
    Error,
    /// An array of messages, where the gate takes batches.
    Batch,
}

impl Kind {
    /// The kind as `scan` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
            Self::Batch => "batch",
        }
    }
}

/// What the JSON-RPC stage holds a message to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) allowed: Switches,
    pub(crate) batches: bool,
    /// Plain JSON-RPC: params may be an array, a result any value.
    pub(crate) plain: bool,
    pub(crate) max_id: usize,
}

/// The members of the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
}

const MEMBERS: [(Member, &str); 6] = [
    (Member::Jsonrpc, "jsonrpc"),
    (Member::Id, "id"),
    (Member::Method, "method"),
    (Member::Params, "params"),
    (Member::Result, "result"),
    (Member::Error, "error"),
];

impl Member {
    /// Its bit in a set of members.
    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The member of that name.
    fn spelt(key: &Token, text: &[u8]) -> Option<Self> {
        let raw = key.raw(text);
        MEMBERS.iter().find(|(_, name)| key.plain && name.as_bytes() == raw).map(|(member, _)| *member)
    }

    /// The member of that name, which is given by its words.
    fn named(words: Words) -> Option<Self> {
        MEMBERS.iter().find(|(_, name)| Words::of(name) == words).map(|(member, _)| *member)
    }
}

/// The members of an error object.
const ERROR_MEMBERS: [&str; 3] = ["code", "message", "data"];

/// What looks into params and results while the walker passes them.
pub(crate) trait Inside {
    /// Which revisions take a message; by default none.
    type Takers: Default;
    /// Whether it looks at anything.
    const LOOKS: bool = true;

    /// A message begins.
    fn begin(&mut self);
    /// Its method was read: the bytes between the quotes, whether they are written without escapes, and its words if it is
    /// at most 16 bytes long, ASCII and plain, else [`Words::NONE`].
    fn method(&mut self, raw: &[u8], plain: bool, words: Words);
    /// A key of `params` or `result` (level 1) or of an object directly in it (level 2).
    fn key(&mut self, text: &[u8], member: Member, level: usize, key: Token, words: Words);
    /// The value of the key that came last.
    fn value(&mut self, text: &[u8], kind: Json, start: usize, end: usize);
    /// Who certainly takes the message, without a second look.
    fn taken(&mut self, parts: &Parts) -> Self::Takers;
    /// An object begins that is the value of the key that came last. False if there are no names in it to look for; then
    /// its keys aren't told, and it isn't left.
    fn enter(&mut self) -> bool;
    /// The object that was entered last ends.
    fn leave(&mut self);
    /// Whether no key was a protocol name misspelt and none has to be read again to tell.
    fn is_clean(&self) -> bool;
    /// The first name that is a protocol name misspelt, if there is one; asked at the message's end.
    fn misspelt(&mut self, text: &[u8], parts: &Parts) -> Option<usize>;
}

/// Nobody looks into params and results: what plain JSON-RPC asks for.
#[cfg(not(feature = "mcp"))]
pub(crate) struct Unread;

#[cfg(not(feature = "mcp"))]
impl Inside for Unread {
    type Takers = crate::mcp::Set;
    const LOOKS: bool = false;

    fn begin(&mut self) {}
    fn method(&mut self, _: &[u8], _: bool, _: Words) {}
    fn key(&mut self, _: &[u8], _: Member, _: usize, _: Token, _: Words) {}
    fn value(&mut self, _: &[u8], _: Json, _: usize, _: usize) {}
    fn taken(&mut self, _: &Parts) -> crate::mcp::Set {
        crate::mcp::Set::NONE
    }
    fn enter(&mut self) -> bool {
        false
    }
    fn leave(&mut self) {}
    fn is_clean(&self) -> bool {
        true
    }
    fn misspelt(&mut self, _: &[u8], _: &Parts) -> Option<usize> {
        None
    }
}

/// Where a value lies, and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Json,
    /// A string without escapes, or an integer of few digits.
    pub(crate) plain: bool,
    start: u32,
    end: u32,
}

impl Slot {
    /// Offsets fit: no line is longer than [`MAX_FRAME`](crate::MAX_FRAME).
    #[cfg_attr(not(feature = "small"), inline(always))]
    const fn new(kind: Json, start: usize, end: usize, plain: bool) -> Self {
        Self { kind, plain, start: start as u32, end: end as u32 }
    }

    const fn start(&self) -> usize {
        self.start as usize
    }

    const fn end(&self) -> usize {
        self.end as usize
    }

    pub(crate) fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start()..self.end()).unwrap_or_default()
    }

    /// The bytes between the quotes of a string.
    pub(crate) fn string<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        (self.kind == Json::String).then(|| text.get(self.start() + 1..self.end() - 1).unwrap_or_default())
    }
}

/// Where the members of a message lie.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts([Option<Slot>; 6]);

impl Parts {
    /// Those of an object that was judged before: an element of a batch.
    pub(crate) fn of(text: &[u8], object: &Cursor<'_>) -> Self {
        let mut parts = Self::default();
        for (key, value) in object.members() {
            let (start, end) = (value.place(text), value.place(text) + value.bytes().len());
            if let Some((member, _)) = MEMBERS.iter().find(|(_, name)| key.inside() == name.as_bytes()) {
                let plain = value.kind() == Json::String && !value.bytes().contains(&b'\\');
                parts.put(*member, Slot::new(value.kind(), start, end, plain));
            }
        }
        parts
    }

    pub(crate) fn get(&self, member: Member) -> Option<Slot> {
        self.0.get(member as usize).copied().flatten()
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn put(&mut self, member: Member, slot: Slot) {
        if let Some(place) = self.0.get_mut(member as usize) {
            *place = Some(slot);
        }
    }

    /// What a message without fault is.
    pub(crate) const fn kind(&self) -> Kind {
        match &self.0 {
            [_, Some(_), Some(_), ..] => Kind::Request,
            [_, None, Some(_), ..] => Kind::Notification,
            [_, _, None, _, Some(_), _] => Kind::Result,
            _ => Kind::Error,
        }
    }
}

/// The slots of one message. They are written where they are read in the end: copied at once, fields that were just written
/// one by one would hold the processor up.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    pub(crate) slots: Parts,
    unknown: Option<usize>,
    misspelt: Option<usize>,
    /// How many keys are `id` or could be taken for it.
    ids: u32,
    /// One bit for each member whose name is there, spelt with escapes.
    escaped: u8,
}

impl Envelope {
    pub(crate) fn get(&self, member: Member) -> Option<Slot> {
        self.slots.get(member)
    }

    fn has(&self, member: Member) -> bool {
        self.get(member).is_some()
    }

    /// Whether a refusal with a code other than -32700 is answered: not if the line looks like a notification or a response.
    pub(crate) fn wants_answer(&self) -> bool {
        if self.names(Member::Method) { self.names(Member::Id) } else { !self.is_response() }
    }

    /// Whether the line looks like a response.
    pub(crate) fn is_response(&self) -> bool {
        !self.names(Member::Method) && (self.names(Member::Result) || self.names(Member::Error))
    }

    /// Whether a member is there, however its name is spelt.
    fn names(&self, member: Member) -> bool {
        self.has(member) || self.escaped & member.bit() != 0
    }

    /// The id that a reply may echo: it stands there once, spelt plainly, and is valid, in its text as well.
    pub(crate) fn echo(&self, text: &[u8], shape: &Shape) -> Option<Slot> {
        let id = self.get(Member::Id)?;
        let valid = id.kind != Json::Null && id_fault(&id, text, shape.max_id).is_none();
        let sound = id.string(text).is_none_or(|raw| is_sound(raw, shape.allowed));
        (self.ids == 1 && valid && sound).then_some(id)
    }
}

/// Whether a string may name a method: 1 to 255 bytes, unescaped. Half of a surrogate pair is no text that could name one,
/// even where a switch lets it pass.
fn is_method(raw: &[u8], plain: bool) -> bool {
    let len = if plain { raw.len() } else { Unescaped::new(raw).count() };
    let text = Switches::NONE.with(Switch::EscapedNul).with(Switch::Separators);
    (1..=MAX_METHOD).contains(&len) && (plain || is_sound(raw, text))
}

fn is_initialize(raw: &[u8]) -> bool {
    Unescaped::new(raw).eq(b"initialize".iter().copied())
}

/// Rules 306 and 308; null is another rule's.
fn id_fault(id: &Slot, text: &[u8], max_id: usize) -> Option<Code> {
    let token = id.of(text);
    match id.kind {
        Json::String if token.len() - 2 > max_id => Some(Code::IdRange),
        Json::String | Json::Null => None,
        Json::Number if !is_integer(token) => Some(Code::IdType),
        Json::Number if !is_safe_integer(token) => Some(Code::IdRange),
        Json::Number => None,
        Json::Object | Json::Array | Json::Bool => Some(Code::IdType),
    }
}

/// The first of several faults by the place where each is met; of two met at one place, the one that was offered first.
struct First(Option<(usize, Fault)>);

impl First {
    #[cfg_attr(feature = "small", inline(never))]
    fn offer(&mut self, met: usize, code: Code, at: usize) {
        if self.0.is_none_or(|(before, _)| met < before) {
            self.0 = Some((met, Fault { code, at }));
        }
    }
}

/// Reads the envelope of a line while the walker passes over it.
pub(crate) struct Reader<'t, I> {
    text: &'t [u8],
    shape: &'t Shape,
    inside: I,
    root: Option<Slot>,
    /// The level of a message: 0, or 1 in a batch.
    base: usize,
    pub(crate) envelope: &'t mut Envelope,
    /// One bit for each member of the message that came as usual; all of them once one did not.
    seen: u8,
    /// Among those members is one whose value isn't what it usually is.
    odd: bool,
    start: usize,
    fault: Option<Fault>,
    /// Rule 309 waits until nothing else of the stage is found.
    params_type: Option<usize>,
    messages: usize,
    responses: bool,
    pub(crate) needed: Switches,
}

impl<'t, I: Inside> Reader<'t, I> {
    /// Reads a line, each message of it into `envelope`.
    pub(crate) fn new(text: &'t [u8], shape: &'t Shape, inside: I, envelope: &'t mut Envelope) -> Self {
        *envelope = Envelope::default();
        Self {
            text,
            shape,
            inside,
            root: None,
            base: 0,
            envelope,
            seen: 0,
            odd: false,
            start: 0,
            fault: None,
            params_type: None,
            messages: 0,
            responses: false,
            needed: Switches::NONE,
        }
    }

    /// The revisions that certainly take the message; of a batch, none.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn taken(&mut self) -> I::Takers {
        if self.is_batch() { I::Takers::default() } else { self.inside.taken(&self.envelope.slots) }
    }

    /// Whether the line is a batch.
    pub(crate) const fn is_batch(&self) -> bool {
        self.base == 1
    }

    /// The stage's verdict, after a walk that went through.
    pub(crate) fn verdict(&self) -> Option<Fault> {
        let root = self.root?;
        if self.is_batch() && (!self.shape.batches || self.messages == 0) {
            return Some(Fault { code: Code::Batch, at: root.start() });
        }
        if !self.is_batch() && root.kind != Json::Object {
            return Some(Fault { code: Code::NotAnObject, at: root.start() });
        }
        self.fault.or(self.params_type.map(|at| Fault { code: Code::ParamsType, at }))
    }

    fn refuse(&mut self, code: Code, at: usize) {
        if self.fault.is_none() {
            self.fault = Some(Fault { code, at });
        }
    }

    fn begin_message(&mut self, kind: Json, at: usize) {
        if self.messages > 0 {
            *self.envelope = Envelope::default();
            self.seen = 0;
            self.odd = false;
            self.inside.begin();
        }
        self.messages += 1;
        self.start = at;
        if self.is_batch() && kind != Json::Object {
            self.refuse(if kind == Json::Array { Code::Batch } else { Code::NotAnObject }, at);
        }
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn end_message(&mut self, closing: usize) {
        if !self.is_usual() {
            self.judge_message(closing);
        }
    }

    /// Whether the message is a request, notification or result without any fault, told by what almost all of them have in
    /// common. What isn't usual is judged.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn is_usual(&self) -> bool {
        const CALL: u8 = Member::Jsonrpc.bit() | Member::Method.bit();
        const OPTIONAL: u8 = Member::Id.bit() | Member::Params.bit();
        const RESULT: u8 = Member::Jsonrpc.bit() | Member::Id.bit() | Member::Result.bit();
        let members = self.seen & !OPTIONAL == CALL || self.seen == RESULT;
        members && !self.odd && self.inside.is_clean() && !self.is_batch()
    }

    /// Whether a value is an id without fault, at once where it is of few digits.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn is_usual_id(&self, id: &Slot) -> bool {
        let few_digits = id.kind == Json::Number && id.plain;
        few_digits || (id.kind != Json::Null && id_fault(id, self.text, self.shape.max_id).is_none())
    }

    #[cold]
    fn judge_message(&mut self, closing: usize) {
        let first = self.judge(closing);
        if let Some((_, fault)) = first.0 {
            self.refuse(fault.code, fault.at);
        }
        if let Some(params) = self.envelope.get(Member::Params) {
            let fits = params.kind == Json::Object || (self.shape.plain && params.kind == Json::Array);
            if !fits && self.params_type.is_none() {
                self.params_type = Some(params.start());
            }
        }
        if self.is_batch() && first.0.is_none() {
            self.judge_mixture();
        }
    }

    /// A batch holds requests and notifications, or responses, never both.
    fn judge_mixture(&mut self) {
        let response = self.envelope.get(Member::Method).is_none();
        if self.messages == 1 {
            self.responses = response;
        } else if self.responses != response {
            self.refuse(Code::Batch, self.start);
        }
    }

    fn judge(&mut self, closing: usize) -> First {
        use Member::{Error, Id, Jsonrpc, Method, Params, Result};
        let text = self.text;
        let envelope = &*self.envelope;
        let mut first = First(None);
        let inside = self.inside.misspelt(text, &envelope.slots);
        for at in [envelope.misspelt, inside].into_iter().flatten() {
            first.offer(at, Code::MisspeltMember, at);
        }
        if let Some(at) = envelope.unknown {
            if self.shape.allowed.contains(Switch::UnknownMembers) {
                self.needed = self.needed.with(Switch::UnknownMembers);
            } else {
                first.offer(at, Code::UnknownMember, at);
            }
        }
        if let Some(version) = envelope.get(Jsonrpc) {
            let is_2_0 = version.string(text).is_some_and(|raw| Unescaped::new(raw).eq(b"2.0".iter().copied()));
            if !is_2_0 {
                first.offer(version.start(), Code::JsonrpcWrong, version.start());
            }
        }
        if let Some(method) = envelope.get(Method) {
            if !method.string(text).is_some_and(|raw| is_method(raw, method.plain)) {
                first.offer(method.start(), Code::MethodType, method.start());
            }
            if self.is_batch() && method.string(text).is_some_and(is_initialize) {
                first.offer(method.start(), Code::Batch, method.start());
            }
        }
        let id = envelope.get(Id);
        if let Some(code) = id.and_then(|id| id_fault(&id, text, self.shape.max_id)) {
            let at = id.map_or(0, |id| id.start());
            first.offer(at, code, at);
        }
        if let Some(error) = envelope.get(Error) {
            judge_error(&error, text, &mut first);
        }
        if let Some(result) = envelope.get(Result)
            && !self.shape.plain
            && result.kind != Json::Object
        {
            first.offer(result.start(), Code::ResultType, result.start());
        }
        let has = |member: Member| envelope.has(member);
        let shapes = [Method, Result, Error].into_iter().filter(|member| has(*member)).count();
        let error_alone = shapes == 1 && has(Error);
        let id_null = id.is_some_and(|id| id.kind == Json::Null);
        for (broken, code) in [
            (!has(Jsonrpc), Code::JsonrpcMissing),
            (id_null && !error_alone, Code::IdNull),
            (shapes > 1 || (has(Params) && !has(Method)), Code::MixedShape),
            (shapes == 0, Code::NoShape),
            (has(Result) && !has(Id), Code::IdMissing),
        ] {
            if broken {
                first.offer(closing, code, closing);
            }
        }
        first
    }
}

/// Rules 314 and 313 for the error object, which is read once more: a wrong type is met at that member's value, a missing
/// member at the object's end, a misspelt one at its key.
fn judge_error(error: &Slot, text: &[u8], first: &mut First) {
    if error.kind != Json::Object {
        first.offer(error.start(), Code::ErrorObject, error.start());
        return;
    }
    let (mut code, mut message) = (false, false);
    for (key, value) in Cursor::new(error.of(text)).members() {
        let (name, at) = (key.inside(), value.place(text));
        match name {
            b"code" => {
                code = true;
                if value.kind() != Json::Number || !is_integer(value.bytes()) {
                    first.offer(at, Code::ErrorObject, at);
                }
            }
            b"message" => {
                message = true;
                if value.kind() != Json::String {
                    first.offer(at, Code::ErrorObject, at);
                }
            }
            b"data" => {}
            _ if ERROR_MEMBERS.iter().any(|member| folds_to(name, false, member)) => {
                first.offer(key.place(text), Code::MisspeltMember, key.place(text));
            }
            _ => {}
        }
    }
    if !(code && message) {
        first.offer(error.end() - 1, Code::ErrorObject, error.start());
    }
}

impl<I: Inside> Reader<'_, I> {
    /// Passes a line's value.
    #[cfg_attr(not(feature = "small"), inline(always))]
    pub(crate) fn line(&mut self, walker: &mut Walker<'_, '_>, at: usize) -> Result<usize, Halt> {
        if walker.byte(at) != b'{' {
            return self.no_object(walker, at);
        }
        self.root = Some(Slot::new(Json::Object, at, at, false));
        self.message(walker, at, 0)
    }

    /// Passes a line's value where it is none of an object: the messages of a batch, or anything else.
    #[inline(never)]
    fn no_object(&mut self, walker: &mut Walker<'_, '_>, at: usize) -> Result<usize, Halt> {
        if walker.byte(at) == b'[' {
            self.root = Some(Slot::new(Json::Array, at, at, false));
            self.base = 1;
            return walker.array(at, 0, |walker, at| {
                if walker.byte(at) == b'{' { self.message(walker, at, 1) } else { self.no_message(walker, at) }
            });
        }
        self.no_message(walker, at)
    }

    /// Passes an object that is to be a message.
    fn message(&mut self, walker: &mut Walker<'_, '_>, at: usize, depth: usize) -> Result<usize, Halt> {
        self.begin_message(Json::Object, at);
        let end = walker.object(self, at, depth)?;
        self.end_message(end - 1);
        Ok(end)
    }

    /// Passes what stands where a message should, and can't be one.
    fn no_message(&mut self, walker: &mut Walker<'_, '_>, at: usize) -> Result<usize, Halt> {
        let value = walker.value(at, self.base)?;
        self.root = self.root.or(Some(Slot::new(value.kind, at, at, false)));
        self.begin_message(value.kind, at);
        self.end_message(value.end - 1);
        Ok(value.end)
    }
}

impl<I: Inside> Listener for Reader<'_, I> {
    type Name = Option<Member>;

    /// The members of the envelope, each in code of its own: what nearly every message is made of.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn usual(&mut self, walker: &mut Walker<'_, '_>, mut at: usize, depth: usize) -> Result<Option<usize>, Halt> {
        if SMALL {
            self.seen = u8::MAX;
            return Ok(None);
        }
        const JSONRPC: Spelling = Spelling::new("jsonrpc\"");
        const VERSION: Spelling = Spelling::new("2.0\"");
        const METHOD: Spelling = Spelling::new("method\":");
        const ID: Spelling = Spelling::new("id\":");
        const PARAMS: Spelling = Spelling::new("params\":");
        const RESULT: Spelling = Spelling::new("result\":");
        const ERROR: Spelling = Spelling::new("error\":");
        // One comparison after another: which member comes is easier foretold so than by a jump to one of six places.
        let word = walker.word(at);
        let end = if self.comes(walker, Member::Jsonrpc, word, JSONRPC, &mut at) {
            walker.colon(&mut at)?;
            if walker.is_at(at, depth, VERSION) {
                self.put(Member::Jsonrpc, Slot::new(Json::String, at, at + 5, true)).end()
            } else {
                self.odd = true;
                self.scalar(walker, Member::Jsonrpc, at, depth)?.end()
            }
        } else if self.comes(walker, Member::Id, word, ID, &mut at) {
            self.envelope.ids += 1;
            let id = self.scalar(walker, Member::Id, at, depth)?;
            self.odd |= !self.is_usual_id(&id);
            id.end()
        } else if self.comes(walker, Member::Method, word, METHOD, &mut at) {
            self.method(walker, at, depth)?
        } else if self.comes(walker, Member::Params, word, PARAMS, &mut at) {
            self.outer(walker, Member::Params, at, depth)?
        } else if self.comes(walker, Member::Result, word, RESULT, &mut at) {
            self.outer(walker, Member::Result, at, depth)?
        } else if self.comes(walker, Member::Error, word, ERROR, &mut at) {
            self.scalar(walker, Member::Error, at, depth)?.end()
        } else {
            self.usual_no_more(walker);
            return Ok(None);
        };
        Ok(Some(end))
    }

    #[inline(never)]
    fn key(&mut self, key: Token, words: Words) -> Option<Member> {
        let member = if SMALL { Member::spelt(&key, self.text) } else { Member::named(words) };
        match member {
            Some(member) => self.envelope.ids += u32::from(member == Member::Id),
            None => self.other_key(key),
        }
        member
    }

    #[inline(never)]
    fn value(
        &mut self,
        walker: &mut Walker<'_, '_>,
        name: Option<Member>,
        at: usize,
        depth: usize,
    ) -> Result<usize, Halt> {
        match name {
            Some(Member::Method) => self.method(walker, at, depth),
            Some(member @ (Member::Params | Member::Result)) => self.outer(walker, member, at, depth),
            Some(member) => Ok(self.scalar(walker, member, at, depth)?.end()),
            None => Ok(walker.value(at, depth)?.end),
        }
    }
}

impl<I: Inside> Reader<'_, I> {
    /// Keeps the place of a member's value.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn put(&mut self, member: Member, slot: Slot) -> Slot {
        self.envelope.slots.put(member, slot);
        slot
    }

    /// Whether the key at `at`, which begins with `word`, is that member as it usually comes; then it is taken, and `at` is the
    /// place of what follows it.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn comes(
        &mut self,
        walker: &mut Walker<'_, '_>,
        member: Member,
        word: u64,
        name: Spelling,
        at: &mut usize,
    ) -> bool {
        if !name.begins(word) || self.seen & member.bit() != 0 || !walker.take_known(at, name) {
            return false;
        }
        self.seen |= member.bit();
        true
    }

    /// A member comes that isn't usual: from here on all keys of this message are compared with each other.
    #[cold]
    fn usual_no_more(&mut self, walker: &mut Walker<'_, '_>) {
        if self.seen != u8::MAX {
            self.seen = u8::MAX;
            walker.hash_known();
        }
    }

    /// Passes the value of a member in which nothing is looked for.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn scalar(&mut self, walker: &mut Walker<'_, '_>, member: Member, at: usize, depth: usize) -> Result<Slot, Halt> {
        let value = walker.value(at, depth)?;
        Ok(self.put(member, Slot::new(value.kind, at, value.end, value.plain)))
    }

    /// Passes the value of `method`.
    #[cfg_attr(not(feature = "small"), inline(always))]
    fn method(&mut self, walker: &mut Walker<'_, '_>, at: usize, depth: usize) -> Result<usize, Halt> {
        let value = walker.value(at, depth)?;
        if value.kind == Json::String {
            let raw = self.text.get(at + 1..value.end - 1).unwrap_or_default();
            self.inside.method(raw, value.plain, value.words);
        }
        let usual = value.kind == Json::String && value.plain && (3..=MAX_METHOD + 2).contains(&(value.end - at));
        self.odd |= !usual;
        Ok(self.put(Member::Method, Slot::new(value.kind, at, value.end, value.plain)).end())
    }

    /// Passes the value of `params` or `result`.
    #[inline(never)]
    fn outer(&mut self, walker: &mut Walker<'_, '_>, member: Member, at: usize, depth: usize) -> Result<usize, Halt> {
        if walker.byte(at) != b'{' || !I::LOOKS {
            self.odd = true;
            return Ok(self.scalar(walker, member, at, depth)?.end());
        }
        let end = walker.object(&mut Outer { text: self.text, inside: &mut self.inside, member }, at, depth)?;
        Ok(self.put(member, Slot::new(Json::Object, at, end, false)).end())
    }
}

/// Listens to the members of params or of a result.
struct Outer<'t, 'i, I> {
    text: &'t [u8],
    inside: &'i mut I,
    member: Member,
}

impl<I: Inside> Listener for Outer<'_, '_, I> {
    type Name = ();

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn key(&mut self, key: Token, words: Words) {
        self.inside.key(self.text, self.member, 1, key, words);
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn value(&mut self, walker: &mut Walker<'_, '_>, (): (), at: usize, depth: usize) -> Result<usize, Halt> {
        if walker.byte(at) == b'{' && self.inside.enter() {
            self.inside.value(self.text, Json::Object, at, at);
            return below(walker, Inner { text: self.text, inside: self.inside, member: self.member }, at, depth);
        }
        let value = walker.value(at, depth)?;
        self.inside.value(self.text, value.kind, at, value.end);
        Ok(value.end)
    }
}

/// Passes an object directly in params or a result that has names of its own to look for.
#[inline(never)]
fn below<I: Inside>(
    walker: &mut Walker<'_, '_>,
    mut inner: Inner<'_, '_, I>,
    at: usize,
    depth: usize,
) -> Result<usize, Halt> {
    let end = walker.object(&mut inner, at, depth)?;
    inner.inside.leave();
    Ok(end)
}

/// Listens to the members of an object directly in params or a result.
struct Inner<'t, 'i, I> {
    text: &'t [u8],
    inside: &'i mut I,
    member: Member,
}

impl<I: Inside> Listener for Inner<'_, '_, I> {
    type Name = ();

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn key(&mut self, key: Token, words: Words) {
        self.inside.key(self.text, self.member, 2, key, words);
    }

    #[cfg_attr(not(feature = "small"), inline(always))]
    fn value(&mut self, walker: &mut Walker<'_, '_>, (): (), at: usize, depth: usize) -> Result<usize, Halt> {
        let value = walker.value(at, depth)?;
        self.inside.value(self.text, value.kind, at, value.end);
        Ok(value.end)
    }
}

impl<I: Inside> Reader<'_, I> {
    /// A key of the envelope that is none of its names as they are spelt.
    fn other_key(&mut self, key: Token) {
        let raw = key.raw(self.text);
        match MEMBERS.iter().find(|(_, name)| folds_to(raw, key.plain, name)) {
            Some((member, name)) => {
                if Unescaped::new(raw).eq(name.bytes()) {
                    self.envelope.escaped |= member.bit();
                }
                self.envelope.ids += u32::from(*member == Member::Id);
                self.envelope.misspelt = self.envelope.misspelt.or(Some(key.start));
            }
            None => self.envelope.unknown = self.envelope.unknown.or(Some(key.start)),
        }
    }
}
