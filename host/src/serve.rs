//! A server on a pipe, whole: what comes in is gated, what is asked for goes through the host's table of actions, and only
//! checked lines go out, all of it in one session.

use std::cell::Cell;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

use linegate::action::{Actions, Audit, Handled, NotSent, Wire, Writer};
use linegate::{
    BadOptions, Batches, Counters, Direction, Event, Gate, INTERNAL_ERROR, Kind, METHOD_NOT_FOUND, Message, REPLY_LEN,
    Slot, Tracker,
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
        if (options.direction, self.server.direction) != (Direction::FromClient, Direction::FromServer) {
            return Err(invalid("a session has a client's options and a server's"));
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
                        if let Handled::Message(message) = actions.handle(message, &mut room, &mut out, &mut wire)
                            && matches!(message.kind(), Kind::Request | Kind::Notification)
                        {
                            wire.answer(&message, other(&message));
                        }
                    }
                    Event::Refused(refusal) => {
                        actions.refused(&refusal);
                        let len = refusal.write_reply(&mut out).unwrap_or_default();
                        wire.tell(out.get(..len).unwrap_or_default());
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

/// The way out for the answer to one line, in the session.
struct Tracked<'a, F> {
    writer: &'a mut Writer<HeapStorage, F>,
    tracker: Option<&'a mut Tracker<Vec<Slot>>>,
}

impl<F: FnMut(&[u8])> Wire for Tracked<'_, F> {
    fn send(&mut self, line: &[u8]) -> bool {
        let Some(tracker) = self.tracker.as_deref_mut() else { return self.tell(line) };
        match self.writer.write_line_with(line, tracker) {
            Ok(()) => true,
            Err(NotSent::Refused(refusal)) if refusal.settles().is_some() => {
                // For the tracker the request is answered by that; what the client is told instead answers none.
                self.tracker = None;
                false
            }
            Err(_) => false,
        }
    }
}

impl<F: FnMut(&[u8])> Tracked<'_, F> {
    /// Sends the reply to a line that the gate refused. A refused request is none of the session's: its reply isn't either.
    fn tell(&mut self, line: &[u8]) -> bool {
        self.writer.write_line(line).is_ok()
    }

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

#[cfg(test)]
mod tests {
    use linegate::action::testing::{Allow, Ledger};
    use linegate::action::{
        Action, Authorized, Entry, Execute, Execution, Misfit, Outcome, RawArguments, Target, Text, Wrong,
    };
    use linegate::{AuditKey, Options, Policy, Revision, Stage};
    use serde_json::{Value, json};

    use super::*;

    /// `tools/call` of `say`, whose argument is a word.
    struct Say;
    impl Action for Say {
        const TARGET: Target<'static> = Target::Tool("say");
        type Arguments<'a> = &'a str;
        fn read(arguments: RawArguments<'_>) -> Result<&str, Misfit<'_>> {
            let arguments = arguments.cursor();
            let word = arguments.get("word").and_then(|word| word.as_str());
            word.ok_or(Misfit::new(Wrong::Missing, arguments))
        }
    }

    /// A notification that is an action.
    struct Roots;
    impl Action for Roots {
        const TARGET: Target<'static> = Target::Method("notifications/roots/list_changed");
        type Arguments<'a> = ();
        fn read(_: RawArguments<'_>) -> Result<(), Misfit<'_>> {
            Ok(())
        }
    }

    /// Says every word as often as it was told to.
    #[derive(Debug, Default)]
    struct Voice {
        said: Vec<String>,
        repeat: usize,
    }
    impl Execute<Say> for Voice {
        type Output = Text<String>;
        type Error = &'static str;
        fn execute(&mut self, action: Authorized<'_, Say>) -> Result<Text<String>, &'static str> {
            let word = action.open();
            self.said.push(word.to_owned());
            Ok(Text(word.repeat(self.repeat)))
        }
    }
    impl Execute<Roots> for Voice {
        type Output = Text<&'static str>;
        type Error = &'static str;
        fn execute(&mut self, action: Authorized<'_, Roots>) -> Result<Text<&'static str>, &'static str> {
            let () = action.open();
            self.said.push("roots".to_owned());
            Ok(Text("never read"))
        }
    }

    const TABLE: &[Entry<Allow, Voice>] = &[Entry::of::<Say>(), Entry::of::<Roots>()];

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

