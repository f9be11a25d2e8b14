//! Time that stands still while the client takes nothing: a server that waits for a client to read must not be taken for one that
//! hangs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait until one looks again whether a clock that stands goes on.
const LOOK: Duration = Duration::from_millis(20);

/// How long writes to the client took.
#[derive(Debug, Default)]
pub struct Stalls(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    over: Duration,
    since: Option<Instant>,
}

impl Stalls {
    /// Does a write, and counts its time. One at a time.
    pub fn count<T>(&self, write: impl FnOnce() -> T) -> T {
        self.state().since = Some(Instant::now());
        let done = write();
        let mut state = self.state();
        let took = state.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        state.over += took;
        done
    }

    /// Whether a write is under way.
    pub fn is_stalled(&self) -> bool {
        self.state().since.is_some()
    }

    fn total(&self) -> Duration {
        let state = self.state();
        state.over + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time that somebody is given, from now on.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    length: Duration,
    begun: Instant,
    /// What writes to the client had taken then; `None` where their time counts as well.
    stalled: Option<Duration>,
}

impl Allowance {
    /// So much time, without that in which the client takes nothing.
    pub fn standing(length: Duration, stalls: &Stalls) -> Self {
        Self { length, begun: Instant::now(), stalled: Some(stalls.total()) }
    }

    /// So much time, whatever the client does.
    pub fn running(length: Duration) -> Self {
        Self { length, begun: Instant::now(), stalled: None }
    }

    /// What is left of it.
    pub fn left(&self, stalls: &Stalls) -> Duration {
        let stood = self.stalled.map_or(Duration::ZERO, |before| stalls.total().saturating_sub(before));
        self.length.saturating_sub(self.begun.elapsed().saturating_sub(stood))
    }

    /// How long to wait before one asks again what is left: that, or a little longer while it stands.
    pub fn pause(&self, stalls: &Stalls) -> Duration {
        let least = if self.stalled.is_some() && stalls.is_stalled() { LOOK } else { Duration::ZERO };
        self.left(stalls).max(least)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    const STEP: Duration = Duration::from_millis(60);

    #[test]
    fn time_stands_while_the_client_takes_nothing() {
        let stalls = Stalls::default();
        stalls.count(|| sleep(STEP));
        let (standing, running) = (Allowance::standing(STEP, &stalls), Allowance::running(STEP));
        stalls.count(|| {
            sleep(STEP);
            assert!(stalls.is_stalled());
            assert!(standing.left(&stalls) > STEP / 2);
            assert_eq!(running.left(&stalls), Duration::ZERO);
            assert_eq!(Allowance::standing(Duration::ZERO, &stalls).pause(&stalls), LOOK);
            assert_eq!(running.pause(&stalls), Duration::ZERO);
        });
        assert!(!stalls.is_stalled() && standing.left(&stalls) > STEP / 2);
        sleep(STEP);
        assert_eq!(standing.left(&stalls), Duration::ZERO);
        assert_eq!(standing.pause(&stalls), Duration::ZERO);
    }
}
