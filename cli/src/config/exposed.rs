//! Secrets that stand in the open in a configuration: by the names of variables, options, headers and queries, and by the looks of
//! values. An entry that isn't understood is looked through like any other.

use std::ops::Range;

use super::entries::{Entry, Text};
use super::front::{self, Front};
use crate::secrets::{SHORTEST, holds_secret, looks};

/// A secret in the open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// Where it stands, for people.
    pub place: String,
    /// The secret, never shown.
    pub value: String,
    /// How it can be given otherwise.
    pub remedy: Remedy,
}

/// How a secret can be given otherwise than in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// As the variable of that name, which `linegate run` reads from a file.
    Variable(String),
    /// So, and passed on by that name alone to where this option sends it, such as a container.
    PassedOn(String, String),
    /// That depends on the server.
    Elsewhere,
}

impl Exposed {
    /// What is shown in place of the secret.
    pub fn label(&self) -> &str {
        match &self.remedy {
            Remedy::Variable(name) | Remedy::PassedOn(name, _) => name,
            Remedy::Elsewhere => "secret",
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        let keep = "keep it in a file that only you can read";
        match &self.remedy {
            Remedy::Variable(name) => {
                format!("{keep}, and start the server by: linegate run --env {name}=file:PATH -- ...")
            }
            Remedy::PassedOn(name, option) => format!(
                "{keep}, and start the server by: linegate run --env {name}=file:PATH -- ..., with {option} {name} and no value"
            ),
            Remedy::Elsewhere => keep.to_owned(),
        }
    }
}

/// The secrets that an entry shows.
pub fn of(entry: &Entry) -> Vec<Exposed> {
    let (of_command, others): (Vec<&Text>, Vec<&Text>) =
        entry.texts.iter().partition(|text| text.within == ["command"] || text.within == ["args"]);
    let named = |name: &'static str| of_command.iter().filter(move |text| text.within == [name]);
    let words: Vec<_> = named("command").chain(named("args")).map(|text| text.value.as_str()).collect();
    others.into_iter().flat_map(member).chain(arguments(&words)).collect()
}

/// Those in a member that is no part of the command.
fn member(text: &Text) -> Vec<Exposed> {
    let within: Vec<_> = text.within.iter().map(String::as_str).collect();
    let name = within.last().copied().unwrap_or_default();
    let (place, remedy) = match within.as_slice() {
        ["env", name] => (format!("the variable {name}"), variable(name).map_or(Remedy::Elsewhere, Remedy::Variable)),
        ["headers", name] => (format!("the header {name}"), Remedy::Elsewhere),
        ["url" | "serverUrl" | "httpUrl"] => ("the address".to_owned(), Remedy::Elsewhere),
        path => (path.join("."), Remedy::Elsewhere),
    };
    let is_address = place == "the address";
    if !is_address && tells(name, &text.value) {
        return vec![Exposed { place, value: text.value.clone(), remedy }];
    }
    let told = |found: Found<'_>| {
        let place = if found.name.is_empty() { place.clone() } else { format!("{} in {place}", found.name) };
        Exposed { place, value: found.value.to_owned(), remedy: Remedy::Elsewhere }
    };
    found(&text.value).into_iter().map(told).collect()
}

/// Options and assignments among the words of a command: `--api-key V`, and what [`found`] sees in one word.
fn arguments(words: &[&str]) -> Vec<Exposed> {
    // What `linegate run` itself is told is not passed on.
    let own = match front::of(words) {
        Some(Front::Linegate(begins)) => begins,
        _ => 0,
    };
    let sets_variables = words.first().is_some_and(|program| program.rsplit('/').next() == Some("env"));
    let which = |number| if number == 0 { "the command".to_owned() } else { format!("argument {number}") };
    let mut exposed = Vec::new();
    for (number, word) in words.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
        let is_value = before.starts_with('-') && !before.contains('=') && !word.starts_with('-');
        if is_value && tells(before, word) {
            let place = format!("{} ({before})", which(number));
            exposed.push(Exposed { place, value: (*word).to_owned(), remedy: Remedy::Elsewhere });
            continue;
        }
        for Found { name, value, at } in found(word) {
            let which = which(number);
            let place = if name.is_empty() { which } else { format!("{which} ({name})") };
            let remedy = match variable(name).filter(|_| at == 0) {
                Some(name) if number < own => Remedy::Variable(name),
                Some(name) if ["-e", "--env"].contains(&before) => Remedy::PassedOn(name, before.to_owned()),
                Some(name) if sets_variables => Remedy::Variable(name),
                _ => Remedy::Elsewhere,
            };
            exposed.push(Exposed { place, value: value.to_owned(), remedy });
        }
    }
    exposed
}

/// Whether the value of that name is a secret that stands there itself.
fn tells(name: &str, value: &str) -> bool {
    value.len() >= SHORTEST && holds_secret(name, value.as_bytes())
}

