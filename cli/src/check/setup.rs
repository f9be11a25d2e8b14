//! What all scenarios of one check have in common: which server, how it is started and ended, how a session is opened, and
//! the request that is asked of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use linegate::Revision;
use serde_json::{Value, json};

use super::child::Child;
use super::finding::Finding;
use super::judge::{self, Ends};
use super::outcome::Outcome;
use super::past::{Conditions, Launch, Run};
use super::strays::Bystanders;
use super::wire::{self, HELLO, INITIALIZED, MODERN, Members, Request};
use crate::environment;

/// Where `--call` has this text in its arguments, each scenario puts a marker of its own.
pub const MARKER: &str = "{{marker}}";
/// And where it has this one, the path of a file of its own that isn't there.
pub const CANARY: &str = "{{canary}}";

/// Which server is checked.
pub enum Server {
    /// The built-in one, by the words that start this program; it records its effects in a file.
    Example(Vec<OsString>),
    /// Any other.
    Command(Vec<OsString>),
}

/// The request whose malformed twins are sent.
#[derive(Clone)]
pub enum Action {
    /// A call of this tool.
    Tool(String, Members),
    /// Another request that the user has named.
    Request(String, Members),
    /// A request without effects.
    Harmless,
}

/// What all scenarios of one check have in common.
pub struct Setup {
    /// How the server is started.
    pub launch: Launch,
    /// Which it is.
    pub server: Server,
    /// What is asked of it.
    pub action: Action,
    /// The revision asked for on the command line.
    pub wanted: Revision,
    /// The revision that the handshake settled.
    pub settled: OnceLock<Revision>,
    /// How many scenarios ended in killing the server.
    pub outstayed: AtomicUsize,
    /// Whether every start has the safe variables and those of `launch` alone.
    pub bare: bool,
    /// How long a client may say nothing at first.
    pub idle: Duration,
    /// Variables that the server wants, and a value for each that is no good.
    pub break_env: Vec<(String, String)>,
    /// Processes below this one that are no server's.
    pub bystanders: Bystanders,
}

impl Setup {
    /// A fresh start of the server, and the file of its effects where it has one.
    ///
    /// # Errors
    ///
    /// The command can't be started.
    pub fn start(&self, mut conditions: Conditions) -> io::Result<(Child<'_>, Option<Record>)> {
        self.bystanders.look();
        if self.bare && !conditions.bare {
            conditions.bare = true;
            conditions.env.splice(0..0, environment::safe_texts());
        }
        match &self.server {
            Server::Command(command) => {
                let base = self.launch.directory.as_deref();
                let elsewhere = conditions.directory.is_some();
                let command = if elsewhere { from_anywhere(command, base) } else { command.clone() };
                Ok((Child::start(&self.launch, command, conditions)?, None))
            }
            Server::Example(program) => {
                let record = Record::new()?;
                let words = ["example-server".into(), "--record".into(), record.0.clone().into()];
                let command = program.iter().cloned().chain(words).collect();
                Ok((Child::start(&self.launch, command, conditions)?, Some(record)))
            }
        }
    }

    /// How long the server may take to end: what it has shown often enough is not waited for at full length again.
    pub fn patience(&self) -> Duration {
        /// One kind of end that takes too long says nothing of the others.
        const OFTEN: usize = 4;
        if self.outstayed.load(Ordering::Relaxed) < OFTEN { self.launch.timeout } else { self.launch.timeout / 5 }
    }

    /// Ends the input and judges how the process ends.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the process.
    pub fn finish(&self, child: Child<'_>, outcome: &mut Outcome, ends: Ends) -> io::Result<()> {
        let run = child.finish(self.patience())?;
        match judge::lifecycle(&run, ends) {
            Ok(note) => outcome.notes.extend(note),
            Err(finding) => outcome.findings.push(finding),
        }
        outcome.runs.push(Run { ends, ..run });
        Ok(())
    }

    /// Opens a session of a revision that the server is known to speak; `false` where it doesn't this time.
    pub fn open(&self, child: &mut Child<'_>, revision: Revision, outcome: &mut Outcome) -> bool {
        match greet(child, revision, self.launch.timeout) {
            Ok(_) => true,
            Err(mut finding) => {
                finding.what.insert_str(0, "the handshake failed this time: ");
                outcome.findings.push(finding);
                false
            }
        }
    }

