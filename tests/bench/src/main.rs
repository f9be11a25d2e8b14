//! linegate beside other JSON readers: reads the command line, runs what it asks for, prints the tables. README.md of this
//! folder says what the numbers mean.

mod corpus;
mod framing;
mod measure;
mod peers;
mod random;

use std::fmt::Write as _;
use std::process::ExitCode;

use linegate::Profile;
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::measure::Race;
use crate::peers::{BASE, GATE};

const USAGE: &str = "\
usage: linegate-bench [--json FILE] [--corpus NAME]... [--rounds N]
       linegate-bench --check
       linegate-bench --passes N --peer NAME --corpus NAME
       linegate-bench --dump DIR

  --json FILE     write the numbers to FILE as well
  --corpus NAME   measure this corpus only (a, b, c, c2, d, e, f, f2, g, h); may be repeated
  --rounds N      rounds of each table (15), or of each attempt of --check (100)
  --check         exit 1 unless linegate with every rule on keeps up with the base on a, c and d
  --passes N      no clock: one peer goes over one corpus N times, for a profiler
  --peer NAME     the peer for --passes, as the table spells it
  --dump DIR      write each corpus to DIR as NAME.jsonl
";
/// The corpora on which `--check` insists.
const CHECKED: [&str; 3] = ["a", "c", "d"];
/// Rounds of a table.
const ROUNDS: usize = 15;
/// Rounds of one attempt of `--check`: so many that the fastest pass of both is one that nothing disturbed.
const CHECK_ROUNDS: usize = 100;
/// Rounds of one corpus before the next has its turn, so that a busy minute doesn't fall on one corpus alone.
const SWEEP: usize = 5;
/// How often `--check` measures a corpus before it calls it slow; the fastest passes of all attempts count.
const ATTEMPTS: usize = 10;