/// The name, if a variable can have it.
fn variable(name: &str) -> Option<String> {
    let fits = |(at, byte): (usize, u8)| byte == b'_' || byte.is_ascii_alphabetic() || at > 0 && byte.is_ascii_digit();
    (!name.is_empty() && name.bytes().enumerate().all(fits)).then(|| name.to_owned())
}

/// A secret in a text, with its name if it has one, and where that begins.
struct Found<'t> {
    name: &'t str,
    value: &'t str,
    at: usize,
}

/// The secrets in a text: values behind `NAME=` and `NAME:`, as assignments, queries and headers have them, and what looks like one.
fn found(text: &str) -> Vec<Found<'_>> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut told = 0;
    for (sign, _) in text.match_indices(['=', ':']) {
        let named = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let head = text.get(told..sign).unwrap_or_default().trim_end_matches(['"', '\'', ' ']);
        let name = head.rsplit(|c| !named(c)).next().unwrap_or_default();
        let at = told + head.len() - name.len();
        let place = place_of_value(text, sign, at == 0);
        let value = text.get(place.clone()).unwrap_or_default();
        // A line for a shell goes on behind a place for a secret.
        let first = value.split_whitespace().next().unwrap_or_default();
        if sign >= told && !name.is_empty() && tells(name, value) && holds_secret(name, first.as_bytes()) {
            found.push(Found { name, value, at });
            told = place.end;
        }
    }
    let alike = looks(text).filter(|alike| alike.len() >= SHORTEST).map(|value| Found { name: "", value, at: 0 });
    for more in options(text).chain(alike) {
        if !found.iter().any(|known| known.value.contains(more.value)) {
            found.push(more);
        }
    }
    found
}

/// Options with their values in a line for a shell: `--api-key V`.
fn options(text: &str) -> impl Iterator<Item = Found<'_>> {
    let values = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    text.split_whitespace().zip(values.skip(1)).filter_map(|(name, value)| {
        let is_value = name.starts_with('-') && !name.contains(['=', ':']) && !value.starts_with('-');
        (is_value && tells(name, value)).then_some(Found { name, value, at: 0 })
    })
}

/// The value behind the sign: all the rest behind a name that begins the text, what stands in quotes, or what ends as queries,
/// headers and words of a shell do.
fn place_of_value(text: &str, sign: usize, is_first: bool) -> Range<usize> {
    let behind = text.get(sign + 1..).unwrap_or_default();
    let rest = behind.trim_start();
    let quote = rest.chars().next().filter(|first| ['"', '\''].contains(first));
    let is_end = |c: char| match quote {
        Some(quote) => c == quote,
        None if is_first => false,
        // A header is a word of its own, or in quotes.
        None if text.get(sign..).is_some_and(|rest| rest.starts_with(": ")) => "\"'\n".contains(c),
        None => c.is_whitespace() || "&;,\"'#()<>|".contains(c),
    };
    let begins = sign + 1 + behind.len() - rest.len() + quote.map_or(0, char::len_utf8);
    let value = text.get(begins..).and_then(|rest| rest.split(is_end).next()).unwrap_or_default();
    begins..begins + value.len()
}

#[cfg(test)]
mod tests {
    use super::super::entries::read;
    use super::*;

    fn exposed(entry: &str) -> Vec<Exposed> {
        let entries = read(&format!("{{\"mcpServers\": {{\"s\": {entry}}}}}")).expect("a configuration");
        entries.iter().flat_map(of).collect()
    }

    fn places(entry: &str) -> Vec<String> {
        exposed(entry).into_iter().map(|exposed| format!("{}: {}", exposed.place, exposed.value)).collect()
    }

