//! Why a command could not do what it was asked for.

use std::io;

/// How a command ended: its exit status, or why there is none of its own.
pub type Done = Result<u8, Trouble>;

/// Why a command could not do what it was asked for.
#[derive(Debug)]
pub enum Trouble {
    /// Nobody reads the output any more, so nobody is there to be told either.
    ReaderGone,
    /// The reason, for people.
    Because(String),
}

impl Trouble {
    /// The output, which is called `what`, can't be written.
    pub fn writing(what: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Because(format!("cannot write {what}: {error}")),
        }
    }
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

impl From<&str> for Trouble {
    fn from(why: &str) -> Self {
        Self::Because(why.to_owned())
    }
}
