//! What lies in the folder named by LINEGATE_REFERENCE.
//!
//! The specification's examples: each is a line for a gate of its revision and direction, to accept or to refuse with a code
//! that fits what was spoilt in it. JSONTestSuite: each file is one line for a strict gate, and its verdict must be one that
//! the file's known violations call for. Which those are was found with dozens of parsers and a
//! rule program of their own (`rules` in a row); where the rules of this project differ on purpose, the difference has a
//! name here and its rows are listed.

#![allow(clippy::print_stdout, reason = "a test says what it skipped and which rows differ")]

#[path = "support/vectors.rs"]
#[allow(dead_code, reason = "the vectors' test uses the rest")]
mod vectors;

use std::collections::BTreeMap;
use std::path::PathBuf;

use linegate::{AuditKey, Code, Direction, Event, Gate, Options, Policy, Profile, Revision};
use linegate_host::HeapStorage;
use serde_json::Value;

/// The codes that a rule id of the reference stands for; none where the rule is off by default here, with the reason.
fn codes_of(rule: &str) -> Result<&'static [u16], &'static str> {
    Ok(match rule {
        "J-UTF8" => &[201, 202],
        // A raw NUL is the frame stage's; a byte that can't begin JSON text and a BOM are seen before the line's end.
        "J-GRAMMAR" => &[106, 202, 203, 205, 206, 207, 216],
        "J-TRAILING" => &[106, 202, 207],
        "J-BOM" => &[105],
        "J-SURROGATE" => &[204],
        "J-DEPTH" => &[208],
        "J-DUP" => &[209],
        "J-KEYS" => &[210],
        "J-KEYLEN" => &[211],
        "J-CASE" => &[212, 313],
        "J-NUL" => &[213],
        "J-NUM-INT" | "J-NUM-NEGZERO" | "J-NUM-FLOAT" | "J-NUM-ZEROEXP" => &[214],
        "J-PROTO" | "J-MAGIC" => &[215],
        "J-ENVESC" | "J-ENVKEY" => &[313],
        "F-CR" => &[103],
        "F-EMPTY" => &[102],
        "F-TRAILWS" => &[107],
        "F-LENGTH" => &[101],
        "P-TOP" => &[301, 302],
        "P-VERSION" => &[303, 304],
        "P-METHOD" => &[305],
        "P-ID" => &[306, 307, 308],
        "P-PARAMS" => &[309],
        "P-SHAPE" => &[310, 311, 315, 316],
        "P-EXTRA" => &[312],
        "F-UNISEP" => return Err("raw line separators pass unless the switch separators is refused"),
        "J-ENVVALESC" => return Err("escapes in the method and in names are decoded by the gate"),
        "J-NUM-DIGITS" => return Err("16 and 17 significant digits pass unless inexact_decimals is refused"),
        "J-NUM-BIGFLOAT" => return Err("decimals beyond 2^53 pass within the range of a double"),
        other => panic!("an unknown rule id: {other}"),
    })
}

fn rows(name: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("LINEGATE_REFERENCE") else {
        println!("skipped: LINEGATE_REFERENCE is not set, so {name} is not there");
        return None;
    };
    let text = std::fs::read_to_string(PathBuf::from(folder).join("cases").join(name)).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The verdict on one line.
fn verdict(line: &[u8], profile: Profile) -> Option<Code> {
    judge(line, Options::new(Direction::FromClient, AuditKey::new([1; 16])).with_profile(profile))
}

fn judge(line: &[u8], mut options: Options) -> Option<Code> {
    options.policy = Policy::Continue;
    let mut gate = Gate::new(options, HeapStorage::new()).unwrap();
    let stream = [line, b"\n"].concat();
    match gate.feed(&stream).event {
        Event::Message(_) => None,
        Event::Refused(refusal) => Some(refusal.code()),
        other => panic!("{other:?}"),
    }
}

/// The codes that fit a mutation of an example, by the words in which it is described.
fn fitting(why: &str) -> &'static [u16] {
    let absent = why.ends_with(" absent");
    match why {
        "jsonrpc absent" => &[303],
        _ if why.starts_with("jsonrpc=") => &[304],
        _ if why.starts_with("id absent on a request") => &[410],
        // In 2026-07-28 a server has no requests at all.
        _ if why.starts_with("id present on a notification") => &[401, 410],
        "id=null" => &[307],
        _ if why.starts_with("id=") => &[306],
        "params absent" => &[403, 405],
        _ if why.starts_with("params=") => &[309],
        _ if why.starts_with("params._meta") && absent => &[405],
        _ if why.starts_with("params.") && absent => &[403],
        _ if why.starts_with("params.") => &[404],
        _ => panic!("an unknown mutation: {why}"),
    }
}

