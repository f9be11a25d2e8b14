//! The grammar of `_meta` keys (406), as every revision from 2025-06-18 on has it: an optional prefix of labels parted by
//! dots, with a slash at its end, and a name, which may be empty.

/// Where a key stands, by what may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a label or of the name.
    Start,
    /// Behind a letter or digit.
    Inside,
    /// Behind something that can't be the last of a label or a name.
    Joint,
}

/// Whether the key, given unescaped, is well formed.
pub(super) fn is_well_formed(key: impl Iterator<Item = u8> + Clone) -> bool {
    let prefix = key.clone().position(|byte| byte == b'/');
    let labels = prefix.is_none_or(|len| is_prefix(key.clone().take(len)));
    labels && is_name(key.skip(prefix.map_or(0, |len| len + 1)))
}

/// Labels, parted by dots: each begins with a letter, ends with a letter or digit, and has hyphens only inside.
fn is_prefix(bytes: impl Iterator<Item = u8>) -> bool {
    let mut state = State::Start;
    for byte in bytes {
        state = match (state, byte) {
            (State::Start, b) if b.is_ascii_alphabetic() => State::Inside,
            (State::Inside | State::Joint, b) if b.is_ascii_alphanumeric() => State::Inside,
            (State::Inside | State::Joint, b'-') => State::Joint,
            (State::Inside, b'.') => State::Start,
            _ => return false,
        };
    }
    state == State::Inside
}

/// Empty, or letters and digits with `-`, `_` and `.` between them.
fn is_name(bytes: impl Iterator<Item = u8>) -> bool {
    let mut state = State::Start;
    for byte in bytes {
        state = match (state, byte) {
            (_, b) if b.is_ascii_alphanumeric() => State::Inside,
            (State::Inside | State::Joint, b'-' | b'_' | b'.') => State::Joint,
            _ => return false,
        };
    }
    state != State::Joint
}
