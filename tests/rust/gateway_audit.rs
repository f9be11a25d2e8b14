//! An audit that fails, or blocks: no verdict changes; and while it blocks nothing is answered, executed or judged further.
#![cfg(unix)]

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use linegate::action::testing::{Allow, Recorder};
use linegate::action::{Action, Actions, Audit, Entry, Misfit, RawArguments, Target};
use linegate::{AuditKey, Direction, Message, Options, Policy};
use linegate_host::{AuditFile, Served, Session};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "the recorder shows it")]
struct Word {
    word: String,
}

struct Say;
impl Action for Say {
    const TARGET: Target<'static> = Target::Tool("say");
    type Arguments<'a> = Word;
    fn read(arguments: RawArguments<'_>) -> Result<Word, Misfit<'_>> {
        arguments.typed()
    }
}

const TOOLS: &[Entry<Allow, Recorder>] = &[Entry::of::<Say>()];

const SESSION: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"word":"one"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":{"word":2}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shout"}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"say","Arguments":{}}}
no message
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"say","arguments":{"word":"five"}}}
"#;

fn other(message: &Message<'_>) -> Option<Value> {
    let about = json!({ "name": "s", "version": "1" });
    (message.method()? == "initialize")
        .then(|| json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": about }))
}

/// Serves the session with this audit; gives what is counted, the words that were said, and the output.
fn session(policy: Policy, audit: impl Audit, output: impl Write) -> (Served, Vec<String>) {
    let mut options = Options::new(Direction::FromClient, AuditKey::new(*b"a key of audits!"));
    options.policy = policy;
    let mut actions = Actions::new(TOOLS, Allow, Recorder::default(), audit).unwrap();
    let served = Session::of(options).serve(&mut actions, other, SESSION.as_bytes(), output).unwrap();
    assert_eq!(actions.journal().executed(), actions.executor().calls.len() as u64);
    (served, actions.executor().calls.iter().map(|call| call.arguments.clone()).collect())
}

/// What a session with an audit of no faults comes to.
fn undisturbed(policy: Policy) -> (Vec<u8>, Served, Vec<String>, usize) {
    let (mut output, mut audit) = (Vec::new(), AuditFile::new(Vec::new()));
    let (served, said) = session(policy, &mut audit, &mut output);
    assert_eq!((audit.lost(), audit.error().is_none()), (0, true));
    let lines = audit.get_ref().iter().filter(|byte| **byte == b'\n').count();
    (output, served, said, lines)
}

/// Serves with an audit that can't be written, and compares.
fn disturbed(policy: Policy, mut audit: AuditFile<impl Write>, kind: io::ErrorKind) {
    let (output, served, said, lines) = undisturbed(policy);
    let mut seen = Vec::new();
    let (disturbed, heard) = session(policy, &mut audit, &mut seen);
    assert_eq!(String::from_utf8_lossy(&seen), String::from_utf8_lossy(&output));
    assert_eq!((disturbed.client, disturbed.server), (served.client, served.server));
    assert_eq!(heard, said);
    assert_eq!(audit.lost(), lines as u64);
    assert_eq!(audit.error().unwrap().kind(), kind);
}

#[test]
fn undisturbed_sessions() {
    let (_, served, said, lines) = undisturbed(Policy::Continue);
    assert_eq!((served.client.refused_total(), said.len(), lines), (4, 2, 4 + 2 * 2));
    let (_, served, said, lines) = undisturbed(Policy::CloseAll);
    assert_eq!((served.client.refused_total(), said.len(), lines), (1, 1, 1 + 2));
}

/// A full disk, a reader that has gone, and a writer that takes nothing: the session is the same, and each lost line is counted.
#[test]
fn an_audit_that_fails_changes_nothing() {
    for policy in [Policy::CloseAll, Policy::CloseMalformed, Policy::Continue] {
        disturbed(policy, AuditFile::append("/dev/full").unwrap(), io::ErrorKind::StorageFull);
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        disturbed(policy, AuditFile::new(writer), io::ErrorKind::BrokenPipe);
        disturbed(policy, AuditFile::new(&mut [][..]), io::ErrorKind::WriteZero);
    }
}

/// Announces each write, and waits until it is released.
struct Waits {
    tells: Sender<String>,
    released: Receiver<()>,
}

impl Write for Waits {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.tells.send(String::from_utf8_lossy(line).into_owned()).unwrap();
        self.released.recv().unwrap();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Output that another thread can read.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// While the audit doesn't return from a line nothing more is answered: of a refusal neither its reply, of an action neither its
/// execution nor its answer. Released line by line, the session becomes the undisturbed one.
#[test]
fn an_audit_that_blocks_holds_everything_up() {
    let (output, served, said, lines) = undisturbed(Policy::Continue);
    let ((tells, told), (releases, released)) = (channel(), channel());
    let shown = Shown::default();
    let out = shown.clone();
    let server = thread::spawn(move || session(Policy::Continue, AuditFile::new(Waits { tells, released }), out));
    let answered = || shown.0.lock().unwrap().iter().filter(|byte| **byte == b'\n').count();
    // Before each line of the audit: how many answers are out. An answer follows its refusal's or its end's line.
    let wanted = [
        ("authorized", 1),
        ("ended", 1),
        ("refused", 2),
        ("refused", 3),
        ("refused", 4),
        ("refused", 5),
        ("authorized", 6),
        ("ended", 6),
    ];
    assert_eq!(wanted.len(), lines);
    for (event, answers) in wanted {
        let line = told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(line.contains(&format!(r#""event":"{event}""#)), "{line}");
        assert!(told.recv_timeout(Duration::from_millis(30)).is_err(), "it goes on");
        assert_eq!(answered(), answers, "{line}");
        releases.send(()).unwrap();
    }
    let (blocked, heard) = server.join().unwrap();
    assert_eq!(*shown.0.lock().unwrap(), output);
    assert_eq!((blocked.client, blocked.server, heard), (served.client, served.server, said));
}
