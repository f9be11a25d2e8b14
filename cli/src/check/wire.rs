//! The client's side of MCP, as far as a check needs it: the requests of either era, and what an answer is.
//!
//! Lines of the server are read leniently here: what a careless client would take for an answer counts as one. Whether
//! they may stand on a stdout at all is judged elsewhere, by a gate.

use linegate::Revision;
use serde_json::{Map, Value, json};

use super::lenient;

/// The ids of the check's own requests: of the first one, of the one behind a malformed line, of the one under test.
pub const HELLO: &str = "linegate-hello";
pub const AFTER: &str = "linegate-after";
pub const TESTED: &str = "linegate-tested";

/// The newest revision that begins with `initialize`.
pub const NEWEST_LEGACY: Revision = Revision::V2025_11_25;
/// The revision whose requests stand alone.
pub const MODERN: Revision = Revision::V2026_07_28;

/// Where a request of that revision says which it speaks.
pub const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// Members of an object, in the order in which they are written.
pub type Members = Map<String, Value>;

/// A request without its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Its params, `_meta` included.
    pub params: Members,
}

impl Request {
    /// The request of that method as this revision wants it.
    pub fn new(revision: Revision, method: &str, params: Members) -> Self {
        let mut all = Members::new();
        if revision == MODERN {
            let client = json!({"name": "linegate-check", "version": env!("CARGO_PKG_VERSION")});
            let meta = json!({
                META_REVISION: MODERN.name(),
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            all.insert("_meta".to_owned(), meta);
        }
        all.extend(params);
        Self { method: method.to_owned(), params: all }
    }

    /// The first request of a session.
    pub fn hello(revision: Revision) -> Self {
        if revision == MODERN {
            return Self::new(revision, "server/discover", Members::new());
        }
        let params = json!({
            "protocolVersion": revision.name(),
            "capabilities": {},
            "clientInfo": {"name": "linegate-check", "version": env!("CARGO_PKG_VERSION")},
        });
        Self::new(revision, "initialize", object(params))
    }

    /// A request without an effect, which every server answers.
    pub fn harmless(revision: Revision) -> Self {
        let method = if revision == MODERN { "server/discover" } else { "ping" };
        Self::new(revision, method, Members::new())
    }

    /// The request as a line, with its line feed.
    pub fn line(&self, id: &str) -> Vec<u8> {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": self.method});
        // A legacy request without params, such as ping, is sent as clients send it.
        if !self.params.is_empty() {
            message["params"] = Value::Object(self.params.clone());
        }
        format!("{message}\n").into_bytes()
    }

    /// The same as a notification, with its line feed.
    pub fn notification(&self) -> Vec<u8> {
        let message = json!({"jsonrpc": "2.0", "method": self.method, "params": self.params});
        format!("{message}\n").into_bytes()
    }
}

/// What a legacy client sends when `initialize` was answered.
pub const INITIALIZED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// The answer to a request: its result, or what came instead.
pub type Answer = Result<Value, NoResult>;

/// What comes instead of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoResult {
    /// An error.
    Error {
        /// The error's code; 0 where it has none.
        code: i64,
        /// The error's message; empty where it has none.
        message: String,
    },
    /// The server closed its stdout, or ended.
    Closed,
    /// Nothing came in time.
    Silent,
}

/// The answer in this message, if it is the response to that id.
pub fn answer_to(id: &str, message: &Value) -> Option<Answer> {
    if message.get("id")? != id || message.get("method").is_some() {
        return None;
    }
    answer_in(message)
}

/// The answer in this message, if it is a response at all.
pub fn answer_in(message: &Value) -> Option<Answer> {
    if let Some(result) = message.get("result") {
        return Some(Ok(result.clone()));
    }
    let error = message.get("error")?;
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Err(NoResult::Error { code, message }))
}

/// The messages on a stream, those of batches one by one; lines that can't be read are left out: no gate takes them.
pub fn messages(stream: &[u8]) -> impl Iterator<Item = Value> {
    stream.split(|byte| *byte == b'\n').filter_map(lenient::read).flat_map(|value| match value {
        Value::Array(messages) => messages,
        message => vec![message],
    })
}

/// The requests on a stream.
pub fn requests(stream: &[u8]) -> impl Iterator<Item = Value> {
    /// No request of a server is longer; results may be, and they are read elsewhere.
    const LONGEST: usize = 64 << 10;
    let short = stream.split_inclusive(|byte| *byte == b'\n').filter(|line| line.len() <= LONGEST);
    short.flat_map(messages).filter(|message| {
        message.get("method").is_some_and(Value::is_string) && message.get("id").is_some_and(|id| !id.is_null())
    })
}

/// What a client answers that has no capabilities: a `ping` with a result, anything else with an error. A line with its line feed.
pub fn reply_to(request: &Value) -> Vec<u8> {
    let (id, method) = (&request["id"], &request["method"]);
    let message = if method == "ping" {
        json!({"jsonrpc": "2.0", "id": id, "result": {}})
    } else {
        let error = json!({"code": linegate::METHOD_NOT_FOUND, "message": "linegate check has no such method"});
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    };
    format!("{message}\n").into_bytes()
}

/// The revision that a legacy server's result settles.
///
/// # Errors
///
/// What is wrong with the result.
pub fn settled(result: &Value) -> Result<Revision, String> {
    let named = text(result, "protocolVersion")?;
    for needed in ["capabilities", "serverInfo"] {
        if !result.get(needed).is_some_and(Value::is_object) {
            return Err(format!("the result of initialize has no object {needed}"));
        }
    }
    Revision::from_name(named)
        .filter(|revision| revision.is_mcp() && ![Revision::AUTO, MODERN].contains(revision))
        .ok_or_else(|| format!("the server settles on {named}, which is no revision that begins with initialize"))
}

/// Whether the result of `server/discover` names the modern revision and is whole.
///
/// # Errors
///
/// What is wrong with the result.
pub fn discovered(result: &Value) -> Result<(), String> {
    let versions = result.get("supportedVersions").and_then(Value::as_array);
    if !versions.is_some_and(|versions| versions.iter().any(|version| version == MODERN.name())) {
        return Err(format!("the result of server/discover does not name {MODERN} in supportedVersions"));
    }
    if !result.get("capabilities").is_some_and(Value::is_object) {
        return Err("the result of server/discover has no object capabilities".to_owned());
    }
    text(result, "resultType").map(|_| ())
}

fn text<'v>(result: &'v Value, member: &str) -> Result<&'v str, String> {
    result.get(member).and_then(Value::as_str).ok_or_else(|| format!("the result has no string {member}"))
}

/// The members of a JSON object; of anything else none.
pub fn object(value: Value) -> Members {
    match value {
        Value::Object(members) => members,
        _ => Members::new(),
    }
}
