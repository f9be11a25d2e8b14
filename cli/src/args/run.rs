//! The options of `linegate run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use linegate::{Policy, Revision};

use super::Allow;
#[cfg(unix)]
use super::values::pattern;
use super::values::{days, file, max_frame, revisions, seconds};
#[cfg(unix)]
use crate::environment::Variable;

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
    #[arg(long, value_name = "FILE", value_parser = file())]
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
    #[arg(long, value_name = "FILE", value_parser = file())]
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
    /// Mask what this regular expression (of the Rust crate regex) matches within a line of the server's stderr, without its line end,
    /// wherever it goes; may be given several times.
    ///
    /// The values of variables whose names look secret (KEY, TOKEN, SECRET, PASSWORD, AUTH and the like), and those from files,
    /// are masked anyway, where they have 6 bytes and more.
    #[cfg(unix)]
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub mask: Vec<regex::bytes::Regex>,
    /// How long the end of input is held back from a server that still has requests to answer, in seconds.
    ///
    /// For servers that drop what they are at when their input ends, where a client sends its last request and closes. Not for
    /// plain JSON-RPC: which requests are answered is known of a session only.
    #[arg(long, value_name = "S", default_value = "0", value_parser = seconds, allow_negative_numbers = true)]
    pub answer_wait: Duration,
    /// How long the server may take to end after its input was closed, in seconds; then it gets SIGTERM.
    ///
    /// The time in which the client takes nothing doesn't count, here and for the two others.
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

#[cfg(all(test, unix))]
mod tests {
    use clap::Parser as _;
    use linegate_host::supervise::Waits;

    use crate::args::{Cli, Command};

    #[test]
    fn run_waits_as_long_as_the_supervisor_does() {
        let Command::Run(run) = Cli::parse_from(["linegate", "run", "--", "server"]).command else { unreachable!() };
        let Waits { close, term } = Waits::default();
        assert_eq!((run.close_wait, run.term_wait), (close, term));
    }
}
