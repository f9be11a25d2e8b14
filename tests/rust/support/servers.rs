//! Servers for `linegate check`: one in Python that is strict, and others that are it with one fault.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Outcome, Running, scratch};

/// A server that takes nothing but lines that mean the same to everybody: what it reads has to be what it would write.
const STRICT: &str = r#"
import json, sys

def plain(value, depth=1):
    if depth > 32:
        return False
    if isinstance(value, int) and abs(value) > 2**53 - 1:
        return False
    if isinstance(value, dict):
        return all(plain(member, depth + 1) for member in value.values())
    if isinstance(value, list):
        return all(plain(element, depth + 1) for element in value)
    return True

def checked(line):
    text = line.decode("utf-8").replace("\r\n", "\n")
    message = json.loads(text)
    if not LENIENT and json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n" != text:
        raise ValueError("not canonical")
    if not set(message) <= {"jsonrpc", "id", "method", "params"} or message["jsonrpc"] != "2.0":
        raise ValueError("not a message")
    if type(message.get("id", "")) not in (str, int) or not isinstance(message.get("params", {}), dict):
        raise ValueError("not a request")
    if not plain(message):
        raise ValueError("not plain")
    return message

def answer(message):
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "strict", "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}}
    if message["method"] == "ping":
        return {"result": {}}
    return {"error": {"code": -32601, "message": "unknown method"}}

def serve():
    for line in sys.stdin.buffer:
        try:
            message = checked(line)
        except Exception as error:
            print("refused:", type(error).__name__, file=sys.stderr)
            continue
        if "id" in message:
            reply(message)

def reply(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}) + "\n")
    sys.stdout.flush()
"#;

/// A server in a file of its own; the file is removed in the end.
pub struct Server(PathBuf);

impl Server {
    /// The strict server with other code around its loop; `lenient` makes it take what it would write otherwise.
    pub fn new(before: &str, lenient: bool, after: &str) -> Self {
        let path = scratch("server.py");
        let lenient = if lenient { "True" } else { "False" };
        fs::write(&path, format!("LENIENT = {lenient}\n{STRICT}\n{before}\nserve()\n{after}\n")).expect("written");
        Self(path)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Checks the server; the document that the check prints, and its exit status.
    pub fn check(&self, options: &[&str]) -> (Value, i32) {
        self.check_within("5", options)
    }

    /// The same with so many seconds for each wait.
    pub fn check_within(&self, seconds: &str, options: &[&str]) -> (Value, i32) {
        let server = self.0.to_str().expect("text");
        let first = ["check", "--format", "json", "--timeout", seconds];
        let outcome = linegate(&[&first, options, &["--", "python3", "-I", server]].concat(), "");
        let document = serde_json::from_slice(&outcome.stdout).expect("a JSON document");
        (document, outcome.code.expect("a status"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The names of the scenarios with this verdict.
pub fn names<'d>(document: &'d Value, verdict: &str) -> Vec<&'d str> {
    let scenarios = document["scenarios"].as_array().expect("scenarios");
    let chosen = scenarios.iter().filter(|scenario| scenario["verdict"] == verdict);
    chosen.map(|scenario| scenario["name"].as_str().expect("a name")).collect()
}

pub fn scenario<'d>(document: &'d Value, name: &str) -> &'d Value {
    let scenarios = document["scenarios"].as_array().expect("scenarios");
    scenarios.iter().find(|scenario| scenario["name"] == name).expect("the scenario ran")
}

/// What the command made of these arguments and this input.
pub fn linegate(arguments: &[&str], input: &str) -> Outcome {
    let mut running = Running::start(arguments);
    running.send(input);
    running.finish()
}
