//! Processes that servers have left in sessions of their own, where no signal to a server's group reaches them. Where this program
//! has become their parent (Linux), they can be found and ended.
//!
//! Not every child of this process is a server's: a shell that ran this program in its own place (`exec`) leaves it the children that
//! it had, and what those leave behind comes here too. They are nobody's to end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process};

/// The processes below this one that no server has started.
#[derive(Debug)]
pub struct Bystanders(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// By number and start, for numbers are used again.
    processes: BTreeSet<(i32, u64)>,
    /// Their groups and that of this process. A server has another, and its processes are born into that.
    groups: BTreeSet<i32>,
}

impl Bystanders {
    /// Those that are there now. No server may have been started.
    pub fn new() -> Self {
        let all = processes();
        let below = below(&all, |process| process.parent == own());
        let mut known =
            Known { processes: BTreeSet::new(), groups: BTreeSet::from([getpgrp().as_raw_nonzero().get()]) };
        known.extend(below);
        Self(Mutex::new(known))
    }

    /// Takes what they have started since for one of them too, as long as it can be seen whose it is.
    pub fn look(&self) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Where there were none there are none later.
        if !known.processes.is_empty() {
            known.look(&processes());
        }
    }

    /// Ends the servers' processes that are still there after that time, and gives their names. No server may run.
    pub fn end_strays(&self, linger: Duration) -> Vec<String> {
        let until = Instant::now() + linger;
        while !self.strays().is_empty() && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        let mut names = Vec::new();
        // What one has started becomes a child of this process when that one ends.
        while let found @ [_, ..] = self.strays().as_slice() {
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

    /// The living children of this process that servers have left; none where the system doesn't list them.
    fn strays(&self) -> Vec<(Pid, String)> {
        let all = processes();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.look(&all);
        let strays = all.into_iter().filter(|process| process.lives && process.parent == own() && !known.has(process));
        strays.filter_map(|process| Some((Pid::from_raw(process.number)?, process.name))).collect()
    }
}

impl Known {
    /// Whether a child of this process, or what was seen before, is none of a server's.
    fn has(&self, process: &Process) -> bool {
        let seen = self.processes.contains(&(process.number, process.start));
        seen || (process.parent == own() && self.groups.contains(&process.group))
    }

    fn look(&mut self, all: &[Process]) {
        let found = below(all, |process| self.has(process));
        self.extend(found);
    }

    fn extend(&mut self, processes: Vec<&Process>) {
        for process in processes {
            self.processes.insert((process.number, process.start));
            self.groups.insert(process.group);
        }
    }
}

/// A server that starts others faster than they are ended is not followed for ever.
const MANY: usize = 10_000;

/// A process, as `/proc` tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    number: i32,
    name: String,
    lives: bool,
    parent: i32,
    group: i32,
    /// In ticks of the system's clock.
    start: u64,
}

fn own() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// All processes; none where the system doesn't list them.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
    numbered.filter_map(|(number, path)| process(number, &fs::read_to_string(path.join("stat")).ok()?)).collect()
}

/// What the text of a file `stat` says.
fn process(number: i32, stat: &str) -> Option<Process> {
    /// Fields between the group and the start.
    const BETWEEN: usize = 16;
    // The name stands in parentheses and may hold anything.
    let (name, rest) = stat.split_once('(').and_then(|(_, text)| text.rsplit_once(')'))?;
    let mut fields = rest.split_whitespace();
    let lives = !matches!(fields.next()?, "Z" | "X");
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let start = fields.nth(BETWEEN)?.parse().ok()?;
    Some(Process { number, name: name.to_owned(), lives, parent, group, start })
}

/// Those that are a root and what descends from them, but not this process itself.
fn below(all: &[Process], root: impl Fn(&Process) -> bool) -> Vec<&Process> {
    let own = own();
    let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut due: Vec<_> = all.iter().filter(|process| root(process)).collect();
    let mut found = BTreeMap::new();
    while let Some(process) = due.pop() {
        if process.number != own && found.insert(process.number, process).is_none() {
            due.extend(children.get(&process.number).into_iter().flatten());
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: i32, parent: i32, group: i32, start: u64) -> Process {
        Process { number, name: String::new(), lives: true, parent, group, start }
    }

    #[test]
    fn what_a_system_tells_is_read() {
        let stat = "7 (a) b (c) S 1 9 7 0 -1 4194304 0 0 0 0 11 12 0 0 20 0 1 0 4711 5541888 1 18446744073709551615\n";
        let known = Process { name: "a) b (c".to_owned(), ..of(7, 1, 9, 4711) };
        assert_eq!(process(7, stat), Some(known));
        assert_eq!(process(7, &stat.replace(" S ", " Z ")).map(|process| process.lives), Some(false));
        assert_eq!(process(7, "7 (a) S 1"), None);
        let this = processes().into_iter().find(|process| process.number == own());
        assert!(!cfg!(target_os = "linux") || this.is_some_and(|this| this.lives && this.start > 0));
    }

    #[test]
    fn a_bystander_is_known_by_itself_its_group_and_its_parents() {
        // Numbers beyond those of any system, so that none is this process.
        let [a, b, c, d] = [1, 2, 3, 4].map(|number| (1 << 30) + number);
        let mut known = Known { processes: BTreeSet::from([(a, 100)]), groups: BTreeSet::new() };
        let (bystander, again) = (of(a, own(), a, 100), of(a, own(), a, 900));
        assert!(known.has(&bystander) && !known.has(&again), "the number alone is not enough");
        // A child in a group of its own is known while its parent lives, and from then on.
        let (child, grandchild) = (of(b, a, b, 200), of(c, b, c, 300));
        known.look(&[bystander, child, grandchild, of(d, own(), d, 300)]);
        assert!(known.has(&of(b, own(), b, 200)) && known.has(&of(c, own(), c, 300)));
        assert!(!known.has(&of(d, own(), d, 300)), "a server's");
        // What was never seen beside its parent is known by the group that it was born into.
        assert!(known.has(&of(d, own(), b, 400)));
    }
}
