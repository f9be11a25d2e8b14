//! The command line: every option, its default and what it means. Bad values are refused here, with what would be right.
//!
//! The surface is frozen where other programs stand on it; an option that isn't here yet is refused, never ignored.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use linegate::{Direction, Options, Policy, Profile, Revision};

mod check;
mod config;
mod run;
mod values;

pub use check::{CheckArgs, Class, ReportFormat};
pub use config::{DoctorArgs, UnwrapArgs, WrapArgs};
pub use run::RunArgs;
use values::{directions, max_frame, method, profiles, result_type, revisions};

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

/// For whom the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
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