    #[test]
    fn secrets_in_the_open_are_found() {
        assert_eq!(
            places(
                r#"{"command": "x", "env": {"API_KEY": "abcdef", "B_TOKEN": "${input:b}", "C_KEY": "short", "HOME": "/home/somebody",
                "URL": "postgres://me:pw@h/db", "ANY": "ghp_0123456789abcdefghij", "DB_PASS": "hunter2xyz", "X\u001b[1m_TOKEN": "abcdef",
                "MAX_TOKENS": 100000, "TOKEN_NUMBER": 123456, "SSL_KEY": "/etc/ssl/key.pem"}}"#
            ),
            [
                "the variable API_KEY: abcdef",
                "the variable URL: postgres://me:pw@h/db",
                "the variable ANY: ghp_0123456789abcdefghij",
                "the variable DB_PASS: hunter2xyz",
                "the variable X\u{1b}[1m_TOKEN: abcdef",
                "the variable TOKEN_NUMBER: 123456"
            ]
        );
        assert_eq!(
            places(
                r#"{"url": "https://h/mcp?api_key=abcdef&x=y&token=<token>#access_token=zzzzzz", "headers": {"Authorization": "Bearer abcdef",
                "Accept": "anything", "Cookie": "${cookie}"}, "oauth": {"clientSecret": "ghijkl", "clientId": "mnopqr"}}"#
            ),
            [
                "api_key in the address: abcdef",
                "access_token in the address: zzzzzz",
                "the header Authorization: Bearer abcdef",
                "oauth.clientSecret: ghijkl"
            ]
        );
        assert_eq!(places(r#"{"serverUrl": "https://me:pa55word@h"}"#), ["the address: ://me:pa55word@"]);
    }

    #[test]
    fn secrets_in_arguments_are_found() {
        assert_eq!(
            places(
                r#"{"command": "x", "args": ["--api-key", "abcdef", "--token=ghijkl", "-e", "MY_SECRET=mnopqr", "--port", "123456",
                "sk-0123456789abcdef", "--env", "K_TOKEN=file:/run/k", "--key-file", "--verbose", "--pass", "two words"]}"#
            ),
            [
                "argument 2 (--api-key): abcdef",
                "argument 3 (--token): ghijkl",
                "argument 5 (MY_SECRET): mnopqr",
                "argument 8: sk-0123456789abcdef",
                "argument 14 (--pass): two words"
            ]
        );
        for (argument, found) in [
            ("Authorization: Bearer abcdef1", "Authorization): Bearer abcdef1"),
            ("--header=X-Api-Key: abcdefgh", "X-Api-Key): abcdefgh"),
            ("-HX-Api-Key:abcdefgh", "-HX-Api-Key): abcdefgh"),
            ("https://h/sse?api_key=abcdef#a", "api_key): abcdef"),
            ("https://h/sse?x=1&api_key=abcdef&y=2", "api_key): abcdef"),
            ("--url=https://h/sse?x=1&token=abcdef", "token): abcdef"),
            ("--password=it's two", "--password): it's two"),
            ("A=b API_KEY=abcdef node s.js", "API_KEY): abcdef"),
            ("curl -H 'X-Api-Key: abc def' h", "X-Api-Key): abc def"),
            ("{\\\"apiKey\\\": \\\"abc,def\\\", \\\"a\\\": 1}", "apiKey): abc,def"),
            ("node s.js --api-key 'abcdef' --verbose", "--api-key): abcdef"),
            ("redis://:pw12345@h/0", ": ://:pw12345@"),
        ] {
            let told = places(&format!(r#"{{"command": "x", "args": ["{argument}"]}}"#));
            assert!(told.len() == 1 && told[0].ends_with(found), "{argument}: {told:?}");
            // As it is found in an entry that isn't understood.
            let told = places(&format!(r#"{{"command": "x", "args": [7, "{argument}"]}}"#));
            assert!(told.len() == 1 && told[0].ends_with(found), "{argument}: {told:?}");
        }
        for words in [
            r#""--max-tokens", "100000""#,
            r#""--key-file", "/etc/ssl/key.pem""#,
            r#""--author", "John Smith""#,
            r#""--token", "$GITHUB_TOKEN""#,
            r#""--api-key=YOUR_API_KEY_HERE""#,
            r#""-c", "echo \"key=$API_KEY\"; exec x""#,
            r#""-c", "API_KEY=$OTHER exec node s.js""#,
            r#""--header", "Authorization: Bearer ${env:TOKEN}""#,
            r#""--header", "Authorization: Bearer <token>""#,
            r#""-e", "API_KEY""#,
            r#""-c", "node s.js --max-tokens 100000 --api-key \"$API_KEY\"""#,
            r#""https://h:8080/mcp?token=%TOKEN%""#,
        ] {
            assert_eq!(places(&format!(r#"{{"command": "x", "args": [{words}]}}"#)), [""; 0], "{words}");
        }
    }

    #[test]
    fn the_advice_names_a_variable_only_where_there_is_one() {
        let advice = |entry: &str| exposed(entry).iter().map(Exposed::advice).collect::<Vec<_>>().join("\n");
        assert!(
            advice(r#"{"command": "x", "env": {"API_KEY": "abcdef"}}"#).ends_with(" --env API_KEY=file:PATH -- ...")
        );
        assert!(
            advice(r#"{"command": "env", "args": ["API_KEY=abcdef", "x"]}"#)
                .ends_with(" --env API_KEY=file:PATH -- ...")
        );
        assert!(
            advice(r#"{"command": "docker", "args": ["run", "-e", "API_KEY=abcdef", "x"]}"#)
                .ends_with(" --env API_KEY=file:PATH -- ..., with -e API_KEY and no value")
        );
        assert!(
            advice(r#"{"command": "linegate", "args": ["run", "--env", "API_KEY=abcdef", "--", "x"]}"#)
                .ends_with(" --env API_KEY=file:PATH -- ...")
        );
        for entry in [
            r#"{"command": "x", "env": {"X\u001b[1m_TOKEN": "abcdef"}}"#,
            r#"{"command": "x", "args": ["https://h/sse?api_key=abcdef"]}"#,
            r#"{"command": "x", "args": ["--token=abcdef"]}"#,
            r#"{"command": "x", "args": ["-e", "X-KEY=abcdef"]}"#,
            r#"{"command": "sh", "args": ["-c", "echo \"key=abcdef\""]}"#,
        ] {
            assert_eq!(advice(entry), "keep it in a file that only you can read", "{entry}");
        }
    }
}
