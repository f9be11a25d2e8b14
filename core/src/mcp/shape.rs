//! Rules 401 to 410: a message against one revision, or against several of which one has to take it.
//!
//! The judgement is made from checked text, after everything before it has passed. It reads only the members that the tables
//! name, and passes over the values of all others.

use super::meta_key;
use super::table::{Carriers, Member as Row, Method, Methods, Rule, Set, Types, method_named};
use super::tables::{META, TASK_RESULT};
use crate::code::{Code, Fault};
use crate::json::{Cursor, Kind as Json, Words};
use crate::limits::Direction;
use crate::rpc::{Member, Parts};

/// The key of `_meta` that makes a request one of 2026-07-28.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key in which such a request says what its client can do.
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// What a result of 2026-07-28 may say it is.
const RESULT_TYPES: [&str; 2] = ["complete", "input_required"];
/// Which capability of the client a request in `inputRequests` needs.
const INPUT_CAPABILITIES: [(&str, &str); 3] =
    [("elicitation/create", "elicitation"), ("sampling/createMessage", "sampling"), ("roots/list", "roots")];

/// What the stage holds a message to.
#[derive(Clone, Copy)]
pub(crate) struct Shapes {
    pub(crate) methods: Methods,
    pub(crate) from: Direction,
    pub(crate) max_id: usize,
    /// The versions the host serves (407).
    pub(crate) supported: &'static [&'static str],
    /// Methods of the host's own (402).
    pub(crate) extra_methods: &'static [&'static str],
    /// Result types of the host's own (408).
    pub(crate) extra_result_types: &'static [&'static str],
}

/// A message's members and where its object ends.
#[derive(Clone, Copy)]
pub(crate) struct Line<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) parts: Parts,
    /// The place of the closing brace.
    pub(crate) closing: usize,
}

impl<'t> Line<'t> {
    pub(crate) fn get(&self, member: Member) -> Option<Cursor<'t>> {
        Some(Cursor::new(self.parts.get(member)?.of(self.text)))
    }

    fn at(&self, value: &Cursor<'_>) -> usize {
        value.place(self.text)
    }

    /// The `_meta` of a request or notification.
    pub(crate) fn meta(&self) -> Option<Cursor<'t>> {
        self.get(Member::Params)?.get("_meta")
    }
}

/// The request that a response answers, as far as its result's shape depends on it.
#[derive(Clone, Copy)]
pub(crate) struct Answered {
    pub(crate) method: &'static Method,
    /// Its params asked for a task.
    pub(crate) task: bool,
    /// Which of [`INPUT_CAPABILITIES`] its client declared, one bit each.
    pub(crate) declared: u8,
}

/// The bits of [`Answered::declared`] for the capabilities of a client.
pub(crate) fn declared(capabilities: Option<Cursor<'_>>) -> u8 {
    let has = |name: &str| capabilities.is_some_and(|capabilities| capabilities.get(name).is_some());
    INPUT_CAPABILITIES.iter().rev().fold(0, |bits, (_, capability)| bits << 1 | u8::from(has(capability)))
}

const fn fault(code: Code, at: usize) -> Option<Fault> {
    Some(Fault { code, at })
}

/// How late a code comes in the stage's order. Of several revisions that all refuse a line, the one that went furthest speaks.
const fn rank(code: Code) -> u8 {
    match code {
        Code::WrongDirection => 0,
        Code::IdPresence => 1,
        Code::UnknownMethod => 2,
        Code::UnsupportedRevision => 3,
        Code::MetaMissing => 4,
        Code::ParamMissing => 5,
        Code::ParamType => 6,
        Code::MetaKey => 7,
        Code::ErrorCode => 8,
        _ => 9,
    }
}

/// Whether 2026-07-28 has kept an error's code for itself, or taken it out of use (409).
pub(crate) const fn is_reserved(code: i64) -> bool {
    matches!(code, -32002 | -32042 | -32099..=-32023)
}

impl Shapes {
    /// The verdict of revisions of which one has to take the message: none, or that of the one that went furthest, the newest
    /// of several.
    pub(crate) fn judge(&self, line: &Line<'_>, by: Set, answered: Option<&Answered>) -> Option<Fault> {
        let mut furthest: Option<Fault> = None;
        for revision in by.newest_first() {
            let fault = self.judge_by(line, revision, answered)?;
            if furthest.is_none_or(|before| rank(before.code) < rank(fault.code)) {
                furthest = Some(fault);
            }
        }
        furthest
    }

