//! Random sessions: each line drawn with an eye on what the model remembers, so that most of them say something about it.

use super::model::{Asked, Model};
use super::steps::{Answer, Ask, Dice, Members, Name, Says, Side, Step, Version};

const CAPABILITIES: [&[&str]; 4] =
    [&[], &["roots"], &["sampling", "elicitation"], &["roots", "sampling", "elicitation"]];

/// How a session is run.
pub struct Manner {
    /// None is `auto`.
    pub fixed: Option<Version>,
    /// How many requests of one side may be in flight.
    pub table: usize,
    pub steps: usize,
    /// How many names there are of each kind: few, so that they meet.
    names: usize,
    /// How many lines in a hundred are requests.
    asks: usize,
    /// How many requests of a client in a hundred are written as those of 2026-07-28.
    modern: usize,
}

impl Manner {
    pub fn any(dice: &mut Dice) -> Self {
        use Version::{V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};
        let fixed = [Some(V2024_11_05), Some(V2025_06_18), Some(V2025_11_25), Some(V2026_07_28), None];
        let fixed = dice.one(&fixed);
        let modern = match fixed {
            Some(V2026_07_28) => 97,
            Some(_) => 2,
            None => dice.one(&[3, 50, 95]),
        };
        // Filling a large table takes a long session; one in some hundred must do.
        if dice.below(300) == 0 {
            return Self { fixed, table: 1024, steps: 5000, names: 4000, asks: 85, modern };
        }
        let table = dice.one(&[1, 4, 16, 1024]);
        let names = match table {
            1 => 2,
            4 => 3,
            _ => 9,
        };
        Self { fixed, table, steps: 200 + dice.below(100), names, asks: dice.one(&[25, 40, 60]), modern }
    }

    /// The next line of a session that the model knows.
    pub fn next(&self, dice: &mut Dice, model: &Model) -> Step {
        let from = dice.one(&Side::BOTH);
        let rest = 100 - self.asks;
        let says = match dice.below(100) {
            drawn if drawn < self.asks => return self.ask(dice, model),
            drawn if drawn < self.asks + rest / 2 => self.answer(dice, model, from),
            drawn if drawn < self.asks + rest * 5 / 8 => self.cancel(dice, model, from),
            drawn if drawn < self.asks + rest * 6 / 8 => self.progress(dice, model, from),
            _ if dice.percent(4) => Says::CutOff,
            _ => self.note(dice, model, from),
        };
        Step { from, says }
    }

    fn ask(&self, dice: &mut Dice, model: &Model) -> Step {
        // In 2026-07-28 only clients ask.
        let from = match model.version() {
            Some(Version::V2026_07_28) if !dice.percent(5) => Side::Client,
            _ => dice.one(&Side::BOTH),
        };
        let modern = (from == Side::Client && dice.percent(self.modern)).then(|| dice.one(&CAPABILITIES));
        let method = match (from, modern) {
            _ if dice.percent(2) => {
                dice.one(&["server/discover", "subscriptions/listen", "ping", "initialize", "tools/list"])
            }
            (Side::Client, Some(_)) => dice.one(&[
                "tools/call",
                "tools/list",
                "server/discover",
                "subscriptions/listen",
                "subscriptions/listen",
            ]),
            (Side::Client, None) if dice.percent(if model.waits_for_initialize() { 60 } else { 4 }) => "initialize",
            (Side::Client, None) => dice.one(&["tools/call", "tools/call", "tools/list", "ping"]),
            (Side::Server, _) => dice.one(&["ping", "roots/list", "sampling/createMessage", "elicitation/create"]),
        };
        let lacking = dice.percent(2);
        let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"];
        let ask = Ask {
            method,
            version: if lacking { "" } else { dice.one(&versions) },
            token: dice.percent(50).then(|| Name::any(dice, self.names)),
            task: dice.percent(25),
            modern,
            lacking,
        };
        Step { from, says: Says::Ask(Name::any(dice, self.names), ask) }
    }

    fn answer(&self, dice: &mut Dice, model: &Model, from: Side) -> Says {
        let (id, asked) = self.known(dice, model, from.other(), |_| true);
        if dice.percent(15) {
            let code = dice.one(&[-32603, -32603, -32601, -32002, -32042, -32099, 7]);
            return Says::Answer((!dice.percent(10)).then_some(id), Answer::Error(code));
        }
        let members = match asked {
            Some(asked) if dice.percent(75) => fitting(dice, asked, &id),
            _ => any_result(dice, &id),
        };
        Says::Answer(Some(id), Answer::Result(members))
    }

    fn cancel(&self, dice: &mut Dice, model: &Model, from: Side) -> Says {
        let modern = model.version() == Some(Version::V2026_07_28);
        let asker = if modern || dice.percent(10) { Side::Client } else { from };
        let (id, _) = self.known(dice, model, asker, |asked| !modern || from == Side::Client || listens(asked));
        Says::Cancel((!dice.percent(4)).then_some(id))
    }

    fn progress(&self, dice: &mut Dice, model: &Model, from: Side) -> Says {
        let (_, asked) = self.known(dice, model, from.other(), |asked| asked.ask.token.is_some());
        let known = asked.and_then(|asked| asked.ask.token.clone());
        let token = known.unwrap_or_else(|| Name::any(dice, self.names));
        let tag = dice.percent(10).then(|| self.known(dice, model, Side::Client, listens).0);
        Says::Progress { token, tag }
    }

