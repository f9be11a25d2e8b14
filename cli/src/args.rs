//! The command line: every option, its default and what it means. Bad values are refused here, with what would be right.
//!
//! The surface is frozen where other programs stand on it; an option that isn't here yet is refused, never ignored.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use linegate::{Direction, MAX_METHOD, Options, Policy, Profile, Revision};

#[cfg(unix)]
use crate::environment::Variable;

/// A gate for newline-delimited JSON-RPC and MCP on stdio.
///
/// Exit status: 0 clean, 1 refusals or violations, 2 could not do it; of run, the server's, or 1 where a refusal ended the
/// session.
#[derive(Debug, Parser)]
#[command(name = "linegate", version, about, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge captured bytes line by line.
    Scan(ScanArgs),
    /// Start a server and check that it speaks, and that nothing but messages stands on its stdout.
    Check(CheckArgs),
    /// Stand between a client (stdin, stdout) and a server, and pass on checked lines only.
    ///
    /// Exit status: the server's; 1 where a refusal ended the session; 2 where the server could not be started.
    Run(RunArgs),
    /// Check every server that a client's configuration starts, and warn of secrets that stand in it in the open.
    ///
    /// Exit status: 1 where a server fails; warnings change nothing. Servers by URL are skipped.
    Doctor(DoctorArgs),
    /// Put linegate run in front of one server of a client's configuration; every other byte of it stays, and the file as it
    /// was is kept beside it.
    Wrap(WrapArgs),
    /// Take linegate run away again.
    Unwrap(UnwrapArgs),
    /// Print the table of codes and switches.
    Rules(RulesArgs),
    /// A small MCP server to try the other commands on.
    ExampleServer(ExampleServerArgs),
}

impl Command {
    /// The command as it is written.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Scan(_) => "scan",
            Self::Check(_) => "check",
            Self::Run(_) => "run",
            Self::Doctor(_) => "doctor",
            Self::Wrap(_) => "wrap",
            Self::Unwrap(_) => "unwrap",
            Self::Rules(_) => "rules",
            Self::ExampleServer(_) => "example-server",
        }
    }
}

/// Options of `linegate scan`.
#[derive(Debug, Args)]
pub struct ScanArgs {
    /// Who sent the bytes [default: client].
    #[arg(long, value_name = "SENDER", value_parser = directions())]
    pub from: Option<Direction>,
    /// The protocol revision; auto refuses a line only where every revision refuses it, and with --track the session tells
    /// which it is.
    #[arg(long, value_name = "R", default_value = "auto", value_parser = revisions())]
    pub revision: Revision,
    /// The text rules [default: strict for a client's lines, data for a server's].
    #[arg(long, value_name = "P", value_parser = profiles())]
    pub profile: Option<Profile>,
    /// Whether a refusal that closes a session ends the scan.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = ScanReject::Continue)]
    pub on_reject: ScanReject,
    /// Judge each line in its session too: handshake, ids in flight, and whether a response fits its request.
    ///
    /// That takes both directions. The input is then a transcript: each line of it is the sender's mark, > for the client or <
    /// for the server, one space, and the line as it went over the wire, in the order in which they went. Verdicts say the
    /// sender; their offsets, lengths and faults are those of the line without its mark.
    #[arg(long)]
    pub track: bool,
    #[command(flatten)]
    pub allow: Allow,
    /// Longest line in bytes, 4 to 2147483647 [default: 8388608].
    #[arg(long, value_name = "N", value_parser = max_frame(), allow_negative_numbers = true)]
    pub max_frame: Option<u32>,
    /// Deepest nesting of values, 1 to 512 [default: 32 under strict, otherwise 64].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(linegate::MAX_DEPTH)), allow_negative_numbers = true)]
    pub max_depth: Option<u16>,
    /// Lines for people, or one JSON object a line.
    #[arg(long, value_name = "F", value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// The file to read; - or nothing is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
}

