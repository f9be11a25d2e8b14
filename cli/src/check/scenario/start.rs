//! Odd starts: other environments, other folders, and a client that takes its time. A server has to come up in each, and its
//! stdout has to stay clean: what a debug switch prints must not reach the client.

use std::io;
use std::time::Duration;

use super::{Play, Script};
use crate::check::child::{Child, Conditions};
use crate::check::judge::Ends;
use crate::check::setup::Folder;
use crate::check::wire::{NoResult, TESTED};
use crate::environment;

/// How long the client says nothing at first.
const IDLE: Duration = Duration::from_millis(1500);

pub const SCRIPTS: &[Script] = &[
    Script::new(
        "start/minimal-environment",
        "Clients hand down a few safe variables only; a server that needs others has to be given them in the configuration.",
        minimal,
    ),
    Script::new(
        "start/debug-environment",
        "Switches that make programs talk are set on many machines; what they bring out belongs on stderr.",
        debug,
    ),
    Script::new(
        "start/unbuffered",
        "Without buffers each print reaches the client at once; with them it comes at some time nobody expects.",
        unbuffered,
    ),
    Script::new(
        "start/empty-directory",
        "A client starts the server in a directory of its own choice, not in the server's.",
        empty_directory,
    ),
    Script::new(
        "start/empty-home",
        "On a new machine, and in a container, the home directory holds no configuration and no cache.",
        empty_home,
    ),
    Script::new("start/idle", "A client may start its servers long before it speaks to them.", idle),
];

/// The usual switches of runtimes, loaders of settings, package runners and loggers.
const TALKATIVE: [(&str, &str); 30] = [
    // Node and its libraries.
    ("DEBUG", "*"),
    ("NODE_DEBUG", "module"),
    ("NODE_OPTIONS", "--trace-warnings --trace-deprecation"),
    ("DOTENV_CONFIG_DEBUG", "true"),
    ("DOTENV_CONFIG_QUIET", "false"),
    ("npm_config_loglevel", "verbose"),
    ("PINO_LOG_LEVEL", "trace"),
    // Python and its libraries.
    ("PYTHONDEVMODE", "1"),
    ("PYTHONWARNINGS", "default"),
    ("PYTHONASYNCIODEBUG", "1"),
    ("LOGURU_LEVEL", "TRACE"),
    ("FASTMCP_LOG_LEVEL", "DEBUG"),
    ("PIP_VERBOSE", "1"),
    ("UV_VERBOSE", "1"),
    // Rust.
    ("RUST_LOG", "trace"),
    ("RUST_BACKTRACE", "full"),
    // Go.
    ("GOTRACEBACK", "all"),
    ("GODEBUG", "inittrace=1"),
    ("GRPC_GO_LOG_SEVERITY_LEVEL", "info"),
    // Java.
    ("JAVA_TOOL_OPTIONS", "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace -Ddebug=true"),
    ("LOGGING_LEVEL_ROOT", "DEBUG"),
    // .NET.
    ("Logging__LogLevel__Default", "Trace"),
    // Anything.
    ("LOG_LEVEL", "debug"),
    ("LOGLEVEL", "DEBUG"),
    ("LOGGING_LEVEL", "DEBUG"),
    ("MCP_DEBUG", "1"),
    ("VERBOSE", "1"),
    ("TRACE", "1"),
    ("FORCE_COLOR", "1"),
    ("CLICOLOR_FORCE", "1"),
];

/// What makes runtimes write through.
const UNBUFFERED: [(&str, &str); 2] = [("PYTHONUNBUFFERED", "1"), ("NSUnbufferedIO", "YES")];

/// Where programs look for their files beside the home directory.
const PLACES: [&str; 5] = ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS"];

fn minimal(play: &mut Play<'_>) -> io::Result<()> {
    let env = environment::safe_texts().collect();
    session(play, Conditions { bare: true, env, ..Conditions::default() })
}

fn debug(play: &mut Play<'_>) -> io::Result<()> {
    session(play, Conditions { env: owned(&TALKATIVE), ..Conditions::default() })
}

fn unbuffered(play: &mut Play<'_>) -> io::Result<()> {
    session(play, Conditions { env: owned(&UNBUFFERED), ..Conditions::default() })
}

fn empty_directory(play: &mut Play<'_>) -> io::Result<()> {
    let folder = Folder::new()?;
    session(play, Conditions { directory: Some(folder.path().to_owned()), ..Conditions::default() })
}

fn empty_home(play: &mut Play<'_>) -> io::Result<()> {
    let folder = Folder::new()?;
    let home = vec![("HOME".to_owned(), folder.path().to_string_lossy().into_owned())];
    session(play, Conditions { unset: PLACES.to_vec(), env: home, ..Conditions::default() })
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A session with one request under these conditions.
fn session(play: &mut Play<'_>, conditions: Conditions) -> io::Result<()> {
    let (child, _record) = play.start(conditions)?;
    converse(play, child)
}

fn idle(play: &mut Play<'_>) -> io::Result<()> {
    let mut child = play.plain_start()?;
    child.rest(IDLE);
    converse(play, child)
}

/// The handshake, and one request.
fn converse(play: &mut Play<'_>, mut child: Child<'_>) -> io::Result<()> {
    if play.open(&mut child) {
        let request = play.request();
        child.send(&request.line(TESTED));
        match child.answer(TESTED, play.setup.launch.timeout) {
            Ok(_) => play.note(format!("came up, and {} was answered", request.method)),
            // Without its settings a tool may well fail, but it has to say so.
            Err(NoResult::Error { code, .. }) => {
                play.note(format!("came up, and {} was answered with error {code}", request.method));
            }
            Err(NoResult::Closed) => play.find(
                format!("stdout ended before {} was answered", request.method),
                "Say what is missing in the answer, and go on; what the server wrote to stderr may say why it stopped.",
            ),
            Err(NoResult::Silent) => play.find(
                format!("{} was not answered in time", request.method),
                "Answer each request, if only with an error that says what is missing.",
            ),
        }
    }
    play.finish(child, Ends::ByItself)
}