    fn say(id: u32, word: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"say","arguments":{{"word":"{word}"}}}}}}"#
        ) + "\n"
    }

    fn ask(id: u32, method: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#) + "\n"
    }

    fn options(policy: Policy) -> Options {
        let mut options = Options::new(Direction::FromClient, AuditKey::new([9; 16]));
        options.policy = policy;
        options
    }

    fn other(message: &Message<'_>) -> Option<Value> {
        let about = json!({ "name": "s", "version": "1" });
        match message.method().expect("only what asks for something") {
            "initialize" => Some(json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": about })),
            "ping" => Some(json!({})),
            _ => None,
        }
    }

    /// Input that comes in these pieces, one at each read.
    struct Pieces<'a>(Vec<&'a [u8]>);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            let len = piece.len().min(buffer.len());
            buffer[..len].copy_from_slice(&piece[..len]);
            *piece = &piece[len..];
            self.0.retain(|piece| !piece.is_empty());
            Ok(len)
        }
    }

    struct Seen {
        served: Served,
        said: Vec<String>,
        executed: u64,
        codes: Vec<u16>,
        ended: Vec<(Execution, Outcome)>,
        output: String,
    }

    impl Seen {
        /// The answers: their id, and their error's code or `null`.
        fn answers(&self) -> Vec<Value> {
            let answer = |line: &str| {
                let answer: Value = serde_json::from_str(line).unwrap();
                json!([answer["id"], answer["error"]["code"]])
            };
            self.output.lines().map(answer).collect()
        }
    }

    fn voice(repeat: usize) -> Actions<Allow, Voice, Ledger> {
        Actions::new(TABLE, Allow, Voice { said: Vec::new(), repeat }, Ledger::default()).unwrap()
    }

    fn session(options: Options, input: impl Read) -> Seen {
        session_of(options, input, 1, other)
    }

    fn session_of<R: fmt::Display>(
        options: Options,
        input: impl Read,
        repeat: usize,
        other: impl FnMut(&Message<'_>) -> Option<R>,
    ) -> Seen {
        let (mut actions, mut output) = (voice(repeat), Vec::new());
        let served = Session::of(options).serve(&mut actions, other, input, &mut output).unwrap();
        let ledger = actions.audit();
        Seen {
            served,
            said: actions.executor().said.clone(),
            executed: actions.journal().executed(),
            codes: ledger.refused.iter().map(|record| record.code.number()).collect(),
            ended: ledger.ended.clone(),
            output: String::from_utf8(output).unwrap(),
        }
    }

    #[test]
    fn is_the_same_however_the_input_is_cut() {
        let input = [
            HELLO,
            &say(1, "one"),
            &ask(2, "ping"),
            &say(3, "th\\u0072ee"),
            "debug: no message\n",
            &ask(4, "tools/call"),
            &say(5, "five"),
        ]
        .concat();
        let whole = session(options(Policy::Continue), input.as_bytes());
        assert_eq!(whole.said, ["one", "five"]);
        assert_eq!(whole.codes, [502, 202, 403]);
        assert_eq!(whole.served.client.accepted, 6);
        let bytes = Pieces(input.as_bytes().chunks(1).collect());
        let lines = Pieces(input.as_bytes().split_inclusive(|byte| *byte == b'\n').collect());
        let cuts = (1..input.len()).map(|at| Pieces(vec![&input.as_bytes()[..at], &input.as_bytes()[at..]]));
        for pieces in [bytes, lines].into_iter().chain(cuts) {
            let cut = session(options(Policy::Continue), pieces);
            assert_eq!((cut.output.as_str(), &cut.codes), (whole.output.as_str(), &whole.codes));
            assert_eq!((cut.served.client, cut.served.server), (whole.served.client, whole.served.server));
        }
    }

    #[test]
    fn a_refusal_that_closes_ends_the_reading() {
        let input = [HELLO, &say(1, "one"), "no message\n", &say(2, "two")].concat();
        let session = session(options(Policy::CloseAll), input.as_bytes());
        assert_eq!((session.said.as_slice(), session.executed), (&["one".to_owned()][..], 1));
        assert_eq!(session.codes, [202]);
        assert_eq!(session.answers(), [json!(["hello", null]), json!([1, null]), json!([null, -32700])]);
    }

    #[test]
    fn a_call_that_is_cut_off_is_not_done() {
        let call = say(1, "one");
        for len in 1..call.len() {
            let input = [HELLO, &call[..len]].concat();
            let session = session(options(Policy::Continue), input.as_bytes());
            assert_eq!((session.executed, session.codes), (0, vec![104]));
            assert_eq!(session.served.client.refused(Stage::Frame), 1);
            assert_eq!(session.output.lines().count(), 1, "the handshake's answer");
        }
    }

    /// The replies of requests that were refused before the session knew of them, and after.
    #[test]
    fn each_refusal_is_answered_with_its_id() {
        let input = [
            ask(1, "tools/list"),
            say(2, "early"),
            HELLO.to_owned(),
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}"#.to_owned() + "\n",
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"shout"}}"#.to_owned() + "\n",
            ask(5, "no/such"),
            ask(6, "prompts/list"),
            HELLO.lines().next().unwrap().replace("hello", "again") + "\n",
            say(7, "late"),
            // A refused id may be used; an answered one as well.
            say(3, "again"),
            say(7, "again"),
        ]
        .concat();
        let session = session(options(Policy::Continue), input.as_bytes());
        assert_eq!(session.codes, [451, 451, 403, 501, 402, 452]);
        let wanted = [
            json!([1, -32600]),
            json!([2, -32600]),
            json!(["hello", null]),
            json!([3, -32602]),
            json!([4, -32602]),
            json!([5, -32601]),
            json!([6, -32601]),
            json!(["again", -32600]),
            json!([7, null]),
            json!([3, null]),
            json!([7, null]),
        ];
        assert_eq!(session.answers(), wanted);
        assert_eq!(session.said, ["late", "again", "again"]);
        assert_eq!(session.served.client.refused_total(), 6);
        assert_eq!(session.served.server.refused_total(), 0);
    }

    #[test]
    fn a_notification_is_done_and_not_answered() {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
        let input = [HELLO, note, "\n"].concat();
        let session = session(options(Policy::CloseAll), input.as_bytes());
        assert_eq!((session.said.as_slice(), session.executed), (&["roots".to_owned()][..], 1));
        assert_eq!(session.ended[0].1, Outcome::Done);
        assert_eq!(session.answers(), [json!(["hello", null])]);
    }

    /// Responses ask for nothing, and nobody is asked what to answer to them.
    #[test]
    fn a_response_is_nobodys() {
        let mut plain = options(Policy::Continue);
        plain.revision = Revision::from_name("jsonrpc").unwrap();
        let input =
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
        let session = session(plain, input.as_bytes());
        assert_eq!((session.served.client.accepted, session.answers()), (2, vec![json!([2, null])]));
    }

    /// What `other` gives is judged as any line. The client is told, and its request is over: the id may be used again.
    #[test]
    fn a_result_that_is_none_becomes_an_error() {
        for result in
            ["{broken", "", "[]", "7", "{}", "{\"protocolVersion\":\"2025-11-25\"}", "{\n}", "{}}", "{},\"id\":8"]
        {
            let first = format!("{}\n", HELLO.lines().next().unwrap());
            let input = [&*first, &first].concat();
            let session = session_of(options(Policy::Continue), input.as_bytes(), 1, |_| Some(result));
            assert_eq!(session.answers(), [json!(["hello", -32603]), json!(["hello", -32603])], "{result}");
            assert!(session.codes.is_empty(), "{result}");
        }
    }

    /// A result that is too long: for the room of the answer, or for the longest line of the stream. It was executed, and the id is
    /// free again.
    #[test]
    fn a_result_that_is_too_long_becomes_an_error() {
        let mut small = options(Policy::Continue);
        small.limits.max_frame = 2048;
        for (repeat, code) in [(10, None), (3000, Some(-32603)), (100_000, Some(-32603))] {
            let input = [HELLO, &say(1, "x"), &say(1, "y")].concat();
            let session = session_of(small.clone(), input.as_bytes(), repeat, other);
            assert_eq!(session.answers()[1..], [json!([1, code]), json!([1, code])], "{repeat}");
            assert_eq!(session.said, ["x", "y"]);
            assert!(session.ended.iter().all(|(_, outcome)| *outcome == Outcome::Done));
        }
    }

    /// Output that takes so many lines and then breaks.
    struct Breaks(usize);
    impl Write for Breaks {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).ok_or(ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Nobody hears the answer to the call in work; there is no next one.
    #[test]
    fn nothing_is_done_for_a_client_that_has_gone() {
        let input = [HELLO, &say(1, "one"), &say(2, "two"), &say(3, "three")].concat();
        for (lines, said) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
            let mut actions = voice(1);
            let served =
                Session::of(options(Policy::Continue)).serve(&mut actions, other, input.as_bytes(), Breaks(lines));
            assert_eq!(served.unwrap_err().kind(), ErrorKind::BrokenPipe);
            assert_eq!((actions.executor().said.len(), actions.journal().executed()), (said, said as u64));
        }
    }

    /// Input that fails once in this way before it ends.
    struct Fails(Option<ErrorKind>);
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0.take().map_or(Ok(0), |kind| Err(kind.into()))
        }
    }

    #[test]
    fn reading_goes_on_after_an_interrupt_and_ends_with_an_error() {
        let read =
            |kind| Session::of(options(Policy::Continue)).serve(&mut voice(1), other, Fails(Some(kind)), io::sink());
        assert!(read(ErrorKind::Interrupted).is_ok());
        assert_eq!(read(ErrorKind::ConnectionReset).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }

    #[test]
    fn batches_are_refused_and_options_that_allow_them() {
        let mut old = options(Policy::Continue);
        old.revision = Revision::from_name("2025-03-26").unwrap();
        let batch = format!("[{}]\n", say(1, "one").trim_end());
        let input = [HELLO.replace("2025-11-25", "2025-03-26"), batch, say(2, "two")].concat();
        let hello =
            |message: &Message<'_>| other(message).map(|result| result.to_string().replace("2025-11-25", "2025-03-26"));
        let session = session_of(old.clone(), input.as_bytes(), 1, hello);
        assert_eq!((session.said.as_slice(), session.codes), (&["two".to_owned()][..], vec![302]));
        old.batches = Batches::Allow;
        let mut server = options(Policy::Continue);
        server.direction = Direction::FromServer;
        let mut narrow = options(Policy::Continue);
        narrow.limits.max_frame = 3;
        for bad in [old, server, narrow] {
            let mut actions = voice(1);
            let served = Session::of(bad).serve(&mut actions, other, input.as_bytes(), Breaks(0));
            assert_eq!(served.unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(actions.journal().executed(), 0);
        }
    }
}
