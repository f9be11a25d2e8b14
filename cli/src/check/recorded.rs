//! A corpus of the user's own, under version control: a folder of files, each a scenario.
//!
//! `NAME.session` is a transcript as `scan --track` reads it: the mark of the sender, one space, the line as it went over the
//! wire. Its client lines are sent again, and each request has to be answered in the same way, by a result or by an error of
//! the same code. `NAME.line` is one malformed line, raw, which must have no effect.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use linegate::{Code, Direction, Event};
use linegate_host::supervise::{How, Supervised, Waits, exit_code};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::gates;
use crate::trouble::{Done, Trouble};

/// One file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The scenario's name.
    pub name: String,
    /// What is in the file.
    pub content: Content,
}

/// What a file of the corpus holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Both directions of a session, in order.
    Session(Vec<(Direction, Vec<u8>)>),
    /// A malformed line without its line feed, and the rule that it breaks.
    Line(Vec<u8>, Code),
}

/// Reads a folder; files with other endings are left alone.
///
/// # Errors
///
/// The folder or a file can't be read, or a file is not what its name says.
pub fn read(folder: &Path) -> Result<Vec<Recorded>, String> {
    let told = |error: io::Error| format!("cannot read the corpus {}: {error}", folder.display());
    let mut paths: Vec<_> = fs::read_dir(folder)
        .map_err(told)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(told)?;
    paths.sort();
    let mut corpus = Vec::new();
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let read = match ending {
            "session" => session,
            "line" => line,
            _ => continue,
        };
        let bytes = fs::read(&path).map_err(told)?;
        let content = read(&bytes).map_err(|what| format!("{}: {what}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        corpus.push(Recorded { name: format!("corpus/{stem}"), content });
    }
    if corpus.is_empty() {
        return Err(format!("the corpus {} has no file that ends in .session or .line", folder.display()));
    }
    Ok(corpus)
}

fn session(bytes: &[u8]) -> Result<Content, String> {
    let mut lines = Vec::new();
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (from, line) = match line {
            [b'>', b' ', line @ ..] => (Direction::FromClient, line),
            [b'<', b' ', line @ ..] => (Direction::FromServer, line),
            _ => return Err(format!("line {} begins with neither > nor < and a space", number + 1)),
        };
        lines.push((from, line.to_vec()));
    }
    if lines.iter().any(|(from, _)| *from == Direction::FromClient) {
        Ok(Content::Session(lines))
    } else {
        Err("it has no line of a client".to_owned())
    }
}

fn line(bytes: &[u8]) -> Result<Content, String> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.contains(&b'\n') {
        return Err("it has more than one line".to_owned());
    }
    let mut gate = gates::open(gates::options(Direction::FromClient)?)?;
    match gate.feed(&[line, b"\n"].concat()).event {
        Event::Refused(refusal) => Ok(Content::Line(line.to_vec(), refusal.code())),
        _ => Err("it is no malformed line: every server may take it".to_owned()),
    }
}

/// The way in which a message answers a request: the request's id, and an error's code or `None` for a result.
pub fn answer(message: &Value) -> Option<(&Value, Option<i64>)> {
    if message.get("method").is_some() {
        return None;
    }
    let id = message.get("id")?;
    if message.get("result").is_some() {
        return Some((id, None));
    }
    Some((id, Some(message.get("error")?.get("code").and_then(Value::as_i64).unwrap_or_default())))
}

/// Stands between a client and the server's command, passes every byte on, and writes the session down as a file of the
/// corpus. The exit status is the server's.
pub fn record(file: &Path, command: &[std::ffi::OsString]) -> Done {
    let (program, arguments) = command.split_first().ok_or("name the server's command behind --")?;
    let mut server = Command::new(program);
    server.args(arguments);
    let mut child = Supervised::spawn(server, Waits::default())
        .map_err(|error| format!("cannot run {}: {error}", super::text::command_line(command)))?;
    // Only once there is a session to write down. It may hold secrets.
    let mut log = fs::OpenOptions::new();
    log.write(true).create(true).truncate(true).mode(0o600);
    let log = log.open(file).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let log = Arc::new(Mutex::new(log));
    pass_signals_on(&child).map_err(|error| format!("cannot handle signals: {error}"))?;
    if let Some(stdin) = child.stdin.take() {
        let log = Arc::clone(&log);
        // Ends with the client's input; where the server ends first, with the process.
        thread::spawn(move || pass(io::stdin(), stdin, b"> ", &log));
    }
    let passed = child.stdout.take().map_or(Ok(()), |stdout| pass(stdout, io::stdout(), b"< ", &log));
    child.exit_watch().wait();
    let ended = child.finish(How::Exited).map_err(|error| format!("cannot wait for the server: {error}"))?;
    match passed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Trouble::writing("the session", &error)),
        _ => Ok(exit_code(ended.status)),
    }
}

/// Lets the server have the signals by which somebody ends this process: it runs in a group of its own.
fn pass_signals_on(server: &Supervised) -> io::Result<()> {
    let group = i32::try_from(server.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    thread::spawn(move || {
        for number in signals.forever() {
            let signal = match number {
                SIGHUP => Signal::HUP,
                SIGINT => Signal::INT,
                SIGQUIT => Signal::QUIT,
                _ => Signal::TERM,
            };
            let _ = kill_process_group(group, signal);
        }
    });
    Ok(())
}

/// Passes bytes on as they come; each line is written down before its last byte is passed on, so that no answer stands in
/// front of its request.
fn pass(mut from: impl Read, mut to: impl Write, mark: &[u8], log: &Mutex<fs::File>) -> io::Result<()> {
    let mut line = mark.to_vec();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => chunk.get(..length).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write_all(&line)?;
                line.truncate(mark.len());
            }
        }
        to.write_all(bytes)?;
        to.flush()?;
    }
    if line.len() > mark.len() {
        // Half a line at the end stays half a line.
        log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_what_their_names_say() {
        assert_eq!(
            session(b"> {}\n< [1]\n"),
            Ok(Content::Session(vec![
                (Direction::FromClient, b"{}\n".to_vec()),
                (Direction::FromServer, b"[1]\n".to_vec()),
            ]))
        );
        assert!(session(b"< {}\n").is_err());
        assert!(session(b"{}\n").is_err());
        assert_eq!(line(b"\xEF\xBB\xBF{}\n"), Ok(Content::Line(b"\xEF\xBB\xBF{}".to_vec(), Code::Bom)));
        assert!(line(b"{}\n{}\n").is_err());
        assert!(line(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_err());
    }
}
