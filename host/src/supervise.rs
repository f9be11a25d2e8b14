//! A server as a child process: started in a process group of its own, asked to end, and then made to end, group and all.
//!
//! The order is that of the protocol's shutdown on stdio: close the server's input and wait, SIGTERM and wait, SIGKILL.
//! Signals go to the whole group, because a server is often started through a launcher that does not pass them on. What is
//! left of the group when its leader has ended is ended too, and the leader is always reaped, so that of the group
//! neither an orphan nor a zombie stays behind. (A process that left the group by setsid is not followed.) Dropping a [`Supervised`] that was not shut down kills the group at once.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions};

mod watch;

pub use watch::ExitWatch;
use watch::has_ended;

/// How long what the leader left of its group may take to end by itself: it may have seen the same end of input.
const GRACE: Duration = Duration::from_millis(100);

/// How long a server may take to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// From the closing of its input until it gets SIGTERM. Default 5 s: a slow starter must not be ended before it has read
    /// that its input is over.
    pub close: Duration,
    /// From SIGTERM until it gets SIGKILL. Default 1 s: clients that started this process commonly give it two seconds
    /// before they kill it, and then nobody would be left to end the server.
    pub term: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { close: Duration::from_secs(5), term: Duration::from_secs(1) }
    }
}

/// The signals that a supervisor sends or passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGUSR2.
    User2,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

impl Signal {
    const fn native(self) -> rustix::process::Signal {
        match self {
            Self::Hangup => rustix::process::Signal::HUP,
            Self::Interrupt => rustix::process::Signal::INT,
            Self::Quit => rustix::process::Signal::QUIT,
            Self::User2 => rustix::process::Signal::USR2,
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
        }
    }
}

/// What it took to end the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It ended by itself, or when its input was closed.
    Exited,
    /// It ended only after SIGTERM.
    Terminated,
    /// It ended only after SIGKILL.
    Killed,
}

/// The end of a server.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The leader's exit status.
    pub status: ExitStatus,
    /// What it took.
    pub how: How,
    /// Whether processes of the group outlived their leader and had to be ended.
    pub left_processes: bool,
}

/// A running server.
#[derive(Debug)]
pub struct Supervised {
    /// The way to its input, until taken. [`shut_down`](Self::shut_down) closes it if it is still here.
    pub stdin: Option<ChildStdin>,
    /// Its output, until taken.
    pub stdout: Option<ChildStdout>,
    /// Its diagnostics, until taken; `None` unless the command asked for a pipe.
    pub stderr: Option<ChildStderr>,
    child: Child,
    group: Pid,
    waits: Waits,
    ended: Option<Ended>,
}

