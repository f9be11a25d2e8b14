//! The tools: three harmless ones. `echo` and `add` answer; `record` has the one effect of this server, a line in a file,
//! by which a test can count how often a call got through.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use linegate::Cursor;
use serde_json::{Value, json};

use super::params::{Params, member, text};

/// What a tool did: the text it says, or the text of its failure. The client's model reads both.
pub type Outcome = Result<String, String>;
/// Arguments that don't fit the tool's schema: what would have fitted.
pub type Misfit = &'static str;

type Run = fn(&Tools, Params<'_>) -> Result<Outcome, Misfit>;

/// One tool: what `tools/list` says of it, and what `tools/call` runs.
pub struct Tool {
    name: &'static str,
    description: &'static str,
    /// Each argument is required; the pairs are its name and its JSON Schema type.
    arguments: &'static [(&'static str, &'static str)],
    run: Run,
}

const TOOLS: [Tool; 3] = [
    Tool { name: "echo", description: "Says its text back.", arguments: &[("text", "string")], run: echo },
    Tool { name: "add", description: "Adds two integers.", arguments: &[("a", "integer"), ("b", "integer")], run: add },
    Tool {
        name: "record",
        description: "Appends its text as one line to the file that the server was started with.",
        arguments: &[("text", "string")],
        run: record,
    },
];

/// What the tools work on.
pub struct Tools {
    record: Option<PathBuf>,
}

impl Tools {
    pub const fn new(record: Option<PathBuf>) -> Self {
        Self { record }
    }
}

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Tool> {
    const { &TOOLS }.iter().find(|tool| tool.name == name)
}

/// The tools as `tools/list` shows them.
pub fn list() -> Vec<Value> {
    TOOLS.iter().map(Tool::describe).collect()
}

impl Tool {
    /// Runs the tool.
    pub fn call(&self, tools: &Tools, arguments: Params<'_>) -> Result<Outcome, Misfit> {
        let known = |name: Cursor<'_>| self.arguments.iter().any(|(known, _)| name.is_str(known));
        if arguments.is_some_and(|arguments| arguments.members().any(|(name, _)| !known(name))) {
            return Err("There is an argument that the tool does not have.");
        }
        (self.run)(tools, arguments)
    }

    fn describe(&self) -> Value {
        let properties: serde_json::Map<_, _> =
            self.arguments.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
        let required: Vec<_> = self.arguments.iter().map(|(name, _)| name).collect();
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        })
    }
}

fn echo(_: &Tools, arguments: Params<'_>) -> Result<Outcome, Misfit> {
    let said = member(arguments, "text").and_then(text).ok_or("echo needs text, a string.")?;
    Ok(Ok(said))
}

fn add(_: &Tools, arguments: Params<'_>) -> Result<Outcome, Misfit> {
    let integer = |name| member(arguments, name).and_then(|value| value.as_i64());
    let (Some(a), Some(b)) = (integer("a"), integer("b")) else {
        return Err("add needs a and b, two integers.");
    };
    Ok(a.checked_add(b).map(|sum| sum.to_string()).ok_or_else(|| "The sum is too large.".to_owned()))
}

fn record(tools: &Tools, arguments: Params<'_>) -> Result<Outcome, Misfit> {
    let line = member(arguments, "text").and_then(text).ok_or("record needs text, a string.")?;
    if line.contains(['\n', '\r']) {
        return Err("record needs a text of one line.");
    }
    let Some(path) = &tools.record else {
        return Ok(Err("The server was started without --record FILE.".to_owned()));
    };
    let appended = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        // One write: a line of two servers that share the file is never torn.
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    Ok(match appended {
        Ok(()) => Ok("recorded".to_owned()),
        Err(error) => Err(format!("The file can't be written: {error}")),
    })
}
