//! A file that keeps a server's stderr within bounds of size and age.
//!
//! When it is full, or was begun too long ago, `FILE` becomes `FILE.1`, `FILE.1` becomes `FILE.2`, and so on up to the number that
//! is kept. What has not been written for too long is removed when a session starts and whenever the files move on.
//!
//! Sessions may share a file: each line is one write at its end, one session at a time moves the files, and the others find the new
//! one by themselves. Nothing here stops a session: files that can't be moved go on growing, and what can't be kept is told once,
//! and lost.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::append;
use crate::tell::tell;

/// Who may read and write a file.
const OWNER_ONLY: u32 = 0o600;
/// How long who reads a pipe is waited for, until that was in vain once.
const READER: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one file. A line that is longer stands in a file of its own.
    pub size: u64,
    /// How many older files there may be.
    pub older: u32,
    /// How long one file is written, and how long it is kept after it was written last.
    pub age: Duration,
}

/// The open file.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    bounds: Bounds,
    file: File,
    /// Whether lines were lost.
    failed: bool,
    /// Whether the files could not be moved.
    stuck: bool,
    /// Whether the file ends within a line that could not be written whole.
    torn: bool,
}

impl Capture {
    /// Opens the file, or makes it, readable by its owner alone. One that others may read is closed to them.
    ///
    /// # Errors
    ///
    /// It can't be opened.
    pub fn open(path: &Path, bounds: Bounds) -> io::Result<Self> {
        let file = append::open(path, OWNER_ONLY)?;
        let mut capture = Self { path: path.to_owned(), bounds, file, failed: false, stuck: false, torn: false };
        capture.close_to_others();
        capture.turn(SystemTime::now(), 0)?;
        capture.remove_old(SystemTime::now());
        Ok(capture)
    }

    /// Keeps lines.
    pub fn take(&mut self, lines: &[u8]) {
        if let Err(error) = self.keep(lines, SystemTime::now())
            && !self.failed
        {
            self.failed = true;
            let path = self.path.display();
            tell(format_args!("{path} can't be written, lines of the server's stderr may be missing in it: {error}"));
        }
    }

    fn close_to_others(&self) {
        let Ok(found) = self.file.metadata() else { return };
        if found.is_file() && found.mode() & !OWNER_ONLY & 0o777 != 0 {
            let closed = self.file.set_permissions(Permissions::from_mode(found.mode() & OWNER_ONLY));
            if let Err(error) = closed {
                tell(format_args!("{} stays open to others than its owner: {error}", self.path.display()));
            }
        }
    }

