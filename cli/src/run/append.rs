//! Files to which whole lines are appended, without waiting for who reads them: the file may be a pipe with a name.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens the file, or makes it with this mode. Nothing that is done with it waits.
///
/// A pipe that nobody reads is opened for reading too: otherwise the start would hang until somebody does, or fail. What is written
/// meanwhile waits in the pipe, as much as has room there.
///
/// # Errors
///
/// It can't be opened.
pub fn open(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .append(true)
        .mode(mode)
        .custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default());
    options.open(path).or_else(|error| {
        let unread = Errno::from_io_error(&error) == Some(Errno::NXIO);
        if unread { options.read(true).open(path) } else { Err(error) }
    })
}
