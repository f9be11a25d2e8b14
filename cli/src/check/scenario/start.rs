//! Odd starts: other environments, other folders, and a client that takes its time. A server has to come up in each, and its
//! stdout has to stay clean: what a debug switch prints must not reach the client.

use std::env;
use std::io;

use super::{Play, Script};
use crate::check::child::Child;
use crate::check::judge::Ends;
use crate::check::past::Conditions;
use crate::check::setup::Folder;
use crate::check::wire::{HELLO, NoResult, Request, TESTED};
use crate::environment;

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
    Script::new(
        "start/without-config",
        "What is optional may be missing all at once: no file beside the server, none at home, and no variable that names one.",
        without_config,
    ),
    Script::new("start/variables-unset", MISSING, variables_unset),
    Script::new("start/variables-bogus", MISSING, variables_bogus),
    Script::new("start/idle", "A client may start its servers long before it speaks to them.", idle),
];

const MISSING: &str = "Settings are forgotten and mistyped; a server that says so in the session, or ends with a word on stderr, can be helped.";

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
    session(play, Conditions { unset: owned_names(&PLACES), env: home, ..Conditions::default() })
}

fn without_config(play: &mut Play<'_>) -> io::Result<()> {
    let (folder, home) = (Folder::new()?, Folder::new()?);
    let names_config = |name: &String| {
        let name = name.to_ascii_uppercase();
        name.contains("CONFIG") || name.contains("DOTENV") || name.contains("SETTINGS")
    };
    let own = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(names_config);
    let conditions = Conditions {
        unset: owned_names(&PLACES).into_iter().chain(own).collect(),
        env: vec![("HOME".to_owned(), home.path().to_string_lossy().into_owned())],
        directory: Some(folder.path().to_owned()),
        ..Conditions::default()
    };
    session(play, conditions)
}

fn variables_unset(play: &mut Play<'_>) -> io::Result<()> {
    let broken = play.setup.break_env.iter().map(|(name, _)| (name.clone(), None)).collect();
    start_broken(play, broken)
}

fn variables_bogus(play: &mut Play<'_>) -> io::Result<()> {
    let broken = play.setup.break_env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
    start_broken(play, broken)
}

/// A start that the server may give up, if it does so in time and without a word on stdout.
fn start_broken(play: &mut Play<'_>, broken: Vec<(String, Option<String>)>) -> io::Result<()> {
    if broken.is_empty() {
        play.outcome.not_run = Some("no variable was named that the server wants: --break-env NAME");
        return Ok(());
    }
    let (mut child, _record) = play.start(Conditions { broken, ..Conditions::default() })?;
    let hello = Request::hello(play.revision);
    child.send(&hello.line(HELLO));
    match child.answer(HELLO, play.setup.launch.timeout) {
        Ok(_) => play.note("it came up all the same"),
        Err(NoResult::Error { code, message }) => play.note(format!("it said so by error {code}: {message}")),
        Err(NoResult::Closed) => play.note("it did not come up"),
        Err(NoResult::Silent) => play.find(
            format!("it neither answered {} nor ended", hello.method),
            "Say what is missing in an answer, or end with a status other than 0 and a word on stderr; don't wait.",
        ),
    }
    play.finish(child, Ends::ByItself)
}

fn owned_names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
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
    let idle = play.setup.idle;
    child.rest(idle);
    play.note(format!("nothing was sent for {} s", idle.as_secs_f32()));
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
