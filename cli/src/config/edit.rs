//! Putting `linegate run` in front of one server of a configuration, and taking it away: by moving words in the text, so that every
//! other byte of it stays, and taking it away gives the text back as it was.

use std::ops::Range;

use super::entries::{Server, Stdio, Word, find};
use super::front::{self, Front};

/// The text with `program run OPTIONS --` in front of the server's command.
///
/// # Errors
///
/// There is no such server, or it stands behind `linegate run` already, or is none that is started; `program` isn't known as
/// linegate, or `run` would not take these options, or start something else.
pub fn wrap(text: &str, name: &str, program: &str, options: &[String]) -> Result<String, String> {
    if !front::names_linegate(program) {
        return Err("the file of PROGRAM must be named linegate: unwrap would not know it again".to_owned());
    }
    let server = stdio(text, name)?;
    let mut words = server.texts();
    match front::of(&words) {
        None => {}
        Some(Front::Linegate(_) | Front::Another(_)) => {
            return Err(format!("{name} stands behind linegate run already"));
        }
        Some(Front::Unreadable(why)) => {
            return Err(format!("{name} stands behind linegate run already, which would not take it: {why}"));
        }
    }
    let command = words.len();
    let mut run: Vec<_> = ["run"].into_iter().chain(options.iter().map(String::as_str)).chain(["--"]).collect();
    let ahead: Vec<_> = run.iter().copied().map(quoted).collect();
    run.append(&mut words);
    let taken =
        front::length_of_command(&run).map_err(|why| format!("linegate run does not take these options: {why}"))?;
    if taken != command {
        return Err(
            "these options hold a command of their own, which would be started in place of the server".to_owned()
        );
    }
    let ahead = format!("{}, {}", ahead.join(", "), &text[server.command.place.clone()]);
    let (at, words) = match &server.args {
        None => (server.member, format!("{SIGN}{ahead}], ")),
        Some(args) => match args.words.first() {
            Some(first) => (first.place.start, format!("{ahead}, ")),
            None => (args.place.start + 1, ahead),
        },
    };
    Ok(changed(text, vec![(at..at, words), (server.command.place, quoted(program))]))
}

/// How [`wrap`] begins a member that was not there, a sign for the way back: in one that was there, its words stand right behind
/// the bracket.
const SIGN: &str = "\"args\":[ ";

/// The text without `linegate run` and its options, and the names of these: what they did for the server is gone with them.
///
/// # Errors
///
/// There is no such server, or it doesn't stand behind `linegate run`, or something else stands in front of that.
pub fn unwrap(text: &str, name: &str) -> Result<(String, Vec<String>), String> {
    let server = stdio(text, name)?;
    let words = server.words();
    let begins = match front::of(&server.texts()) {
        Some(Front::Linegate(begins)) => begins,
        Some(Front::Another(first)) => {
            return Err(format!(
                "{name} starts linegate by {first}, which would be lost; to keep it, take the words from linegate to -- \
                 out of args by hand"
            ));
        }
        Some(Front::Unreadable(why)) => return Err(format!("{name} can not be started as it is written: {why}")),
        None => return Err(format!("{name} does not stand behind linegate run")),
    };
    let (Some(command), Some(args)) = (words.get(begins), &server.args) else {
        return Err(format!("{name} has no command behind linegate run"));
    };
    let (moved, rest) = args.words.split_at(begins);
    let (Some(first), Some(last)) = (moved.first(), moved.last()) else {
        return Err(format!("{name} has no command behind linegate run"));
    };
    only_words(text, moved, rest.first())?;
    let mut edits = vec![(server.command.place.clone(), text[command.place.clone()].to_owned())];
    let mut gone = |place| edits.push((place, String::new()));
    match rest.first() {
        Some(next) => gone(first.place.start..next.place.start),
        None if is_sign(text, &server) => gone(args.member.start..server.member),
        None => {
            gone(first.place.start..last.place.end);
            // A comma behind the last word can't stay alone.
            let behind = &text[last.place.end..args.place.end];
            if let Some(comma) = comma(behind).map(|at| last.place.end + at) {
                gone(comma..comma + 1);
            }
        }
    }
    let options = moved.iter().map(|word| word.value.split('=').next().unwrap_or_default());
    let options = options.take_while(|word| *word != "--").filter(|word| word.starts_with("--"));
    Ok((changed(text, edits), options.map(str::to_owned).collect()))
}