struct Arguments {
    json: Option<String>,
    dump: Option<String>,
    peer: Option<String>,
    corpora: Vec<String>,
    rounds: Option<usize>,
    passes: Option<usize>,
    check: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed =
        Arguments { json: None, dump: None, peer: None, corpora: Vec::new(), rounds: None, passes: None, check: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--check" {
            parsed.check = true;
            continue;
        }
        if !["--json", "--dump", "--peer", "--corpus", "--rounds", "--passes"].contains(&word.as_str()) {
            return Err(format!("unknown argument {word}"));
        }
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let number = || value.parse::<usize>().ok().filter(|n| *n > 0).ok_or_else(|| format!("{word} needs a number"));
        match word.as_str() {
            "--rounds" => parsed.rounds = Some(number()?),
            "--passes" => parsed.passes = Some(number()?),
            "--json" => parsed.json = Some(value),
            "--dump" => parsed.dump = Some(value),
            "--peer" => parsed.peer = Some(value),
            _ => parsed.corpora.push(value),
        }
    }
    Ok(parsed)
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| run(&arguments)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(text) => {
            eprintln!("linegate-bench: {text}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut corpora = corpus::all();
    if let Some(unknown) = arguments.corpora.iter().find(|name| corpora.iter().all(|corpus| corpus.name != **name)) {
        return Err(format!("no corpus {unknown}"));
    }
    if !arguments.corpora.is_empty() {
        corpora.retain(|corpus| arguments.corpora.iter().any(|name| name == corpus.name));
    }
    if let Some(dir) = &arguments.dump {
        for corpus in &corpora {
            let file = std::path::Path::new(dir).join(format!("{}.jsonl", corpus.name));
            std::fs::write(&file, &corpus.stream).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        return Ok(true);
    }
    if let Some(passes) = arguments.passes {
        return only(&corpora, arguments.peer.as_deref(), passes);
    }
    for corpus in &corpora {
        if let Some(reason) = peers::refused(corpus, Profile::Strict) {
            return Err(format!("corpus {} is not clean: {reason}", corpus.name));
        }
    }
    let core = measure::pin();
    if arguments.check {
        corpora.retain(|corpus| CHECKED.contains(&corpus.name));
        return Ok(check(&corpora, arguments.rounds.unwrap_or(CHECK_ROUNDS)));
    }
    let report = tables(&corpora, arguments.rounds.unwrap_or(ROUNDS), core);
    if let Some(file) = &arguments.json {
        std::fs::write(file, format!("{report:#}\n")).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(true)
}

/// One peer, one corpus, no clock.
fn only(corpora: &[Corpus], peer: Option<&str>, passes: usize) -> Result<bool, String> {
    let ([corpus], Some(peer)) = (corpora, peer) else {
        return Err("--passes needs one --corpus and one --peer".to_owned());
    };
    let mut pass =
        peers::pass(peer, corpus).ok_or_else(|| format!("no peer {peer}; there are: {}", peers::NAMES.join(" | ")))?;
    let taken: usize = (0..passes).map(|_| pass()).sum();
    println!("{taken} of {} lines", passes * corpus.lines.len());
    Ok(true)
}

/// The floor: no slower than the base, which checks far less.
fn check(corpora: &[Corpus], rounds: usize) -> bool {
    let mut good = true;
    for corpus in corpora {
        let mut race = race(corpus, &[BASE, GATE]);
        let mut ratio = 0.0;
        for _ in 0..ATTEMPTS {
            race.run(rounds);
            ratio = race.times()[0] / race.times()[1];
            if ratio >= 1.0 {
                break;
            }
        }
        let verdict = if ratio >= 1.0 { "ok" } else { "TOO SLOW" };
        println!("{:2} {:24} {ratio:5.2} x {BASE}  {verdict}", corpus.name, corpus.text);
        good &= ratio >= 1.0;
    }
    good
}

fn race<'c>(corpus: &'c Corpus, names: &[&'static str]) -> Race<'c> {
    let contenders = names.iter().filter_map(|name| Some((*name, peers::pass(name, corpus)?))).collect();
    Race::new(contenders, corpus.lines.len())
}

/// Measures everything, prints the tables and returns the numbers behind them.
fn tables(corpora: &[Corpus], rounds: usize, core: Option<usize>) -> Value {
    let level = if cfg!(target_feature = "avx2") { "AVX2" } else { "baseline" };
    let place = core.map_or_else(|| "not pinned".to_owned(), |core| format!("pinned to core {core}"));
    println!("{} ({level} build), {place}, {rounds} rounds\n", std::env::consts::ARCH);
    let mixed = corpora.iter().find(|corpus| corpus.name == "h");
    let mut results: Vec<_> = corpora.iter().map(|corpus| (corpus, race(corpus, &peers::NAMES))).collect();
    let mut framing: Vec<_> = mixed
        .iter()
        .flat_map(|corpus| framing::CHUNKS.map(|chunk| (*corpus, chunk)))
        .map(|(corpus, chunk)| (chunk, Race::new(framing::contenders(corpus, chunk), corpus.lines.len())))
        .collect();
    let mut left = rounds;
    while left > 0 {
        let few = left.min(SWEEP);
        results.iter_mut().for_each(|(_, race)| race.run(few));
        framing.iter_mut().for_each(|(_, race)| race.run(few));
        left -= few;
    }

    println!("corpus                            lines      bytes  bytes/line  base ns/line  base MB/s");
    for (corpus, race) in &results {
        let times = race.times();
        let (lines, bytes) = (corpus.lines.len(), corpus.stream.len());
        println!(
            "{:2} {:28} {lines:7} {bytes:10} {:11} {:13.0} {:10.0}",
            corpus.name,
            corpus.text,
            bytes / lines,
            times[0] * 1e9 / lines as f64,
            bytes as f64 / times[0] / 1e6
        );
    }

    println!("\nspeed as a ratio to {BASE} (above 1: faster)");
    let mut head = format!("{:32}", "");
    for corpus in corpora {
        let _ = write!(head, "{:>8}", corpus.name);
    }
    println!("{head}");
    for (row, name) in peers::NAMES.iter().enumerate() {
        let mut line = format!("{name:32}");
        for (_, race) in &results {
            let _ = write!(line, "{:8.2}", race.times()[0] / race.times()[row]);
        }
        println!("{line}");
    }

    if !framing.is_empty() {
        println!("\ncorpus h in pieces of so many bytes, speed as a ratio to {}", framing::NAMES[0]);
        println!("{:36}{}", "", framing.iter().map(|(chunk, _)| format!("{chunk:8}")).collect::<String>());
        for (row, name) in framing::NAMES.iter().enumerate() {
            let ratios: String =
                framing.iter().map(|(_, race)| format!("{:8.2}", race.times()[0] / race.times()[row])).collect();
            println!("{name:36}{ratios}");
        }
    }

    let by_name = |names: &[&str], times: &[f64], lines: usize| -> Value {
        let rows = names.iter().zip(times).map(|(name, time)| {
            ((*name).to_owned(), json!({ "ratio": times[0] / time, "ns_per_line": time * 1e9 / lines as f64 }))
        });
        Value::Object(rows.collect())
    };
    let corpora: Vec<Value> = results
        .iter()
        .map(|(corpus, race)| {
            let lines = corpus.lines.len();
            json!({
                "name": corpus.name,
                "text": corpus.text,
                "lines": lines,
                "bytes": corpus.stream.len(),
                "peers": by_name(&peers::NAMES, race.times(), lines),
            })
        })
        .collect();
    let lines = mixed.map_or(1, |corpus| corpus.lines.len());
    let framing: Vec<Value> = framing
        .iter()
        .map(|(chunk, race)| json!({ "chunk": chunk, "peers": by_name(&framing::NAMES, race.times(), lines) }))
        .collect();
    json!({
        "arch": std::env::consts::ARCH,
        "avx2_build": cfg!(target_feature = "avx2"),
        "rounds": rounds,
        "base": BASE,
        "framing_base": framing::NAMES[0],
        "corpora": corpora,
        "framing": framing,
    })
}
