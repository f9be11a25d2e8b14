//! A file that keeps a server's stderr within bounds of size and age.
//!
//! When it is full, or was begun too long ago, `FILE` becomes `FILE.1`, `FILE.1` becomes `FILE.2`, and so on up to the number that
//! is kept. What has not been written for too long is removed when a session starts and whenever the files move on.
//!
//! Sessions may share a file: each line is one write at its end, one session at a time moves the files, and the others find the new
//! one by themselves. Nothing here stops a session: what can't be kept is told once, and lost.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use crate::tell::tell;

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
    failed: bool,
}

impl Capture {
    /// Opens the file, or makes it, readable by its owner alone.
    ///
    /// # Errors
    ///
    /// It can't be opened.
    pub fn open(path: &Path, bounds: Bounds) -> io::Result<Self> {
        let mut capture = Self { path: path.to_owned(), bounds, file: append_to(path)?, failed: false };
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

    fn keep(&mut self, mut lines: &[u8], now: SystemTime) -> io::Result<()> {
        while !lines.is_empty() {
            let first = lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| at + 1);
            let room = self.turn(now, first as u64)?;
            let part = lines_within(lines, room);
            let (now, later) = lines.split_at(part);
            self.file.write_all(now)?;
            lines = later;
        }
        Ok(())
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
                self.file = append_to(&self.path)?;
                continue;
            }
            let room = self.bounds.size.saturating_sub(current.len());
            let old = age(&current, current.created(), now) > self.bounds.age;
            if current.len() == 0 || (!old && bytes <= room) {
                return Ok(room);
            }
            flock(&self.file, FlockOperation::LockExclusive)?;
            // Another session may have been faster.
            if is_at(&self.file.metadata()?, &self.path) {
                self.move_on()?;
                self.remove_old(now);
            }
            self.file = append_to(&self.path)?;
        }
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

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
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
