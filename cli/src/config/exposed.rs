//! Secrets that stand in the open in a configuration: by the names of variables, options and headers, and by the looks of values.

use std::sync::LazyLock;

use regex::Regex;

use super::entries::{Server, Stdio};
use crate::secrets::{SHORTEST, is_secret};

/// What looks like a secret whatever its name: tokens of well-known services, a JSON web token, a password in an address.
static LOOKS: LazyLock<Regex> = LazyLock::new(|| {
    let looks = r"(?x)
        \b(?: gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | glpat-[\w-]{16,} | sk-[\w-]{16,} | xox[abeprs]-[\w-]{10,}
            | AKIA[0-9A-Z]{16} | AIza[\w-]{30,} | npm_[A-Za-z0-9]{30,} | hf_[A-Za-z0-9]{20,} | eyJ[\w-]{10,}\.eyJ[\w-]{10,}\. )
        | ://[^/\s:@]*:[^/\s@]+@";
    Regex::new(looks).expect("a pattern")
});

/// A secret in the open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// Where it stands, for people.
    pub place: String,
    /// The secret, never shown.
    pub value: String,
    /// The variable by whose name it should be given, if it is one.
    pub variable: Option<String>,
}

/// The secrets that an entry shows.
pub fn of(server: &Server) -> Vec<Exposed> {
    match server {
        Server::Stdio(server) => {
            let env = server.env.iter().filter(|(name, value)| tells(name, value));
            let variable = |(name, value): &(String, String)| Exposed {
                place: format!("the variable {name}"),
                value: value.clone(),
                variable: Some(name.clone()),
            };
            env.map(variable).chain(arguments(server)).collect()
        }
        Server::Url(address, headers) => {
            let told = |place: String, value: &str| Exposed { place, value: value.to_owned(), variable: None };
            let headers = headers.iter().filter(|(name, value)| tells(name, value));
            let headers = headers.map(|(name, value)| told(format!("the header {name}"), value));
            let query = address.split_once('?').map_or("", |(_, query)| query).split('&');
            let query = query.filter_map(|pair| pair.split_once('=')).filter(|(name, value)| tells(name, value));
            let query = query.map(|(name, value)| told(format!("{name} in the address"), value));
            let user = LOOKS.find(address).map(|found| told("the address".to_owned(), found.as_str()));
            headers.chain(query).chain(user).collect()
        }
        Server::Unclear(_) => Vec::new(),
    }
}

/// Whether the value of that name is a secret, and stands there itself: no name of one that the client puts in, and no file.
fn tells(name: &str, value: &str) -> bool {
    let stands_there = value.len() >= SHORTEST && !value.contains("${") && !value.starts_with("file:");
    stands_there && (is_secret(name) || LOOKS.is_match(value))
}

/// Options and assignments among the arguments: `--api-key V`, `--api-key=V`, `-e KEY=V`, and what looks like a secret.
fn arguments(server: &Stdio) -> Vec<Exposed> {
    let words: Vec<_> = server.words().into_iter().map(|word| word.value.as_str()).collect();
    let mut found = Vec::new();
    for (number, word) in words.iter().enumerate().skip(1) {
        let before = words.get(number - 1).copied().unwrap_or_default();
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None if before.starts_with('-') && !word.starts_with('-') => (before, *word),
            None => ("", *word),
        };
        if tells(&name.replace('-', "_"), value) {
            let variable = (!name.starts_with('-') && !name.is_empty()).then(|| name.to_owned());
            let place =
                if name.is_empty() { format!("argument {number}") } else { format!("argument {number} ({name})") };
            found.push(Exposed { place, value: value.to_owned(), variable });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::entries::find;
    use super::*;

    fn places(entry: &str) -> Vec<String> {
        let server = find(&format!("{{\"mcpServers\": {{\"s\": {entry}}}}}"), "s").expect("an entry");
        of(&server).into_iter().map(|exposed| format!("{}: {}", exposed.place, exposed.value)).collect()
    }

    #[test]
    fn secrets_in_the_open_are_found() {
        assert_eq!(
            places(
                r#"{"command": "x", "env": {"API_KEY": "abcdef", "B_TOKEN": "${input:b}", "C_KEY": "short", "HOME": "/home/somebody",
                "URL": "postgres://me:pw@h/db", "ANY": "ghp_0123456789abcdefghij"}}"#
            ),
            [
                "the variable API_KEY: abcdef",
                "the variable URL: postgres://me:pw@h/db",
                "the variable ANY: ghp_0123456789abcdefghij"
            ]
        );
        assert_eq!(
            places(
                r#"{"command": "x", "args": ["--api-key", "abcdef", "--token=ghijkl", "-e", "MY_SECRET=mnopqr", "--port", "123456",
                "sk-0123456789abcdef", "--env", "K_TOKEN=file:/run/k", "--key-file", "--verbose"]}"#
            ),
            [
                "argument 2 (--api-key): abcdef",
                "argument 3 (--token): ghijkl",
                "argument 5 (MY_SECRET): mnopqr",
                "argument 8: sk-0123456789abcdef"
            ]
        );
        assert_eq!(
            places(
                r#"{"url": "https://h/mcp?api_key=abcdef&x=y", "headers": {"Authorization": "Bearer abcdef", "Accept": "anything"}}"#
            ),
            ["the header Authorization: Bearer abcdef", "api_key in the address: abcdef"]
        );
    }
}
