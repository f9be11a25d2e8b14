//! `linegate scan`: captured bytes in, one verdict a line out, then a summary.
//!
//! It streams: input is read in pieces, memory is bounded by the longest line that the gate takes, and what is known is
//! flushed before the next read. A line that the gate refuses early is printed when its end has been seen, because its
//! whole length belongs to the verdict.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read};
use std::path::Path;
use std::process::ExitCode;

use linegate::{Event, Gate, Kind, Message, Options, Refusal};
use linegate_host::HeapStorage;

use crate::args::{Format, ScanArgs};
use crate::gates;
use crate::position::{Line, Position};
use crate::trouble::{Done, Trouble};

mod print;

use print::{Accepted, Printer, Rejected};

/// Bytes of one read.
const PIECE: usize = 64 << 10;

/// Scans as the arguments say.
pub fn run(args: &ScanArgs) -> Done {
    let mut scan = Scan::new(gates::open(options(args)?)?, args.format);
    let (name, mut input) = open(&args.file)?;
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => {
                let more = scan.take(piece.get(..len).unwrap_or_default()).map_err(unwritten)?;
                scan.printer.flush().map_err(unwritten)?;
                if !more {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot read {name}: {error}").into()),
        }
    }
    let clean = scan.end().map_err(unwritten)?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn unwritten(error: io::Error) -> Trouble {
    Trouble::writing("the verdicts", &error)
}

fn options(args: &ScanArgs) -> Result<Options, String> {
    let mut options = gates::options(args.from)?;
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
    gate: Gate<HeapStorage>,
    printer: Box<dyn Printer>,
    position: Position,
    /// The verdict on the current line, whose end has not been seen.
    pending: Option<Rejected>,
    accepted: u64,
    rejected: u64,
}

impl Scan {
    fn new(gate: Gate<HeapStorage>, format: Format) -> Self {
        let printer: Box<dyn Printer> = match format {
            Format::Text => Box::new(print::Text::new(BufWriter::new(anstream::stdout().lock()))),
            Format::Json => Box::new(print::Json::new(BufWriter::new(io::stdout().lock()))),
        };
        Self { gate, printer, position: Position::default(), pending: None, accepted: 0, rejected: 0 }
    }

    /// Judges one piece of input. False when a refusal has ended the scan.
    fn take(&mut self, mut input: &[u8]) -> io::Result<bool> {
        while !input.is_empty() {
            let bound = match self.pending {
                // A closed gate consumes everything it gets; the refused line must still be measured.
                Some(_) => input.iter().position(|byte| *byte == b'\n').map_or(input.len(), |end| end + 1),
                None => input.len(),
            };
            let fed = self.gate.feed(input.get(..bound).unwrap_or(input));
            let (consumed, rest) = input.split_at(fed.consumed);
            let ended = self.position.advance(consumed);
            input = rest;
            match fed.event {
                Event::Message(message) => {
                    self.accepted += 1;
                    let line = ended.unwrap_or(self.position.current());
                    self.printer.accept(self.accepted + self.rejected, line, &accepted(&message))?;
                }
                Event::Refused(refusal) => self.pending = Some(rejected(&refusal)),
                _ => {}
            }
            if let Some(line) = ended {
                self.reject(line)?;
                if self.gate.is_closed() {
                    return Ok(false);
                }
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
    fn end(mut self) -> io::Result<bool> {
        if self.pending.is_none()
            && let Event::Refused(refusal) = self.gate.finish()
        {
            self.pending = Some(rejected(&refusal));
        }
        self.reject(self.position.current())?;
        self.printer.summary(self.accepted, self.rejected)?;
        self.printer.flush()?;
        Ok(self.rejected == 0)
    }
}

fn accepted<'a>(message: &Message<'a>) -> Accepted<'a> {
    let kind = message.kind();
    // To the gate an error's null id is no id; the line has the token all the same.
    let null = || message.value().get("id").map(|id| id.bytes());
    let id = if kind == Kind::Error { message.id().or_else(null) } else { message.id() };
    Accepted { kind, method: message.method(), id }
}

fn rejected(refusal: &Refusal<'_>) -> Rejected {
    Rejected { code: refusal.code(), rpc_code: refusal.rpc_code(), at: refusal.at() as u64 }
}