    /// Whether the request under test has a canary file.
    pub fn has_canary(&self) -> bool {
        self.action.members().is_some_and(|members| json!(members).to_string().contains(CANARY))
    }

    /// The request under test, with its marker and the path of its canary file.
    pub fn request(&self, revision: Revision, marker: &str, canary: &str) -> Request {
        match &self.action {
            Action::Harmless => Request::harmless(revision),
            Action::Request(method, params) => {
                let params = marked(Value::Object(params.clone()), marker, canary);
                Request::new(revision, method, wire::object(params))
            }
            Action::Tool(name, arguments) => {
                let arguments = marked(Value::Object(arguments.clone()), marker, canary);
                Request::new(revision, "tools/call", wire::object(json!({"name": name, "arguments": arguments})))
            }
        }
    }
}

/// The command with its relative paths made absolute, from `base` or else from here: in another directory it is still the same
/// command. A word that is the name of a folder may well be another word: only one with a slash is a path.
fn from_anywhere(command: &[OsString], base: Option<&Path>) -> Vec<OsString> {
    let base = base.unwrap_or_else(|| Path::new(""));
    let is_path = |word: &OsString| word.as_encoded_bytes().contains(&b'/');
    let rooted = |(place, word): (usize, &OsString)| {
        let path = Path::new(word);
        // A program's bare name is looked for on the path.
        let may_be_a_path = path.is_relative() && (place > 0 || is_path(word));
        let found =
            may_be_a_path.then(|| base.join(path)).filter(|path| path.is_file() || (is_path(word) && path.exists()));
        let rooted = found.and_then(|path| std::path::absolute(path).ok());
        rooted.map_or_else(|| word.clone(), PathBuf::into_os_string)
    };
    command.iter().enumerate().map(rooted).collect()
}

/// Sends the first request of a session, and for legacy servers what follows its answer. Gives the revision settled.
pub fn greet(child: &mut Child<'_>, revision: Revision, limit: Duration) -> Result<Revision, Finding> {
    let hello = Request::hello(revision);
    child.send(&hello.line(HELLO));
    let result = child.answer(HELLO, limit).map_err(|instead| Finding::no_result(&hello.method, &instead))?;
    if revision == MODERN {
        return wire::discovered(&result).map(|()| MODERN).map_err(Finding::wrong_result);
    }
    let settled = wire::settled(&result).map_err(Finding::wrong_result)?;
    child.send(INITIALIZED);
    Ok(settled)
}

/// What marks the request of one scenario, and no other's.
pub fn marker_of(name: &str) -> String {
    format!("linegate-marker-{}", name.replace('/', "-"))
}

impl Action {
    /// What the user has given it.
    pub const fn members(&self) -> Option<&Members> {
        match self {
            Self::Tool(_, members) | Self::Request(_, members) => Some(members),
            Self::Harmless => None,
        }
    }
}

/// The arguments with the marker and the path where their places are.
fn marked(arguments: Value, marker: &str, canary: &str) -> Value {
    match arguments {
        Value::String(text) => Value::String(text.replace(MARKER, marker).replace(CANARY, canary)),
        Value::Array(elements) => elements.into_iter().map(|element| marked(element, marker, canary)).collect(),
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, marked(value, marker, canary))).collect())
        }
        other => other,
    }
}

/// The file in which one start of the example server records its effects; removed in the end.
pub struct Record(PathBuf);

impl Record {
    fn new() -> io::Result<Self> {
        // Only a file that was not there before: nobody can have put a link in its place.
        fresh("record", |path| File::create_new(path).map(drop)).map(Self)
    }

    /// What was recorded so far.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.0)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // A file that can't be removed is the temporary folder's to clean.
        let _ = fs::remove_file(&self.0);
    }
}

/// An empty folder, removed in the end with all that a server has put there.
pub struct Folder(PathBuf);

impl Folder {
    /// A new one.
    ///
    /// # Errors
    ///
    /// The temporary folder can't be written.
    pub fn new() -> io::Result<Self> {
        fresh("folder", |path| fs::create_dir(path)).map(Self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether something is in it.
    pub fn has_content(&self) -> io::Result<bool> {
        Ok(fs::read_dir(&self.0)?.next().is_some())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes something in the temporary folder under a name that was free.
fn fresh(kind: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("linegate-check-{}-{number}.{kind}", std::process::id()));
        match make(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
