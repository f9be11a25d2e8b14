//! What stands in front of a server's own command: `linegate run` or not, and how it is started. `wrap`, `unwrap` and `doctor` ask
//! here, so that they agree; where the command begins is said by the parser that will read it.

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::args::{Cli, Command};

/// Words that start the program `linegate` from a package of that name, and do nothing else.
const LAUNCHERS: [&[&str]; 6] =
    [&[], &["uvx"], &["uv", "tool", "run"], &["pipx", "run"], &["python", "-m"], &["python3", "-m"]];

/// `linegate run` in front of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Front {
    /// The command begins at this word; all that stands before it only starts `linegate run`.
    Linegate(usize),
    /// Something else starts linegate, such as a container or another user's rights: its first word.
    Another(String),
    /// `run` would not take the words behind it: why.
    Unreadable(String),
}

/// What stands in front of the command in these words, program and arguments; `None` where it isn't `linegate run`.
pub fn of(words: &[&str]) -> Option<Front> {
    words.windows(2).enumerate().find_map(|(at, pair)| {
        let [program, "run"] = pair else { return None };
        let (ahead, run) = words.split_at_checked(at + 1)?;
        let launcher = ahead.split_last()?.1;
        if !names_linegate(program) {
            return None;
        }
        match (is_launcher(launcher), length_of_command(run)) {
            (true, Ok(length)) => Some(Front::Linegate(words.len().checked_sub(length)?)),
            (true, Err(why)) => Some(Front::Unreadable(why)),
            (false, Ok(_)) => launcher.first().map(|word| Front::Another((*word).to_owned())),
            // Words of another program that only look like it.
            (false, Err(_)) => None,
        }
    })
}

/// How many of the words `run ...` are the server's command.
///
/// # Errors
///
/// This is no such command line: why.
pub fn length_of_command(run: &[&str]) -> Result<usize, String> {
    match Cli::try_parse_from(["linegate"].iter().chain(run)).map(|cli| cli.command) {
        Ok(Command::Run(run)) => Ok(run.command.len()),
        Ok(_) => Err("this is not linegate run".to_owned()),
        Err(error) => Err(reason(&error)),
    }
}

/// Whether this word starts linegate: a path of it, of a version of it (`linegate-0.1`), or a package's name.
pub fn names_linegate(word: &str) -> bool {
    let name = file_name(word);
    name.strip_prefix("linegate").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn is_launcher(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return true };
    let first = file_name(first);
    LAUNCHERS.iter().any(|launcher| launcher.split_first() == Some((&first.as_str(), rest)))
}

/// The last part of a path, as systems that don't look at its case have it.
fn file_name(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

/// What the parser says, on one line.
fn reason(error: &clap::Error) -> String {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => "--help and --version start no server".to_owned(),
        ErrorKind::MissingRequiredArgument => "it has no command behind linegate run".to_owned(),
        _ => {
            let told = error.to_string();
            let lines = told
                .lines()
                .map(str::trim)
                .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
            let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
            lines.join(" ").trim_start_matches("error: ").to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(line: &str) -> Option<Front> {
        of(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn linegate_run_is_known_however_it_is_started() {
        for line in [
            "linegate run -- x",
            "LINEGATE.EXE run -- x",
            "/opt/bin/linegate-0.1 run --audit f -- x",
            "C:\\bin\\linegate.exe run -- x",
            "uvx linegate run -- x",
            "/usr/bin/uv tool run linegate@0.1 run --observe -- x",
            "pipx run linegate==0.1 run -- x",
            "python3 -m linegate run -- x",
        ] {
            let begins = line.split(' ').count() - 1;
            assert_eq!(front(line), Some(Front::Linegate(begins)), "{line}");
        }
        assert_eq!(front("linegate run -- x run -- y"), Some(Front::Linegate(3)));
        assert_eq!(
            front("linegate run --audit -- -- x"),
            Some(Front::Unreadable("a value is required for '--audit <FILE>' but none was supplied".to_owned()))
        );
        assert_eq!(
            front("linegate run --"),
            Some(Front::Unreadable("it has no command behind linegate run".to_owned()))
        );
        for line in [
            "docker run -i img linegate run -- x",
            "sudo -u mcp linegate run -- x",
            "env A=b linegate run -- x",
            "uv run -- linegate run -- x",
            "uvx --from y linegate run -- x",
        ] {
            assert_eq!(front(line), line.split(' ').next().map(|word| Front::Another(word.to_owned())), "{line}");
        }
        for line in [
            "x",
            "uv run -- x",
            "cargo run -- x",
            "linegate check -- x",
            "x linegate -- run",
            "mylinegate run -- x",
            "linegates run -- x",
            "echo linegate run",
        ] {
            assert_eq!(front(line), None, "{line}");
        }
    }
}