    /// The verdict of one revision.
    pub(crate) fn judge_by(&self, line: &Line<'_>, revision: Set, answered: Option<&Answered>) -> Option<Fault> {
        match line.get(Member::Method) {
            Some(method) => self.judge_call(line, &method, revision),
            None => self.judge_response(line, revision, answered),
        }
    }

    /// Whether the host serves the version that this string names; told only if it is written plainly.
    #[inline]
    pub(super) fn serves(&self, token: &[u8]) -> bool {
        let raw = token.get(1..token.len().wrapping_sub(1)).unwrap_or_default();
        self.supported.iter().any(|supported| supported.as_bytes() == raw)
    }

    /// The method of the protocol that a message names, whatever the revision.
    pub(crate) fn method(&self, name: &Cursor<'_>) -> Option<&'static Method> {
        let raw = name.inside();
        method_named(self.methods, raw, !raw.contains(&b'\\'), Words::short(raw))
    }

    fn judge_call(&self, line: &Line<'_>, name: &Cursor<'_>, revision: Set) -> Option<Fault> {
        let id = line.get(Member::Id);
        let request = id.is_some();
        let modern = revision == Set::MODERN;
        let method = self.method(name);
        let (mine, theirs) = method.map_or((Set::NONE, Set::NONE), |method| match self.from {
            Direction::FromClient => (method.client, method.server),
            Direction::FromServer => (method.server, method.client),
        });
        let has = mine.meets(revision);
        // A method that this side had in another revision is one that it doesn't have any more, or not yet.
        let theirs_alone = mine.is_empty() && theirs.meets(revision);
        let wrong_way = theirs_alone || (modern && request && self.from == Direction::FromServer);
        if wrong_way {
            return fault(Code::WrongDirection, line.at(name));
        }
        let method = method.filter(|_| has);
        if method.is_some_and(|method| method.request != request) {
            return fault(Code::IdPresence, line.at(id.as_ref().unwrap_or(name)));
        }
        if method.is_none() && !self.extra_methods.iter().any(|extra| name.is_str(extra)) {
            return fault(Code::UnknownMethod, line.at(name));
        }
        let carrier = if request { Carriers::REQUEST } else { Carriers::NOTIFICATION };
        let params = line.get(Member::Params);
        if modern && request {
            let fault = self.judge_modern_meta(line, params.as_ref());
            if fault.is_some() {
                return fault;
            }
        }
        if params.is_none() && method.is_some_and(|method| method.params_required.meets(revision)) {
            return fault(Code::ParamMissing, line.closing);
        }
        let params = params?;
        let rows = method.map_or(&[][..], |method| method.params);
        let mut members = Members::new(self, line, revision, carrier);
        if let Some(lacking) = members.judge(&params, rows) {
            return fault(Code::ParamMissing, line.at(&lacking));
        }
        let meta = params.get("_meta");
        if let Some(meta) = &meta
            && method.is_none()
        {
            members.judge_meta(meta);
        }
        members
            .wrong
            .and_then(|at| fault(Code::ParamType, at))
            .or_else(|| judge_meta_keys(line, meta.as_ref(), revision))
    }

    /// What a request of 2026-07-28 says of its version (407) and its client (405).
    fn judge_modern_meta(&self, line: &Line<'_>, params: Option<&Cursor<'_>>) -> Option<Fault> {
        let Some(params) = params else { return fault(Code::MetaMissing, line.closing) };
        let Some(meta) = params.get("_meta") else { return fault(Code::MetaMissing, line.at(params)) };
        if meta.kind() != Json::Object {
            // A wrong type like any other.
            return None;
        }
        let version = meta.get(VERSION);
        if let Some(version) = &version
            && version.kind() == Json::String
            && !self.supported.iter().any(|supported| version.is_str(supported))
        {
            return fault(Code::UnsupportedRevision, line.at(version));
        }
        if version.is_none() || meta.get(CAPABILITIES).is_none() {
            return fault(Code::MetaMissing, line.at(&meta));
        }
        None
    }

    fn judge_response(&self, line: &Line<'_>, revision: Set, answered: Option<&Answered>) -> Option<Fault> {
        let (result, error) = (line.get(Member::Result), line.get(Member::Error));
        let value = result.or(error)?;
        let modern = revision == Set::MODERN;
        if modern && self.from == Direction::FromClient {
            return fault(Code::WrongDirection, line.at(&value));
        }
        let Some(result) = result else {
            let code = error?.get("code")?;
            let reserved = code.as_i64().is_some_and(is_reserved);
            return if modern && reserved { fault(Code::ErrorCode, line.at(&code)) } else { None };
        };
        let meta = result.get("_meta");
        if let Some(fault) = judge_meta_keys(line, meta.as_ref(), revision) {
            return Some(fault);
        }
        let mut wrong = self.judge_answer(line, &result, revision, answered);
        if modern {
            let mut members = Members::new(self, line, revision, Carriers::RESULT);
            if let Some(meta) = &meta {
                members.judge_meta(meta);
            }
            let others = members.wrong.into_iter().chain(self.judge_result_type(line, &result, answered));
            wrong = wrong.into_iter().chain(others).min();
        }
        wrong.and_then(|at| fault(Code::ResultShape, at))
    }

    /// A result beside the request that it answers, where that is known.
    fn judge_answer(
        &self,
        line: &Line<'_>,
        result: &Cursor<'_>,
        revision: Set,
        answered: Option<&Answered>,
    ) -> Option<usize> {
        let answered = answered?;
        let other = result.get("resultType").is_some_and(|is| is.kind() == Json::String && !is.is_str("complete"));
        if other && revision == Set::MODERN {
            // Input is asked for, or it is of a type of the host's own.
            return None;
        }
        // Whoever serves no tasks answers as if none had been asked for (MCP 2025-11-25, tasks: the capability not declared).
        let task = answered.task && answered.method.task_result.meets(revision) && result.get("task").is_some();
        let rows = if task { TASK_RESULT } else { answered.method.result };
        self.judge_result(line, result, rows, revision)
    }

    /// The required members of a result: the first place where one is missing or has the wrong type.
    fn judge_result(&self, line: &Line<'_>, result: &Cursor<'_>, rows: &'static [Row], revision: Set) -> Option<usize> {
        let mut first: Option<usize> = None;
        for row in rows.iter().filter(|row| row.required.meets(revision)) {
            let wrong = match result.get(row.name.text) {
                None => Some(line.at(result)),
                Some(value) if !row.types.fit(&value, self.max_id) => Some(line.at(&value)),
                Some(value) => self.judge_result(line, &value, row.below, revision),
            };
            first = first.into_iter().chain(wrong).min();
        }
        first
    }

    /// `resultType` and what asking for input asks for.
    fn judge_result_type(&self, line: &Line<'_>, result: &Cursor<'_>, answered: Option<&Answered>) -> Option<usize> {
        let Some(is) = result.get("resultType") else { return Some(line.at(result)) };
        if !RESULT_TYPES.iter().chain(self.extra_result_types).any(|known| is.is_str(known)) {
            return Some(line.at(&is));
        }
        if !is.is_str("input_required") {
            return None;
        }
        if answered.is_some_and(|answered| !answered.method.input_required.meets(Set::MODERN)) {
            return Some(line.at(&is));
        }
        let (requests, state) = (result.get("inputRequests"), result.get("requestState"));
        if requests.is_none() && state.is_none() {
            return Some(line.at(result));
        }
        let state = state.filter(|state| state.kind() != Json::String).map(|state| line.at(&state));
        let requests = requests.and_then(|requests| judge_input_requests(line, &requests, answered));
        state.into_iter().chain(requests).min()
    }
}

/// `inputRequests`: an object of requests of three methods, each of a kind that the client declared.
fn judge_input_requests(line: &Line<'_>, requests: &Cursor<'_>, answered: Option<&Answered>) -> Option<usize> {
    if requests.kind() != Json::Object {
        return Some(line.at(requests));
    }
    for (_, request) in requests.members() {
        let Some(method) = request.get("method") else { return Some(line.at(&request)) };
        let Some(kind) = INPUT_CAPABILITIES.iter().position(|(name, _)| method.is_str(name)) else {
            return Some(line.at(&method));
        };
        if answered.is_some_and(|answered| answered.declared & 1 << kind == 0) {
            return Some(line.at(&method));
        }
        if let Some(params) = request.get("params").filter(|params| params.kind() != Json::Object) {
            return Some(line.at(&params));
        }
    }
    None
}

/// The grammar of `_meta` keys (406).
fn judge_meta_keys(line: &Line<'_>, meta: Option<&Cursor<'_>>, revision: Set) -> Option<Fault> {
    if !revision.meets(Set::NAMED_META) {
        return None;
    }
    let (key, _) = meta?.members().find(|(key, _)| !key.unescaped().is_some_and(meta_key::is_well_formed))?;
    fault(Code::MetaKey, line.at(&key))
}

/// The walk over params and the objects directly in it.
struct Members<'l, 't> {
    line: &'l Line<'t>,
    revision: Set,
    max_id: usize,
    carrier: Carriers,
    /// The leftmost value of a wrong type.
    wrong: Option<usize>,
}

impl<'l, 't> Members<'l, 't> {
    const fn new(shapes: &Shapes, line: &'l Line<'t>, revision: Set, carrier: Carriers) -> Self {
        Self { line, revision, max_id: shapes.max_id, carrier, wrong: None }
    }

