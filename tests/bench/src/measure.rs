//! The clock: all contenders in turn inside each round, so that whatever else the machine does falls on all of them, and
//! of all rounds the fastest, since noise only ever adds.

use std::time::Duration;

use crate::peers::Pass;

/// How long a contender runs in one round, in seconds; a short corpus is repeated to fill it.
const TURN: f64 = 0.002;

/// Keeps this thread on one core. Returns the core.
#[cfg(target_os = "linux")]
pub fn pin() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).ok()?;
    let core = (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core))?;
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).ok()?;
    Some(core)
}

/// Nothing is pinned here.
#[cfg(not(target_os = "linux"))]
pub fn pin() -> Option<usize> {
    None
}

/// Time that this thread has run: what other processes take of the core in between doesn't count.
#[cfg(target_os = "linux")]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Time that has passed since the first call.
#[cfg(not(target_os = "linux"))]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Contenders over one corpus, and the fastest pass of each so far.
pub struct Race<'c> {
    contenders: Vec<(&'static str, Pass<'c>)>,
    /// The lines that each must take in every pass.
    lines: usize,
    repeats: Vec<usize>,
    best: Vec<f64>,
}

impl<'c> Race<'c> {
    /// Warms the contenders up and finds out how many passes fill a turn.
    pub fn new(mut contenders: Vec<(&'static str, Pass<'c>)>, lines: usize) -> Self {
        let fill = |(name, pass): &mut (&'static str, Pass<'c>)| {
            let cold = turn(name, pass, lines, 1);
            let warm = turn(name, pass, lines, 1).min(cold).max(1e-7);
            ((TURN / warm) as usize).max(1)
        };
        let repeats = contenders.iter_mut().map(fill).collect();
        let best = vec![f64::INFINITY; contenders.len()];
        Self { contenders, lines, repeats, best }
    }

    /// So many more rounds, each contender once in each.
    pub fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            for (((name, pass), repeats), best) in self.contenders.iter_mut().zip(&self.repeats).zip(&mut self.best) {
                *best = best.min(turn(name, pass, self.lines, *repeats) / *repeats as f64);
            }
        }
    }

    /// The fastest pass of each contender, in seconds.
    pub fn times(&self) -> &[f64] {
        &self.best
    }
}

fn turn(name: &str, pass: &mut Pass<'_>, lines: usize, repeats: usize) -> f64 {
    let start = now();
    let mut taken = 0;
    for _ in 0..repeats {
        taken += std::hint::black_box(&mut *pass)();
    }
    let seconds = (now() - start).as_secs_f64();
    assert_eq!(taken, lines * repeats, "{name} did not take every line");
    seconds
}
