//! One start of a server as data: what it was given, what passed between it and the check, and how it ended.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use linegate_host::supervise::Signal;

use super::judge::Ends;

/// What holds for every start.
#[derive(Debug)]
pub struct Launch {
    /// Added to the environment.
    pub env: Vec<(String, String)>,
    /// The working directory, in place of the check's own.
    pub directory: Option<PathBuf>,
    /// The limit of the traffic, and again of the end after the input was closed.
    pub timeout: Duration,
    /// Set by a signal to the check itself: every wait is over at once.
    pub interrupted: Arc<AtomicBool>,
}

/// What is unusual about one start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Whether the environment begins empty, in place of the check's own.
    pub bare: bool,
    /// Variables that are taken away.
    pub unset: Vec<String>,
    /// Variables that are set, before those of the user.
    pub env: Vec<(String, String)>,
    /// Variables that are taken away or set whatever the user has set.
    pub broken: Vec<(String, Option<String>)>,
    /// The working directory, in place of the check's own.
    pub directory: Option<PathBuf>,
    /// Whether nobody reads stderr before the input has ended.
    pub stderr_unread: bool,
}

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By a signal that the check did not send.
    Signal(i32),
    /// Not within the limit: the check killed it.
    Killed,
}

/// What the check did to a running server, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What.
    pub act: Act,
    /// Bytes of stdout that were seen before.
    pub behind: usize,
    /// How long nothing had passed either way.
    pub pause: Duration,
}

/// What a check does to a running server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends so many bytes at once.
    Send(usize),
    /// Closes its end of stdout.
    HangUp,
    /// Sends a signal.
    Signal(Signal),
}

impl Act {
    /// The word for what is no input, as files have it.
    pub const fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Send(_) => return None,
            Self::HangUp => "hang_up",
            Self::Signal(Signal::Hangup) => "SIGHUP",
            Self::Signal(Signal::Interrupt) => "SIGINT",
            Self::Signal(Signal::Quit) => "SIGQUIT",
            Self::Signal(Signal::User2) => "SIGUSR2",
            Self::Signal(Signal::Terminate) => "SIGTERM",
            Self::Signal(Signal::Kill) => "SIGKILL",
        })
    }

    /// What a word stands for.
    pub fn of_word(word: &str) -> Option<Self> {
        let signals = [Signal::Hangup, Signal::Interrupt, Signal::Quit, Signal::User2, Signal::Terminate, Signal::Kill];
        signals.map(Self::Signal).into_iter().chain([Self::HangUp]).find(|act| act.word() == Some(word))
    }
}

/// All that passed between the check and one start of the server.
#[derive(Debug)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What was unusual about the start.
    pub conditions: Conditions,
    /// What was sent.
    pub stdin: Vec<u8>,
    /// In which pieces, when, and what else was done.
    pub steps: Vec<Step>,
    /// What came back, to the end.
    pub stdout: Vec<u8>,
    /// What was logged.
    pub stderr: Vec<u8>,
    /// Whether the check cut stdout off, by a signal or by closing it: its last line may be torn then.
    pub cut: bool,
    /// Whether more came than is kept.
    pub overflowed: bool,
    /// How it was meant to end.
    pub ends: Ends,
    /// How it ended.
    pub exit: Exit,
    /// Processes that it had started were still there when it had ended.
    pub left_processes: bool,
    /// Whether it was only asked which revision it speaks, by a request that may be foreign to it.
    pub probe: bool,
    /// How long it was given to end.
    pub patience: Duration,
    /// From start to end.
    pub took: Duration,
}