/// Where a comma stands in what is between two words, outside of comments.
fn comma(between: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = between.get(at..).filter(|rest| !rest.is_empty()) {
        let end = match rest.get(..2) {
            Some("//") => rest.find(['\n', '\r']),
            Some("/*") => rest.find("*/").map(|end| end + 2),
            _ if rest.starts_with(',') => return Some(at),
            _ => rest.chars().next().map(char::len_utf8),
        };
        at += end?;
    }
    None
}

fn stdio(text: &str, name: &str) -> Result<Stdio, String> {
    match find(text, name)? {
        Server::Stdio(server) => Ok(server),
        Server::Url(..) => Err(format!("{name} is a server by URL: there is no command to stand in front of")),
        Server::Unclear(why) => Err(format!("{name} is unclear: {why}")),
    }
}

/// Whether the member `args` was added by [`wrap`].
fn is_sign(text: &str, server: &Stdio) -> bool {
    server.args.as_ref().is_some_and(|args| {
        let is_ours =
            text[args.member.clone()].starts_with(&format!("{SIGN}\"")) && text[..args.place.end].ends_with("\"]");
        is_ours && text.get(args.member.end..server.member) == Some(", ")
    })
}

/// What somebody wrote between the words must not go with them.
fn only_words(text: &str, moved: &[Word], next: Option<&Word>) -> Result<(), String> {
    let between = moved.iter().zip(moved.iter().skip(1).chain(next));
    for (word, next) in between {
        let gap = text.get(word.place.end..next.place.start).unwrap_or_default();
        if !gap.trim().trim_matches(',').trim().is_empty() {
            return Err("a comment stands among the words of linegate run; take it away first".to_owned());
        }
    }
    Ok(())
}

fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

