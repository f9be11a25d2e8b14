//! Whether the server has the tool that `--call` names. The malformed twins of a call that can't run prove nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::Play;
use super::plain::LIST;
use crate::check::child::Child;
use crate::check::wire::{AFTER, Answer, Members, NoResult, Request, object};
use crate::tell::printable;

/// How long a list that is not complete at first is waited for, at most; a third of the time of a session if that is less.
const LATE: Duration = Duration::from_secs(3);
/// What a server sends when it lists other tools than before.
const CHANGED: &[u8] = b"notifications/tools/list_changed";
/// Pages of a list that are asked for. A server that has always one more is not followed for ever.
const PAGES: usize = 1000;
/// Names that are told.
const TOLD: usize = 100;

/// Why the tool can't be called, behind the first answer to `tools/list`; `None` where it can, or where that can't be known.
pub fn lack(play: &mut Play<'_>, child: &mut Child<'_>, name: &str, first: &Answer) -> Option<String> {
    let mut lookup = Lookup { asked: 0 };
    let mut list = lookup.list(play, child, first.clone());
    if list.gone {
        return None;
    }
    if !list.has(name) && !list.refused {
        // Some servers list a tool only when what it works on is there.
        let changed = |stdout: &[u8]| stdout.windows(CHANGED.len()).any(|bytes| bytes == CHANGED);
        child.wait_for(LATE.min(play.setup.launch.timeout / 3), changed);
        let later = lookup.ask(play, child, &Request::new(play.revision, LIST, Members::new()));
        let later = lookup.list(play, child, later);
        // What was whole before counts where this one is not.
        if later.has(name) || later.whole {
            list = later;
        }
    }
    if list.has(name) {
        return None;
    }
    // Some tools are not listed.
    let why = match lookup.ask(play, child, &play.request()) {
        Ok(result) if result.get("isError") != Some(&json!(true)) => {
            play.note(format!("the tool {name} is not listed, and answers all the same"));
            return None;
        }
        // Method not found, and what an unknown tool is answered with.
        Err(NoResult::Error { code: code @ (-32601 | -32602), message }) => format!("error {code}: {message}"),
        _ if !list.whole => return None,
        _ => String::new(),
    };
    let told = match (list.names.is_empty(), list.refused) {
        (true, true) => format!("there is no tool {name}: the server has no {LIST}, and tools/call brings {why}"),
        (true, false) => format!("there is no tool {name}; the server lists none"),
        (false, _) => format!("there is no tool {name}; --call takes {}", told(&list.names)),
    };
    Some(printable(&told).to_string())
}

fn told(names: &[String]) -> String {
    let mut text = names.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = names.len().checked_sub(TOLD) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// What a server says of its tools.
#[derive(Debug, Default)]
struct List {
    names: Vec<String>,
    /// It has said all of it.
    whole: bool,
    /// It has no list.
    refused: bool,
    /// It doesn't answer any more.
    gone: bool,
}

impl List {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|listed| listed == name)
    }
}

/// Requests of a look-up: each has an id of its own.
struct Lookup {
    asked: usize,
}

impl Lookup {
    fn ask(&mut self, play: &Play<'_>, child: &mut Child<'_>, request: &Request) -> Answer {
        self.asked += 1;
        let id = format!("{AFTER}-{}", self.asked);
        child.send(&request.line(&id));
        child.answer(&id, play.setup.launch.timeout)
    }

    /// The list that begins with this page, to its end.
    fn list(&mut self, play: &Play<'_>, child: &mut Child<'_>, first: Answer) -> List {
        let (mut list, mut page, mut cursors) = (List::default(), first, BTreeSet::new());
        loop {
            let result = match page {
                Ok(result) => result,
                Err(NoResult::Error { code, .. }) => {
                    list.refused = code == -32601 && cursors.is_empty();
                    return list;
                }
                Err(NoResult::Closed | NoResult::Silent) => {
                    list.gone = cursors.is_empty();
                    return list;
                }
            };
            let Some(tools) = result.get("tools").and_then(Value::as_array) else { return list };
            list.names.extend(tools.iter().filter_map(|tool| tool.get("name")?.as_str()).map(str::to_owned));
            let Some(cursor) = result.get("nextCursor").filter(|cursor| !cursor.is_null()) else {
                list.whole = true;
                return list;
            };
            // A cursor that comes again leads in a circle.
            if cursors.len() >= PAGES || !cursors.insert(cursor.to_string()) {
                return list;
            }
            let params = object(json!({"cursor": cursor}));
            page = self.ask(play, child, &Request::new(play.revision, LIST, params));
        }
    }
}
