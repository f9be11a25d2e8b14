//! The dispatch table: which method belongs to which era, and what answers it.
//!
//! MCP has two eras. Up to 2025-11-25 a session begins with `initialize`, and what was settled there holds for every later
//! request. From 2026-07-28 on every request stands alone and says in its `_meta` which revision it speaks. A server can
//! serve both, because each request shows its era.
//!
//! Faults are found in one order: the method, then the revision, then what the era asks of every request, then the
//! method's own params. That a session begins with `initialize`, and does so once, the gate has seen to.

use linegate::{Cursor, INVALID_PARAMS, JsonKind as Kind, METHOD_NOT_FOUND, Revision, UNSUPPORTED_VERSION};
use serde_json::{Value, json};

use super::params::{Params, member, text};
use super::tools::{self, Tools};

/// The keys that every request of the modern era carries in its `_meta`.
const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The revision of the modern era that this server speaks.
const MODERN: Revision = Revision::V2026_07_28;
/// The versions that a request may say it speaks.
pub const VERSIONS: [&str; 1] = [MODERN.name()];
/// The revisions that `initialize` may settle, the newest last.
const LEGACY: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

/// What the server knows of its session: for requests of revision 2026-07-28, which stand alone, only the tools.
pub struct Session {
    /// The revision that `initialize` settled; `None` until then.
    revision: Option<Revision>,
    tools: Tools,
}

impl Session {
    /// A session that has not begun.
    pub const fn new(tools: Tools) -> Self {
        Self { revision: None, tools }
    }
}