    fn note(&self, dice: &mut Dice, model: &Model, from: Side) -> Says {
        let tag = dice.percent(80).then(|| self.known(dice, model, Side::Client, listens).0);
        let method = match from {
            Side::Client => dice.one(&["notifications/initialized", "notifications/roots/list_changed"]),
            Side::Server => dice.one(&[
                "notifications/subscriptions/acknowledged",
                "notifications/subscriptions/acknowledged",
                "notifications/tools/list_changed",
                "notifications/prompts/list_changed",
                "notifications/resources/list_changed",
                "notifications/resources/updated",
                "notifications/message",
            ]),
        };
        Says::Note { method, tag }
    }

    /// A name and what the model knows of it as an id of this side's requests: most often one in flight, often one that left,
    /// sometimes any.
    fn known<'a>(
        &self,
        dice: &mut Dice,
        model: &'a Model,
        asker: Side,
        wanted: impl Fn(&Asked) -> bool,
    ) -> (Name, Option<&'a Asked>) {
        let requests = model.requests(asker);
        let of: Vec<&Asked> = match dice.below(10) {
            0..=5 => requests.in_flight.values().filter(|asked| wanted(asked)).collect(),
            6..=8 => requests.left.iter().map(|left| &left.asked).filter(|asked| wanted(asked)).collect(),
            _ => Vec::new(),
        };
        if of.is_empty() {
            return (Name::any(dice, self.names), None);
        }
        let asked = dice.one(&of);
        (Name::spelt(&asked.id, dice.percent(30)), Some(asked))
    }
}

fn listens(asked: &Asked) -> bool {
    asked.ask.method == "subscriptions/listen"
}

fn members(of: &[(&'static str, &str)]) -> Members {
    of.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// A result as the request asks for it.
fn fitting(dice: &mut Dice, asked: &Asked, id: &Name) -> Members {
    let modern = asked.versions == [Version::V2026_07_28];
    let mut result = match asked.ask.method {
        _ if asked.is_task() && dice.percent(60) => members(&[("task", "{}")]),
        "tools/call" if modern && dice.percent(40) => return input_required(dice),
        "tools/call" => members(&[("content", "[]")]),
        "tools/list" => members(&[("tools", "[]")]),
        "server/discover" => members(&[("supportedVersions", "[]"), ("capabilities", "{}")]),
        "subscriptions/listen" => vec![("_meta", subscription(id))],
        "initialize" => initialized(dice),
        "roots/list" => members(&[("roots", "[]")]),
        "sampling/createMessage" => {
            members(&[("role", r#""assistant""#), ("content", dice.one(&["{}", "[]"])), ("model", r#""m""#)])
        }
        "elicitation/create" => members(&[("action", r#""accept""#)]),
        _ => Vec::new(),
    };
    if modern {
        result.extend(members(&[("resultType", r#""complete""#), ("ttlMs", "0"), ("cacheScope", r#""private""#)]));
    }
    result
}

/// A result that fits something, or nearly.
fn any_result(dice: &mut Dice, id: &Name) -> Members {
    let mut result = match dice.below(14) {
        0 => members(&[("content", "[]")]),
        1 => members(&[("content", "7")]),
        2 => members(&[("task", "{}")]),
        3 => members(&[("task", "[]")]),
        4 => members(&[("tools", "[]")]),
        5 => members(&[("tools", "{}")]),
        6 => members(&[("roots", "[]")]),
        7 => members(&[("action", "true")]),
        8 => members(&[("role", r#""assistant""#), ("content", "{}")]),
        9 => members(&[("supportedVersions", "{}"), ("capabilities", "{}")]),
        10 => vec![("_meta", subscription(id))],
        11 => initialized(dice),
        12 => return input_required(dice),
        _ => Vec::new(),
    };
    if dice.percent(50) {
        result.push(("resultType", dice.one(&[r#""complete""#, r#""complete""#, r#""other""#, "1"]).to_owned()));
        result.extend(members(&[("ttlMs", "0"), ("cacheScope", r#""public""#)]));
    }
    result
}

fn subscription(id: &Name) -> String {
    format!(r#"{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id.written)
}

fn initialized(dice: &mut Dice) -> Members {
    let version = dice.one(&[
        r#""2024-11-05""#,
        r#""2025-03-26""#,
        r#""2025-06-18""#,
        r#""2025-11-25""#,
        r#""2026-07-28""#,
        r#""1999-01-01""#,
    ]);
    let mut result = members(&[("protocolVersion", version), ("capabilities", "{}")]);
    if !dice.percent(10) {
        result.extend(members(&[("serverInfo", r#"{"name":"s","version":"1"}"#)]));
    }
    result
}

fn input_required(dice: &mut Dice) -> Members {
    let mut result = members(&[("resultType", r#""input_required""#)]);
    let kinds = [
        r#""r":{"method":"roots/list"}"#,
        r#""s":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
        r#""e":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
    ];
    if dice.percent(80) {
        let kinds: Vec<_> = kinds.into_iter().filter(|_| dice.percent(40)).collect();
        result.push(("inputRequests", format!("{{{}}}", kinds.join(","))));
    }
    if dice.percent(40) {
        result.extend(members(&[("requestState", r#""s""#)]));
    }
    result
}