#[test]
fn the_specifications_examples() {
    let Some(folder) = std::env::var_os("LINEGATE_REFERENCE") else {
        println!("skipped: LINEGATE_REFERENCE is not set, so the specification's examples are not there");
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for revision in Revision::PUBLISHED {
        let folder = PathBuf::from(&folder).join("spec/examples").join(revision);
        let lines = |name: String| std::fs::read_to_string(folder.join(name)).unwrap();
        for (name, from) in [("client_to_server", Direction::FromClient), ("server_to_client", Direction::FromServer)] {
            let mut options = Options::new(from, AuditKey::new([1; 16]));
            options.revision = Revision::from_name(revision).unwrap();
            for line in lines(format!("{name}.jsonl")).split_terminator('\n') {
                assert_eq!(judge(line.as_bytes(), options.clone()), None, "{revision} {name}: {line}");
                accepted += 1;
            }
            let spoilt = lines(format!("negative_{name}.jsonl"));
            let reasons = lines(format!("negative_{name}.meta.jsonl"));
            assert_eq!(spoilt.lines().count(), reasons.lines().count());
            for (line, reason) in spoilt.split_terminator('\n').zip(reasons.split_terminator('\n')) {
                let reason: Value = serde_json::from_str(reason).unwrap();
                let why = reason["why"].as_str().unwrap();
                let given = judge(line.as_bytes(), options.clone()).map(Code::number);
                assert!(
                    given.is_some_and(|code| fitting(why).contains(&code)),
                    "{revision} {name}: {given:?} for {why}: {line}"
                );
                refused += 1;
            }
        }
    }
    println!("{accepted} examples accepted, {refused} refused");
    assert!(accepted >= 300 && refused >= 1500, "there were {accepted} and {refused} examples");
}

#[test]
fn json_test_suite_under_strict() {
    let Some(rows) = rows("jsontestsuite.jsonl") else { return };
    let mut differing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut judged = 0;
    for row in &rows {
        let name = row["name"].as_str().unwrap().to_owned();
        let line = vectors::stream(row);
        let mut named = |why| differing.entry(why).or_default().push(name.clone());
        if line.contains(&b'\n') {
            named("a line feed inside ends the frame");
            continue;
        }
        let mut wanted = Vec::new();
        let mut reason = None;
        for rule in row["rules"].as_array().unwrap() {
            match codes_of(rule.as_str().unwrap()) {
                Ok(codes) => wanted.extend_from_slice(codes),
                Err(why) => reason = Some(why),
            }
        }
        if matches!(line.first(), Some(b' ' | b'\t')) {
            wanted.push(107);
        }
        let given = verdict(&line, Profile::Strict).map(Code::number);
        judged += 1;
        match given {
            Some(code) if wanted.contains(&code) => {}
            None if wanted.is_empty() => {
                if let Some(why) = reason {
                    named(why);
                }
            }
            Some(302) if wanted.is_empty() => named("an array is no message"),
            _ => panic!("{name}: verdict {given:?}, wanted one of {wanted:?}"),
        }
    }
    assert!(judged >= 300, "only {judged} rows were judged");
    for (why, names) in differing {
        println!("{} rows differ ({why}): {}", names.len(), names.join(" "));
    }
}

/// Under `rfc8259` the text stage takes exactly what RFC 8259 takes, but for duplicate keys and the bound on depth.
#[test]
fn json_test_suite_under_rfc8259() {
    let Some(rows) = rows("jsontestsuite.jsonl") else { return };
    for row in &rows {
        let line = vectors::stream(row);
        // CR and LF are white space to JSON and no part of a frame.
        if line.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            continue;
        }
        let given = verdict(&line, Profile::Rfc8259).map(Code::number);
        // The bound on depth is met before what may be wrong further in.
        if given == Some(208) {
            continue;
        }
        let is_text = given.is_none_or(|code| code >= 300 || code == 209);
        let valid = row["rfc8259"] == "valid";
        assert_eq!(is_text, valid, "{}: {given:?}", row["name"]);
    }
}
