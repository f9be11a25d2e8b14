//! A configuration as a file: read whole, replaced at once or not at all, and the file as it was kept beside it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What some editors put in front of UTF-8.
const MARK: &str = "\u{feff}";

/// Reads a configuration that is only looked at: from standard input if it is `-`, and from a pipe as well as from a file.
///
/// # Errors
///
/// It can't be read, or is no UTF-8.
#[cfg(unix)]
pub fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let done = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    done.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{} is no UTF-8", path.display()))
}

/// The text without a mark in front of it.
pub fn without_mark(content: &str) -> &str {
    content.strip_prefix(MARK).unwrap_or(content)
}

/// A file that is to be changed. On unix systems nobody else who changes it so comes in between: who comes second waits.
#[derive(Debug)]
pub struct ConfigFile {
    /// Where it really is: a link to it stays a link.
    path: PathBuf,
    permissions: Permissions,
    content: String,
    /// Locked as long as it is open.
    _lock: File,
}

impl ConfigFile {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// It can't be read or may not be written, or is no file or no UTF-8, or somebody else keeps it locked.
    pub fn read(path: &Path) -> Result<Self, String> {
        let because = |error: io::Error| format!("cannot read {}: {error}", path.display());
        let path = fs::canonicalize(path).map_err(because)?;
        // A pipe has no text to be changed, and to open it would wait for a writer.
        if !fs::metadata(&path).map_err(because)?.is_file() {
            return Err(format!("{} is no file", path.display()));
        }
        let mut file = locked(&path).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied if File::open(&path).is_ok() => {
                format!("cannot change {}: it is read-only for you", path.display())
            }
            _ => because(error),
        })?;
        let permissions = file.metadata().map_err(because)?.permissions();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(because)?;
        let content = String::from_utf8(bytes).map_err(|_| format!("{} is no UTF-8", path.display()))?;
        Ok(Self { path, permissions, content, _lock: file })
    }

    /// Its text, without a mark in front of it.
    pub fn text(&self) -> &str {
        without_mark(&self.content)
    }

    /// Puts another text in its place, behind the same mark if there was one; gives the name of the backup.
    ///
    /// # Errors
    ///
    /// It may not be written, or can't be, or somebody else has changed it meanwhile.
    pub fn replace(&self, text: &str) -> Result<PathBuf, String> {
        let mark = if self.content.starts_with(MARK) { MARK } else { "" };
        self.try_replace(&format!("{mark}{text}"))
            .map_err(|error| format!("cannot change {}, it is as it was: {error}", self.path.display()))
    }

    fn try_replace(&self, content: &str) -> io::Result<PathBuf> {
        if self.permissions.readonly() {
            return Err(io::Error::other("it is read-only"));
        }
        let folder = self.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(content.as_bytes())?;
        new.as_file().set_permissions(self.permissions.clone())?;
        self.keep_owner(new.path());
        new.as_file().sync_all()?;
        let backup = self.keep_backup()?;
        if fs::read(&self.path)? != self.content.as_bytes() {
            fs::remove_file(backup)?;
            return Err(io::Error::other("somebody else has changed it meanwhile"));
        }
        new.persist(&self.path).map_err(|error| error.error)?;
        Ok(backup)
    }

    /// Writes the file as it was beside it, under a name that is free.
    fn keep_backup(&self) -> io::Result<PathBuf> {
        let mut number = 0;
        loop {
            let mut name = self.path.clone().into_os_string();
            name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak{number}") });
            let path = PathBuf::from(name);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            // It may hold secrets: nobody may read it before it has the permissions of the other.
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(mut file) => {
                    file.write_all(self.content.as_bytes())?;
                    file.set_permissions(self.permissions.clone())?;
                    self.keep_owner(&path);
                    file.sync_all()?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// A file of another user's stays theirs, where this user may give it to them.
    #[cfg(unix)]
    fn keep_owner(&self, path: &Path) {
        use std::os::unix::fs::{MetadataExt, chown};
        if let Ok(found) = fs::metadata(&self.path) {
            let _ = chown(path, Some(found.uid()), Some(found.gid()));
        }
    }

    #[cfg(not(unix))]
    fn keep_owner(&self, _: &Path) {}
}

/// Opens the file, for writing to see that it may be, and keeps others out who do the same.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        lock(&file)?;
        // Who had the lock before has put another file in its place.
        if is_there(&file, path)? {
            return Ok(file);
        }
    }
}

/// Waits for the lock. A file system without locks has none to wait for.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    use std::time::{Duration, Instant};

    use rustix::fs::{FlockOperation, flock};

    /// How long somebody else may take, who has the same to do.
    const PATIENCE: Duration = Duration::from_secs(30);
    /// How long until the next look.
    const PAUSE: Duration = Duration::from_millis(5);
    let began = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) if began.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(io::Error::other("somebody else keeps it locked")),
            Err(rustix::io::Errno::INTR) => {}
            Ok(()) | Err(_) => return Ok(()),
        }
    }
}

#[cfg(not(unix))]
fn lock(_: &File) -> io::Result<()> {
    Ok(())
}

/// Whether the file is the one that has this path.
#[cfg(unix)]
fn is_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