/// Options of `linegate check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The protocol revision to speak; auto asks the server.
    #[arg(long, value_name = "R", default_value = "auto", value_parser = revisions())]
    pub revision: Revision,
    /// How long each start of the server may take for its answers, and again to end, in seconds.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Duration,
    /// What is printed: text or an HTML page for people, JSON, JUnit's XML or SARIF for programs, annotations for GitHub.
    #[arg(long, value_name = "F", value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Write the report in every format into this directory, and of every start of the server its bytes and a file for
    /// --replay.
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Do one start again, exactly, from a file of a report; with COMMAND on another command.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "skip", "list", "call", "corpus", "record", "repeat"])]
    pub replay: Option<PathBuf>,
    /// Accept the faults whose fingerprints stand in this file.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the file of --baseline anew, with every fault that is found; the exit status is 0 then.
    #[arg(long, requires = "baseline")]
    pub update_baseline: bool,
    /// Add the recorded sessions (*.session) and malformed lines (*.line) of this directory.
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Check nothing, but stand between a client and COMMAND, and write their session into this file, for --corpus.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "skip", "list", "call", "report", "baseline"], requires = "command")]
    pub record: Option<PathBuf>,
    /// Look for calls that write to stdout in this file or directory (Python, JavaScript, TypeScript, Go, Rust, Java, C#);
    /// they are hints, and no violations.
    #[arg(long, value_name = "PATH")]
    pub source: Option<PathBuf>,
    /// Set a variable in the server's environment; may be given several times.
    #[arg(long, value_name = "K=V", value_parser = assignment)]
    pub env: Vec<(String, String)>,
    /// Start the server in this directory.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A variable that the server wants: start it without that, and with a value that is no good (linegate-bogus, or VALUE); may
    /// be given several times.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = breakage)]
    pub break_env: Vec<(String, String)>,
    /// Run only the checks whose names begin so; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Leave out the checks whose names begin so; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub skip: Vec<String>,
    /// List the names of the checks and stop.
    #[arg(long)]
    pub list: bool,
    /// Let the exit status depend on violations of this class only; may be given several times [default: all].
    #[arg(long = "class", value_name = "CLASS", value_enum)]
    pub classes: Vec<Class>,
    /// How many servers may run at once [default: one for each core]. Checks that depend on time run alone all the same.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run each check so many times; it fails where one of them does.
    #[arg(long, value_name = "N", default_value = "1")]
    pub repeat: NonZeroUsize,
    /// Call this tool with these arguments (a JSON object), and send malformed lines made of that call; without it no
    /// tool of COMMAND is called.
    ///
    /// {{marker}} inside the JSON is replaced by a text that must never come back from a refused line, such as in
    /// --call echo '{"text":"{{marker}}"}'; {{canary}} by the path of a file that isn't there, and that no refused line may bring
    /// into being.
    #[arg(long, num_args = 2, value_names = ["NAME", "JSON"], action = ArgAction::Set)]
    pub call: Vec<String>,
    /// Send this request with these params (a JSON object) in the place of a call.
    #[arg(long, num_args = 2, value_names = ["METHOD", "JSON"], action = ArgAction::Set, conflicts_with = "call")]
    pub request: Vec<String>,
    /// The server's command and its arguments; without it the built-in example server is checked.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Options of `linegate run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The protocol revision; auto learns it from the session, jsonrpc is JSON-RPC without the rules of MCP and of its
    /// sessions.
    #[arg(long, value_name = "R", default_value = "auto", value_parser = revisions())]
    pub revision: Revision,
    /// Which refusals end the session: those of malformed lines, all, or none.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = RunReject::Close)]
    pub on_reject: RunReject,
    #[command(flatten)]
    pub allow: Allow,
    /// Judge and tell, but pass every line on, for a trial: this is no protection.
    ///
    /// Nothing is refused, answered or ended. Records of --audit have the event observed in place of refused.
    #[arg(long, conflicts_with = "on_reject")]
    pub observe: bool,
    /// Append one JSON object for each refusal to this file; never the refused bytes.
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// Tell at the end how many lines were accepted and refused, even if none was refused. SIGUSR1 tells it at any time.
    #[arg(long)]
    pub counters: bool,
    /// Set a variable in the server's environment, to a VALUE or to what stands in a file (NAME=file:PATH), or pass it on
    /// (NAME); may be given several times.
    ///
    /// A file is read when the server is started; one line end at its end is no part of the value.
    #[cfg(unix)]
    #[arg(long, value_name = "NAME=VALUE", value_parser = Variable::parse)]
    pub env: Vec<Variable>,
    /// Give the server HOME, LOGNAME, PATH, SHELL, TERM, USER and what --env says, and nothing else.
    #[arg(long)]
    pub clean_env: bool,
    /// Keep the server's stderr in this file, in place of passing it on.
    #[arg(long, value_name = "FILE")]
    pub stderr: Option<PathBuf>,
    /// Bytes of that file, 1024 and more; the next lines go into a new one, and this one becomes FILE.1.
    #[arg(long, value_name = "BYTES", default_value = "10485760", requires = "stderr", value_parser = clap::value_parser!(u64).range(1024..), allow_negative_numbers = true)]
    pub stderr_size: u64,
    /// How many older files are kept, FILE.1 to FILE.N, 0 to 100.
    #[arg(long, value_name = "N", default_value = "3", requires = "stderr", value_parser = clap::value_parser!(u32).range(0..=100), allow_negative_numbers = true)]
    pub stderr_older: u32,
    /// How many days one file is written, and how long it is kept after it was written last; 0.5 is twelve hours.
    #[arg(long, value_name = "DAYS", default_value = "30", requires = "stderr", value_parser = days, allow_negative_numbers = true)]
    pub stderr_age: Duration,
    /// Mask what this regular expression (of the Rust crate regex) matches within a line of the server's stderr, wherever it goes;
    /// may be given several times.
    ///
    /// The values of variables whose names look secret (KEY, TOKEN, SECRET, PASSWORD, AUTH and the like; 6 bytes and more), and
    /// those from files, are masked anyway.
    #[cfg(unix)]
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub mask: Vec<regex::bytes::Regex>,
    /// How long the server may take to end after its input was closed, in seconds; then it gets SIGTERM.
    ///
    /// A server that starts slowly on a busy machine has not read its input yet, and must not be ended before it has. A
    /// client that is in a hurry sends SIGTERM itself, and that is passed on at once.
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds, allow_negative_numbers = true)]
    pub close_wait: Duration,
    /// How long the server may take to end after SIGTERM, in seconds; then it gets SIGKILL.
    ///
    /// Clients commonly give two seconds before they kill: the default is shorter, so that no server is left behind.
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds, allow_negative_numbers = true)]
    pub term_wait: Duration,
    /// Longest line in bytes, either way, 4 to 2147483647 [default: 8388608].
    #[arg(long, value_name = "N", value_parser = max_frame(), allow_negative_numbers = true)]
    pub max_frame: Option<u32>,
    /// The server's command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl RunArgs {
    /// The gates' policy.
    pub fn policy(&self) -> Policy {
        if self.observe { Policy::Continue } else { self.on_reject.policy() }
    }
}

