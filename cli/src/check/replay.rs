//! One start of the server, written down so that it can be done again: the command, what was unusual about the start, and each
//! piece of input with the moment at which it was sent. A report holds such a file for each start; `--replay` reads it.
//!
//! The moment is told by what had come on stdout before, and by how long nothing had happened then. Secrets are not written
//! down: a replay takes them from its own environment.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use linegate::{Code, Revision, Stage};
use linegate_host::supervise::Signal;
use serde_json::{Map, Value, json};

use super::finding::Finding;
use super::judge::{self, Ends};
use super::outcome::{Dirt, Malformed, Outcome};
use super::past::{Act, Conditions, Run, Step};
use super::setup::{Folder, Server, Setup, marker_of};
use crate::secrets::holds_secret;

/// The version of the file.
const VERSION: u64 = 1;

/// The file of one run.
pub fn document(setup: &Setup, outcome: &Outcome, run: &Run) -> Value {
    let variables = |pairs: &[(String, String)]| -> Map<String, Value> {
        let told =
            |name: &str, value: &str| if holds_secret(name, value.as_bytes()) { Value::Null } else { value.into() };
        pairs.iter().map(|(name, value)| (name.clone(), told(name, value))).collect()
    };
    let command = match &setup.server {
        // It is started with a file of its own each time.
        Server::Example(_) => Value::Null,
        Server::Command(_) => run.command.iter().map(|word| word.to_string_lossy()).collect(),
    };
    let Conditions { bare, unset, env, broken, directory, stderr_unread } = &run.conditions;
    let broken: Map<String, Value> = broken.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "linegate_replay": VERSION,
        "scenario": outcome.name,
        "revision": setup.settled.get().copied().unwrap_or_default().name(),
        "command": command,
        "directory": setup.launch.directory,
        "env": variables(&setup.launch.env),
        "conditions": {
            "bare": bare,
            "unset": unset,
            "env": variables(env),
            "broken": broken,
            "empty_directory": directory.is_some(),
            "stderr_unread": stderr_unread,
        },
        "ends": run.ends.name(),
        "judged_to": outcome.judged_to.name(),
        "malformed": outcome.malformed.as_ref().map(|malformed| malformed.code.number()),
        "steps": steps(run),
    })
}

fn steps(run: &Run) -> Vec<Value> {
    let mut rest = run.stdin.as_slice();
    let sent = |step: &Step| {
        let milliseconds = u64::try_from(step.pause.as_millis()).unwrap_or(u64::MAX);
        let mut entry = json!({"behind": step.behind, "pause_ms": milliseconds});
        match step.act {
            Act::Send(len) => {
                let (piece, behind) = rest.split_at(len.min(rest.len()));
                rest = behind;
                match std::str::from_utf8(piece) {
                    Ok(text) => entry["text"] = text.into(),
                    Err(_) => entry["hex"] = super::text::hex(piece).into(),
                }
            }
            act => entry["act"] = act.word().into(),
        }
        entry
    };
    run.steps.iter().map(sent).collect()
}

/// A file that was read.
pub struct Replay {
    scenario: String,
    revision: Revision,
    /// The command; `None` for the example server.
    pub command: Option<Vec<std::ffi::OsString>>,
    /// The directory in which it was started, where the user had named one.
    pub directory: Option<PathBuf>,
    /// The variables that the user had set.
    pub env: Vec<(String, String)>,
    conditions: Conditions,
    empty_directory: bool,
    ends: Ends,
    judged_to: Stage,
    malformed: Option<Code>,
    steps: Vec<Planned>,
}

struct Planned {
    behind: usize,
    pause: Duration,
    what: What,
}

enum What {
    Send(Vec<u8>),
    HangUp,
    Signal(Signal),
}

