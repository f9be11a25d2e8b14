//! What docs/rules.md says of a session, once more and as plainly as it can be said: ids are strings, tables are searched
//! from end to end, and each revision judges for itself. It knows nothing of how the tracker does it.

use std::collections::{BTreeMap, VecDeque};

use super::steps::{Answer, Ask, Members, Name, Says, Side, Step, Version};

/// Every code that these sessions can meet, the latest of its stage last.
pub const STAGES: [u16; 15] = [216, 401, 402, 405, 403, 409, 408, 451, 452, 453, 456, 454, 458, 457, 459];

/// Notifications of 2026-07-28 that belong to a subscription.
const NEED_A_TAG: [&str; 5] = [
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];

/// Requests that may be answered by a task if they ask for one, from 2025-11-25 on and before 2026-07-28.
const TASKS: [&str; 3] = ["tools/call", "sampling/createMessage", "elicitation/create"];

/// What stands as a reply's id, where there is a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    None,
    WithId,
    Null,
    Absent,
}

/// What is said of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// None of an accepted line.
    pub code: Option<u16>,
    pub rpc_code: Option<i32>,
    pub reply: Reply,
    pub settles: bool,
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
pub struct Asked {
    pub id: String,
    pub ask: Ask,
    /// The revisions that took it.
    pub versions: Vec<Version>,
    /// A subscription that was acknowledged.
    open: bool,
}

impl Asked {
    pub fn is_task(&self) -> bool {
        self.ask.task && self.versions.contains(&Version::V2025_11_25) && TASKS.contains(&self.ask.method)
    }

    fn is_subscription(&self) -> bool {
        self.ask.method == "subscriptions/listen"
    }

    fn has_token(&self, token: &str) -> bool {
        self.ask.token.as_ref().is_some_and(|own| own.meant == token)
    }
}

/// A request that waits no longer.
#[derive(Clone, Debug)]
pub struct Left {
    pub asked: Asked,
    pub cancelled: bool,
}

/// The requests of one side.
#[derive(Default)]
pub struct Requests {
    pub in_flight: BTreeMap<String, Asked>,
    /// The newest first.
    pub left: VecDeque<Left>,
    /// A task request was pushed out of `left`.
    forgot_a_task: bool,
}

impl Requests {
    /// The last request with this id that left.
    fn last(&self, id: &str) -> Option<&Left> {
        self.left.iter().find(|left| left.asked.id == id)
    }

    /// In flight, or cancelled just now.
    fn is_in_use(&self, id: &str) -> bool {
        self.in_flight.contains_key(id) || self.last(id).is_some_and(|left| left.cancelled)
    }

    fn leave(&mut self, id: &str, cancelled: bool, ring: usize) -> Asked {
        let asked = self.in_flight.remove(id).unwrap();
        self.left.push_front(Left { asked: asked.clone(), cancelled });
        for pushed_out in self.left.split_off(ring.min(self.left.len())) {
            self.forgot_a_task |= pushed_out.asked.is_task();
        }
        asked
    }

