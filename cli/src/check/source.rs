//! A look at the server's sources: calls that write to stdout in six languages. A hint and no verdict: many such calls are
//! never reached by a server on stdio, and what soils a stdout is often a library.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A place that may write to stdout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The call.
    pub call: &'static str,
    /// The line's text, without the spaces around it.
    pub text: String,
}

/// How one language writes to stdout.
struct Language {
    /// Endings of its files.
    endings: &'static [&'static str],
    /// What begins a comment.
    comment: &'static str,
    calls: &'static [&'static str],
    /// What in the same line sends it elsewhere.
    elsewhere: &'static [&'static str],
}

const LANGUAGES: &[Language] = &[
    Language {
        endings: &["py"],
        comment: "#",
        calls: &["print(", "sys.stdout.write(", "pprint(", "StreamHandler(sys.stdout", "stream=sys.stdout"],
        elsewhere: &["stderr", "file="],
    },
    Language {
        endings: &["js", "mjs", "cjs", "ts", "mts", "cts"],
        comment: "//",
        calls: &[
            "console.log(",
            "console.info(",
            "console.debug(",
            "console.table(",
            "console.dir(",
            "process.stdout.write(",
        ],
        elsewhere: &[],
    },
    Language {
        endings: &["go"],
        comment: "//",
        calls: &["fmt.Print(", "fmt.Println(", "fmt.Printf(", "os.Stdout.Write", "SetOutput(os.Stdout"],
        elsewhere: &[],
    },
    Language {
        endings: &["rs"],
        comment: "//",
        calls: &["println!(", "print!(", "with_writer(std::io::stdout", "with_writer(io::stdout"],
        elsewhere: &[],
    },
    Language {
        endings: &["java", "kt"],
        comment: "//",
        calls: &["System.out.print", "System.out.write(", "System.out.format(", "printStackTrace(System.out"],
        elsewhere: &[],
    },
    Language {
        endings: &["cs"],
        comment: "//",
        calls: &["Console.Write(", "Console.WriteLine(", "Console.Out.Write", "AddConsole()"],
        elsewhere: &[],
    },
];

/// Folders of other people's code and of what was built.
const SKIPPED: [&str; 10] =
    ["node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__", "site-packages", "bin", "obj"];
/// A larger file, in bytes, was not written by hand.
const LARGEST: u64 = 1 << 20;
/// Characters of a line that are kept.
const WIDTH: usize = 120;

/// Looks at a file, or at all below a folder, in the order of the names.
///
/// # Errors
///
/// The path can't be read.
pub fn look(path: &Path) -> io::Result<Vec<Hint>> {
    let mut hints = Vec::new();
    visit(path, &mut hints)?;
    Ok(hints)
}

fn visit(path: &Path, hints: &mut Vec<Hint>) -> io::Result<()> {
    // Links are not followed: they may lead in a circle.
    let kind = fs::symlink_metadata(path)?;
    if kind.is_file() {
        if let Some(language) = language(path)
            && kind.len() <= LARGEST
        {
            look_at(path, &String::from_utf8_lossy(&fs::read(path)?), language, hints);
        }
    } else if kind.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                visit(&entry.path(), hints)?;
            }
        }
    }
    Ok(())
}

fn language(path: &Path) -> Option<&'static Language> {
    let ending = path.extension()?.to_str()?;
    LANGUAGES.iter().find(|language| language.endings.contains(&ending))
}

fn look_at(file: &Path, source: &str, language: &Language, hints: &mut Vec<Hint>) {
    for (number, line) in source.lines().enumerate() {
        let text = line.trim();
        if text.starts_with(language.comment) || language.elsewhere.iter().any(|word| text.contains(word)) {
            continue;
        }
        if let Some(call) = language.calls.iter().find(|call| calls(text, call)) {
            let text = text.chars().take(WIDTH).collect();
            hints.push(Hint { file: file.to_owned(), line: number + 1, call, text });
        }
    }
}

/// Whether the call stands in the line, and not as the end of a longer name.
fn calls(text: &str, call: &str) -> bool {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(call)) {
        let before = text.get(..from + at).and_then(|before| before.chars().next_back());
        if before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && (before != '.' || call != "print("))
        {
            return true;
        }
        from += at + call.len();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls found in a text of the language of that ending.
    fn found(ending: &str, source: &str) -> Vec<(usize, &'static str)> {
        let file = PathBuf::from(format!("server.{ending}"));
        let mut hints = Vec::new();
        look_at(&file, source, language(&file).expect("a language"), &mut hints);
        hints.iter().map(|hint| (hint.line, hint.call)).collect()
    }

    #[test]
    fn writes_to_stdout_are_found_in_each_language() {
        let python = "import sys\nprint('x')\nprint('x', file=sys.stderr)\n# print(1)\nfootprint(2)\n";
        assert_eq!(found("py", python), [(2, "print(")]);
        assert_eq!(found("ts", "console.error(1)\n  console.log(2)\n// console.log(3)\n"), [(2, "console.log(")]);
        assert_eq!(found("go", "fmt.Fprintln(os.Stderr, 1)\nfmt.Println(2)\n"), [(2, "fmt.Println(")]);
        assert_eq!(found("rs", "eprintln!(\"1\");\nprintln!(\"2\");\n"), [(2, "println!(")]);
        assert_eq!(found("java", "System.err.println(1);\nSystem.out.println(2);\n"), [(2, "System.out.print")]);
        assert_eq!(found("cs", "Console.Error.WriteLine(1);\nConsole.WriteLine(2);\n"), [(2, "Console.WriteLine(")]);
    }
}
