//! Watches a server for its end without reaping it, and does meanwhile what a parent owes to the orphans that it adopted.

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions};

/// Waits for the end of a server's leader without reaping it, so that its group can still be signalled safely.
#[derive(Clone, Copy, Debug)]
pub struct ExitWatch(pub(super) Pid);

impl ExitWatch {
    /// Returns when the leader has ended.
    pub fn wait(self) {
        while !has_ended(self.0, WaitIdOptions::empty()) {}
    }

    /// Returns when the leader has ended. Until then every other child of this process is reaped as it ends, so that no orphan
    /// that it [adopted](super::adopt_orphans) stays a zombie, and `stopped` hears of each signal, by its number, that stops the
    /// leader.
    ///
    /// For a program whose server is its only child: whoever waits for another one finds it gone.
    pub fn wait_as_only_parent(self, mut stopped: impl FnMut(i32)) {
        loop {
            match next_change(self.0) {
                Ok(Change::Ended(pid)) if pid == self.0 => return,
                Ok(Change::Ended(pid)) => {
                    let _ = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
                }
                Ok(Change::Stopped(pid, signal)) => {
                    // It would be reported for ever. A server that goes on already is not stopped any more.
                    let taken =
                        rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
                    if pid == self.0 && matches!(taken, Ok(Some(_))) {
                        stopped(signal);
                    }
                }
                Err(Errno::INTR) => {}
                // It is no longer there to wait for.
                Err(_) => return,
            }
        }
    }
}

/// What has become of a child.
enum Change {
    Ended(Pid),
    /// By that signal.
    Stopped(Pid, i32),
}

/// The next child that has ended or was stopped; it is left as it is.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn next_change(_leader: Pid) -> Result<Change, Errno> {
    // SAFETY: all zeros are a value of this plain C structure.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: waitid writes one such structure, and nothing else.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT) };
    if result != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::CHILD));
    }
    // SAFETY: after a success the structure is that of SIGCHLD, which has both.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    let pid = Pid::from_raw(pid).ok_or(Errno::CHILD)?;
    match info.si_code {
        libc::CLD_STOPPED | libc::CLD_TRAPPED => Ok(Change::Stopped(pid, status)),
        _ => Ok(Change::Ended(pid)),
    }
}

/// The same where no orphan is adopted: of the leader alone.
#[cfg(not(target_os = "linux"))]
fn next_change(leader: Pid) -> Result<Change, Errno> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    let status = rustix::process::waitid(WaitId::Pid(leader), options)?;
    let signal = status.and_then(|status| status.stopping_signal());
    Ok(signal.map_or(Change::Ended(leader), |signal| Change::Stopped(leader, signal)))
}

/// Whether the child has ended; an error means that it is no longer there to wait for.
pub(super) fn has_ended(pid: Pid, options: WaitIdOptions) -> bool {
    match rustix::process::waitid(WaitId::Pid(pid), options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        Ok(status) => status.is_some(),
        Err(Errno::INTR) => false,
        Err(_) => true,
    }
}
