//! Bytes as text: escaped for a report, as hexadecimal, and as a shell command that sends exactly them.

use std::ffi::OsStr;
use std::fmt::Write;

use super::past::Conditions;
use crate::secrets::holds_secret;

/// Printable ASCII as it is, everything else as an escape, so that nothing can move a terminal's cursor.
pub fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for byte in bytes {
        match byte {
            // Readable JSON is full of them.
            b'"' | b'\'' => shown.push(char::from(*byte)),
            _ => shown.extend(byte.escape_ascii().map(char::from)),
        }
    }
    shown
}

/// Bytes in hexadecimal, parted by spaces.
pub fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

/// A pipe line that starts the command with this input, under these conditions and with these variables. It takes the
/// values of secret ones from its own shell.
pub fn pipeline(
    input: &[u8],
    conditions: &Conditions,
    env: &[(String, String)],
    command: &[impl AsRef<OsStr>],
) -> String {
    let mut line = String::new();
    // The folder was an empty one, and is gone.
    if conditions.directory.is_some() {
        line.push_str("cd \"$(mktemp -d)\" && ");
    }
    let _ = write!(line, "{} |", sender(input));
    let unset = conditions.broken.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name);
    let unset: Vec<_> = conditions.unset.iter().chain(unset).collect();
    let is_broken = |name: &str| conditions.broken.iter().any(|(broken, _)| broken == name);
    let given = conditions.env.iter().chain(env).filter(|(name, _)| !is_broken(name));
    let given: Vec<_> = given.map(|(name, value)| (name, value, holds_secret(name, value.as_bytes()))).collect();
    let bogus = conditions.broken.iter().filter_map(|(name, value)| Some((name, value.as_ref()?, false)));
    if conditions.bare
        || !unset.is_empty()
        || !env.is_empty()
        || !conditions.env.is_empty()
        || !conditions.broken.is_empty()
    {
        line.push_str(" env");
    }
    if conditions.bare {
        line.push_str(" -i");
    }
    for name in unset {
        let _ = write!(line, " -u {name}");
    }
    for (name, value, secret) in given.into_iter().chain(bogus) {
        if secret {
            let _ = write!(line, " {name}=\"${name}\"");
        } else {
            let _ = write!(line, " {}", word(OsStr::new(&format!("{name}={value}"))));
        }
    }
    for argument in command {
        let _ = write!(line, " {}", word(argument.as_ref()));
    }
    line
}

/// The command as a shell reads it.
pub fn command_line(command: &[impl AsRef<OsStr>]) -> String {
    command.iter().map(|argument| word(argument.as_ref())).collect::<Vec<_>>().join(" ")
}

/// A command that writes these bytes. A byte that comes again and again is counted, not written out.
fn sender(bytes: &[u8]) -> String {
    /// A byte that comes more often is counted.
    const OFTEN: usize = 1000;
    let mut commands = Vec::new();
    let mut plain = Vec::new();
    for run in bytes.chunk_by(|byte, next| byte == next) {
        match run {
            [byte, ..] if run.len() > OFTEN && byte.is_ascii_alphanumeric() => {
                if !plain.is_empty() {
                    commands.push(format!("printf '{}'", printf(&plain)));
                    plain.clear();
                }
                commands.push(format!("head -c {} /dev/zero | tr '\\0' {}", run.len(), char::from(*byte)));
            }
            _ => plain.extend_from_slice(run),
        }
    }
    if !plain.is_empty() || commands.is_empty() {
        commands.push(format!("printf '{}'", printf(&plain)));
    }
    match commands.as_slice() {
        [one] => one.clone(),
        several => format!("{{ {}; }}", several.join("; ")),
    }
}

/// A format of printf(1) between single quotes.
fn printf(bytes: &[u8]) -> String {
    let mut format = String::new();
    for byte in bytes {
        match byte {
            b'\n' => format.push_str("\\n"),
            b'\\' => format.push_str("\\\\"),
            b'%' => format.push_str("%%"),
            b'\'' => format.push_str("\\047"),
            b' '..=b'~' => format.push(char::from(*byte)),
            _ => {
                let _ = write!(format, "\\{byte:03o}");
            }
        }
    }
    format
}

/// One word of a shell command.
fn word(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text with one # for each id that the check gives its requests, or the beginning of one at the end.
pub fn without_own_ids(text: &str) -> String {
    let mut parts = text.split("linegate-");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push('#');
        plain.push_str(part.trim_start_matches(|character: char| character.is_ascii_lowercase()));
    }
    plain
}

/// The text with one # for each number.
pub fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    for character in text.chars() {
        if !character.is_ascii_digit() {
            plain.push(character);
        } else if !plain.ends_with('#') {
            plain.push('#');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_sends_exactly_the_bytes() {
        let long = [b'x'; 5000];
        let bytes: Vec<u8> = (0..=255).chain(*b"%s '\\n' 0123").chain(long).chain(*b"}\n").collect();
        let output = Command::new("sh")
            .arg("-c")
            .arg(pipeline(&bytes, &Conditions::default(), &[], &["cat"]))
            .output()
            .expect("sh runs");
        assert_eq!(output.stdout, bytes);
        assert!(pipeline(&bytes, &Conditions::default(), &[], &["cat"]).len() < 1200);
    }

    #[test]
    fn a_shell_reads_the_words() {
        let words = ["printf", "%s.", "a b", "", "it's", "$HOME", "x=y"];
        let line = pipeline(b"", &Conditions::default(), &[("A".to_owned(), "1 2".to_owned())], &words);
        let output = Command::new("sh").arg("-c").arg(line).output().expect("sh runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b..it's.$HOME.x=y.");
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(escaped(b"\x1b[2Jok\xff\\"), "\\x1b[2Jok\\xff\\\\");
    }
}