impl Supervised {
    /// Starts `command` in a new process group with pipes on stdin and stdout. Its stderr is where the command says:
    /// inherited, unless set to [`Stdio::piped`] (then someone must read it, or the server blocks when the pipe is full).
    ///
    /// # Errors
    ///
    /// The command can't be started.
    pub fn spawn(mut command: Command, waits: Waits) -> io::Result<Self> {
        let mut child = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let Some(group) = group else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other("the system gave a process number that can't be one"));
        };
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Self { stdin, stdout, stderr, child, group, waits, ended: None })
    }

    /// The process number of the leader, which is also that of the group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to every process of the group. Nothing happens once the server has been reaped.
    pub fn signal(&self, signal: Signal) {
        // As long as the leader is not reaped its number can't belong to anyone else.
        if self.ended.is_none() {
            let _ = rustix::process::kill_process_group(self.group, signal.native());
        }
    }

    /// Lets a group that was stopped go on (SIGCONT), so that it can take the signals that it was sent meanwhile.
    pub fn resume(&self) {
        if self.ended.is_none() {
            let _ = rustix::process::kill_process_group(self.group, rustix::process::Signal::CONT);
        }
    }

    /// Something to wait on in another thread.
    #[must_use]
    pub fn exit_watch(&self) -> ExitWatch {
        ExitWatch(self.group)
    }

    /// Waits for the leader's end, at most until `deadline`; says whether it has ended. It is not reaped by this.
    #[must_use]
    pub fn wait_until(&self, deadline: Instant) -> bool {
        let mut pause = Duration::from_millis(1);
        loop {
            if self.ended.is_some() || has_ended(self.group, WaitIdOptions::NOHANG) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Closes the input, and ends the server in the order that this module's head says. Its output must be read meanwhile
    /// by another thread, or closed, or a server that writes much can't end by itself.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the child.
    pub fn shut_down(&mut self) -> io::Result<Ended> {
        self.stdin = None;
        if self.wait_until(Instant::now() + self.waits.close) {
            return self.finish(How::Exited);
        }
        self.terminate()
    }

    /// The same without the first wait: SIGTERM, wait, SIGKILL.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the child.
    pub fn terminate(&mut self) -> io::Result<Ended> {
        self.stdin = None;
        self.signal(Signal::Terminate);
        if self.wait_until(Instant::now() + self.waits.term) {
            return self.finish(How::Terminated);
        }
        self.kill()
    }

    /// SIGKILL at once.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the child.
    pub fn kill(&mut self) -> io::Result<Ended> {
        self.stdin = None;
        self.signal(Signal::Kill);
        self.finish(How::Killed)
    }

    /// Reaps the leader, waiting for its end if need be, and ends what it left of its group.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the child.
    pub fn finish(&mut self, how: How) -> io::Result<Ended> {
        if let Some(ended) = self.ended {
            return Ok(ended);
        }
        let status = self.child.wait()?;
        let mut ended = Ended { status, how, left_processes: false };
        self.ended = Some(ended);
        // As long as one process of the group lives, the system gives its number to nobody else.
        let start = Instant::now();
        let mut steps = [
            (GRACE, Some(Signal::Terminate)),
            (GRACE + self.waits.term, Some(Signal::Kill)),
            (GRACE + self.waits.term + GRACE, None),
        ]
        .into_iter()
        .peekable();
        while group_lives(self.group) {
            if let Some((_, step)) = steps.next_if(|(after, _)| start.elapsed() >= *after) {
                // Not even SIGKILL removes a dead process that its new parent never reaps.
                let Some(signal) = step else { break };
                let _ = rustix::process::kill_process_group(self.group, signal.native());
                ended.left_processes = true;
                if signal == Signal::Kill {
                    ended.how = How::Killed;
                }
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.ended = Some(ended);
        Ok(ended)
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = self.kill();
        }
    }
}

/// Whether the group has processes, after those that have ended and are ours to reap were reaped.
fn group_lives(group: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    while let Ok(Some(_)) = rustix::process::waitid(WaitId::Pgid(Some(group)), options) {}
    rustix::process::test_kill_process_group(group).is_ok()
}

/// Makes this process the new parent of processes that a server's processes leave behind, where the system can do that
/// (Linux). For a program's start: it holds for the whole process.
///
/// Without it they go to the system's first process, and in a container that is often one which never reaps: a dead
/// process can then not be told from one that lives.
///
/// It also sees to it that children can be waited for, where whoever started this process ignores SIGCHLD: the system reaps them by
/// itself then.
#[allow(unsafe_code)]
pub fn adopt_orphans() {
    if is_ignored(libc::SIGCHLD) {
        // SAFETY: the default action needs no handler, and does nothing but let the dead wait.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Whether this process ignores the signal of that number, as one under `nohup` does SIGHUP. A supervisor that then handled it
/// would undo what whoever started it wanted.
#[must_use]
#[allow(unsafe_code)]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros are a value of this plain C structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action nothing is changed, and the old one is written into a structure of ours.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// An exit status as a shell gives it on: the code, or 128 and the signal's number.
#[must_use]
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    // A code has eight bits on every unix.
    u8::try_from(code & 0xFF).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn start(script: &str) -> Supervised {
        adopt_orphans();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let waits = Waits { close: Duration::from_millis(200), term: Duration::from_millis(200) };
        Supervised::spawn(command, waits).expect("sh starts")
    }

    #[test]
    fn ends_when_its_input_is_closed() {
        let mut server = start("read line; cat >/dev/null; exit 7");
        server.stdin.as_mut().expect("a pipe").write_all(b"x\n").expect("written");
        let ended = server.shut_down().expect("ended");
        assert_eq!((exit_code(ended.status), ended.how, ended.left_processes), (7, How::Exited, false));
    }

    #[test]
    fn is_terminated_when_it_stays() {
        let mut server = start("exec sleep 600");
        let ended = server.shut_down().expect("ended");
        assert_eq!((exit_code(ended.status), ended.how), (128 + 15, How::Terminated));
    }

    #[test]
    fn is_killed_when_it_ignores_the_signal() {
        let mut server = start("trap '' TERM; echo up; sleep 600; sleep 600");
        let mut byte = [0; 3];
        server.stdout.as_mut().expect("a pipe").read_exact(&mut byte).expect("up");
        let ended = server.shut_down().expect("ended");
        assert_eq!((exit_code(ended.status), ended.how), (128 + 9, How::Killed));
    }

    #[test]
    fn ends_what_it_left() {
        let mut server = start("sleep 600 & echo $!");
        let mut text = [0; 16];
        let len = server.stdout.as_mut().expect("a pipe").read(&mut text).expect("a number");
        let orphan: i32 = String::from_utf8_lossy(&text[..len]).trim().parse().expect("a number");
        let ended = server.shut_down().expect("ended");
        assert!(ended.left_processes);
        let orphan = Pid::from_raw(orphan).expect("a process");
        assert_eq!(ended.how, How::Exited);
        assert!(rustix::process::test_kill_process(orphan).is_err());
    }

    #[test]
    fn a_signal_is_ignored_or_not() {
        // Rust's own start sees to the first.
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!is_ignored(libc::SIGUSR2));
        assert!(!is_ignored(-1));
    }

    #[test]
    fn dropping_kills() {
        let server = start("trap '' TERM; sleep 600; sleep 600");
        let group = server.group;
        drop(server);
        assert!(!group_lives(group));
    }
}