/// The text with each place replaced; the places don't overlap.
fn changed(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut changed = text.to_owned();
    for (place, words) in edits {
        changed.replace_range(place, &words);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text alone.
    fn unwrap(text: &str, name: &str) -> Result<String, String> {
        super::unwrap(text, name).map(|(text, _)| text)
    }

    fn there_and_back(text: &str, wrapped: &str) {
        let options = [];
        let there = wrap(text, "s", "linegate", &options).expect("wrapped");
        assert_eq!(there, wrapped);
        assert_eq!(wrap(&there, "s", "linegate", &options), Err("s stands behind linegate run already".to_owned()));
        assert_eq!(unwrap(&there, "s").as_deref(), Ok(text));
        let options = ["--audit".to_owned(), "a \"b\"\\c".to_owned()];
        let there = wrap(text, "s", "/opt/x/linegate", &options).expect("wrapped");
        assert!(there.contains(r#""run", "--audit", "a \"b\"\\c", "--", "#) && there.contains("\"/opt/x/linegate\""));
        assert_eq!(unwrap(&there, "s").as_deref(), Ok(text));
    }

    #[test]
    fn every_other_byte_stays() {
        there_and_back(
            "{\"mcpServers\":{\"s\":{\"command\":\"x\",\"args\":[\"a\"]},\"t\":{\"n\":1.50e+03}}}\r\n",
            "{\"mcpServers\":{\"s\":{\"command\":\"linegate\",\"args\":[\"run\", \"--\", \"x\", \"a\"]},\"t\":{\"n\":1.50e+03}}}\r\n",
        );
        // Args first, on lines of their own, with escapes in the command.
        there_and_back(
            "{ \"servers\": { \"s\": {\n\t\"args\": [\n\t\t\"-y\",\n\t\t\"\\u0070\"\n\t],\n\t\"command\": \"n\\u0070x\" } } }",
            "{ \"servers\": { \"s\": {\n\t\"args\": [\n\t\t\"run\", \"--\", \"n\\u0070x\", \"-y\",\n\t\t\"\\u0070\"\n\t],\n\t\"command\": \"linegate\" } } }",
        );
        there_and_back(
            "{\"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [ ]}}}",
            "{\"mcpServers\": {\"s\": {\"command\": \"linegate\", \"args\": [\"run\", \"--\", \"x\" ]}}}",
        );
        there_and_back(
            "{\"mcpServers\": {\"s\": {\n  \"env\": {},\n  \"command\": \"x\"\n}}}",
            "{\"mcpServers\": {\"s\": {\n  \"env\": {},\n  \"args\":[ \"run\", \"--\", \"x\"], \"command\": \"linegate\"\n}}}",
        );
        there_and_back(
            "{\"mcpServers\": {\"s\": {\"args\": [], \"command\": \"x\"}}}",
            "{\"mcpServers\": {\"s\": {\"args\": [\"run\", \"--\", \"x\"], \"command\": \"linegate\"}}}",
        );
        // Empty, and just as a member is written that was not there.
        there_and_back(
            "{\"mcpServers\": {\"s\": {\"args\":[], \"command\": \"x\"}}}",
            "{\"mcpServers\": {\"s\": {\"args\":[\"run\", \"--\", \"x\"], \"command\": \"linegate\"}}}",
        );
        there_and_back(
            "{\"mcpServers\": {\"s\": {\"args\":[ ], \"command\": \"x\"}}}",
            "{\"mcpServers\": {\"s\": {\"args\":[\"run\", \"--\", \"x\" ], \"command\": \"linegate\"}}}",
        );
        // Commas in comments are none.
        there_and_back(
            "{\"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [ /* none, yet */ ]}}}",
            "{\"mcpServers\": {\"s\": {\"command\": \"linegate\", \"args\": [\"run\", \"--\", \"x\" /* none, yet */ ]}}}",
        );
        there_and_back(
            "{\"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [// none, yet\n // é, either /*\r\n/**//*,*/]}}}",
            "{\"mcpServers\": {\"s\": {\"command\": \"linegate\", \"args\": [\"run\", \"--\", \"x\"// none, yet\n // é, either /*\r\n/**//*,*/]}}}",
        );
        // With comments and commas at ends, as some clients take them.
        there_and_back(
            "{\n  // mine\n  \"mcpServers\": {\"s\": {\"command\": \"x\", /* why */ \"args\": [\"a\", /* b */ \"c\",],},},\n}",
            "{\n  // mine\n  \"mcpServers\": {\"s\": {\"command\": \"linegate\", /* why */ \"args\": [\"run\", \"--\", \"x\", \"a\", /* b */ \"c\",],},},\n}",
        );
    }

    #[test]
    fn whatever_stands_between_words_stays() {
        let gaps = ["", " ", "\r\n\t", " /* a, b */ ", "/*,*/", " // x, [y]\n", "/**//***/"];
        for (before, behind) in gaps.iter().flat_map(|before| gaps.map(|behind| (before, behind))) {
            for args in [
                format!("[{before}{behind}]"),
                format!("[{before}\"a\"{behind}]"),
                format!("[{before}\"--\"{behind},\"run\"{before}]"),
                format!("[\"\"{before},{behind}]"),
            ] {
                for entry in [
                    format!("\"command\":\"x\",{before}\"args\"{behind}:{args}"),
                    format!("\"args\":{args}, \"command\":\"x\""),
                    format!("\"args\"{behind}:{before}{args}{behind},{before}\"command\":\"x\"{behind}"),
                ] {
                    let text = format!("{{\"mcpServers\":{{\"s\":{{{entry}}}}}}}");
                    let there = wrap(&text, "s", "linegate", &[]).expect("wrapped");
                    assert_eq!(unwrap(&there, "s").as_ref(), Ok(&text), "{there}");
                }
            }
        }
    }

    #[test]
    fn what_others_have_wrapped_is_unwrapped() {
        let text = r#"{"mcpServers": {"s": {"command": "uvx", "args": ["linegate", "run", "--observe", "--", "x", "run", "--"]}}}"#;
        assert_eq!(
            unwrap(text, "s").as_deref(),
            Ok(r#"{"mcpServers": {"s": {"command": "x", "args": ["run", "--"]}}}"#)
        );
        let options = r#"["run", "--env=A=b", "--observe", "--audit", "f", "--", "x", "--y"]"#;
        let text = format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"linegate\", \"args\": {options}}}}}}}");
        let told = super::unwrap(&text, "s").expect("unwrapped").1;
        assert_eq!(told, ["--env", "--observe", "--audit"]);
        let text = r#"{"mcpServers": {"s": {"command": "C:\\bin\\linegate.exe", "args": ["run", "--", "x" /* a, b */ , /* c */]}}}"#;
        assert_eq!(
            unwrap(text, "s").as_deref(),
            Ok(r#"{"mcpServers": {"s": {"command": "x", "args": [ /* a, b */  /* c */]}}}"#)
        );
    }

    #[test]
    fn what_is_unclear_is_left_alone() {
        let with = |entry: &str| format!("{{\"mcpServers\": {{\"s\": {entry}}}}}");
        for (text, hint) in [
            (with("{\"url\": \"https://h\"}"), "by URL"),
            (with("{\"serverUrl\": \"https://h\"}"), "by URL"),
            (with("{}"), "neither a command nor a url"),
            (with("7"), "no object"),
            (with("{\"command\": 7}"), "command is no string"),
            (with("{\"command\": \"x\", \"args\": \"a b\"}"), "args is no array"),
            (with("{\"command\": \"x\", \"args\": [1]}"), "no string"),
            (with("{\"command\": \"x\", \"command\": \"y\"}"), "command stands twice"),
            (with("{\"command\": \"x\"}, \"s\": {\"command\": \"x\"}"), "s stands twice"),
            ("{\"mcpServers\": {\"t\": {\"command\": \"x\"}}}".to_owned(), "no server s, but t"),
            ("{\"mcpServers\": []}".to_owned(), "mcpServers is no object"),
            ("{\"mcp\": {}}".to_owned(), "no map of servers, mcpServers or servers"),
            ("[]".to_owned(), "no JSON object"),
            (String::new(), "no JSON object"),
            ("{'mcpServers': {}}".to_owned(), "neither JSON nor JSON with comments"),
            ("{mcpServers: {}}".to_owned(), "neither JSON nor JSON with comments"),
            ("{\"mcpServers\": {}} x".to_owned(), "neither JSON nor JSON with comments"),
        ] {
            for done in [wrap(&text, "s", "linegate", &[]), unwrap(&text, "s")] {
                assert!(done.as_ref().is_err_and(|why| why.contains(hint)), "{text}: {done:?}");
            }
        }
        let plain = with("{\"command\": \"x\", \"args\": [\"linegate\", \"--\", \"run\"]}");
        assert!(unwrap(&plain, "s").is_err_and(|why| why.contains("does not stand behind")));
        let nothing = with("{\"command\": \"linegate\", \"args\": [\"run\", \"--\"]}");
        assert!(unwrap(&nothing, "s").is_err_and(|why| why.contains("no command behind")));
        let comment = with("{\"command\": \"linegate\", \"args\": [\"run\", /* mine */ \"--\", \"x\"]}");
        assert!(unwrap(&comment, "s").is_err_and(|why| why.contains("comment")));
        let both = "{\"servers\": {\"s\": {\"command\": \"x\"}}, \"mcpServers\": {\"s\": {\"command\": \"x\"}}}";
        assert!(
            wrap(both, "s", "linegate", &[]).is_err_and(|why| why.contains("s stands in mcpServers and in servers"))
        );
        assert!(
            wrap("{\"mcpServers\": {}}", "s", "linegate", &[])
                .is_err_and(|why| why == "there is no server s, and no other")
        );
    }

    #[test]
    fn what_stands_in_front_of_linegate_is_never_lost() {
        for ahead in [
            "\"docker\", \"args\": [\"run\", \"-i\", \"img\"",
            "\"sudo\", \"args\": [\"-u\", \"mcp\"",
            "\"env\", \"args\": [\"A=b\"",
        ] {
            let text = format!(
                "{{\"mcpServers\": {{\"s\": {{\"command\": {ahead}, \"linegate\", \"run\", \"--\", \"node\", \"s.js\"]}}}}}}"
            );
            assert!(unwrap(&text, "s").is_err_and(|why| why.contains("would be lost")), "{text}");
            assert!(wrap(&text, "s", "linegate", &[]).is_err_and(|why| why.contains("already")), "{text}");
        }
    }

    #[test]
    fn run_starts_the_server_and_nothing_else() {
        let text = "{\"mcpServers\": {\"s\": {\"command\": \"--\", \"args\": [\"--\", \"-x\"]}}}";
        let with = |options: &[&str]| {
            let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
            wrap(text, "s", "linegate", &options)
        };
        for options in [&["--audit", "f", "--", "evil"][..], &["--observe", "--"], &["--"], &["evil"]] {
            assert!(with(options).is_err(), "{options:?}");
        }
        for (options, hint) in [
            (&["--help"][..], "--help and --version start no server"),
            (&["--mask", "("], "regex parse error: ( ^ error: unclosed group"),
            (&["--audit"], "--audit"),
        ] {
            assert!(with(options).is_err_and(|why| why.contains(hint)), "{options:?}: {:?}", with(options));
        }
        assert!(with(&["--audit", "f", "--observe"]).is_ok_and(|there| unwrap(&there, "s").as_deref() == Ok(text)));
        for program in ["", "lg", "/opt/lg-0.1", "/opt/linegate/bin/lg"] {
            assert!(
                wrap(text, "s", program, &[]).is_err_and(|why| why.contains("must be named linegate")),
                "{program}"
            );
        }
        assert!(
            wrap(text, "s", "/opt/linegate-0.1", &[]).is_ok_and(|there| unwrap(&there, "s").as_deref() == Ok(text))
        );
    }
}
