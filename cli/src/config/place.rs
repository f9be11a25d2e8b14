//! A configuration as a file: read whole, replaced at once or not at all, and the file as it was kept beside it.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What some editors put in front of UTF-8.
const MARK: &str = "\u{feff}";

/// A file that was read.
#[derive(Debug)]
pub struct ConfigFile {
    /// Where it really is: a link to it stays a link.
    path: PathBuf,
    permissions: Permissions,
    content: String,
}

impl ConfigFile {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// It can't be read, or is no UTF-8.
    pub fn read(path: &Path) -> Result<Self, String> {
        let because = |error: io::Error| format!("cannot read {}: {error}", path.display());
        let path = fs::canonicalize(path).map_err(because)?;
        let permissions = fs::metadata(&path).map_err(because)?.permissions();
        let bytes = fs::read(&path).map_err(because)?;
        let content = String::from_utf8(bytes).map_err(|_| format!("{} is no UTF-8", path.display()))?;
        Ok(Self { path, permissions, content })
    }

    /// Its text, without a mark in front of it.
    pub fn text(&self) -> &str {
        self.content.strip_prefix(MARK).unwrap_or(&self.content)
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
