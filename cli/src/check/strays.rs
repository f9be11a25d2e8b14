//! Processes that servers have left in sessions of their own, where no signal to a server's group reaches them. Where this program
//! has become their parent (Linux), they can be found and ended.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Ends those that are still there after that time, and gives their names. No server may run.
pub fn end(linger: Duration) -> Vec<String> {
    let until = Instant::now() + linger;
    while !children().is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    let mut names = Vec::new();
    // What one has started becomes a child of this process when that one ends.
    while let found @ [_, ..] = children().as_slice() {
        for (pid, name) in found {
            names.push(name.clone());
            // One that ends meanwhile is a child that waits to be reaped: the number is nobody else's.
            let _ = kill_process(*pid, Signal::KILL);
        }
        thread::sleep(Duration::from_millis(20));
        if names.len() > MANY {
            break;
        }
    }
    names.sort();
    names.dedup();
    names
}

/// A server that starts others faster than they are ended is not followed for ever.
const MANY: usize = 10_000;

/// The living children of this process, with their names; none where the system doesn't list them.
fn children() -> Vec<(Pid, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name stands in parentheses and may hold anything; behind it the state and the parent.
        let Some((name, rest)) = stat.split_once('(').and_then(|(_, text)| text.rsplit_once(')')) else { continue };
        let mut fields = rest.split_whitespace();
        let (state, parent) = (fields.next(), fields.next().and_then(|parent| parent.parse().ok()));
        let lives = !matches!(state, Some("Z" | "X"));
        if lives
            && parent == Some(getpid().as_raw_nonzero().get())
            && let Some(pid) = Pid::from_raw(number)
        {
            found.push((pid, name.to_owned()));
        }
    }
    found
}