/// What a host takes beside the tables of MCP.
#[derive(Debug, Args)]
pub struct Allow {
    /// Take this method too, from either side, as a request or a notification; may be given several times.
    #[arg(long = "allow-method", value_name = "M", value_parser = method)]
    pub methods: Vec<&'static str>,
    /// Take results with this resultType too; may be given several times.
    #[arg(long = "allow-result-type", value_name = "T", value_parser = result_type)]
    pub result_types: Vec<&'static str>,
}

impl Allow {
    /// The same options with all that.
    pub fn applied_to(&'static self, mut options: Options) -> Options {
        options.methods = &self.methods;
        options.result_types = &self.result_types;
        options
    }
}

/// Options of `linegate doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The configuration: JSON, or JSON with comments, with a map mcpServers (or servers).
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Look at these servers only [default: all].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Send malformed lines too, as check does, and let a server fail that acts on them.
    #[arg(long)]
    pub full: bool,
    /// Run only the checks whose names begin so; may be given several times.
    #[arg(long, value_name = "CHECK")]
    pub only: Vec<String>,
    /// Leave out the checks whose names begin so; may be given several times.
    #[arg(long, value_name = "CHECK")]
    pub skip: Vec<String>,
    /// How long each start of a server may take for its answers, and again to end, in seconds.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Duration,
    /// Lines for people, or one JSON document.
    #[arg(long, value_name = "F", value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Options of `linegate wrap`.
#[derive(Debug, Args)]
pub struct WrapArgs {
    /// The configuration.
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// The server.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The program to write down; a client that doesn't have linegate on its path needs a whole path here.
    #[arg(long, value_name = "PROGRAM", default_value = "linegate")]
    pub program: String,
    /// Options for linegate run, such as -- --audit FILE.
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}

/// Options of `linegate unwrap`.
#[derive(Debug, Args)]
pub struct UnwrapArgs {
    /// The configuration.
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// The server.
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// Options of `linegate rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// Text for people, one JSON document, or the Markdown of docs/rules.md.
    #[arg(long, value_name = "F", value_enum, default_value_t = RulesFormat::Text)]
    pub format: RulesFormat,
}

