//! The two ways in which `scan` prints: lines for people, and JSON objects whose fields and order are frozen.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use linegate::{Code, Direction, Kind};

use crate::position::Line;
use crate::tell::printable;

/// What is printed of an accepted line.
pub struct Accepted<'a> {
    /// What the message is.
    pub kind: Kind,
    /// Its method, decoded.
    pub method: Option<&'a str>,
    /// Its id as written.
    pub id: Option<&'a [u8]>,
    /// Who sent it, where the input has lines of both.
    pub from: Option<Direction>,
}

/// What is printed of a refused line.
pub struct Rejected {
    /// The verdict.
    pub code: Code,
    /// The code of the reply, where one is due.
    pub rpc_code: Option<i32>,
    /// The fault's offset in the line.
    pub at: u64,
    /// Who sent it, where the input has lines of both.
    pub from: Option<Direction>,
}

/// A way to print verdicts.
pub trait Printer {
    /// One accepted line, the `frame`th.
    fn accept(&mut self, frame: u64, line: Line, accepted: &Accepted<'_>) -> io::Result<()>;
    /// One refused line, the `frame`th.
    fn reject(&mut self, frame: u64, line: Line, rejected: &Rejected) -> io::Result<()>;
    /// The counts, at the end.
    fn summary(&mut self, accepted: u64, rejected: u64) -> io::Result<()>;
    /// Hands everything printed so far to the reader.
    fn flush(&mut self) -> io::Result<()>;
}

/// JSON lines.
pub struct Json<W>(W);

impl<W: Write> Json<W> {
    /// Prints to `out`.
    pub fn new(out: W) -> Self {
        Self(out)
    }

    /// The end of a verdict.
    fn end(&mut self, from: Option<Direction>) -> io::Result<()> {
        if let Some(from) = from {
            write!(self.0, r#","from":"{}""#, from.name())?;
        }
        self.0.write_all(b"}\n")
    }
}

impl<W: Write> Printer for Json<W> {
    fn accept(&mut self, frame: u64, line: Line, accepted: &Accepted<'_>) -> io::Result<()> {
        let Line { offset, length } = line;
        let kind = accepted.kind.name();
        write!(self.0, r#"{{"frame":{frame},"offset":{offset},"length":{length},"verdict":"accept","kind":"{kind}""#)?;
        if let Some(method) = accepted.method {
            self.0.write_all(br#","method":"#)?;
            serde_json::to_writer(&mut self.0, method)?;
        }
        if let Some(id) = accepted.id {
            self.0.write_all(br#","id":"#)?;
            self.0.write_all(id)?;
        }
        self.end(accepted.from)
    }

    fn reject(&mut self, frame: u64, line: Line, rejected: &Rejected) -> io::Result<()> {
        let Line { offset, length } = line;
        let Rejected { code, rpc_code, at, from } = rejected;
        let (stage, rule, number) = (code.stage().name(), code.name(), code.number());
        write!(
            self.0,
            r#"{{"frame":{frame},"offset":{offset},"length":{length},"verdict":"reject","stage":"{stage}","rule":"{rule}","code":{number},"#
        )?;
        match rpc_code {
            Some(rpc) => write!(self.0, r#""rpc_code":{rpc},"#)?,
            None => self.0.write_all(br#""rpc_code":null,"#)?,
        }
        write!(self.0, r#""at":{at}"#)?;
        self.end(*from)
    }

    fn summary(&mut self, accepted: u64, rejected: u64) -> io::Result<()> {
        let frames = accepted + rejected;
        writeln!(self.0, r#"{{"summary":{{"frames":{frames},"accepted":{accepted},"rejected":{rejected}}}}}"#)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Who sent a line, where that is said.
const fn sender(from: Option<Direction>) -> &'static str {
    match from {
        None => "",
        Some(Direction::FromClient) => ", of the client",
        Some(Direction::FromServer) => ", of the server",
    }
}

/// Lines for people.
pub struct Text<W>(W);

impl<W: Write> Text<W> {
    /// Prints to `out`, which drops the colours where it isn't a terminal.
    pub fn new(out: W) -> Self {
        Self(out)
    }
}

impl<W: Write> Printer for Text<W> {
    fn accept(&mut self, frame: u64, line: Line, accepted: &Accepted<'_>) -> io::Result<()> {
        let (offset, from) = (line.offset, sender(accepted.from));
        write!(self.0, "line {frame} at offset {offset}{from}: {GOOD}accepted{GOOD:#} {}", accepted.kind.name())?;
        if let Some(method) = accepted.method {
            write!(self.0, " {}", printable(method))?;
        }
        if let Some(id) = accepted.id {
            write!(self.0, " id {}", printable(&String::from_utf8_lossy(id)))?;
        }
        writeln!(self.0)
    }

    fn reject(&mut self, frame: u64, line: Line, rejected: &Rejected) -> io::Result<()> {
        let Rejected { code, at, .. } = rejected;
        let (offset, from, text) = (line.offset, sender(rejected.from), code.text());
        writeln!(
            self.0,
            "line {frame} at offset {offset}{from}: {BAD}refused{BAD:#} {code}, byte {at} of the line: {text}"
        )
    }

    fn summary(&mut self, accepted: u64, rejected: u64) -> io::Result<()> {
        let style = if rejected == 0 { GOOD } else { BAD };
        let frames = accepted + rejected;
        let lines = if frames == 1 { "line" } else { "lines" };
        writeln!(self.0, "{style}{frames} {lines}, {accepted} accepted, {rejected} refused{style:#}")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
