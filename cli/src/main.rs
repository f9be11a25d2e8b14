//! The binary `linegate`: what the library of this package does, on this process's own arguments.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_else(|| "linegate".into());
    // The name by which it was called is looked up again, and may not be found from another folder.
    let program = std::env::current_exe().map_or(name, PathBuf::into_os_string);
    let arguments: Vec<OsString> = words.collect();
    ExitCode::from(linegate_cli::main(vec![program], arguments))
}
