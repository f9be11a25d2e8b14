//! `linegate doctor`: checks every server that a configuration starts, as its client would start it, and warns of secrets that stand
//! in it in the open.
//!
//! A client of an SDK hands down the safe variables and those of the entry, so the servers get these alone. Malformed lines are
//! sent only where that is asked for: without a gate hardly any server takes no harm, and what a configuration can do about that
//! is to wrap the server.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::Parser;
use serde_json::{Value, json};

use super::entries::{Entry, Server, Stdio, read};
use super::exposed::{self, Exposed};
use super::place::ConfigFile;
use crate::args::{Cli, Command, DoctorArgs, Format};
use crate::check::{self, Examination};
use crate::secrets::Secrets;
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
    finding: Finding,
}

/// Looks at the configuration as the arguments say.
pub fn run(args: &DoctorArgs) -> Done {
    let file = ConfigFile::read(&args.config)?;
    let entries = read(file.text()).map_err(|why| format!("{}: {why}", args.config.display()))?;
    if let Some(name) = args.names.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
        return Err(format!("{}: there is no server {name}", args.config.display()).into());
    }
    let chosen = entries.into_iter().filter(|entry| args.names.is_empty() || args.names.contains(&entry.name));
    let mut patients = Vec::new();
    for entry in chosen {
        let finding = examine(args, &entry.server)?;
        patients.push(Patient { exposed: exposed::of(&entry.server), entry, finding });
    }
    let mut out = anstream::stdout().lock();
    let told = match args.format {
        Format::Text => tell(args, &patients, &mut out),
        Format::Json => write_document(args, &patients, &mut out),
    };
    told.map_err(|error| Trouble::writing("the report", &error))?;
    Ok(if patients.iter().all(Patient::is_healthy) { CLEAN } else { FAULTS })
}

fn examine(args: &DoctorArgs, server: &Server) -> Result<Finding, Trouble> {
    let server = match server {
        Server::Stdio(server) => server,
        Server::Url(address, _) => return Ok(Finding::Skipped(format!("a server by URL, {}", host(address)))),
        Server::Unclear(why) => return Ok(Finding::Skipped(format!("unclear: {why}"))),
    };
    let said = server.words().into_iter().map(|word| &word.value).chain(server.env.iter().map(|(_, value)| value));
    if said.chain(&server.cwd).any(|text| text.contains("${")) {
        return Ok(Finding::Skipped("it has places, such as ${...}, that only its client can fill".to_owned()));
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

    /// What must not be shown of this entry.
    fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        for exposed in &self.exposed {
            secrets.add_value(exposed.variable.as_deref().unwrap_or("secret"), exposed.value.as_bytes());
        }
        secrets
    }

    fn is_wrapped(&self) -> bool {
        matches!(&self.entry.server, Server::Stdio(server) if server.behind_linegate().is_some())
    }

    fn command(&self) -> Option<String> {
        let Server::Stdio(server) = &self.entry.server else { return None };
        let words: Vec<_> = server.words().into_iter().map(|word| OsString::from(&word.value)).collect();
        Some(masked(&self.secrets(), &check::command_line(&words)))
    }
}

fn masked(secrets: &Secrets, text: &str) -> String {
    String::from_utf8_lossy(&secrets.masked(text.as_bytes())).into_owned()
}

/// An address without what may be secret in it.
fn host(address: &str) -> &str {
    let from = address.find("://").map_or(0, |at| at + 3);
    let rest = address.get(from..).unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

const ADVICE: &str = "keep it in a file that only you can read";

fn advice(exposed: &Exposed) -> String {
    exposed.variable.as_ref().map_or_else(
        || ADVICE.to_owned(),
        |name| format!("{ADVICE}, and start the server by: linegate run --env {name}=file:PATH -- ..."),
    )
}

fn tell(args: &DoctorArgs, patients: &[Patient], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "linegate doctor: {}\n", printable(&args.config.to_string_lossy()))?;
    for patient in patients {
        let secrets = patient.secrets();
        let (style, word) = match patient.verdict() {
            "ok" => (GOOD, "ok"),
            "fail" => (BAD, "FAIL"),
            _ => (DIM, "skip"),
        };
        let what = match &patient.finding {
            Finding::Skipped(why) => why.clone(),
            _ => patient.command().unwrap_or_default(),
        };
        writeln!(out, "{style}{word:<4}{style:#}  {:<20} {}", printable(&patient.entry.name), printable(&what))?;
        match &patient.finding {
            Finding::Checked(examination) => {
                for line in examination.complaints() {
                    writeln!(out, "      {}", printable(&masked(&secrets, &line)))?;
                }
            }
            Finding::NotStarted(why) => writeln!(out, "      {}", printable(&masked(&secrets, why)))?,
            Finding::Skipped(_) => {}
        }
        for exposed in &patient.exposed {
            let place = printable(&exposed.place);
            writeln!(out, "      {WARN}warning{WARN:#}: {place} stands in the open: {}", advice(exposed))?;
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
        let warnings = patient.exposed.iter().map(|exposed| json!({"place": exposed.place, "advice": advice(exposed)}));
        let mut told = json!({
            "name": patient.entry.name,
            "verdict": patient.verdict(),
            "why": why,
            "command": patient.command(),
            "wrapped": patient.is_wrapped(),
            "warnings": warnings.collect::<Vec<_>>(),
            "check": check,
        });
        mask_all(&patient.secrets(), &mut told);
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
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    out.flush()
}

fn mask_all(secrets: &Secrets, value: &mut Value) {
    match value {
        Value::String(text) => *text = masked(secrets, text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| mask_all(secrets, element)),
        Value::Object(members) => members.values_mut().for_each(|member| mask_all(secrets, member)),
        _ => {}
    }
}
