//! `linegate scan`: captured bytes in, one verdict a line out, then a summary.
//!
//! It streams: input is read in pieces, memory is bounded by the longest line that the gate takes, and what is known is
//! flushed before the next read. A line that the gate refuses early is printed when its end has been seen, because its
//! whole length belongs to the verdict.
//!
//! The input is one direction's bytes, or with `--track` a [transcript] of both.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read};
use std::path::Path;

use linegate::{Direction, Event, Kind, Message, Options, Refusal};

use crate::args::{Format, ScanArgs};
use crate::gates::{self, Pair};
use crate::position::{Line, Position};
use crate::trouble::{Done, Trouble};
use crate::{CLEAN, FAULTS};

mod print;
mod source;
mod transcript;

use print::{Accepted, Printer, Rejected};
use source::Source;
use transcript::Marks;

/// Bytes of one read.
const PIECE: usize = 64 << 10;

/// Scans as the arguments say.
pub fn run(args: &'static ScanArgs) -> Done {
    let mut scan = Scan::new(source(args)?, args.format);
    let (name, mut input) = open(&args.file)?;
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => {
                let more = scan.take(piece.get(..len).unwrap_or_default());
                // What is known is told, whatever ended the scan.
                scan.printer.flush().map_err(unwritten)?;
                if !more? {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot read {name}: {error}").into()),
        }
    }
    let clean = scan.end()?;
    Ok(if clean { CLEAN } else { FAULTS })
}

fn unwritten(error: io::Error) -> Trouble {
    Trouble::writing("the verdicts", &error)
}

/// What is scanned, and by which gates.
fn source(args: &'static ScanArgs) -> Result<Source, String> {
    if !args.track {
        let options = options(args, args.from.unwrap_or(Direction::FromClient))?;
        return Ok(Source::OneWay(Box::new(gates::open(options)?)));
    }
    if args.from.is_some() {
        return Err(
            "--track reads both directions, and the marks of its lines (> client, < server) say the sender: leave \
                    --from out"
                .to_owned(),
        );
    }
    if !args.revision.is_mcp() {
        return Err("--track follows a session of MCP: give one of its revisions, or auto".to_owned());
    }
    let pair = Pair::open(options(args, Direction::FromClient)?, options(args, Direction::FromServer)?)?;
    Ok(Source::BothWays { pair: Box::new(pair), marks: Marks::new() })
}

fn options(args: &'static ScanArgs, from: Direction) -> Result<Options, String> {
    let mut options = args.allow.applied_to(gates::options(from)?);
    if let Some(profile) = args.profile {
        options = options.with_profile(profile);
    }
    options.revision = args.revision;
    options.policy = args.on_reject.policy();
    if let Some(max_frame) = args.max_frame {
        options.limits.max_frame = max_frame;
    }
    if let Some(max_depth) = args.max_depth {
        options.limits.max_depth = max_depth;
    }
    Ok(options)
}

/// The input, and what it is called in messages.
fn open(file: &Path) -> Result<(String, Box<dyn Read>), String> {
    if file == Path::new("-") {
        return Ok(("standard input".to_owned(), Box::new(io::stdin().lock())));
    }
    let name = file.display().to_string();
    let input = File::open(file).map_err(|error| format!("cannot open {name}: {error}"))?;
    Ok((name, Box::new(input)))
}

struct Scan {
    source: Source,
    printer: Box<dyn Printer>,
    position: Position,
    /// The verdict on the current line, whose end has not been seen.
    pending: Option<Rejected>,
    accepted: u64,
    rejected: u64,
}

impl Scan {
    fn new(source: Source, format: Format) -> Self {
        let printer: Box<dyn Printer> = match format {
            Format::Text => Box::new(print::Text::new(BufWriter::new(anstream::stdout().lock()))),
            Format::Json => Box::new(print::Json::new(BufWriter::new(io::stdout().lock()))),
        };
        Self { source, printer, position: Position::default(), pending: None, accepted: 0, rejected: 0 }
    }

    /// Judges one piece of input. False when a refusal has ended the scan.
    fn take(&mut self, mut input: &[u8]) -> Result<bool, Trouble> {
        while !input.is_empty() {
            let stripped = self.source.strip(input)?;
            self.position.skip(stripped);
            input = input.get(stripped..).unwrap_or_default();
            let from = self.source.sender();
            // A closed gate consumes everything it gets; the refused line must still be measured.
            let bounded = self.pending.is_some() || self.source.changes();
            let end = if bounded { input.iter().position(|byte| *byte == b'\n') } else { None };
            let bound = end.map_or(input.len(), |end| end + 1);
            let fed = self.source.feed(input.get(..bound).unwrap_or(input));
            let (consumed, rest) = input.split_at(fed.consumed);
            let ended = self.position.advance(consumed);
            input = rest;
            match fed.event {
                Event::Message(message) => {
                    self.accepted += 1;
                    let line = ended.unwrap_or(self.position.current());
                    let frame = self.accepted + self.rejected;
                    self.printer.accept(frame, line, &accepted(&message, from)).map_err(unwritten)?;
                }
                Event::Refused(refusal) => self.pending = Some(rejected(&refusal, from)),
                _ => {}
            }
            if let Some(line) = ended {
                self.reject(line).map_err(unwritten)?;
                if self.source.is_closed() {
                    return Ok(false);
                }
                self.source.end_line();
            }
        }
        Ok(true)
    }

    /// Prints the verdict that waited for the line's end, if one did.
    fn reject(&mut self, line: Line) -> io::Result<()> {
        if let Some(rejected) = self.pending.take() {
            self.rejected += 1;
            self.printer.reject(self.accepted + self.rejected, line, &rejected)?;
        }
        Ok(())
    }

    /// The end of input: the line that has no end, then the summary.
    fn end(mut self) -> Result<bool, Trouble> {
        if self.pending.is_none() {
            let from = self.source.sender();
            if let Event::Refused(refusal) = self.source.finish()? {
                self.pending = Some(rejected(&refusal, from));
            }
        }
        self.conclude().map_err(unwritten)?;
        Ok(self.rejected == 0)
    }

    fn conclude(&mut self) -> io::Result<()> {
        self.reject(self.position.current())?;
        self.printer.summary(self.accepted, self.rejected)?;
        self.printer.flush()
    }
}

fn accepted<'a>(message: &Message<'a>, from: Option<Direction>) -> Accepted<'a> {
    let kind = message.kind();
    // To the gate an error's null id is no id; the line has the token all the same.
    let null = || message.value().get("id").map(|id| id.bytes());
    let id = if kind == Kind::Error { message.id().or_else(null) } else { message.id() };
    Accepted { kind, method: message.method(), id, from }
}

fn rejected(refusal: &Refusal<'_>, from: Option<Direction>) -> Rejected {
    Rejected { code: refusal.code(), rpc_code: refusal.rpc_code(), at: refusal.at() as u64, from }
}
