//! What a check finds: a violation, its class, and what mends it.

use linegate::Stage;

use super::outcome::Dirt;
use super::wire::NoResult;
pub use crate::args::Class;

impl Class {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Stdout, Self::Effects, Self::Lifecycle];

    /// The class's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Effects => "effects",
            Self::Lifecycle => "lifecycle",
        }
    }
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its class.
    pub class: Class,
    /// What was seen.
    pub what: String,
    /// What mends it.
    pub fix: &'static str,
    /// The bad line that it is about.
    pub dirt: Option<Box<Dirt>>,
}

impl Finding {
    /// A bad line on stdout.
    pub fn dirt(dirt: &Dirt) -> Self {
        let Dirt { scenario, line, .. } = dirt;
        let (is, fix) = if line.code.stage() <= Stage::Rpc {
            (
                "no message",
                "Write logs, banners and progress to stderr, and keep libraries and child processes off stdout.",
            )
        } else {
            (
                "a message that the protocol does not have there",
                "Send what the revision has, with all that it asks for, and answer each request once and nothing else.",
            )
        };
        let what = format!("line {} of stdout in {scenario} is {is}", line.number);
        Self { class: Class::Stdout, what, fix, dirt: Some(Box::new(dirt.clone())) }
    }

    /// A fault of the session or of the process.
    pub const fn life(what: String, fix: &'static str) -> Self {
        Self { class: Class::Lifecycle, what, fix, dirt: None }
    }

    /// A violation of the session's ordinary work: a valid request got no result.
    pub fn no_result(method: &str, instead: &NoResult) -> Self {
        let (what, fix) = match instead {
            NoResult::Error { code, message } => (
                format!("{method} was answered with error {code}: {message}"),
                "Answer with a result: the request is valid.",
            ),
            NoResult::Closed => (
                format!("stdout ended before {method} was answered"),
                "Serve until the input ends; what the server wrote to stderr may say why it stopped.",
            ),
            NoResult::Silent => (
                format!("{method} was not answered in time"),
                "Answer each request with one line on stdout, and flush it; --timeout gives a slow server more time.",
            ),
        };
        Self::life(what, fix)
    }

    /// A violation of the session's ordinary work: a result is not what was asked for.
    pub const fn wrong_result(what: String) -> Self {
        let fix = "Give the result all that the protocol's revision asks of it.";
        Self::life(what, fix)
    }
}
