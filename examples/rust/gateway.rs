//! An action gateway: an MCP server whose two tools act on other machines, one by HTTP, one by a command over SSH.
//!
//! `gateway CONFIG [AUDIT]`; the configuration is [`Config`] as JSON. Before a call has passed the gate, has arguments that fit, and
//! is allowed, nothing is looked up, no template filled and no credential read: only [`Execute`] does that. Refusals end the session.

use std::process::{Command, Stdio};
use std::{collections::BTreeMap, env, error::Error, fs, io, io::Write as _, net::TcpStream};

use linegate::action::{
    Action, Actions, Authorize, Authorized, Denial, Entry, Execute, Misfit, Origin, RawArguments, Target, Text,
};
use linegate::{Direction, Message, Options, Policy, Revision};
use linegate_host::{AuditFile, Session, StdioGuard, random_key};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Config {
    rules: Rules,
    gateway: Gateway,
}

/// `http_get`: reads an item of a service.
struct HttpGet;
#[derive(Deserialize)]
struct Item<'a> {
    service: &'a str,
    item: &'a str,
}
impl Action for HttpGet {
    const TARGET: Target<'static> = Target::Tool("http_get");
    type Arguments<'a> = Item<'a>;
    fn read(arguments: RawArguments<'_>) -> Result<Item<'_>, Misfit<'_>> {
        arguments.typed()
    }
}

/// `ssh_run`: runs a host's command for a unit.
struct SshRun;
#[derive(Deserialize)]
struct Unit<'a> {
    host: &'a str,
    unit: &'a str,
}
impl Action for SshRun {
    const TARGET: Target<'static> = Target::Tool("ssh_run");
    type Arguments<'a> = Unit<'a>;
    fn read(arguments: RawArguments<'_>) -> Result<Unit<'_>, Misfit<'_>> {
        arguments.typed()
    }
}

/// What may be touched: plain words that begin in one of these ways.
#[derive(Deserialize)]
struct Rules(Vec<String>);

impl Rules {
    fn check(&self, name: &str) -> Result<(), Denial> {
        // In a path or a command anything else could be more than a name.
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return Err(Denial::because("the name is no plain word"));
        }
        let known = self.0.iter().any(|beginning| name.starts_with(beginning.as_str()));
        if known { Ok(()) } else { Err(Denial::because("the name is not one that may be touched")) }
    }
}
impl Authorize<HttpGet> for Rules {
    fn authorize(&self, _: &Origin<'_>, asked: &Item<'_>) -> Result<(), Denial> {
        self.check(asked.item)
    }
}
impl Authorize<SshRun> for Rules {
    fn authorize(&self, _: &Origin<'_>, asked: &Unit<'_>) -> Result<(), Denial> {
        self.check(asked.unit)
    }
}

/// Who acts. In its templates `{}` stands for the item or unit; a host is reached by a program: `["ssh", "gate@north"]`.
#[derive(Deserialize)]
struct Gateway {
    services: BTreeMap<String, Service>,
    hosts: BTreeMap<String, Host>,
}
#[derive(Deserialize)]
struct Service {
    address: String,
    path: String,
    token_file: String,
}
#[derive(Deserialize)]
struct Host {
    reach: Vec<String>,
    command: String,
    identity_file: String,
}

impl Execute<HttpGet> for Gateway {
    type Output = Text<String>;
    type Error = Box<dyn Error>;
    fn execute(&mut self, action: Authorized<'_, HttpGet>) -> Result<Text<String>, Box<dyn Error>> {
        let Item { service, item } = action.open();
        let Service { address, path, token_file } = self.services.get(service).ok_or("there is no such service")?;
        let (path, token) = (path.replace("{}", item), fs::read_to_string(token_file)?);
        let (mut stream, token) = (TcpStream::connect(address)?, token.trim());
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n")?;
        let response = io::read_to_string(stream)?;
        Ok(Text(response.split_once("\r\n\r\n").ok_or("the service gave no HTTP response")?.1.to_owned()))
    }
}
impl Execute<SshRun> for Gateway {
    type Output = Text<String>;
    type Error = Box<dyn Error>;
    fn execute(&mut self, action: Authorized<'_, SshRun>) -> Result<Text<String>, Box<dyn Error>> {
        let Unit { host, unit } = action.open();
        let Host { reach, command, identity_file } = self.hosts.get(host).ok_or("there is no such host")?;
        let (program, arguments) = reach.split_first().ok_or("the host can't be reached")?;
        let mut run = Command::new(program);
        run.args(["-i", identity_file]).args(arguments).arg(command.replace("{}", unit));
        let output = run.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        Ok(Text(String::from_utf8_lossy(&output.stdout).into_owned()))
    }
}

const TOOLS: &[Entry<Rules, Gateway>] = &[Entry::of::<HttpGet>(), Entry::of::<SshRun>()];

/// Answers what is no action.
fn other(message: &Message<'_>) -> Option<Value> {
    let tool = |name, of, what| json!({ "name": name, "inputSchema": { "type": "object", "required": [of, what] } });
    let (version, about) = ("2025-11-25", json!({ "name": "gateway", "version": "1.0.0" }));
    Some(match message.method()? {
        "initialize" => json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": about }),
        "ping" => json!({}),
        "tools/list" => json!({ "tools": [tool("http_get", "service", "item"), tool("ssh_run", "host", "unit")] }),
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = env::args().skip(1);
    let config = fs::read(paths.next().ok_or("usage: gateway CONFIG [AUDIT]")?)?;
    let Config { rules, gateway } = serde_json::from_slice(&config)?;
    let audit = AuditFile::append(paths.next().unwrap_or("audit.jsonl".into()))?;
    let mut options = Options::new(Direction::FromClient, random_key()?);
    (options.policy, options.revision) = (Policy::CloseAll, Revision::V2025_11_25);
    let (_guard, stdin, stdout) = StdioGuard::take()?;
    Session::of(options).serve(&mut Actions::new(TOOLS, rules, gateway, audit)?, other, stdin, stdout)?;
    Ok(())
}
