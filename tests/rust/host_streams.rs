//! The gated streams of `linegate-host`: every vector comes out of the blocking and of the asynchronous ones as the lines that
//! it accepts and nothing else, however it is cut; every transcript is what a session of streams makes of it; and what
//! happens at errors, ends and full pipes.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use linegate::{AuditKey, Direction, Options, Policy, Revision, Switch};
use linegate_host::{AsyncGatedReader, AsyncGatedWriter, GatedReader, GatedWriter, LineError, Session};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use vectors::{Seen, Vector};

#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "the streams are driven in a way of their own here")]
mod vectors;

/// What a stream gives or takes next.
enum Turn {
    Bytes(Vec<u8>),
    Interrupted,
    WouldBlock,
}

/// A stream that gives what it was given, piece by piece, interrupted before each; it counts what is asked of it after its end.
#[derive(Default)]
struct Pieces {
    turns: VecDeque<Turn>,
    reads_after_end: usize,
}

impl Pieces {
    fn cut(stream: &[u8], mut len: impl FnMut() -> usize) -> Self {
        let mut pieces = Self::default();
        let mut rest = stream;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(len().clamp(1, rest.len()));
            pieces.turns.extend([Turn::Interrupted, Turn::Bytes(piece.to_vec())]);
            rest = behind;
        }
        pieces
    }

    fn next(&mut self, room: usize) -> io::Result<Vec<u8>> {
        match self.turns.pop_front() {
            None => {
                self.reads_after_end += 1;
                Ok(Vec::new())
            }
            Some(Turn::Interrupted) => Err(ErrorKind::Interrupted.into()),
            Some(Turn::WouldBlock) => Err(ErrorKind::WouldBlock.into()),
            Some(Turn::Bytes(mut bytes)) => {
                if bytes.len() > room {
                    self.turns.push_front(Turn::Bytes(bytes.split_off(room)));
                }
                Ok(bytes)
            }
        }
    }
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.next(out.len())?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// An interruption is one more poll here.
impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.next(out.remaining()) {
            Ok(bytes) => {
                out.put_slice(&bytes);
                Poll::Ready(Ok(()))
            }
            Err(_) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

/// Lengths of pieces: up to 64 bytes for the most part, now and then much longer.
fn seeded(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let dice = (state >> 33) as usize;
        if dice.is_multiple_of(8) { dice % 100_000 } else { dice % 64 }
    }
}

/// The cuts under which a stream of that length is tried.
fn cuts(len: usize) -> Vec<Box<dyn FnMut() -> usize>> {
    let mut all: Vec<Box<dyn FnMut() -> usize>> = vec![Box::new(|| usize::MAX)];
    if len <= 1 << 16 {
        all.push(Box::new(|| 1));
    }
    let seeds = if len <= 1 << 16 { 3 } else { 1 };
    all.extend((0..seeds).map(|seed| Box::new(seeded(len as u64 + seed)) as Box<dyn FnMut() -> usize>));
    all
}

/// The lines that the vector says are accepted, read off the stream itself.
fn accepted(vector: &Vector) -> Vec<u8> {
    let mut events = vector.events.iter();
    let mut out = Vec::new();
    for line in vector.stream.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if content.is_empty() && vector.options.allowed.contains(Switch::BlankLines) {
            continue;
        }
        match events.next() {
            Some(Seen::Accept { .. }) => {
                out.extend_from_slice(content);
                out.push(b'\n');
            }
            Some(Seen::Refuse { .. }) => {}
            Some(Seen::Closed) | None => break,
        }
    }
    out
}

fn refused(vector: &Vector) -> Vec<u16> {
    let code = |event: &Seen| if let Seen::Refuse { code, .. } = event { Some(*code) } else { None };
    vector.events.iter().filter_map(code).collect()
}

/// Codes, as an observer heard them.
type Heard = Arc<Mutex<Vec<u16>>>;