    fn knows_token(&self, token: &str) -> bool {
        let in_flight = self.in_flight.values().any(|asked| asked.has_token(token));
        let left = |left: &Left| (left.cancelled || left.asked.is_task()) && left.asked.has_token(token);
        self.forgot_a_task || in_flight || self.left.iter().any(left)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Handshake {
    None,
    Pending(Version),
    Done(Version),
}

/// A session as the rules see it.
pub struct Model {
    /// None under `auto`.
    fixed: Option<Version>,
    /// How many requests of one side may be in flight.
    table: usize,
    /// How many of those that left are remembered.
    ring: usize,
    client: Requests,
    server: Requests,
    handshake: Handshake,
    /// A request of 2026-07-28 had a result.
    modern: bool,
    pub late_responses: u64,
}

impl Model {
    pub fn new(fixed: Option<Version>, table: usize, ring: usize) -> Self {
        Self {
            fixed,
            table,
            ring,
            client: Requests::default(),
            server: Requests::default(),
            handshake: Handshake::None,
            modern: false,
            late_responses: 0,
        }
    }

    /// The requests that this side sent.
    pub const fn requests(&self, from: Side) -> &Requests {
        match from {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    const fn requests_mut(&mut self, from: Side) -> &mut Requests {
        match from {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// The session's revision, once it is known.
    pub fn version(&self) -> Option<Version> {
        match (self.fixed, self.handshake) {
            (Some(version), _) | (None, Handshake::Pending(version) | Handshake::Done(version)) => Some(version),
            (None, Handshake::None) => self.modern.then_some(Version::V2026_07_28),
        }
    }

    pub fn waits_for_initialize(&self) -> bool {
        self.handshake == Handshake::None && self.version() != Some(Version::V2026_07_28)
    }

    /// Judges a line, and remembers what an accepted one changes.
    pub fn hear(&mut self, step: &Step) -> Verdict {
        let versions = self.versions(step);
        let verdicts: Vec<_> = versions.iter().map(|&version| (version, self.judge(step, version))).collect();
        let took: Vec<_> =
            verdicts.iter().filter(|(_, verdict)| verdict.is_ok()).map(|(version, _)| *version).collect();
        if !took.is_empty() {
            self.apply(step, &took);
            return Verdict { code: None, rpc_code: None, reply: Reply::None, settles: false };
        }
        let late = |code: u16| STAGES.iter().position(|stage| *stage == code).unwrap();
        let code = verdicts.iter().map(|(_, verdict)| verdict.unwrap_err()).max_by_key(|code| late(*code)).unwrap();
        let rpc_code = self.rpc_code(step, code);
        Verdict {
            code: Some(code),
            rpc_code,
            reply: match step.id() {
                _ if rpc_code.is_none() => Reply::None,
                // An error with the id of a request that waits would answer that one.
                Some(id) if !self.requests(step.from).is_in_use(&id.meant) => Reply::WithId,
                _ => self.reply_without_id(&versions),
            },
            settles: self.settle(step, code),
        }
    }

    /// The revisions that judge a line.
    fn versions(&self, step: &Step) -> Vec<Version> {
        if let Some(fixed) = self.fixed {
            return vec![fixed];
        }
        match &step.says {
            Says::Ask(_, Ask { modern: Some(_), .. }) if step.from == Side::Client => {
                return vec![Version::V2026_07_28];
            }
            Says::Ask(_, Ask { method: "initialize", version, .. }) if step.from == Side::Client => {
                return vec![legacy(version).unwrap_or(Version::V2025_11_25)];
            }
            Says::Answer(Some(id), _) => {
                if let Some(asked) = self.requests(step.from.other()).in_flight.get(&id.meant) {
                    return asked.versions.clone();
                }
            }
            _ => {}
        }
        // After a session of 2026-07-28 a client may still begin one of the others.
        let open = step.from == Side::Client && matches!(step.says, Says::Ask(..) | Says::Answer(..));
        match self.version() {
            Some(version) if !(version == Version::V2026_07_28 && open) => vec![version],
            _ => Version::ALL.to_vec(),
        }
    }

    fn judge(&self, step: &Step, version: Version) -> Result<(), u16> {
        match &step.says {
            Says::CutOff => Err(216),
            Says::Ask(id, ask) => {
                shape_of_request(step.from, ask, version)?;
                self.handshake_allows(step.from, ask.method, version)?;
                let own = self.requests(step.from);
                if own.is_in_use(&id.meant) {
                    Err(453)
                } else if own.in_flight.len() >= self.table {
                    Err(456)
                } else {
                    Ok(())
                }
            }
            Says::Answer(id, answer) => self.judge_answer(step.from, id.as_ref(), answer, version),
            Says::Cancel(id) => {
                match id {
                    None if version != Version::V2025_11_25 => return Err(403),
                    Some(id) if modern_server(step, version) && !self.may_have_been_subscription(&id.meant) => {
                        return Err(401);
                    }
                    _ => {}
                }
                self.handshake_allows(step.from, "", version)
            }
            Says::Progress { token, tag } => {
                if version == Version::V2026_07_28 && step.from == Side::Client {
                    return Err(402);
                }
                self.handshake_allows(step.from, "", version)?;
                if !self.requests(step.from.other()).knows_token(&token.meant) {
                    return Err(457);
                }
                self.judge_tag(step, "", tag.as_ref(), version)
            }
            Says::Note { method, tag } => {
                let acknowledges = *method == "notifications/subscriptions/acknowledged";
                let modern = version == Version::V2026_07_28;
                if modern && step.from == Side::Client || acknowledges && !modern {
                    return Err(402);
                }
                self.handshake_allows(step.from, method, version)?;
                self.judge_tag(step, method, tag.as_ref(), version)
            }
        }
    }

    /// 451 and 452.
    fn handshake_allows(&self, from: Side, method: &str, version: Version) -> Result<(), u16> {
        if from == Side::Server || version == Version::V2026_07_28 {
            return Ok(());
        }
        match (self.handshake, method) {
            (Handshake::None, "initialize" | "ping" | "server/discover") => Ok(()),
            (Handshake::None, _) => Err(451),
            (_, "initialize") => Err(452),
            _ => Ok(()),
        }
    }

    fn judge_answer(&self, from: Side, id: Option<&Name>, answer: &Answer, version: Version) -> Result<(), u16> {
        let modern = version == Version::V2026_07_28;
        if modern && from == Side::Client {
            return Err(401);
        }
        let asker = self.requests(from.other());
        let asked = id.and_then(|id| asker.in_flight.get(&id.meant));
        match answer {
            Answer::Error(code) => {
                if modern && retired(*code) {
                    return Err(409);
                }
            }
            Answer::Result(members) => {
                let well_shaped = (!modern || has_known_result_type(members))
                    && asked.is_none_or(|asked| answers(asked, members, version));
                if !well_shaped {
                    return Err(408);
                }
            }
        }
        match id.filter(|_| asked.is_none()).map(|id| asker.last(&id.meant)) {
            None => Ok(()),
            Some(None) => Err(454),
            Some(Some(left)) => left.cancelled.then_some(()).ok_or(458),
        }
    }

    /// Whether the request that had this id last is a subscription: it waits, or left not long ago.
    fn may_have_been_subscription(&self, id: &str) -> bool {
        let last = || self.client.last(id).map(|left| &left.asked);
        self.client.in_flight.get(id).or_else(last).is_some_and(Asked::is_subscription)
    }

    /// 459.
    fn judge_tag(&self, step: &Step, method: &str, tag: Option<&Name>, version: Version) -> Result<(), u16> {
        if !modern_server(step, version) {
            return Ok(());
        }
        let Some(tag) = tag else {
            return if NEED_A_TAG.contains(&method) { Err(459) } else { Ok(()) };
        };
        let open = match self.client.in_flight.get(&tag.meant) {
            Some(asked) => {
                asked.is_subscription() && (asked.open || method == "notifications/subscriptions/acknowledged")
            }
            None => self.client.last(&tag.meant).is_some_and(|left| left.cancelled && left.asked.is_subscription()),
        };
        open.then_some(()).ok_or(459)
    }

    fn rpc_code(&self, step: &Step, code: u16) -> Option<i32> {
        match (step.from, &step.says) {
            (Side::Client, Says::Ask(..) | Says::CutOff) => Some(match code {
                216 => -32700,
                402 => -32601,
                403 | 405 => -32602,
                _ => -32600,
            }),
            _ => None,
        }
    }

    /// Null before 2025-11-25 and while the revision isn't known.
    fn reply_without_id(&self, versions: &[Version]) -> Reply {
        let version = if let [version] = versions { Some(*version) } else { self.version() };
        if version.is_some_and(|version| version >= Version::V2025_11_25) { Reply::Absent } else { Reply::Null }
    }

    /// A refused response to a request in flight was its answer all the same.
    fn settle(&mut self, step: &Step, code: u16) -> bool {
        let Says::Answer(Some(id), _) = &step.says else { return false };
        let waits = self.requests(step.from.other()).in_flight.contains_key(&id.meant);
        let settles = waits && (401..=410).contains(&code);
        if settles {
            self.answered(step.from.other(), &id.meant, None);
        }
        settles
    }

    /// A request in flight is answered; by this result, if it is a good one.
    fn answered(&mut self, asker: Side, id: &str, result: Option<&Members>) {
        let ring = self.ring;
        let asked = self.requests_mut(asker).leave(id, false, ring);
        if asked.ask.method == "initialize" {
            self.handshake = match (self.handshake, result) {
                (Handshake::Pending(version), Some(members)) => {
                    let named = members.iter().find(|(key, _)| *key == "protocolVersion");
                    Handshake::Done(named.and_then(|(_, value)| legacy(value.trim_matches('"'))).unwrap_or(version))
                }
                _ => Handshake::None,
            };
        }
        let modern = asked.versions == [Version::V2026_07_28];
        self.modern |= modern && result.is_some() && self.handshake == Handshake::None;
    }

    /// Remembers what a line changes that these revisions took.
    fn apply(&mut self, step: &Step, took: &[Version]) {
        let ring = self.ring;
        match &step.says {
            Says::Ask(id, ask) => {
                if ask.method == "initialize" {
                    self.handshake = Handshake::Pending(legacy(ask.version).unwrap_or(Version::V2025_11_25));
                }
                let asked = Asked { id: id.meant.clone(), ask: ask.clone(), versions: took.to_vec(), open: false };
                self.requests_mut(step.from).in_flight.insert(id.meant.clone(), asked);
            }
            Says::Answer(Some(id), answer) => {
                let asker = step.from.other();
                let requests = self.requests_mut(asker);
                if requests.in_flight.contains_key(&id.meant) {
                    let result = if let Answer::Result(members) = answer { Some(members) } else { None };
                    self.answered(asker, &id.meant, result);
                } else {
                    let left = requests.left.iter_mut().find(|left| left.asked.id == id.meant);
                    left.unwrap().cancelled = false;
                    self.late_responses += 1;
                }
            }
            Says::Cancel(Some(id)) => {
                // In 2026-07-28 a server cancels what the client subscribed to; before, each side what it asked itself.
                if took.iter().any(|version| modern_server(step, *version))
                    && self.client.in_flight.get(&id.meant).is_some_and(Asked::is_subscription)
                {
                    self.client.leave(&id.meant, true, ring);
                }
                let own = self.requests_mut(step.from);
                if took.iter().any(|version| !modern_server(step, *version))
                    && own
                        .in_flight
                        .get(&id.meant)
                        .is_some_and(|asked| asked.ask.method != "initialize" && !asked.is_task())
                {
                    own.leave(&id.meant, true, ring);
                }
            }
            Says::Note { method: "notifications/subscriptions/acknowledged", tag: Some(tag) } => {
                if let Some(asked) = self.client.in_flight.get_mut(&tag.meant) {
                    asked.open = true;
                }
            }
            _ => {}
        }
    }
}

/// The revision with a handshake that has this name.
fn legacy(name: &str) -> Option<Version> {
    Version::ALL.into_iter().find(|version| version.name() == name && *version != Version::V2026_07_28)
}

fn modern_server(step: &Step, version: Version) -> bool {
    version == Version::V2026_07_28 && step.from == Side::Server
}

/// Error codes that 2026-07-28 no longer has.
fn retired(code: i32) -> bool {
    code == -32002 || code == -32042 || (-32099..=-32023).contains(&code)
}

/// 401 to 405, as far as the requests of these sessions break them.
fn shape_of_request(from: Side, ask: &Ask, version: Version) -> Result<(), u16> {
    let modern = version == Version::V2026_07_28;
    let known = match ask.method {
        "server/discover" | "subscriptions/listen" => modern,
        "ping" | "initialize" => !modern,
        "elicitation/create" => version >= Version::V2025_06_18,
        _ => true,
    };
    let needs_params =
        ["initialize", "tools/call", "subscriptions/listen", "sampling/createMessage", "elicitation/create"];
    let of_clients = ["initialize", "tools/call", "tools/list", "server/discover", "subscriptions/listen"];
    if from == Side::Server && (modern || known && of_clients.contains(&ask.method)) {
        Err(401)
    } else if !known {
        Err(402)
    } else if modern && ask.modern.is_none() {
        Err(405)
    } else if ask.lacking && needs_params.contains(&ask.method) {
        Err(403)
    } else {
        Ok(())
    }
}

/// What every result of 2026-07-28 must say of itself.
fn has_known_result_type(members: &Members) -> bool {
    let has = |name: &str| members.iter().any(|(key, _)| *key == name);
    match members.iter().find(|(key, _)| *key == "resultType").map(|(_, value)| value.as_str()) {
        Some(r#""complete""#) => true,
        Some(r#""input_required""#) => has("inputRequests") || has("requestState"),
        _ => false,
    }
}

/// Whether a result has the members that its request asks for (408).
fn answers(asked: &Asked, members: &Members, version: Version) -> bool {
    let value = |name: &str| members.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value.as_str());
    if version == Version::V2026_07_28 && value("resultType") == r#""input_required""# {
        let declared = |kind: &&str| asked.ask.modern.is_some_and(|capabilities| capabilities.contains(kind));
        return asked.ask.method == "tools/call"
            && [
                ("elicitation", "elicitation/create"),
                ("sampling", "sampling/createMessage"),
                ("roots", "roots/list"),
            ]
            .iter()
            .all(|(kind, method)| declared(kind) || !value("inputRequests").contains(method));
    }
    // Each member with what its value may begin with.
    let required: &[(&str, &str)] = match (asked.ask.method, version) {
        _ if version == Version::V2025_11_25 && asked.is_task() && !value("task").is_empty() => &[("task", "{")],
        ("initialize", _) => &[("protocolVersion", "\""), ("capabilities", "{"), ("serverInfo", "{")],
        ("tools/call", _) => &[("content", "[")],
        ("tools/list", Version::V2026_07_28) => &[("tools", "["), ("ttlMs", "0"), ("cacheScope", "\"")],
        ("tools/list", _) => &[("tools", "[")],
        ("server/discover", _) => {
            &[("supportedVersions", "["), ("capabilities", "{"), ("ttlMs", "0"), ("cacheScope", "\"")]
        }
        ("subscriptions/listen", _) => &[("_meta", "{\"io.modelcontextprotocol/subscriptionId\"")],
        ("roots/list", _) => &[("roots", "[")],
        ("sampling/createMessage", Version::V2025_11_25) => &[("role", "\""), ("content", "{["), ("model", "\"")],
        ("sampling/createMessage", _) => &[("role", "\""), ("content", "{"), ("model", "\"")],
        ("elicitation/create", Version::V2025_06_18 | Version::V2025_11_25) => &[("action", "\"")],
        _ => &[],
    };
    required.iter().all(|(name, begins)| match *begins {
        "{[" => value(name).starts_with(['{', '[']),
        begins => value(name).starts_with(begins),
    })
}
