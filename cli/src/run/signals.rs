//! The signals of this process: handled from the start on, and passed to the main thread as events once there is a session.
//!
//! One that was ignored when this process was started stays so: whoever started it under `nohup`, or in the background of a script,
//! wanted that, and the server ignores it as well.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::Sender;
use std::thread;

use linegate_host::supervise::{Signal, is_ignored};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::shared::Event;

/// Says when signals become the session's.
#[derive(Debug)]
pub struct Handled(Arc<AtomicBool>);

/// Handles signals from now on. Until there is a session those that ask this process to end do end it, and the others do
/// nothing.
pub fn handle(events: Sender<Event>) -> io::Result<Handled> {
    let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
    let mut signals = Signals::new(all.into_iter().filter(|signal| !is_ignored(*signal)))?;
    let in_session = Arc::new(AtomicBool::new(false));
    let handled = Handled(Arc::clone(&in_session));
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let event = match signal {
                SIGUSR1 => Event::Count,
                SIGHUP => Event::Signal(Signal::Hangup),
                SIGINT => Event::Signal(Signal::Interrupt),
                SIGQUIT => Event::Signal(Signal::Quit),
                SIGUSR2 => Event::Signal(Signal::User2),
                _ => Event::Signal(Signal::Terminate),
            };
            if in_session.load(SeqCst) {
                let _ = events.send(event);
            } else if !matches!(signal, SIGUSR1 | SIGUSR2) {
                let _ = emulate_default_handler(signal);
            }
        }
    })?;
    Ok(handled)
}

impl Handled {
    /// There is a session now, or will be at once.
    pub fn pass_on(&self) {
        self.0.store(true, SeqCst);
    }
}