fn hear(heard: &Heard) -> impl FnMut(&linegate::Refusal<'_>) + Send + 'static {
    let heard = heard.clone();
    move |refusal| heard.lock().unwrap().push(refusal.code().number())
}

fn take(heard: &Heard) -> Vec<u16> {
    std::mem::take(&mut *heard.lock().unwrap())
}

/// Polls to the end; whoever isn't ready has asked to be polled again.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

#[test]
fn of_every_vector_the_accepted_lines_come_out() {
    let heard = Heard::default();
    let mut lines = 0;
    for vector in vectors::all() {
        let (want, codes) = (accepted(&vector), refused(&vector));
        lines += want.iter().filter(|byte| **byte == b'\n').count();
        for cut in cuts(vector.stream.len()) {
            let stream = Pieces::cut(&vector.stream, cut);
            let mut reader = GatedReader::new(stream, vector.options.clone()).unwrap().on_refusal(hear(&heard));
            let mut got = Vec::new();
            reader.read_to_end(&mut got).unwrap();
            assert!(got == want, "{}: {}", vector.name, got.escape_ascii());
            assert_eq!(take(&heard), codes, "{}", vector.name);
            assert_eq!(reader.gate().counters().refused_total(), codes.len() as u64, "{}", vector.name);
            assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
        }
    }
    assert!(lines > 1000);
}

#[test]
fn of_every_vector_the_accepted_lines_come_out_asynchronously() {
    let heard = Heard::default();
    for vector in vectors::all() {
        let (want, codes) = (accepted(&vector), refused(&vector));
        for cut in cuts(vector.stream.len()) {
            let stream = Pieces::cut(&vector.stream, cut);
            let mut reader = AsyncGatedReader::new(stream, vector.options.clone()).unwrap().on_refusal(hear(&heard));
            let mut got = Vec::new();
            block_on(reader.read_to_end(&mut got)).unwrap();
            assert!(got == want, "{}: {}", vector.name, got.escape_ascii());
            assert_eq!(take(&heard), codes, "{}", vector.name);
        }
    }
}

#[test]
fn a_read_that_is_called_off_loses_nothing() {
    for vector in vectors::all().iter().filter(|vector| vector.stream.len() <= 4096) {
        let stream = Pieces::cut(&vector.stream, seeded(1));
        let mut reader = AsyncGatedReader::new(stream, vector.options.clone()).unwrap();
        let (mut got, mut cx) = (Vec::new(), Context::from_waker(Waker::noop()));
        loop {
            // Each future is polled once, and dropped.
            let mut piece = [0; 7];
            let polled = std::pin::pin!(reader.read(&mut piece)).poll(&mut cx);
            match polled {
                Poll::Pending => {}
                Poll::Ready(len) => match len.unwrap() {
                    0 => break,
                    len => got.extend_from_slice(&piece[..len]),
                },
            }
        }
        assert!(got == accepted(vector), "{}", vector.name);
    }
}

/// A wire that keeps each write for itself, and takes what it is told to.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<WireState>>);

#[derive(Default)]
struct WireState {
    writes: Vec<Vec<u8>>,
    flushed: usize,
    /// How many bytes a write takes, and its errors; everything when there are no more.
    turns: VecDeque<Result<usize, ErrorKind>>,
}

impl Wire {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().writes.concat()
    }

    fn takes(&self, turns: impl IntoIterator<Item = Result<usize, ErrorKind>>) {
        self.0.lock().unwrap().turns.extend(turns);
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap();
        let len = state.turns.pop_front().unwrap_or(Ok(bytes.len()))?.min(bytes.len());
        state.writes.push(bytes[..len].to_vec());
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.flushed = state.writes.len();
        Ok(())
    }
}