    fn keep(&mut self, mut lines: &[u8], now: SystemTime) -> io::Result<()> {
        while !lines.is_empty() {
            let first = lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| at + 1);
            let room = self.turn(now, first as u64)?;
            let part = lines_within(lines, room);
            let (now, later) = lines.split_at(part);
            self.write(now)?;
            lines = later;
        }
        Ok(())
    }

    /// Writes lines. A line that the one before was torn off from does not go on behind it.
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let apart;
        let mut rest = lines;
        if self.torn {
            apart = [b"\n", lines].concat();
            rest = &apart;
        }
        while !rest.is_empty() {
            match rustix::io::write(&self.file, rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => {
                    self.torn = rest.get(len - 1).is_some_and(|last| *last != b'\n');
                    rest = rest.get(len..).unwrap_or_default();
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !self.failed && self.has_room_in_time() => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The end of the stream is one of its last line too.
        self.torn = false;
        Ok(())
    }

    fn has_room_in_time(&self) -> bool {
        let mut room = [PollFd::new(&self.file, PollFlags::OUT)];
        rustix::io::retry_on_intr(|| poll(&mut room, Some(&READER))).is_ok_and(|ready| ready > 0)
    }

    /// Moves the files on if it is time or the current one has no room for so many bytes, and gives the room in it.
    fn turn(&mut self, now: SystemTime, bytes: u64) -> io::Result<u64> {
        loop {
            let current = self.file.metadata()?;
            // A device or a pipe is what the user wants it to be.
            if !current.is_file() {
                return Ok(u64::MAX);
            }
            if !is_at(&current, &self.path) {
                match append::open(&self.path, OWNER_ONLY) {
                    Ok(file) => (self.file, self.stuck) = (file, false),
                    Err(error) => return Ok(self.go_on(&error)),
                }
                continue;
            }
            let room = self.bounds.size.saturating_sub(current.len());
            let old = age(&current, current.created(), now) > self.bounds.age;
            if current.len() == 0 || (!old && bytes <= room) {
                return Ok(room);
            }
            if self.stuck {
                return Ok(u64::MAX);
            }
            match self.next(now) {
                Ok(file) => (self.file, self.stuck) = (file, false),
                Err(error) => return Ok(self.go_on(&error)),
            }
        }
    }

    /// Moves the files on, unless another session was faster, and opens the next one.
    fn next(&self, now: SystemTime) -> io::Result<File> {
        flock(&self.file, FlockOperation::LockExclusive)?;
        let moved = if is_at(&self.file.metadata()?, &self.path) { self.move_on() } else { Ok(()) };
        if moved.is_ok() {
            self.remove_old(now);
        }
        // Of the file, which others may have to move.
        let _ = flock(&self.file, FlockOperation::Unlock);
        moved.and_then(|()| append::open(&self.path, OWNER_ONLY))
    }

    /// Takes the open file for as large as it likes to be: better that than to lose what comes.
    fn go_on(&mut self, error: &io::Error) -> u64 {
        if !std::mem::replace(&mut self.stuck, true) {
            let path = self.path.display();
            tell(format_args!("{path} can't make room for a new file, and goes on beyond its bounds: {error}"));
        }
        u64::MAX
    }

    fn move_on(&self) -> io::Result<()> {
        if self.bounds.older == 0 {
            return fs::remove_file(&self.path);
        }
        for number in (1..self.bounds.older).rev() {
            match fs::rename(self.older(number), self.older(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(&self.path, self.older(1))
    }

    /// Removes the older files that nobody has written for too long. One that can't be removed is tried again next time.
    fn remove_old(&self, now: SystemTime) {
        for number in 1..=self.bounds.older {
            let path = self.older(number);
            if fs::metadata(&path).is_ok_and(|found| age(&found, found.modified(), now) > self.bounds.age) {
                let _ = fs::remove_file(path);
            }
        }
    }

    fn older(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

/// Whether the file is still the one at that path.
fn is_at(file: &Metadata, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
}

/// How long ago that was; where the system doesn't know it, since the file was written.
fn age(file: &Metadata, since: io::Result<SystemTime>, now: SystemTime) -> Duration {
    since.or_else(|_| file.modified()).ok().and_then(|since| now.duration_since(since).ok()).unwrap_or_default()
}

/// As many whole lines as there is room for; one at least, or what is there of it.
fn lines_within(lines: &[u8], room: u64) -> usize {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    let last = lines.get(..room.min(lines.len())).and_then(|fit| fit.iter().rposition(|byte| *byte == b'\n'));
    let first = || lines.iter().position(|byte| *byte == b'\n');
    if lines.len() <= room { lines.len() } else { last.or_else(first).map_or(lines.len(), |at| at + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn open(folder: &Path, size: u64, older: u32) -> Capture {
        Capture::open(&folder.join("log"), Bounds { size, older, age: DAY }).expect("opened")
    }

    fn files(folder: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry"))
            .map(|entry| {
                (entry.file_name().into_string().expect("text"), fs::read_to_string(entry.path()).expect("text"))
            })
            .collect();
        files.sort();
        files
    }

    fn named(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_full_file_moves_on_between_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut capture = open(folder.path(), 8, 2);
        for line in ["one\n", "two\n", "three\n"] {
            capture.take(line.as_bytes());
        }
        assert_eq!(files(folder.path()), named(&[("log", "three\n"), ("log.1", "one\ntwo\n")]));
        capture.take(b"four\nfive\na line that is long\nsix\n");
        let kept = named(&[("log", "six\n"), ("log.1", "a line that is long\n"), ("log.2", "five\n")]);
        assert_eq!(files(folder.path()), kept);
    }

    #[test]
    fn nothing_older_is_kept_where_nothing_is_to_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut capture = open(folder.path(), 4, 0);
        capture.take(b"one\ntwo\n");
        assert_eq!(files(folder.path()), named(&[("log", "two\n")]));
    }

    #[test]
    fn what_is_old_is_turned_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut capture = open(folder.path(), 100, 3);
        let now = SystemTime::now();
        capture.keep(b"one\n", now).expect("kept");
        capture.keep(b"two\n", now + DAY / 2).expect("kept");
        assert_eq!(files(folder.path()), named(&[("log", "one\ntwo\n")]));
        // Begun more than a day ago; written just now, as the system knows it.
        capture.bounds.age = Duration::from_millis(1);
        std::thread::sleep(Duration::from_millis(20));
        capture.keep(b"three\n", SystemTime::now()).expect("kept");
        // The one that was turned is too old for that bound too.
        assert_eq!(files(folder.path()), named(&[("log", "three\n")]));
    }

    #[test]
    fn a_file_that_can_not_be_moved_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        // Nothing can take this one's place.
        fs::create_dir_all(folder.path().join("log.1").join("full")).expect("made");
        let mut capture = open(folder.path(), 4, 1);
        for line in ["one\n", "two\n", "three\n"] {
            capture.take(line.as_bytes());
        }
        let text = || fs::read_to_string(folder.path().join("log")).expect("text");
        assert_eq!((text().as_str(), capture.failed), ("one\ntwo\nthree\n", false));
        // Another session has made room.
        fs::remove_dir_all(folder.path().join("log.1")).expect("removed");
        fs::rename(folder.path().join("log"), folder.path().join("log.1")).expect("moved");
        for line in ["four\n", "five\n"] {
            capture.take(line.as_bytes());
        }
        assert_eq!(text(), "five\n");
    }

    #[test]
    fn a_file_that_has_no_successor_goes_on() {
        let outer = tempfile::tempdir().expect("a folder");
        let folder = outer.path().join("inner");
        fs::create_dir(&folder).expect("made");
        let mut capture = open(&folder, 4, 1);
        capture.take(b"one\n");
        fs::rename(&folder, outer.path().join("away")).expect("moved");
        capture.take(b"two\nthree\n");
        let text = fs::read_to_string(outer.path().join("away").join("log")).expect("text");
        assert_eq!((text.as_str(), capture.failed), ("one\ntwo\nthree\n", false));
    }

    #[test]
    fn a_line_is_not_glued_to_one_that_was_torn() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut capture = open(folder.path(), 100, 1);
        capture.take(b"on");
        capture.torn = true;
        capture.take(b"two\n");
        capture.take(b"three\n");
        assert_eq!(files(folder.path()), named(&[("log", "on\ntwo\nthree\n")]));
    }

    #[test]
    fn a_file_is_closed_to_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        fs::write(&path, "before\n").expect("written");
        for (before, after) in [(0o644, 0o600), (0o666, 0o600), (0o700, 0o600), (0o600, 0o600)] {
            fs::set_permissions(&path, Permissions::from_mode(before)).expect("set");
            open(folder.path(), 100, 1).take(b"x\n");
            assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, after, "{before:o}");
        }
    }

    #[test]
    fn sessions_share_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut first, mut second) = (open(folder.path(), 12, 9), open(folder.path(), 12, 9));
        for number in 0..10 {
            first.take(format!("a{number}\n").as_bytes());
            second.take(format!("b{number}\n").as_bytes());
        }
        let all = files(folder.path());
        assert!(all.iter().all(|(_, text)| text.len() <= 12 && text.ends_with('\n')), "{all:?}");
        let mut lines: Vec<_> = all.iter().flat_map(|(_, text)| text.lines()).collect();
        lines.sort_unstable();
        assert_eq!(lines.len(), 20, "{all:?}");
        lines.dedup();
        assert_eq!(lines.len(), 20, "{all:?}");
    }
}
