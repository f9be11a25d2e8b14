//! What the tests of the command share: the binary under test, a place for files, and children that can't outlive a test.

// Each test binary uses its own part of this.
#![allow(dead_code)]

pub mod servers;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The binary under test: `LINEGATE_BIN` if it is set, else the one that is built.
pub fn linegate_bin() -> PathBuf {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    BIN.get_or_init(|| match std::env::var_os("LINEGATE_BIN") {
        Some(given) => given.into(),
        None => build(&["--package", "linegate-cli"], "linegate"),
    })
    .clone()
}

/// Builds a binary, with the profile and into the target directory of the running test, where it lies at `place` of the
/// profile's directory.
pub fn build(what: &[&str], place: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile_dir = test.ancestors().nth(2).expect("a test lies in target/PROFILE/deps").to_path_buf();
    let target = profile_dir.parent().expect("the profile's directory lies in the target directory");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet"]).args(what).arg("--target-dir").arg(target);
    if profile_dir.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo starts").success(), "{place} does not build");
    profile_dir.join(place)
}

/// A path for a test's file, which does not exist yet.
pub fn scratch(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{count}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// A configuration of a client, in a folder of its own.
pub fn config(text: impl AsRef<[u8]>) -> PathBuf {
    let folder = scratch("config");
    std::fs::create_dir(&folder).expect("made");
    let path = folder.join("mcp.json");
    std::fs::write(&path, text).expect("written");
    path
}

/// The path as an argument.
pub fn path_of(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// What a finished command left.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Outcome {
    /// stdout as lines of text.
    pub fn lines(&self) -> Vec<&str> {
        std::str::from_utf8(&self.stdout).expect("UTF-8").lines().collect()
    }
}

/// A running linegate whose output is gathered, and which is killed when it outlives its test.
pub struct Running {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// How long anything in a test may take before it counts as hanging.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Undoes what a shell does to its background jobs and nohup to its command: a child would ignore the signals that it is sent
/// here.
#[cfg(unix)]
#[allow(unsafe_code)]
fn take_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
            // SAFETY: no handler is put in the place of the default.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    });
}

#[cfg(not(unix))]
const fn take_signals() {}

impl Running {
    /// Starts linegate and gathers both of its outputs.
    pub fn start(args: &[&str]) -> Self {
        let mut running = Self::start_unread(args);
        running.stdout = running.child.stdout.take().map(gather);
        running
    }

    /// Starts linegate with these variables and gathers both of its outputs.
    pub fn start_in(env: &[(&str, &str)], args: &[&str]) -> Self {
        let mut running = Self::start_unread_in(env, args);
        running.stdout = running.child.stdout.take().map(gather);
        running
    }

    /// Starts linegate; its stdout is the test's to read, in `child.stdout`.
    pub fn start_unread(args: &[&str]) -> Self {
        Self::start_unread_in(&[], args)
    }

    fn start_unread_in(env: &[(&str, &str)], args: &[&str]) -> Self {
        take_signals();
        let mut child = Command::new(linegate_bin())
            .args(args)
            .envs(env.iter().copied())
            // Set in many containers; servers under test are told by it whether they are watched.
            .env_remove("PYTHONUNBUFFERED")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("linegate starts");
        let stdin = child.stdin.take();
        let stderr = child.stderr.take().map(gather);
        Self { child, stdin, stdout: None, stderr }
    }

    /// Sends bytes. That the other side no longer reads is no fault.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stdin.as_mut().expect("stdin is open").write_all(bytes.as_ref());
    }

    /// Closes stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end without closing stdin.
    pub fn wait(mut self) -> Outcome {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("a child to wait for") {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("linegate hangs"),
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let join = |gathered: Option<JoinHandle<Vec<u8>>>| gathered.map(|thread| thread.join().expect("read"));
        let stdout = join(self.stdout.take()).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&join(self.stderr.take()).unwrap_or_default()).into_owned();
        Outcome { code: status.code(), stdout, stderr }
    }

    /// Closes stdin and waits for the end.
    pub fn finish(mut self) -> Outcome {
        self.close();
        self.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn gather(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits until `condition` holds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