/// Every error is one more poll here.
impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Write::write(self.get_mut(), bytes) {
            Err(_) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            taken => Poll::Ready(taken),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Write::flush(self.get_mut()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

/// Everything must be taken as long as the session goes on.
fn is_taken(done: io::Result<()>, over: bool) {
    match done {
        Ok(()) => {}
        Err(error) => assert_eq!((error.kind(), over), (ErrorKind::BrokenPipe, true)),
    }
}

#[test]
fn of_every_vector_the_accepted_lines_are_written_each_at_once() {
    let heard = Heard::default();
    for vector in vectors::all() {
        let (want, codes) = (accepted(&vector), refused(&vector));
        for cut in cuts(vector.stream.len()) {
            let wire = Wire::default();
            let mut writer = GatedWriter::new(wire.clone(), vector.options.clone()).unwrap().on_refusal(hear(&heard));
            for turn in Pieces::cut(&vector.stream, cut).turns {
                let Turn::Bytes(piece) = turn else { continue };
                is_taken(writer.write_all(&piece), writer.gate().is_closed());
            }
            drop(writer);
            assert!(wire.bytes() == want, "{}: {}", vector.name, wire.bytes().escape_ascii());
            assert_eq!(take(&heard), codes, "{}", vector.name);
            let state = wire.0.lock().unwrap();
            assert_eq!(state.flushed, state.writes.len());
            assert!(state.writes.iter().all(|line| memchr::memchr(b'\n', line) == Some(line.len() - 1)));
        }
    }
}

#[test]
fn of_every_vector_the_accepted_lines_are_written_asynchronously() {
    let heard = Heard::default();
    for vector in vectors::all() {
        let (want, codes) = (accepted(&vector), refused(&vector));
        for (number, cut) in cuts(vector.stream.len()).into_iter().enumerate() {
            let wire = Wire::default();
            // A wire that takes little, and not at once.
            let mut dice = seeded(number as u64);
            wire.takes((0..40).map(|_| Some(dice()).filter(|len| len % 3 > 0).ok_or(ErrorKind::WouldBlock)));
            let mut writer =
                AsyncGatedWriter::new(wire.clone(), vector.options.clone()).unwrap().on_refusal(hear(&heard));
            block_on(async {
                for turn in Pieces::cut(&vector.stream, cut).turns {
                    let Turn::Bytes(piece) = turn else { continue };
                    is_taken(writer.write_all(&piece).await, writer.gate().is_closed());
                }
                writer.shutdown().await.unwrap();
            });
            drop(writer);
            assert!(wire.bytes() == want, "{}: {}", vector.name, wire.bytes().escape_ascii());
            assert_eq!(take(&heard), codes, "{}", vector.name);
        }
    }
}

/// A client whose lines come one by one.
#[derive(Clone, Default)]
struct Client(Arc<Mutex<Pieces>>);

impl Client {
    fn says(&self, line: &[u8]) {
        self.0.lock().unwrap().turns.extend([Turn::Bytes(line.to_vec()), Turn::WouldBlock]);
    }
}

impl Read for Client {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Read::read(&mut *self.0.lock().unwrap(), out)
    }
}

fn session(options: &Value) -> Session {
    let side = |from: &str| {
        let mut row = options.clone();
        row["from"] = json!(from);
        vectors::options(&row)
    };
    let mut session = Session::new().unwrap();
    (session.client, session.server) = (side("client"), side("server"));
    if let Some(most) = options.get("max_ids") {
        session.in_flight = usize::try_from(most.as_u64().unwrap()).unwrap();
    }
    session
}

/// All that comes out of a reader up to where its client says no more; whether it came to its end.
fn drain(reader: &mut impl BufRead) -> (Vec<u8>, bool) {
    let mut got = Vec::new();
    match reader.read_to_end(&mut got) {
        Ok(_) => (got, true),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            (got, false)
        }
    }
}

