//! `linegate doctor`: checks every server that a configuration starts, as its client would start it, and warns of secrets that stand
//! in it in the open.
//!
//! A client of an SDK hands down the safe variables and those of the entry, so the servers get these alone. Malformed lines are
//! sent only where that is asked for: without a gate hardly any server takes no harm, and what a configuration can do about that
//! is to wrap the server.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::Parser;
use serde_json::json;

use super::entries::{Entry, Server, Stdio, missing, read};
use super::exposed::{self, Exposed};
use super::front;
use super::place;
use super::veil::Veil;
use crate::args::{Cli, Command, DoctorArgs, Format};
use crate::check::{self, Examination};
use crate::tell::printable;
use crate::trouble::{Done, Trouble};
use crate::{CLEAN, FAULTS};

/// The version of the JSON document.
const VERSION: u32 = 1;
/// What is left out unless everything is asked for.
const EFFECTS: &str = "malformed/";

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const WARN: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();

/// What became of one entry.
enum Finding {
    /// It was checked.
    Checked(Box<Examination>),
    /// It could not be started.
    NotStarted(String),
    /// It was not looked at, for this reason.
    Skipped(String),
}

struct Patient {
    entry: Entry,
    exposed: Vec<Exposed>,
    /// Over what must not be shown of this entry.
    veil: Veil,
    finding: Finding,
}

/// Looks at the configuration as the arguments say.
pub fn run(args: &DoctorArgs) -> Done {
    // What a configuration says may stand in an error.
    let fit = |why: String| printable(&why).into_owned();
    let told = |why: String| fit(format!("{}: {why}", args.config.display()));
    let text = place::read(&args.config).map_err(fit)?;
    let entries = read(place::without_mark(&text)).map_err(told)?;
    if let Some(name) = args.names.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
        return Err(told(missing(&entries, name)).into());
    }
    if entries.is_empty() {
        return Err(told("there is no server in it".to_owned()).into());
    }
    let chosen = entries.into_iter().filter(|entry| args.names.is_empty() || args.names.contains(&entry.name));
    let mut patients = Vec::new();
    for entry in chosen {
        let finding = examine(args, &entry)?;
        let exposed = exposed::of(&entry);
        patients.push(Patient { veil: Veil::over(&exposed), exposed, entry, finding });
    }
    let mut out = anstream::stdout().lock();
    let told = match args.format {
        Format::Text => tell(args, &patients, &mut out),
        Format::Json => write_document(args, &patients, &mut out),
    };
    told.map_err(|error| Trouble::writing("the report", &error))?;
    Ok(if patients.iter().all(Patient::is_healthy) { CLEAN } else { FAULTS })
}

fn examine(args: &DoctorArgs, entry: &Entry) -> Result<Finding, Trouble> {
    let server = match &entry.server {
        Server::Stdio(server) => server,
        Server::Url(address, _) => return Ok(Finding::Skipped(format!("a server by URL, {}", host(address)))),
        Server::Unclear(why) => return Ok(Finding::Skipped(format!("unclear: {why}"))),
    };
    if entry.is_off && !args.names.contains(&entry.name) {
        return Ok(Finding::Skipped("it is switched off; name it to check it".to_owned()));
    }
    let said = server.words().into_iter().map(|word| &word.value).chain(server.env.iter().map(|(_, value)| value));
    if said.chain(&server.cwd).any(|text| text.contains("${")) {
        return Ok(Finding::Skipped("it has places, such as ${...}, that only its client can fill".to_owned()));
    }
    if let Some(directory) = server.cwd.as_ref().filter(|directory| !Path::new(directory).is_dir()) {
        return Ok(Finding::NotStarted(format!("its working directory {directory} is not there")));
    }
    match check::examine(&check_args(args, server)?, server.env.clone(), server.cwd.clone().map(PathBuf::from)) {
        Ok(examination) => Ok(Finding::Checked(Box::new(examination))),
        Err(why) if why == "interrupted" => Err(why.into()),
        Err(why) => Ok(Finding::NotStarted(why)),
    }
}

/// The check that these arguments mean, as its own command line would say it.
fn check_args(args: &DoctorArgs, server: &Stdio) -> Result<crate::args::CheckArgs, String> {
    let mut words: Vec<OsString> = ["linegate", "check", "--timeout"].map(OsString::from).into();
    words.push(args.timeout.as_secs_f64().to_string().into());
    if !args.full {
        words.extend(["--skip", EFFECTS].map(OsString::from));
    }
    for (option, names) in [("--only", &args.only), ("--skip", &args.skip)] {
        words.extend(names.iter().flat_map(|name| [option.into(), name.into()]));
    }
    words.push("--".into());
    words.extend(server.words().into_iter().map(|word| OsString::from(&word.value)));
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Check(check)) => Ok(check),
        Ok(_) | Err(_) => Err("these options make no check".to_owned()),
    }
}

