//! The options of `linegate doctor`, `wrap` and `unwrap`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::Format;
use super::values::seconds;

/// Options of `linegate doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The configuration: JSON, or JSON with comments, with a map mcpServers, servers or both; - is standard input.
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Look at these servers only, also if they are switched off [default: all that are not].
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
    /// The program to write down, a file whose name begins with linegate; a client that doesn't have it on its path needs a whole
    /// path here.
    #[arg(long, value_name = "PROGRAM", default_value = "linegate")]
    pub program: String,
    /// Options for linegate run, such as -- --audit FILE; none that would start something else.
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
