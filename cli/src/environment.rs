//! The environment of a server: the few variables that a client hands down, and those that the user gives.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The variables that the SDKs' clients hand down on unix.
pub const SAFE: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Bytes of the longest value that is read from a file: systems take little more in one variable.
const LONGEST: u64 = 64 << 10;

/// A variable for the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    name: String,
    source: Source,
}

/// Where the value of a variable comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// The command line.
    Given(String),
    /// A file.
    File(PathBuf),
    /// The variable of that name in this process's own environment.
    Own,
}

impl Variable {
    /// Reads `NAME=VALUE`, `NAME=file:PATH` or `NAME`.
    ///
    /// # Errors
    ///
    /// It is none of these; the text says what is right.
    pub fn parse(given: &str) -> Result<Self, String> {
        let (name, source) = match given.split_once('=') {
            None => (given, Source::Own),
            Some((name, value)) => match value.strip_prefix("file:") {
                Some("") => return Err("give a path behind file:, such as TOKEN=file:/run/secrets/token".to_owned()),
                Some(path) => (name, Source::File(path.into())),
                None => (name, Source::Given(value.to_owned())),
            },
        };
        if name.is_empty() {
            return Err("give NAME=VALUE, NAME=file:PATH, or a NAME that is passed on, such as LOG=off".to_owned());
        }
        Ok(Self { name: name.to_owned(), source })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its value is a secret whatever its name says: nobody puts anything else into a file of its own.
    pub const fn is_from_file(&self) -> bool {
        matches!(self.source, Source::File(_))
    }

    /// Its value. A line end at the end of a file, LF or CR LF, is the editor's and no part of the value.
    ///
    /// # Errors
    ///
    /// The file can't be read or holds what no variable can, or the variable to pass on is not set.
    pub fn value(&self) -> Result<OsString, String> {
        match &self.source {
            Source::Given(value) => Ok(value.into()),
            Source::Own => env::var_os(&self.name)
                .ok_or_else(|| format!("{} is to be passed on to the server, and is not set", self.name)),
            Source::File(path) => {
                let because =
                    |why: &str| format!("cannot take the value of {} from {}: {why}", self.name, path.display());
                let mut bytes = Vec::new();
                // With the line end, and one byte more that says that there are more.
                File::open(path)
                    .and_then(|file| file.take(LONGEST + 3).read_to_end(&mut bytes))
                    .map_err(|error| because(&error.to_string()))?;
                if bytes.last() == Some(&b'\n') {
                    bytes.pop();
                    if bytes.last() == Some(&b'\r') {
                        bytes.pop();
                    }
                }
                if bytes.len() as u64 > LONGEST {
                    return Err(because(&format!("it has more than {LONGEST} bytes")));
                }
                if bytes.contains(&0) {
                    return Err(because("a NUL can't stand in a variable"));
                }
                Ok(OsString::from_vec(bytes))
            }
        }
    }
}

/// Those of them that are text; others can't be told in a report, and no client hands them down.
pub fn safe_texts() -> impl Iterator<Item = (String, String)> {
    safe().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The safe variables that are set, with their values.
pub fn safe() -> impl Iterator<Item = (OsString, OsString)> {
    SAFE.into_iter().filter_map(|name| Some((name.into(), env::var_os(name)?)))
}
