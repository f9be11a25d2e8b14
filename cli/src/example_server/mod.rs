//! `linegate example-server`: a small MCP server on stdin and stdout, to read, to try, and for `linegate check` to start.
//!
//! This file is the loop: bytes from the client go through a gate, what the gate accepts goes to the [dispatch
//! table](methods), and what comes back goes through a second gate before it is written. The two share a tracker, so that
//! the order of a session is the gates' affair. Nothing else in this folder touches a stream.
//!
//! The server owns its stdout, so it also answers the lines that its gate refuses. When the gate ends the session the
//! server stops reading, as at the end of input.

mod methods;
mod params;
mod tools;

use std::io::{self, ErrorKind, Read, Write};

use linegate::{Direction, Event, Fed, Gate, INTERNAL_ERROR, Kind, Message, Options, Policy, REPLY_LEN, Refusal};
use linegate_host::HeapStorage;
use serde_json::Value;

use crate::CLEAN;
use crate::args::ExampleServerArgs;
use crate::gates::{self, Tracker};
use crate::tell::tell;
use crate::trouble::Done;
use methods::{Fault, Session};
use tools::Tools;

/// Serves one session on stdin and stdout.
pub fn run(args: &ExampleServerArgs) -> Done {
    match serve(Tools::new(args.record.clone()), io::stdin().lock(), io::stdout().lock()) {
        // A client that has gone away is the end of input, not an error.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string().into()),
        _ => Ok(CLEAN),
    }
}

fn serve(tools: Tools, input: impl Read, output: impl Write) -> io::Result<()> {
    let out = options(Direction::FromServer, Policy::Continue)?;
    let options = options(Direction::FromClient, Policy::CloseMalformed)?;
    let tracker = gates::track(&options, &out).map_err(io::Error::other)?;
    let mut server = Server { session: Session::new(tools), client: Client { gate: open(out)?, tracker, output } };
    server.run(&mut open(options)?, input)
}

fn options(from: Direction, policy: Policy) -> io::Result<Options> {
    let mut options = gates::options(from).map_err(io::Error::other)?;
    options.policy = policy;
    options.versions = &methods::VERSIONS;
    Ok(options)
}

fn open(options: Options) -> io::Result<Gate<HeapStorage>> {
    gates::open(options).map_err(io::Error::other)
}

struct Server<W> {
    session: Session,
    client: Client<W>,
}

impl<W: Write> Server<W> {
    /// Reads to the end of input, or until the gate ends the session.
    fn run(&mut self, gate: &mut Gate<HeapStorage>, mut input: impl Read) -> io::Result<()> {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let length = match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut rest = chunk.get(..length).unwrap_or_default();
            while !rest.is_empty() {
                let Fed { consumed, event } = gate.feed_with(rest, &mut self.client.tracker);
                rest = rest.get(consumed..).unwrap_or_default();
                self.take(event)?;
                if gate.is_closed() {
                    return Ok(());
                }
            }
        }
        self.take(gate.finish())
    }

    /// Acts on what one step of the gate brought.
    fn take(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Message(message) => self.answer(&message),
            Event::Refused(refusal) => self.refuse(&refusal),
            _ => Ok(()),
        }
    }

    /// Answers a request. Notifications ask for nothing here, and this server sends no request that could be answered.
    fn answer(&mut self, message: &Message<'_>) -> io::Result<()> {
        let (Kind::Request, Some(method), Some(id)) = (message.kind(), message.method(), message.id()) else {
            return Ok(());
        };
        match methods::dispatch(&mut self.session, method, message.params()) {
            Ok(result) => self.client.send(id, "result", &result),
            Err(fault) => self.client.send(id, "error", &fault.into_json()),
        }
    }

    /// Says on stderr that a line was refused, and to the client why, where a reply is due.
    fn refuse(&mut self, refusal: &Refusal<'_>) -> io::Result<()> {
        let ends = if refusal.closes() { " This ends the session." } else { "" };
        let (line, code, at) = (refusal.sequence(), refusal.code(), refusal.at());
        let text = code.text();
        tell(format_args!("example-server: line {line} refused: {code}, byte {at} of the line: {text}{ends}"));
        if !refusal.reply_due() {
            return Ok(());
        }
        let mut reply = [0; REPLY_LEN];
        let length = refusal.write_reply(&mut reply).map_err(io::Error::other)?;
        self.client.write(reply.get(..length).unwrap_or_default())
    }
}

/// The way out: every line passes a gate of its own before it is written.
struct Client<W> {
    gate: Gate<HeapStorage>,
    /// What both directions remember of the session.
    tracker: Tracker,
    output: W,
}

impl<W: Write> Client<W> {
    /// Sends one response; `member` is `result` or `error`. Where the line would not pass the gate of a client, an
    /// internal error goes out in its place.
    fn send(&mut self, id: &[u8], member: &str, body: &Value) -> io::Result<()> {
        let line = response(id, member, body);
        if self.passes(&line) {
            return self.write(&line);
        }
        let fault = Fault::new(INTERNAL_ERROR, "The answer is not a line that every client can read.");
        self.write(&response(id, "error", &fault.into_json()))
    }

    /// Whether the gate takes the line. All of it is fed, so that what is left of a line refused early is not taken for
    /// the beginning of the next.
    fn passes(&mut self, mut line: &[u8]) -> bool {
        let mut passed = false;
        while !line.is_empty() {
            let Fed { consumed, event } = self.gate.feed_with(line, &mut self.tracker);
            passed |= matches!(event, Event::Message(_));
            line = line.get(consumed..).unwrap_or_default();
        }
        passed
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.output.write_all(line)?;
        self.output.flush()
    }
}

/// One response line. The id is the request's, byte for byte as the gate checked it.
fn response(id: &[u8], member: &str, body: &Value) -> Vec<u8> {
    let mut line = br#"{"jsonrpc":"2.0","id":"#.to_vec();
    line.extend_from_slice(id);
    line.extend_from_slice(format!(r#","{member}":{body}}}"#).as_bytes());
    line.push(b'\n');
    line
}