type Answer = fn(&mut Session, Revision, Params<'_>) -> Result<Value, Fault>;

/// A method: its name, and what answers it in each era; `None` where the era doesn't have it.
struct Method {
    name: &'static str,
    legacy: Option<Answer>,
    modern: Option<Answer>,
}

const METHODS: [Method; 5] = [
    Method { name: "initialize", legacy: Some(initialize), modern: None },
    Method { name: "ping", legacy: Some(ping), modern: None },
    Method { name: "server/discover", legacy: None, modern: Some(discover) },
    Method { name: "tools/call", legacy: Some(call_tool), modern: Some(call_tool) },
    Method { name: "tools/list", legacy: Some(list_tools), modern: Some(list_tools) },
];

/// The result of one request, or the error that answers it.
pub fn dispatch(session: &mut Session, method: &str, params: Params<'_>) -> Result<Value, Fault> {
    let Some(entry) = METHODS.iter().find(|entry| entry.name == method) else {
        return Err(Fault::unknown_method());
    };
    match (entry.legacy, entry.modern) {
        // A method that only the modern era has is judged by its rules, whatever its `_meta` looks like.
        (None, Some(answer)) => modern(session, answer, params),
        (_, Some(answer)) if names_revision(params) => modern(session, answer, params),
        (Some(_), None) if names_revision(params) => Err(Fault::unknown_method()),
        (Some(answer), _) => legacy(session, answer, params),
        (None, None) => Err(Fault::unknown_method()),
    }
}

/// Whether the request says which revision it speaks, as only those of the modern era do.
fn names_revision(params: Params<'_>) -> bool {
    member(params, "_meta").is_some_and(|meta| meta.get(META_REVISION).is_some())
}

fn modern(session: &mut Session, answer: Answer, params: Params<'_>) -> Result<Value, Fault> {
    let meta = member(params, "_meta");
    if let Some(requested) = member(meta, META_REVISION).and_then(text)
        && requested != MODERN.name()
    {
        return Err(Fault::unsupported_revision(&requested));
    }
    need(member(meta, META_REVISION), Kind::String, "_meta needs io.modelcontextprotocol/protocolVersion, a string.")?;
    need(
        member(meta, META_CAPABILITIES),
        Kind::Object,
        "_meta needs io.modelcontextprotocol/clientCapabilities, an object.",
    )?;
    let mut result = answer(session, MODERN, params)?;
    result["resultType"] = json!("complete");
    result["_meta"] = json!({META_SERVER_INFO: server_info()});
    Ok(result)
}

fn legacy(session: &mut Session, answer: Answer, params: Params<'_>) -> Result<Value, Fault> {
    allow(member(params, "_meta"), Kind::Object, "_meta must be an object.")?;
    answer(session, session.revision.unwrap_or(LEGACY[LEGACY.len() - 1]), params)
}

fn initialize(session: &mut Session, newest: Revision, params: Params<'_>) -> Result<Value, Fault> {
    let wanted = need(member(params, "protocolVersion"), Kind::String, "initialize needs protocolVersion, a string.")?;
    need(member(params, "capabilities"), Kind::Object, "initialize needs capabilities, an object.")?;
    let client = need(member(params, "clientInfo"), Kind::Object, "initialize needs clientInfo, an object.")?;
    need(client.get("name"), Kind::String, "clientInfo needs name, a string.")?;
    need(client.get("version"), Kind::String, "clientInfo needs version, a string.")?;

    // A revision that is not known here is answered with the newest one that is; the client decides whether to stay.
    let wanted = text(wanted).and_then(|name| LEGACY.into_iter().find(|revision| revision.name() == name));
    let revision = wanted.unwrap_or(newest);
    session.revision = Some(revision);
    Ok(json!({
        "protocolVersion": revision.name(),
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
    }))
}

fn ping(_: &mut Session, _: Revision, _: Params<'_>) -> Result<Value, Fault> {
    Ok(json!({}))
}

fn discover(_: &mut Session, _: Revision, _: Params<'_>) -> Result<Value, Fault> {
    Ok(cacheable(json!({"supportedVersions": VERSIONS, "capabilities": {"tools": {}}})))
}

fn list_tools(_: &mut Session, revision: Revision, params: Params<'_>) -> Result<Value, Fault> {
    if member(params, "cursor").is_some() {
        return Err(Fault::params("There is one page of tools; no cursor was given out."));
    }
    let result = json!({"tools": tools::list()});
    Ok(if revision == MODERN { cacheable(result) } else { result })
}

fn call_tool(session: &mut Session, revision: Revision, params: Params<'_>) -> Result<Value, Fault> {
    let name = need(member(params, "name"), Kind::String, "tools/call needs name, a string.")?;
    let arguments = member(params, "arguments");
    allow(arguments, Kind::Object, "arguments must be an object.")?;
    let tool = text(name).and_then(|name| tools::find(&name)).ok_or(Fault::params("There is no tool of that name."))?;

    let outcome = match tool.call(&session.tools, arguments) {
        Ok(outcome) => outcome,
        // From 2025-11-25 on arguments that don't fit are told to the model, before that to the program.
        Err(misfit) if [Revision::V2025_11_25, MODERN].contains(&revision) => Err(misfit.to_owned()),
        Err(misfit) => return Err(Fault::params(misfit)),
    };
    Ok(match outcome {
        Ok(said) => json!({"content": [{"type": "text", "text": said}]}),
        Err(said) => json!({"content": [{"type": "text", "text": said}], "isError": true}),
    })
}

/// What revision 2026-07-28 asks of results that a client may keep: these never change while the server runs.
fn cacheable(mut result: Value) -> Value {
    result["ttlMs"] = json!(3_600_000);
    result["cacheScope"] = json!("public");
    result
}

/// What the server says of itself, in both eras.
fn server_info() -> Value {
    json!({"name": "linegate-example-server", "version": env!("CARGO_PKG_VERSION")})
}

/// A member that must be there.
fn need<'a>(value: Params<'a>, kind: Kind, otherwise: &'static str) -> Result<Cursor<'a>, Fault> {
    value.filter(|value| value.kind() == kind).ok_or(Fault::params(otherwise))
}

/// A member that may be absent.
fn allow(value: Params<'_>, kind: Kind, otherwise: &'static str) -> Result<(), Fault> {
    match value {
        Some(value) if value.kind() != kind => Err(Fault::params(otherwise)),
        _ => Ok(()),
    }
}

/// A JSON-RPC error.
#[derive(Debug)]
pub struct Fault {
    code: i32,
    message: &'static str,
    data: Option<Value>,
}

impl Fault {
    pub const fn new(code: i32, message: &'static str) -> Self {
        Self { code, message, data: None }
    }

    const fn params(message: &'static str) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    const fn unknown_method() -> Self {
        Self::new(METHOD_NOT_FOUND, "The method is not one of this server's.")
    }

    fn unsupported_revision(requested: &str) -> Self {
        // A name that is too long to be one is not sent back.
        let requested = if requested.len() <= 255 { requested } else { "" };
        let data = json!({"supported": VERSIONS, "requested": requested});
        let message = "The protocol version is not one that this server speaks.";
        Self { code: UNSUPPORTED_VERSION, message, data: Some(data) }
    }

    pub fn into_json(self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = self.data {
            error["data"] = data;
        }
        error
    }
}
