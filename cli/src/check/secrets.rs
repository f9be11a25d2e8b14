//! Secrets of the environment: the values of variables whose names say so are replaced by their names wherever words of the
//! server are shown or kept. A report goes to a CI's log, and servers print their settings when they fail.
//!
//! What stood on stdin and stdout is kept raw: it is the evidence.

use std::os::unix::ffi::OsStrExt;

/// Parts of the names of variables that hold secrets.
const NAMES: [&str; 14] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "COOKIE",
    "AUTH",
    "PRIVATE",
    "DSN",
    "DATABASE_URL",
    "CONNECTION_STRING",
    "WEBHOOK",
];
/// Values that are shorter, in bytes, are no secrets, and stand in innocent words.
const SHORTEST: usize = 6;

/// The secrets that a server may have been given.
#[derive(Debug, Default)]
pub struct Secrets(Vec<(String, Vec<u8>)>);

/// Whether a variable of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.iter().any(|part| name.contains(part))
}

impl Secrets {
    /// Those of this process's environment, and of the variables given to the server.
    pub fn of_environment(given: &[(String, String)]) -> Self {
        let own =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.as_bytes().to_vec())));
        Self::of(own.chain(given.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()))))
    }

    fn of(variables: impl Iterator<Item = (String, Vec<u8>)>) -> Self {
        let mut secrets: Vec<_> =
            variables.filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST).collect();
        // A secret inside another must not leave the rest of the longer one to be read.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Self(secrets)
    }

    /// The bytes with `[NAME]` for each value.
    pub fn masked(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        'bytes: while let Some((byte, behind)) = rest.split_first() {
            for (name, value) in &self.0 {
                if let Some(behind) = rest.strip_prefix(value.as_slice()) {
                    masked.extend_from_slice(format!("[{name}]").as_bytes());
                    rest = behind;
                    continue 'bytes;
                }
            }
            masked.push(*byte);
            rest = behind;
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secret_variables_are_masked() {
        let variable = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
        let variables = [
            variable("API_KEY", "s3cret-1"),
            variable("github_token", "s3cret-1-longer"),
            variable("PATH", "/usr/bin"),
            variable("PASSWORD", "short"),
        ];
        let secrets = Secrets::of(variables.into_iter());
        let masked = secrets.masked(b"a s3cret-1 b s3cret-1-longer\xff c /usr/bin short s3cret-");
        assert_eq!(masked, b"a [API_KEY] b [github_token]\xff c /usr/bin short s3cret-");
    }
}