#[test]
fn every_transcript_passes_a_session_of_streams() {
    let text = fs::read_to_string(vectors::folder().join("session.jsonl")).unwrap();
    let (mut replies, mut settlements) = (0, 0);
    for row in text.split_terminator('\n').map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        let name = row["name"].as_str().unwrap();
        if row["options"]["track"] != json!(true) {
            continue;
        }
        let (client, wire) = (Client::default(), Wire::default());
        let (mut reader, mut writer) = session(&row["options"]).gate(client.clone(), wire.clone()).unwrap();
        for step in row["steps"].as_array().unwrap() {
            let (line, event) = (format!("{}\n", step["line"].as_str().unwrap()).into_bytes(), &step["event"]);
            let before = wire.bytes().len();
            let onward = if step["from"] == json!("client") {
                client.says(&line);
                let (onward, ended) = drain(&mut reader);
                assert_eq!(ended, reader.gate().is_closed(), "{name}");
                let back = wire.bytes().split_off(before);
                let due = event["rpc_code"].is_i64() && event["reply"] != json!(false);
                assert_eq!(!back.is_empty(), due, "{name}: {}", back.escape_ascii());
                if due {
                    replies += 1;
                    let reply: Value = serde_json::from_slice(back.strip_suffix(b"\n").unwrap()).unwrap();
                    assert_eq!(reply["error"]["code"], event["rpc_code"], "{name}");
                }
                onward
            } else {
                let done = writer.write_line(&line);
                match done {
                    Ok(()) => assert!(event.get("accept").is_some(), "{name}"),
                    Err(LineError::Refused(record)) => {
                        assert_eq!(json!(record.code.number()), event["refuse"], "{name}");
                    }
                    Err(LineError::Closed) => assert_eq!(event, &json!({"closed": true}), "{name}"),
                    Err(other) => panic!("{name}: {other}"),
                }
                wire.bytes().split_off(before)
            };
            if event.get("accept").is_some() {
                let content = step["line"].as_str().unwrap().trim_end_matches('\r');
                assert_eq!(String::from_utf8(onward).unwrap(), format!("{content}\n"), "{name}");
            } else if !onward.is_empty() {
                settlements += 1;
                let settlement: Value = serde_json::from_slice(onward.strip_suffix(b"\n").unwrap()).unwrap();
                assert_eq!(settlement["error"]["code"], json!(-32603), "{name}");
                let text = String::from_utf8(onward).unwrap();
                let id =
                    text.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":").and_then(|rest| rest.split(",\"error\"").next());
                assert!(step["line"].as_str().unwrap().contains(id.unwrap()), "{name}: {text}");
            }
        }
    }
    assert!(replies > 100 && settlements > 20, "{replies} replies, {settlements} settlements");
}

const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const PONG: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

fn plain(from: Direction) -> Options {
    let mut options = Options::new(from, AuditKey::new(*b"a key of streams"));
    options.revision = Revision::JSON_RPC;
    options
}

fn plain_session() -> Session {
    let mut session = Session::new().unwrap();
    (session.client, session.server) = (plain(Direction::FromClient), plain(Direction::FromServer));
    session
}

#[test]
fn nothing_is_read_after_a_refusal_that_ends_the_session() {
    let stream = Pieces::cut(&[PING, b"x\n", PING].concat(), || usize::MAX);
    let mut reader = GatedReader::new(stream, plain(Direction::FromClient)).unwrap();
    let mut got = Vec::new();
    reader.read_to_end(&mut got).unwrap();
    assert_eq!(got, PING);
    assert!(reader.gate().is_closed());
    let client = Client::default();
    client.says(b"x\n");
    let mut reader = GatedReader::new(client.clone(), plain(Direction::FromClient)).unwrap();
    assert_eq!(drain(&mut reader), (vec![], true));
    assert_eq!(client.0.lock().unwrap().turns.len(), 1, "it was read on");
    assert_eq!(client.0.lock().unwrap().reads_after_end, 0);
}

