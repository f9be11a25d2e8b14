//! How the values of options are read: what is right, and what is said of the rest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use linegate::{Direction, MAX_METHOD, Profile, Revision};

/// A parser of names out of a closed list, so that a wrong name is answered with the right ones.
pub fn named<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(move |given| {
        all.into_iter().find(|value| name(*value) == given).ok_or("not one of the possible values")
    })
}

pub fn revisions() -> impl TypedValueParser<Value = Revision> {
    named(Revision::ALL, Revision::name)
}

pub fn profiles() -> impl TypedValueParser<Value = Profile> {
    named(Profile::ALL, Profile::name)
}

pub fn directions() -> impl TypedValueParser<Value = Direction> {
    named([Direction::FromClient, Direction::FromServer], Direction::name)
}

pub fn max_frame() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(4..=i64::from(linegate::MAX_FRAME))
}

/// Seconds with a fraction, up to a day: what is longer is a slip of the finger.
pub fn seconds(given: &str) -> Result<Duration, String> {
    given
        .parse()
        .ok()
        .filter(|seconds| (0.0..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give seconds from 0 to 86400, such as 2 or 0.5".to_owned())
}

/// The same, but some time at all.
pub fn some_seconds(given: &str) -> Result<Duration, String> {
    let told = |_| "give seconds from 0.01 to 86400, such as 10 or 0.5".to_owned();
    seconds(given)
        .and_then(|time| if time < Duration::from_millis(10) { Err(String::new()) } else { Ok(time) })
        .map_err(told)
}

/// Days with a fraction, from a second to ten years.
pub fn days(given: &str) -> Result<Duration, String> {
    given
        .parse()
        .ok()
        .map(|days: f64| days * 86_400.0)
        .filter(|seconds| (1.0..=315_360_000.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give days up to 3650, such as 7 or 0.5, and no less than a second of one".to_owned())
}

/// A file that is written beside the protocol.
pub fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|given| {
        if given == Path::new("-") {
            Err("standard output is the protocol's; give a file, such as /dev/stderr")
        } else {
            Ok(given)
        }
    })
}

#[cfg(unix)]
pub fn pattern(given: &str) -> Result<regex::bytes::Regex, String> {
    let pattern = regex::bytes::Regex::new(given).map_err(|error| error.to_string())?;
    if pattern.is_match(b"") {
        return Err(
            "it matches where nothing is; give one that has to match something, such as sk-[0-9a-z]+".to_owned()
        );
    }
    Ok(pattern)
}

/// A name that a gate keeps for as long as the program runs.
pub fn method(given: &str) -> Result<&'static str, String> {
    if (1..=MAX_METHOD).contains(&given.len()) {
        Ok(given.to_owned().leak())
    } else {
        Err(format!("give a method's name of 1 to {MAX_METHOD} bytes, such as acme/refresh"))
    }
}

pub fn result_type(given: &str) -> Result<&'static str, String> {
    if given.is_empty() {
        Err("give a resultType that is not empty, such as acme_partial".to_owned())
    } else {
        Ok(given.to_owned().leak())
    }
}

/// A variable and what it is set to where it is to be no good.
pub fn breakage(given: &str) -> Result<(String, String), String> {
    if given.contains('=') { assignment(given) } else { assignment(&format!("{given}=linegate-bogus")) }
}

pub fn assignment(given: &str) -> Result<(String, String), String> {
    match given.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give a name, an equals sign and a value, such as LOG=off".to_owned()),
    }
}