impl Patient {
    fn verdict(&self) -> &'static str {
        match &self.finding {
            Finding::Checked(examination) if examination.clean() => "ok",
            Finding::Checked(_) | Finding::NotStarted(_) => "fail",
            Finding::Skipped(_) => "skip",
        }
    }

    fn is_healthy(&self) -> bool {
        self.verdict() != "fail"
    }

    fn is_wrapped(&self) -> bool {
        matches!(&self.entry.server, Server::Stdio(server) if front::of(&server.texts()).is_some())
    }

    /// The command, its secrets hidden before it is quoted.
    fn command(&self) -> Option<String> {
        let Server::Stdio(server) = &self.entry.server else { return None };
        let words: Vec<_> = server.texts().into_iter().map(|word| self.veil.hide(word)).collect();
        Some(check::command_line(&words))
    }
}

/// An address without what may be secret in it.
fn host(address: &str) -> &str {
    let from = address.find("://").map_or(0, |at| at + 3);
    let rest = address.get(from..).unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

fn tell(args: &DoctorArgs, patients: &[Patient], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "linegate doctor: {}\n", printable(&args.config.to_string_lossy()))?;
    for patient in patients {
        let (style, word) = match patient.verdict() {
            "ok" => (GOOD, "ok"),
            "fail" => (BAD, "FAIL"),
            _ => (DIM, "skip"),
        };
        let what = match &patient.finding {
            Finding::Skipped(why) => patient.veil.hide(why),
            _ => patient.command().unwrap_or_default(),
        };
        writeln!(out, "{style}{word:<4}{style:#}  {:<20} {}", printable(&patient.entry.name), printable(&what))?;
        match &patient.finding {
            Finding::Checked(examination) => {
                for line in examination.complaints() {
                    writeln!(out, "      {}", printable(&patient.veil.hide_in_line(&line)))?;
                }
            }
            Finding::NotStarted(why) => writeln!(out, "      {}", printable(&patient.veil.hide(why)))?,
            Finding::Skipped(_) => {}
        }
        for exposed in &patient.exposed {
            let told = format!("{} stands in the open: {}", exposed.place, exposed.advice());
            writeln!(out, "      {WARN}warning{WARN:#}: {}", printable(&patient.veil.hide(&told)))?;
        }
    }
    let count = |verdict: &str| patients.iter().filter(|patient| patient.verdict() == verdict).count();
    let warnings: usize = patients.iter().map(|patient| patient.exposed.len()).sum();
    writeln!(
        out,
        "\n{} ok, {} failed, {} skipped; secrets in the open: {warnings}",
        count("ok"),
        count("fail"),
        count("skip")
    )?;
    if count("fail") > 0 {
        writeln!(out, "all that is known of one: linegate check -- COMMAND, in the environment of the entry")?;
    }
    out.flush()
}

fn write_document(args: &DoctorArgs, patients: &[Patient], out: &mut impl Write) -> io::Result<()> {
    let one = |patient: &Patient| {
        let (why, check) = match &patient.finding {
            Finding::Checked(examination) => (None, Some(examination.document())),
            Finding::NotStarted(why) | Finding::Skipped(why) => (Some(why), None),
        };
        let warnings =
            patient.exposed.iter().map(|exposed| json!({"place": exposed.place, "advice": exposed.advice()}));
        let mut told = json!({
            "name": patient.entry.name,
            "map": patient.entry.map,
            "verdict": patient.verdict(),
            "why": why,
            "command": patient.command(),
            "wrapped": patient.is_wrapped(),
            "warnings": warnings.collect::<Vec<_>>(),
            "check": check,
        });
        patient.veil.hide_all(&mut told);
        told
    };
    let servers: Vec<_> = patients.iter().map(one).collect();
    let document = json!({
        "linegate_doctor": VERSION,
        "version": VERSION,
        "config": args.config.to_string_lossy(),
        "healthy": patients.iter().all(Patient::is_healthy),
        "servers": servers,
    });
    writeln!(out, "{}", fit_for_a_terminal(&format!("{document:#}")))?;
    out.flush()
}

/// The same document, with an escape for each character in its strings that could move a terminal's cursor or can't be seen.
fn fit_for_a_terminal(document: &str) -> String {
    let mut fit = String::with_capacity(document.len());
    for character in document.chars() {
        let is_seen = matches!(character, '\n' | ' '..='~') || character.escape_debug().len() == 1;
        if is_seen {
            fit.push(character);
        } else {
            fit.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    fit
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_document_moves_no_cursor_and_stays_the_same() {
        let document = json!({"name": "\u{1b}[1m \u{9b}2J \u{202e}x \u{e0001} \" \\ é 日\n\t"});
        let fit = fit_for_a_terminal(&format!("{document:#}"));
        assert!(fit.contains("\\u009b2J \\u202ex \\udb40\\udc01 "), "{fit}");
        assert!(fit.contains("é 日") && !fit.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{fit}");
        assert_eq!(serde_json::from_str::<Value>(&fit).expect("JSON"), document);
    }
}