impl Replay {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It can't be read, or is no such file, or of a later version.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let document: Value = serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::from_document(&document).map_err(|what| format!("{} is no replay: {what}", path.display()))
    }

    fn from_document(document: &Value) -> Result<Self, String> {
        if document["linegate_replay"] != VERSION {
            return Err(format!("linegate_replay is not {VERSION}"));
        }
        let text = |value: &Value, name: &str| {
            value[name].as_str().map(str::to_owned).ok_or_else(|| format!("{name} is no string"))
        };
        let command = match &document["command"] {
            Value::Null => None,
            Value::Array(words) => {
                let words: Option<Vec<_>> = words.iter().map(|word| Some(word.as_str()?.into())).collect();
                Some(words.ok_or("command has a word that is no string")?)
            }
            _ => return Err("command is no array".to_owned()),
        };
        let conditions = &document["conditions"];
        let yes = |name: &str| conditions[name].as_bool().unwrap_or_default();
        let unset = conditions["unset"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let broken = conditions["broken"].as_object().into_iter().flatten();
        let steps: Result<Vec<_>, String> =
            document["steps"].as_array().ok_or("steps is no array")?.iter().map(planned).collect();
        let number = document["malformed"].as_u64();
        Ok(Self {
            scenario: text(document, "scenario")?,
            revision: Revision::from_name(&text(document, "revision")?).ok_or("revision is none that is known")?,
            command,
            directory: document["directory"].as_str().map(PathBuf::from),
            env: variables(&document["env"]),
            conditions: Conditions {
                bare: yes("bare"),
                unset: unset.map(str::to_owned).collect(),
                env: variables(&conditions["env"]),
                broken: broken.map(|(name, value)| (name.clone(), value.as_str().map(str::to_owned))).collect(),
                directory: None,
                stderr_unread: yes("stderr_unread"),
            },
            empty_directory: yes("empty_directory"),
            ends: Ends::from_name(&text(document, "ends")?).ok_or("ends is none that is known")?,
            judged_to: Stage::ALL
                .into_iter()
                .find(|stage| document["judged_to"] == stage.name())
                .ok_or("judged_to is none that is known")?,
            malformed: Code::ALL.iter().copied().find(|code| Some(u64::from(code.number())) == number),
            steps: steps?,
        })
    }

    /// Does it again, and judges it as the scenario did; without the scenario's own look at the answers.
    ///
    /// # Errors
    ///
    /// The server can't be started.
    pub fn run(&self, setup: &Setup) -> io::Result<Outcome> {
        setup.settled.get_or_init(|| self.revision);
        let mut outcome = Outcome::new(self.scenario.clone(), "The same input brings out the same fault.");
        outcome.judged_to = self.judged_to;
        let folder = if self.empty_directory { Some(Folder::new()?) } else { None };
        let mut conditions = self.conditions.clone();
        conditions.directory = folder.as_ref().map(|folder| folder.path().to_owned());
        let (mut child, record) = setup.start(conditions)?;
        // Its answers to the server are among the steps.
        child.leave_requests();
        let began = Instant::now();
        for step in &self.steps {
            let left = setup.launch.timeout.saturating_sub(began.elapsed());
            child.wait_for(left, |stdout| stdout.len() >= step.behind);
            thread::sleep(step.pause);
            match &step.what {
                What::Send(bytes) => child.send(bytes),
                What::HangUp => child.hang_up(),
                What::Signal(signal) => child.signal(*signal),
            }
        }
        // What the last input brings is not to be lost to the end of input; where it came before is known.
        let quiet = Duration::from_millis(200);
        if !self.steps.is_empty() && self.ends == Ends::ByItself {
            child.rest(quiet.min(setup.launch.timeout));
        }
        setup.finish(child, &mut outcome, self.ends)?;
        if let (Some(run), Some(code)) = (outcome.runs.last(), self.malformed) {
            let recorded = record.map_or_else(|| Ok(Vec::new()), |record| record.read())?;
            let finding = judge::effects(run, code, &marker_of(&self.scenario), &recorded, false);
            outcome.findings.extend(finding);
            outcome.malformed = Some(Malformed { code, bytes: self.malformed_line(), session: None });
        }
        let last = if self.malformed.is_some() { Stage::Json } else { self.judged_to };
        if let Some(run) = outcome.runs.last() {
            let bad = judge::stdout(run, self.revision, last)?;
            let dirt = bad.into_iter().map(|line| Dirt { scenario: self.scenario.clone(), run: 0, line });
            outcome.findings.extend(dirt.map(|dirt| Finding::dirt(&dirt)));
        }
        Ok(outcome)
    }

    /// The input between the handshake and what follows the malformed line: the piece before a line feed that was sent alone,
    /// or the last one.
    fn malformed_line(&self) -> Vec<u8> {
        let pieces: Vec<_> = self
            .steps
            .iter()
            .filter_map(|step| match &step.what {
                What::Send(bytes) => Some(bytes.as_slice()),
                _ => None,
            })
            .collect();
        let alone = pieces.iter().position(|piece| *piece == b"\n").and_then(|at| at.checked_sub(1));
        alone.and_then(|at| pieces.get(at)).or(pieces.last()).map_or_else(Vec::new, |piece| piece.to_vec())
    }
}

fn planned(step: &Value) -> Result<Planned, String> {
    let number = |name: &str| step[name].as_u64().ok_or_else(|| format!("{name} of a step is no number"));
    let what = match (&step["act"], &step["text"], &step["hex"]) {
        (Value::String(word), ..) => match Act::of_word(word).ok_or("an act is unknown")? {
            Act::Signal(signal) => What::Signal(signal),
            _ => What::HangUp,
        },
        (_, Value::String(text), _) => What::Send(text.clone().into_bytes()),
        (_, _, Value::String(hex)) => {
            let bytes: Result<Vec<_>, _> = hex.split_whitespace().map(|pair| u8::from_str_radix(pair, 16)).collect();
            What::Send(bytes.map_err(|_| "a hex is none")?)
        }
        _ => return Err("a step does nothing".to_owned()),
    };
    let behind = usize::try_from(number("behind")?).map_err(|_| "behind is too large")?;
    Ok(Planned { behind, pause: Duration::from_millis(number("pause_ms")?.min(60_000)), what })
}

/// Variables with their values; those that are secret have the value that they have here.
fn variables(object: &Value) -> Vec<(String, String)> {
    let value = |name: &String, value: &Value| {
        Some((name.clone(), value.as_str().map(str::to_owned).or_else(|| std::env::var(name).ok())?))
    };
    object.as_object().into_iter().flatten().filter_map(|(name, told)| value(name, told)).collect()
}
