//! A server on a pipe, whole: what comes in is gated, what is asked for goes through the host's table of actions, and only
//! checked lines go out, all of it in one session.

use std::cell::Cell;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

use linegate::action::{Actions, Audit, Handled, Wire, Writer};
use linegate::{
    BadOptions, Batches, Counters, Event, Gate, INTERNAL_ERROR, Kind, METHOD_NOT_FOUND, Message, REPLY_LEN, Slot,
    Tracker,
};

use crate::filter::PIECE;
use crate::{HeapStorage, Session};

/// What a session came to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Served {
    /// What the client's gate counted: accepted lines, and refusals, those of calls included.
    pub client: Counters,
    /// What the server's own gate counted. A refusal here is an answer that was no message, and was not sent.
    pub server: Counters,
}

impl Session {
    /// Serves the session from `input` to `output`, until the input ends or the client's policy ends it.
    ///
    /// What a message asks of the [`Actions`] table is done, or refused and answered. `other` answers what is no action: the
    /// handshake, `ping`, lists. It is given requests and notifications of methods that are no rows of the table, and gives a
    /// result that displays as JSON text, as a `serde_json::Value` does; a request for which it gives none is answered -32601.
    ///
    /// The session is tracked where it is one of MCP: nothing is executed before `initialize`, and an id in flight isn't taken
    /// twice. Actions are executed one after another, in the order of their lines. A server's line that its own gate refuses is
    /// withheld, and the client answered -32603, whatever the server's policy.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for options that can't be served (903), batches among them: an action is asked for on a line
    /// of its own. Otherwise those of reading and writing; after one of writing nothing more is executed.
    pub fn serve<Z, X, S: Audit, R: fmt::Display>(
        &self,
        actions: &mut Actions<Z, X, S>,
        mut other: impl FnMut(&Message<'_>) -> Option<R>,
        mut input: impl Read,
        mut output: impl Write,
    ) -> io::Result<Served> {
        let mut options = self.client.clone();
        if options.batches == Batches::Allow {
            return Err(invalid("a server of actions takes no batches"));
        }
        options.batches = Batches::Refuse;
        let mut tracker = self.tracker().map_err(bad)?;
        let max_frame = options.limits.max_frame as usize;
        let mut gate = Gate::new(options, HeapStorage::new()).map_err(bad)?;
        let broken = Cell::new(None);
        let mut writer = Writer::new(self.server.clone(), HeapStorage::new(), |line: &[u8]| {
            if let Err(error) = output.write_all(line).and_then(|()| output.flush()) {
                broken.set(Some(error));
            }
        })
        .map_err(bad)?;
        let (mut room, mut out, mut chunk) = (Vec::new(), vec![0; max_frame + REPLY_LEN], vec![0; PIECE]);
        while !gate.is_closed() {
            let len = match input.read(&mut chunk) {
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if len == 0 {
                if let Event::Refused(refusal) = gate.finish() {
                    actions.refused(&refusal);
                }
                break;
            }
            let mut rest = chunk.get(..len).unwrap_or_default();
            while !rest.is_empty() {
                let fed = match &mut tracker {
                    Some(tracker) => gate.feed_with(rest, tracker),
                    None => gate.feed(rest),
                };
                rest = rest.get(fed.consumed..).unwrap_or_default();
                let mut wire = Tracked { writer: &mut writer, tracker: tracker.as_mut() };
                match fed.event {
                    Event::Message(message) => {
                        room.resize(message.bytes().len().max(room.len()), 0);
                        if let Handled::Message(message) = actions.handle(message, &mut room, &mut out, &mut wire) {
                            wire.answer(&message, other(&message));
                        }
                    }
                    Event::Refused(refusal) => {
                        actions.refused(&refusal);
                        let len = refusal.write_reply(&mut out).unwrap_or_default();
                        wire.send(out.get(..len).unwrap_or_default());
                    }
                    _ => {}
                }
                if let Some(error) = broken.take() {
                    return Err(error);
                }
            }
        }
        Ok(Served { client: *gate.counters(), server: *writer.gate().counters() })
    }
}

fn bad(options: BadOptions) -> io::Error {
    invalid(options.text)
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, text)
}

/// The way out, in the session.
struct Tracked<'a, F> {
    writer: &'a mut Writer<HeapStorage, F>,
    tracker: Option<&'a mut Tracker<Vec<Slot>>>,
}

impl<F: FnMut(&[u8])> Wire for Tracked<'_, F> {
    fn send(&mut self, line: &[u8]) -> bool {
        match &mut self.tracker {
            Some(tracker) => self.writer.write_line_with(line, tracker).is_ok(),
            None => self.writer.write_line(line).is_ok(),
        }
    }
}

impl<F: FnMut(&[u8])> Tracked<'_, F> {
    /// Answers a request that is no action.
    fn answer(&mut self, message: &Message<'_>, result: Option<impl fmt::Display>) {
        let Some(id) = message.id().filter(|_| message.kind() == Kind::Request) else { return };
        let error = |code: i32, text: &str| format!(r#""error":{{"code":{code},"message":"{text}"}}"#);
        let said = match result {
            Some(result) => format!(r#""result":{result}"#),
            None => error(METHOD_NOT_FOUND, "The method is not served here."),
        };
        if !self.respond(id, &said) {
            self.respond(id, &error(INTERNAL_ERROR, "The result can't be sent."));
        }
    }

    fn respond(&mut self, id: &[u8], said: &str) -> bool {
        let line = [br#"{"jsonrpc":"2.0","id":"#, id, b",", said.as_bytes(), b"}\n"].concat();
        self.send(&line)
    }
}