/// Options of `linegate example-server`.
#[derive(Debug, Args)]
pub struct ExampleServerArgs {
    /// The file to which the tool with an effect appends its argument.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What `scan` does after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScanReject {
    /// Judge the next line.
    Continue,
    /// Stop where a session would be closed.
    Close,
}

impl ScanReject {
    /// The gate's policy.
    pub fn policy(self) -> Policy {
        match self {
            Self::Continue => Policy::Continue,
            Self::Close => Policy::CloseMalformed,
        }
    }
}

/// Which refusals end the session of `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunReject {
    /// Refusals of malformed lines.
    Close,
    /// Any refusal.
    CloseAll,
    /// None: only the end of input does.
    Continue,
}

impl RunReject {
    /// The gate's policy.
    pub fn policy(self) -> Policy {
        match self {
            Self::Close => Policy::CloseMalformed,
            Self::CloseAll => Policy::CloseAll,
            Self::Continue => Policy::Continue,
        }
    }
}

/// The classes of violation that `check` tells apart, in the order in which they are best mended: a dirty stdout hides
/// everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Class {
    /// Bytes on stdout that are no message.
    Stdout,
    /// A malformed line had an effect.
    Effects,
    /// The session or the process did not go or end as it should.
    Lifecycle,
}

/// For whom the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The forms of the report of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Lines for people.
    Text,
    /// One JSON document.
    Json,
    /// JUnit's XML.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// A page for people.
    Html,
}

/// The formats of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For docs/rules.md.
    Markdown,
}

/// A parser of names out of a closed list, so that a wrong name is answered with the right ones.
fn named<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(move |given| {
        all.into_iter().find(|value| name(*value) == given).ok_or("not one of the possible values")
    })
}

fn revisions() -> impl TypedValueParser<Value = Revision> {
    named(Revision::ALL, Revision::name)
}

fn profiles() -> impl TypedValueParser<Value = Profile> {
    named(Profile::ALL, Profile::name)
}

fn directions() -> impl TypedValueParser<Value = Direction> {
    named([Direction::FromClient, Direction::FromServer], Direction::name)
}

fn max_frame() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(4..=i64::from(linegate::MAX_FRAME))
}

/// Seconds with a fraction, up to a day: what is longer is a slip of the finger.
fn seconds(given: &str) -> Result<Duration, String> {
    given
        .parse()
        .ok()
        .filter(|seconds| (0.0..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give seconds from 0 to 86400, such as 2 or 0.5".to_owned())
}

/// Days with a fraction, from a second to ten years.
fn days(given: &str) -> Result<Duration, String> {
    given
        .parse()
        .ok()
        .map(|days: f64| days * 86_400.0)
        .filter(|seconds| (1.0..=315_360_000.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give days up to 3650, such as 7 or 0.5".to_owned())
}

#[cfg(unix)]
fn pattern(given: &str) -> Result<regex::bytes::Regex, String> {
    let pattern = regex::bytes::Regex::new(given).map_err(|error| error.to_string())?;
    if pattern.is_match(b"") {
        return Err(
            "it matches where nothing is; give one that has to match something, such as sk-[0-9a-z]+".to_owned()
        );
    }
    Ok(pattern)
}

/// A name that a gate keeps for as long as the program runs.
fn method(given: &str) -> Result<&'static str, String> {
    if (1..=MAX_METHOD).contains(&given.len()) {
        Ok(given.to_owned().leak())
    } else {
        Err(format!("give a method's name of 1 to {MAX_METHOD} bytes, such as acme/refresh"))
    }
}

fn result_type(given: &str) -> Result<&'static str, String> {
    if given.is_empty() {
        Err("give a resultType that is not empty, such as acme_partial".to_owned())
    } else {
        Ok(given.to_owned().leak())
    }
}

/// A variable and what it is set to where it is to be no good.
fn breakage(given: &str) -> Result<(String, String), String> {
    if given.contains('=') { assignment(given) } else { assignment(&format!("{given}=linegate-bogus")) }
}

fn assignment(given: &str) -> Result<(String, String), String> {
    match given.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give a name, an equals sign and a value, such as LOG=off".to_owned()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use clap::Parser as _;
    use linegate_host::supervise::Waits;

    use super::{Cli, Command};

    #[test]
    fn run_waits_as_long_as_the_supervisor_does() {
        let Command::Run(run) = Cli::parse_from(["linegate", "run", "--", "server"]).command else { unreachable!() };
        let Waits { close, term } = Waits::default();
        assert_eq!((run.close_wait, run.term_wait), (close, term));
    }
}
