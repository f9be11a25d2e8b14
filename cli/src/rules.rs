//! `linegate rules`: the table of codes and switches, as text, JSON, or the Markdown that docs/rules.md is made of.
//!
//! Nothing here knows a rule: all of it is read from the core's tables, so that the docs can't say anything else.

use std::io::{self, BufWriter, Write};

use linegate::{Code, Limits, Profile, Stage, Switch};
use serde_json::{Map, Value, json};

use crate::CLEAN;
use crate::args::{RulesArgs, RulesFormat};
use crate::trouble::{Done, Trouble};

/// Prints the table in the format asked for.
pub fn run(args: &RulesArgs) -> Done {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = match args.format {
        RulesFormat::Text => text(&mut out),
        RulesFormat::Json => document(&mut out),
        RulesFormat::Markdown => markdown(&mut out),
    };
    written.and_then(|()| out.flush()).map_err(|error| Trouble::writing("the table", &error))?;
    Ok(CLEAN)
}

fn codes(stage: Stage) -> impl Iterator<Item = Code> {
    Code::ALL.iter().copied().filter(move |code| code.stage() == stage)
}

/// What a stage judges.
const fn title(stage: Stage) -> &'static str {
    match stage {
        Stage::Frame => "1xx frame: cutting the stream into lines",
        Stage::Json => "2xx json: the line as JSON text (RFC 8259, RFC 7493)",
        Stage::Rpc => "3xx rpc: the value as a JSON-RPC 2.0 message",
        Stage::Mcp => "401 to 410 mcp: the message as one of the Model Context Protocol, by revision and direction",
        Stage::Session => "45x session: the message in its session, where a tracker sees both directions",
        Stage::Action => "5xx action: an accepted call on its way to an executor, in the library's room for actions",
        Stage::Caller => "9xx caller: faults of the program that uses the library, never of the peer",
        _ => stage.name(),
    }
}

const fn yes(condition: bool) -> &'static str {
    if condition { "yes" } else { "no" }
}

fn rpc(code: Code) -> String {
    code.rpc_code().map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// What a profile does with a quirk.
const fn outcome(profile: Profile, switch: Switch) -> &'static str {
    if profile.allowed().contains(switch) { "pass" } else { "refuse" }
}

fn text(out: &mut impl Write) -> io::Result<()> {
    for stage in Stage::ALL {
        writeln!(out, "{}", title(stage))?;
        for code in codes(stage) {
            let closes = if code.closes() { "closes" } else { "" };
            writeln!(out, "  {} {:<18} {:>6}  {closes:<6}  {}", code.number(), code.name(), rpc(code), code.text())?;
        }
        writeln!(out)?;
    }
    writeln!(out, "switches: a quirk, the code where it is refused, and what strict, data and rfc8259 do")?;
    for &switch in Switch::ALL {
        let [strict, data, rfc] = Profile::ALL.map(|profile| outcome(profile, switch));
        let (name, number) = (switch.name(), switch.code().number());
        writeln!(out, "  {name:<20} {number}  {strict:<6}  {data:<6}  {rfc:<6}  {}", switch.text())?;
    }
    Ok(())
}

fn document(out: &mut impl Write) -> io::Result<()> {
    let codes: Vec<Value> = Code::ALL
        .iter()
        .map(|code| {
            json!({
                "code": code.number(),
                "name": code.name(),
                "stage": code.stage().name(),
                "rpc_code": code.rpc_code(),
                "closes": code.closes(),
                "text": code.text(),
            })
        })
        .collect();
    let switches: Vec<Value> = Switch::ALL
        .iter()
        .map(|&switch| {
            let mut entry = Map::new();
            entry.insert("name".into(), switch.name().into());
            entry.insert("code".into(), switch.code().number().into());
            for profile in Profile::ALL {
                entry.insert(profile.name().into(), outcome(profile, switch).into());
            }
            entry.insert("text".into(), switch.text().into());
            entry.into()
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &json!({ "codes": codes, "switches": switches }))?;
    writeln!(out)
}

const PREFACE: &str = "\
# Rules

Printed by `linegate rules --format markdown`; not to be edited by hand.

A line passes the stages in the order of this page. The first fault found in that order is its verdict; one verdict a line.
Before a line has ended two things are decided, each where it is met: that its first bytes begin no message (103, 105, 106 or
202), and that it is too long (101). So a line that begins as none and is too long as well is refused for its beginning.
Numbers are for ever: a code that is no longer given stays reserved.

*RPC* is the JSON-RPC code of the reply, where one is due; a server's lines are never answered. *Closes* says whether the
default session policy ends the session after it.
";

const SWITCHES: &str = "\
## Switches

Each names a quirk that a host may let pass, and what a profile does with it: `strict` is the default for a client's lines,
`data` for a server's. A message that passed only because of a switch names the switch.
";

const LIMITS: &str = "\
## Limits

At a bound the line is refused, memory does not grow, and the next line starts clean.
";

fn markdown(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{PREFACE}")?;
    for stage in Stage::ALL {
        writeln!(out, "## {}\n", title(stage))?;
        writeln!(out, "| code | name | RPC | closes | rule |")?;
        writeln!(out, "|---|---|---|---|---|")?;
        for code in codes(stage) {
            let (number, name, text) = (code.number(), code.name(), cell(code.text()));
            writeln!(out, "| {number} | `{name}` | {} | {} | {text} |", rpc(code), yes(code.closes()))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{SWITCHES}")?;
    writeln!(out, "| switch | code | strict | data | rfc8259 | what passes, and who then disagrees |")?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for &switch in Switch::ALL {
        let [strict, data, rfc] = Profile::ALL.map(|profile| outcome(profile, switch));
        let (name, number, text) = (switch.name(), switch.code().number(), cell(switch.text()));
        writeln!(out, "| `{name}` | {number} | {strict} | {data} | {rfc} | {text} |")?;
    }
    writeln!(out, "\n{LIMITS}")?;
    writeln!(out, "| limit | strict | data | rfc8259 |")?;
    writeln!(out, "|---|---|---|---|")?;
    let [strict, data, rfc] = Profile::ALL.map(limits);
    for ((strict, data), rfc) in strict.into_iter().zip(data).zip(rfc) {
        writeln!(out, "| `{}` | {} | {} | {} |", strict.0, strict.1, data.1, rfc.1)?;
    }
    Ok(())
}

/// A profile's limits by name.
fn limits(profile: Profile) -> [(&'static str, u32); 5] {
    let limits = Limits::new(profile);
    [
        ("max_frame", limits.max_frame),
        ("max_depth", limits.max_depth.into()),
        ("max_keys", limits.max_keys),
        ("max_id", limits.max_id.into()),
        ("max_replies", limits.max_replies),
    ]
}

/// Text inside a table's cell; underscores beside letters and a dollar sign would otherwise be taken for markup.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("__", "\\_\\_").replace('$', "\\$")
}