    /// Judges an object's members, and theirs. Gives the outermost object that lacks one, the leftmost of several.
    fn judge(&mut self, object: &Cursor<'t>, rows: &'static [Row]) -> Option<Cursor<'t>> {
        let (mut seen, mut lacking) = (0u32, None);
        for (key, value) in object.members() {
            let mut known = rows.iter().enumerate().filter(|(_, row)| self.is_known(row));
            let Some((place, row)) = known.find(|(_, row)| key.is_str(row.name.text)) else { continue };
            seen |= 1 << place;
            if !row.types.fit(&value, self.max_id) {
                self.note(&value);
                continue;
            }
            if let Some(rule) = row.rule {
                self.judge_rule(rule, &value);
            }
            if core::ptr::eq(row.below, META) {
                self.judge_meta(&value);
            } else if !row.below.is_empty() {
                let inner = self.judge(&value, row.below);
                lacking = lacking.or(inner);
            }
        }
        let mut missing = rows.iter().enumerate().filter(|(place, _)| seen & 1 << place == 0);
        if missing.any(|(_, row)| self.is_required(object, row)) { Some(*object) } else { lacking }
    }

    /// The types in `_meta`; what it has to have is another rule's.
    fn judge_meta(&mut self, meta: &Cursor<'t>) {
        if meta.kind() != Json::Object {
            self.note(meta);
        }
        for (key, value) in meta.members() {
            let Some(row) = META.iter().find(|row| key.is_str(row.name.text) && self.is_known(row)) else { continue };
            if !row.types.fit(&value, self.max_id) {
                self.note(&value);
            } else if let Some(rule) = row.rule {
                self.judge_rule(rule, &value);
            }
        }
    }