#[test]
fn without_a_writer_nothing_is_answered_and_errors_pass() {
    let client = Client::default();
    client.says(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"params\":1,\"method\":\"ping\"}\n");
    client.says(PING);
    let mut reader = GatedReader::new(client, plain(Direction::FromClient)).unwrap();
    assert_eq!(reader.fill_buf().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(reader.gate().counters().replies, 1);
    assert_eq!(drain(&mut reader), (PING.to_vec(), false));
    assert_eq!(drain(&mut reader), (vec![], true));
}

#[test]
fn an_answer_stands_between_the_lines_of_the_writer() {
    let (client, wire) = (Client::default(), Wire::default());
    let (mut reader, mut writer) = plain_session().gate(client.clone(), wire.clone()).unwrap();
    writer.write_all(&PONG[..10]).unwrap();
    client.says(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"params\":1,\"method\":\"ping\"}\n");
    assert_eq!(drain(&mut reader), (vec![], false));
    writer.write_all(&PONG[10..]).unwrap();
    let bytes = wire.bytes();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    assert!(lines[0].starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602"), "{lines:?}");
    assert_eq!(lines[1..], [PONG]);
    // The wire is the writer's: without it nothing can be said.
    drop(writer);
    assert_eq!(Arc::strong_count(&wire.0), 1);
    client.says(b"{\"jsonrpc\":\"2.0\",\"id\":8,\"params\":1,\"method\":\"ping\"}\n");
    assert_eq!(drain(&mut reader), (vec![], false));
    assert_eq!(wire.bytes(), bytes);
}

#[test]
fn a_server_line_that_ends_the_session_ends_the_reading() {
    let (client, wire) = (Client::default(), Wire::default());
    let (mut reader, mut writer) = plain_session().gate(client.clone(), wire.clone()).unwrap();
    writer.write_all(b"Listening on stdio\n").unwrap();
    let error = writer.write_all(PONG).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert!(matches!(writer.write_line(PONG), Err(LineError::Closed)));
    client.says(PING);
    assert_eq!(drain(&mut reader), (vec![], true));
    assert_eq!(wire.bytes(), b"");
}

#[test]
fn a_line_of_the_client_that_ends_the_session_leaves_the_answers() {
    let (client, wire) = (Client::default(), Wire::default());
    let (mut reader, mut writer) = plain_session().gate(client.clone(), wire.clone()).unwrap();
    client.says(&[PING, b"x\n"].concat());
    assert_eq!(drain(&mut reader), (PING.to_vec(), true));
    writer.write_line(PONG).unwrap();
    assert!(wire.bytes().ends_with(&[b"}}\n", PONG].concat()));
}

#[test]
fn one_message_is_one_line() {
    let wire = Wire::default();
    let mut options = plain(Direction::FromServer);
    options.policy = Policy::Continue;
    let mut writer = GatedWriter::new(wire.clone(), options).unwrap();
    let two = [PONG, PONG].concat();
    assert!(matches!(writer.write_line(&two), Err(LineError::LineFeed { at }) if at == PONG.len() - 1));
    let Err(LineError::Refused(record)) = writer.write_line(b"{\"jsonrpc\": \"2.0\",}") else { panic!("accepted") };
    assert_eq!((record.code.number(), record.at), (202, 18));
    assert!(matches!(writer.write_line(b""), Err(LineError::Refused(record)) if record.code.number() == 102));
    writer.write_line(&PONG[..PONG.len() - 1]).unwrap();
    writer.write_all(b"{\"jsonrpc\"").unwrap();
    writer.flush().unwrap();
    assert!(matches!(writer.write_line(PONG), Err(LineError::Unfinished)));
    let heard = Heard::default();
    drop(writer.on_refusal(hear(&heard)));
    assert_eq!(take(&heard), [104]);
    assert_eq!(wire.bytes(), PONG);
}

#[test]
fn a_wire_that_would_block_gets_whole_lines_later() {
    let wire = Wire::default();
    wire.takes([Ok(5), Err(ErrorKind::Interrupted), Ok(3), Err(ErrorKind::WouldBlock), Err(ErrorKind::WouldBlock)]);
    let mut writer = GatedWriter::new(wire.clone(), plain(Direction::FromServer)).unwrap();
    let two = [PONG, PONG].concat();
    // The second line isn't taken as long as the first can't go.
    assert_eq!(writer.write(&two).unwrap(), PONG.len());
    assert_eq!(wire.bytes(), PONG[..8]);
    assert_eq!(writer.write(PONG).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(writer.write(PONG).unwrap(), PONG.len());
    assert_eq!(wire.bytes(), two);
}

#[test]
fn a_wire_that_failed_gets_no_more() {
    let wire = Wire::default();
    wire.takes([Ok(5), Err(ErrorKind::StorageFull)]);
    let mut writer = GatedWriter::new(wire.clone(), plain(Direction::FromServer)).unwrap();
    assert_eq!(writer.write(PONG).unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(writer.write(PONG).unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert!(matches!(writer.write_line(PONG), Err(LineError::Io(_))));
    assert_eq!(wire.bytes(), PONG[..5]);
}

/// What may wait for a wire: 64 KiB, and what one batch of as many adds.
const WAITING: usize = 2 * 65536 + 2 * linegate::REPLY_LEN;

#[test]
fn a_wire_that_takes_nothing_costs_bounded_memory() {
    let wire = Wire::default();
    let block = |wire: &Wire| wire.takes((0..100_000).map(|_| Err(ErrorKind::WouldBlock)));
    block(&wire);
    let mut session = plain_session();
    (session.client.policy, session.client.limits.max_replies) = (Policy::Continue, u32::MAX);
    let (mut reader, mut writer) = session.gate(io::Cursor::new(b"x\n".repeat(100_000)), wire.clone()).unwrap();
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert_eq!(reader.gate().counters().refused_total(), 100_000);
    wire.0.lock().unwrap().turns.clear();
    writer.flush().unwrap();
    let waited = wire.bytes();
    assert!((1..=WAITING).contains(&waited.len()) && waited.ends_with(b"}}\n"), "{}", waited.len());

    block(&wire);
    let mut writer = AsyncGatedWriter::new(wire.clone(), plain(Direction::FromServer)).unwrap();
    let (lines, mut taken) = (PONG.repeat(100_000), 0);
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(len) = Pin::new(&mut writer).poll_write(&mut cx, &lines[taken..]) {
        taken += len.unwrap();
    }
    assert!((1..=WAITING).contains(&taken), "{taken}");
}

/// Two tasks on one wire that takes little: neither may sleep for ever, and no line may be torn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_lines_share_a_narrow_wire() {
    const LINES: usize = 2000;
    let (mut to_server, stdin) = tokio::io::duplex(300);
    let (stdout, from_server) = tokio::io::duplex(100);
    let mut session = plain_session();
    session.client.limits.max_replies = u32::MAX;
    let (reader, mut writer) = session.gate_async(stdin, stdout).unwrap();
    let sending = tokio::spawn(async move {
        for _ in 0..LINES {
            to_server.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"params\":1,\"method\":\"ping\"}\n").await.unwrap();
            to_server.write_all(PING).await.unwrap();
        }
    });
    let serving = tokio::spawn(async move {
        let mut lines = reader.lines();
        let mut count = 0;
        while let Some(line) = lines.next_line().await.unwrap() {
            assert_eq!(line.as_bytes(), &PING[..PING.len() - 1]);
            count += 1;
        }
        count
    });
    let writing = tokio::spawn(async move {
        for _ in 0..LINES {
            writer.write_all(PONG).await.unwrap();
            writer.flush().await.unwrap();
        }
        writer
    });
    let reading = tokio::spawn(async move {
        let (mut answers, mut lines, mut all) = (0, 0, BufReader::new(from_server).lines());
        while answers + lines < 2 * LINES {
            let line = all.next_line().await.unwrap().unwrap();
            let value: Value = serde_json::from_str(&line).unwrap();
            if value.get("error").is_some() { answers += 1 } else { lines += 1 }
        }
        (answers, lines)
    });
    let done =
        async { (sending.await.unwrap(), serving.await.unwrap(), writing.await.unwrap(), reading.await.unwrap()) };
    let (_, served, _writer, read) =
        tokio::time::timeout(std::time::Duration::from_secs(60), done).await.expect("a task sleeps");
    assert_eq!((served, read), (LINES, (LINES, LINES)));
}

#[tokio::test]
async fn a_waiting_reader_is_woken_when_the_writer_ends_the_session() {
    let (_client, stdin) = tokio::io::duplex(64);
    let (mut reader, mut writer) = plain_session().gate_async(stdin, tokio::io::sink()).unwrap();
    let reading = tokio::spawn(async move { reader.read_to_end(&mut Vec::new()).await.unwrap() });
    tokio::task::yield_now().await;
    writer.write_all(b"Listening on stdio\n").await.unwrap();
    let read = tokio::time::timeout(std::time::Duration::from_secs(60), reading).await.expect("it sleeps").unwrap();
    assert_eq!(read, 0);
    assert_eq!(writer.write(PONG).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
}

/// The answer to the line that ends the session is on the wire before the reader comes to its end: a server may drop its writer then.
#[test]
fn the_last_answer_comes_before_the_end() {
    let wire = Wire::default();
    wire.takes([Err(ErrorKind::WouldBlock), Ok(3), Err(ErrorKind::WouldBlock)]);
    let (mut reader, writer) = plain_session().gate_async(&b"x\n"[..], wire.clone()).unwrap();
    assert_eq!(block_on(reader.read_to_end(&mut Vec::new())).unwrap(), 0);
    drop(writer);
    assert!(wire.bytes().ends_with(b"}}\n"));
}
