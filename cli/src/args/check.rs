//! The options of `linegate check`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};
use linegate::Revision;

use super::values::{assignment, breakage, revisions, seconds, some_seconds};

/// Options of `linegate check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The protocol revision to speak; auto asks the server.
    #[arg(long, value_name = "R", default_value = "auto", value_parser = revisions())]
    pub revision: Revision,
    /// How long each start of the server may take for its answers, and again to end, in seconds.
    #[arg(long, value_name = "S", default_value = "10", value_parser = some_seconds, allow_negative_numbers = true)]
    pub timeout: Duration,
    /// How long start/idle leaves the server alone before its first request, in seconds: what it prints later is not seen there.
    #[arg(long, value_name = "S", default_value = "1.5", value_parser = seconds, allow_negative_numbers = true)]
    pub idle: Duration,
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
    /// Write the file of --baseline anew, with every fault that is found; the exit status is 0 then. What the file has of checks
    /// that did not run stays.
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