    fn is_known(&self, row: &Row) -> bool {
        row.known.meets(self.revision) && row.carriers.meets(self.carrier)
    }

    /// Whether a member has to be there, which may depend on one of its siblings.
    fn is_required(&self, object: &Cursor<'_>, row: &Row) -> bool {
        let when = row.rule.and_then(|rule| rule.when.as_ref());
        row.required.meets(self.revision)
            && when.is_none_or(|when| {
                let sibling = object.get(when.sibling).filter(|_| when.known.meets(self.revision));
                sibling.map_or(when.absent, |sibling| when.is.iter().any(|value| sibling.is_str(value)))
            })
    }

    fn judge_rule(&mut self, rule: &Rule, value: &Cursor<'_>) {
        if !rule.values.is_empty() && !rule.values.iter().any(|allowed| value.is_str(allowed)) {
            self.note(value);
        }
        if let Some(types) = rule.each {
            self.judge_each(types, value);
        }
    }

    fn judge_each(&mut self, types: Types, value: &Cursor<'_>) {
        let values = value.members().map(|(_, value)| value).chain(value.elements());
        let mut wrong = values.filter(|value| !types.fit(value, self.max_id));
        if let Some(value) = wrong.next() {
            self.note(&value);
        }
    }

    fn note(&mut self, value: &Cursor<'_>) {
        let at = self.line.at(value);
        if self.wrong.is_none_or(|first| at < first) {
            self.wrong = Some(at);
        }
    }
}
