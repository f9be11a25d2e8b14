//! Who probably wrote a bad line: known beginnings and marks of the programs that soil a stdout most often, and what keeps
//! each of them off it. A guess for people; no verdict depends on it.

use std::ops::Range;

/// Somebody who writes to a stdout that is not theirs.
#[derive(Debug, PartialEq, Eq)]
pub struct Author {
    /// Who it is.
    pub name: &'static str,
    /// What keeps them off stdout.
    pub advice: &'static str,
    /// A line of theirs.
    example: &'static [u8],
    marks: &'static [Mark],
}

/// A mark of an author: each has to be there.
#[derive(Debug, PartialEq, Eq)]
enum Mark {
    /// The line, without spaces in front, begins with one of these.
    Begins(&'static [&'static str]),
    /// One of these stands in the line.
    Has(&'static [&'static str]),
    /// The line begins with these bytes.
    Bytes(&'static [u8]),
    /// The line ends with these bytes.
    Ends(&'static [u8]),
    /// The line consists of these bytes.
    Is(&'static [u8]),
    /// It begins with a date or a time of day.
    Dated,
}

use Mark::{Begins, Bytes, Dated, Ends, Has, Is};

const fn author(name: &'static str, example: &'static [u8], marks: &'static [Mark], advice: &'static str) -> Author {
    Author { name, advice, example, marks }
}

const LOG_TO_STDERR: &str = "Give the logger stderr as its stream, or a file.";
const PRINT_TO_STDERR: &str =
    "Print to stderr: print(..., file=sys.stderr), console.error, fmt.Fprintln(os.Stderr, ...), eprintln!.";

/// Who is known by the bytes around a message, or by whose message it is: they may stand at any line.
#[rustfmt::skip] // A table, as below.
static AROUND: &[Author] = &[
    author("a text writer with a byte order mark (PowerShell, .NET)", b"\xEF\xBB\xBF{}\n", &[Bytes(b"\xEF\xBB\xBF")],
        "Write UTF-8 without a byte order mark: new UTF8Encoding(false) in .NET."),
    author("a writer of UTF-16 (PowerShell, .NET)", b"{\0\"\0a\0\"\0:\0", &[Bytes(b"{\0")],
        "Set the output encoding to UTF-8."),
    author("text mode on Windows, which ends CR LF with CR LF once more", b"{}\r\r\n", &[Ends(b"\r\r\n")],
        "Write lines that end with LF alone, and switch stdout to binary."),
    author("a terminal between the client and the server, such as docker run -t", b"{\"jsonrpc\":\"2.0\",\"id\":\"linegate-hello\",\"method\":\"ping\"}\r\n", &[Has(&["\"id\":\"linegate-"]), Has(&["\"method\":"])],
        "The input comes back: leave -t out (docker run -i, docker exec -i, ssh -T), so that no terminal echoes it."),
];

/// Who is known by text that is no message. The first row that fits is taken: the more special ones stand above.
#[rustfmt::skip] // A table: an author, a line, its marks, and below them the advice.
static AUTHORS: &[Author] = &[
    // Lines that are parts of messages.
    author("a message with the header of the Language Server Protocol", b"Content-Length: 85\r\n", &[Begins(&["Content-Length:", "Content-Type:"])],
        "Write one message a line, without headers."),
    author("a JSON writer with indentation", b"{\n", &[Is(b"{\n")],
        "Write each message on one line: no indentation, no line feeds between members."),
    author("a line feed too much behind a message", b"\n", &[Is(b"\n")],
        "End each message with one line feed; a print adds its own."),
    author("a line feed too much behind a message, from Windows", b"\r\n", &[Is(b"\r\n")],
        "End each message with one line feed; a print adds its own."),
    // Loaders and runners in front of the server.
    author("dotenv for Node, from version 17 on", b"[dotenv@17.2.3] injecting env (2) from .env\n", &[Begins(&["[dotenv@", "[dotenvx@"])],
        "Call config({ quiet: true }), or set DOTENV_CONFIG_QUIET=true."),
    author("npx, which asks before it installs", b"Need to install the following packages:\n", &[Begins(&["Need to install the following packages", "Ok to proceed?"])],
        "Start with npx --yes, or install the package and start its program."),
    author("npm, which tells what it runs", b"> my-server@1.0.0 start\n", &[Begins(&["> "]), Has(&["@", " start", " node "])],
        "Start with npm run --silent, or start node on the file."),
    author("npm", b"npm notice New major version of npm available!\n", &[Begins(&["npm notice", "npm warn", "npm WARN", "npm error", "npm ERR!", "added ", "up to date", "changed "])],
        "Install before, and start node on the file; or set npm_config_loglevel=silent."),
    author("yarn, which tells what it runs", b"yarn run v1.22.22\n", &[Begins(&["yarn run v", "$ node ", "$ tsx ", "$ ts-node "])],
        "Start with yarn --silent run, or start node on the file."),
    author("uv or uvx, which installs", b"Installed 34 packages in 41ms\n", &[Begins(&["Installed ", "Resolved ", "Prepared ", "Audited ", "Uninstalled "]), Has(&["package"])],
        "Start with uvx --quiet, or install the tool before and start its program."),
    author("uv or uvx, which downloads", b"Downloading numpy (15.9MiB)\n", &[Begins(&["Downloading ", "Downloaded ", "Using CPython", "Using Python", "Creating virtual environment"])],
        "Start with uvx --quiet, or install the tool before and start its program."),
    author("pip, which installs", b"Requirement already satisfied: mcp in ./lib (2.3.0)\n", &[Begins(&["Collecting ", "Requirement already satisfied", "Successfully installed", "Installing collected packages", "[notice] A new release of pip", "Using cached "])],
        "Install before the server starts; or pip install --quiet, with its output on stderr (1>&2)."),
    author("dotnet run or a build in front of the server", b"  Determining projects to restore...\n", &[Begins(&["Determining projects to restore", "Build succeeded", "Building...", "Restore complete", "MSBuild version"])],
        "Publish before, and start the program; dotnet run builds first, and tells it."),
    author("cargo, go, maven or gradle in front of the server", b"   Compiling server v0.1.0\n", &[Begins(&["Compiling ", "Finished `", "Running `", "[INFO] Scanning for projects", "> Task :", "go: downloading"])],
        "Build before, and start the program that was built."),
    // Runtimes.
    author("a warning of Node", b"(node:4711) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.\n", &[Begins(&["(node:"])],
        "Node writes it to stderr: look for 2>&1 in the command. Mend the cause, or set NODE_NO_WARNINGS=1."),
    author("the hint behind a warning of Node", b"(Use `node --trace-deprecation ...` to show where the warning was created)\n", &[Begins(&["(Use `node --trace"])],
        "Node writes it to stderr: look for 2>&1 in the command."),
    author("Node's inspector", b"Debugger listening on ws://127.0.0.1:9229/3f\n", &[Begins(&["Debugger listening on", "Debugger attached", "For help, see: https://nodejs.org"])],
        "Start without --inspect; Node writes it to stderr, so look for 2>&1 too."),
    author("a warning of Python", b"/srv/app.py:12: DeprecationWarning: utcnow is deprecated\n", &[Has(&["Warning: "]), Has(&[".py:", "<string>:", "<stdin>:"])],
        "Python writes it to stderr: look for 2>&1 in the command, or for a showwarning that prints."),
    author("a traceback of Python", b"Traceback (most recent call last):\n", &[Begins(&["Traceback (most recent call last)"])],
        "Mend the error, and print tracebacks to stderr: traceback.print_exc does, print(format_exc()) does not."),
    author("a panic of Rust", b"thread 'main' panicked at src/main.rs:5:9:\n", &[Begins(&["thread '"]), Has(&["panicked at"])],
        "Rust writes it to stderr: look for 2>&1 in the command, or for a panic hook that prints."),
    author("a panic of Go", b"panic: runtime error: index out of range\n", &[Begins(&["panic: ", "goroutine ", "fatal error: "])],
        "Go writes it to stderr: look for 2>&1 in the command."),
    author("an exception of Java", b"Exception in thread \"main\" java.lang.IllegalStateException\n", &[Begins(&["Exception in thread", "java.lang.", "Caused by: "])],
        "Java writes it to stderr: look for 2>&1 in the command; e.printStackTrace(System.out) prints it here."),
    author("the Java runtime", b"Picked up JAVA_TOOL_OPTIONS: -Dfoo=1\n", &[Begins(&["Picked up JAVA_TOOL_OPTIONS", "Picked up _JAVA_OPTIONS", "OpenJDK 64-Bit Server VM warning", "WARNING: A Java agent"])],
        "Java writes it to stderr, but for some warnings: look for 2>&1, or set -XX:+DisplayVMOutputToStderr."),
    author("an unhandled error of JavaScript", b"Uncaught TypeError: x is not a function\n", &[Begins(&["Uncaught ", "UnhandledPromiseRejection", "TypeError: ", "ReferenceError: ", "Error: ", "at Object.", "at async ", "at file://"])],
        "Tell errors with console.error; a handler of uncaughtException that calls console.log prints here."),
    author("a shell, by 2>&1", b"sh: 1: fooctl: not found\n", &[Begins(&["sh: ", "bash: ", "/bin/sh: ", "zsh: "])],
        "Take 2>&1 out of the command: stderr is where this belongs."),
    // Frameworks and loggers.
    author("the banner of Spring Boot", b"  .   ____          _            __ _ _\n", &[Has(&[".   ____          _", ":: Spring Boot ::"])],
        "Set spring.main.banner-mode=off, and give the logger stderr."),
    author("SLF4J without a logger", b"SLF4J: No SLF4J providers were found.\n", &[Begins(&["SLF4J"])],
        "SLF4J writes it to stderr: look for 2>&1; add a logger that writes to stderr."),
    author("the console logger of .NET", b"info: Microsoft.Hosting.Lifetime[14]\n", &[Begins(&["info: ", "warn: ", "dbug: ", "fail: ", "trce: ", "crit: "])],
        "Set LogToStandardErrorThreshold to Trace in AddConsole."),
    author("Python's logging", b"INFO:root:starting\n", &[Begins(&["INFO:", "DEBUG:", "WARNING:", "ERROR:", "CRITICAL:"])],
        LOG_TO_STDERR),
    author("a logger that writes JSON (pino, zap, bunyan, structlog, slog)", b"{\"level\":30,\"time\":1760000000000,\"msg\":\"up\"}\n", &[Begins(&["{\""]), Has(&["\"level\":", "\"severity\":", "\"levelname\":", "\"lvl\":"])],
        "Give the logger stderr: pino(pino.destination(2)), zap's OutputPaths, structlog's PrintLoggerFactory(sys.stderr)."),
    author("a logger", b"2026-01-01 00:00:00,000 - app - INFO - start\n", &[Dated, Has(&["INFO", "DEBUG", "WARN", "ERROR", "TRACE", "info", "debug", "warn", "error"])],
        LOG_TO_STDERR),
    author("a logger that writes the time first, such as Go's log", b"2026/01/01 00:00:00 listening\n", &[Dated],
        LOG_TO_STDERR),
    author("a logger", b"[INFO] ready\n", &[Begins(&["[INFO]", "[DEBUG]", "[WARN]", "[WARNING]", "[ERROR]", "[TRACE]", "[info]", "[debug]", "[warn]", "[error]", "[trace]", "INFO ", "WARN ", "ERROR ", "DEBUG ", "TRACE "])],
        LOG_TO_STDERR),
    author("a progress bar", b"\r 40%|####      | 4/10\n", &[Has(&["%|", "it/s", "s/it", "\u{2588}", "\u{2501}", "=>", "###"])],
        "Send the bar to stderr, or switch it off where stdout is no terminal: tqdm(file=sys.stderr, disable=None)."),
    author("something that rewrites its line, such as a progress bar or a spinner", b"\rworking...", &[Bytes(b"\r")],
        "Send it to stderr, or switch it off where stdout is no terminal."),
    author("something that colours its output", b"\x1b[32mready\x1b[0m\n", &[Has(&["\u{1b}["])],
        "Send it to stderr; set NO_COLOR=1 to see it plainly."),
    // Prints.
    author("a web page instead of a message", b"<!DOCTYPE html><html>\n", &[Begins(&["<!DOCTYPE", "<html", "<?xml"])],
        "Look at what a request of the server's own brought: the page was printed, not read."),
    author("a printed value of Python", b"{'name': 'x'}\n", &[Begins(&["{'", "['", "None\n", "True\n", "False\n", "b'", "<class '"])],
        PRINT_TO_STDERR),
    author("a printed object of JavaScript", b"{ name: 'server' }\n", &[Begins(&["{ "])],
        PRINT_TO_STDERR),
    author("a banner at the start", b"Weather MCP server running on stdio\n", &[Has(&["unning on", "istening on", "tarting", "tarted", "server", "Server", "ready", "Ready", "elcome"])],
        PRINT_TO_STDERR),
    author("a printed value of JavaScript", b"[ 'x' ]\n", &[Begins(&["[ ", "undefined", "[object ", "Map(", "Promise {"])],
        PRINT_TO_STDERR),
    author("a print for debugging", b"here 1\n", &[Begins(&["DEBUG", "debug", "Debug", "here", "HERE", "test", ">>>", "---", "==="])],
        PRINT_TO_STDERR),
];

/// Whoever else was in the middle of a line.
static GLUED: Author = author(
    "a print without a line feed, glued to a message",
    b"done{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
    &[],
    PRINT_TO_STDERR,
);

/// The author of a line, as far as it is known; the line ends with its line feed, if it has one. A message has none but who wrote it:
/// for one with other text before or behind it, that text's is looked for.
pub fn of(line: &[u8]) -> Option<&'static Author> {
    if let Some(author) = among(AROUND, line) {
        return Some(author);
    }
    let Some(place) = message_in(line) else { return among(AUTHORS, line) };
    let (before, behind) = (line.get(..place.start).unwrap_or_default(), line.get(place.end..).unwrap_or_default());
    if !before.trim_ascii().is_empty() {
        return among(AUTHORS, before).or(Some(&GLUED));
    }
    let other = !behind.trim_ascii().is_empty() && message_in(behind).is_none();
    other.then(|| among(AUTHORS, behind.trim_ascii_start()))?
}

/// Whether a line begins as a message of JSON-RPC, with whatever fault.
pub fn is_message(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    message_in(line).is_some_and(|place| line.get(..place.start).unwrap_or_default().trim_ascii().is_empty())
}

fn among(authors: &'static [Author], line: &[u8]) -> Option<&'static Author> {
    let text = String::from_utf8_lossy(line);
    authors.iter().find(|author| author.marks.iter().all(|mark| mark.fits(line, &text)))
}

/// Where a message stands in a line; to the end of the line where its own end is not there.
fn message_in(line: &[u8]) -> Option<Range<usize>> {
    /// Braces that are tried.
    const TRIED: usize = 16;
    let first = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let whole = message_at(line, first);
    if whole.is_some() {
        return whole;
    }
    // Behind another object only what begins at its end: what is inside it is a part of it.
    let is_object = line.get(first) == Some(&b'{');
    let stands_alone = |at: usize| !is_object || line.get(..at).unwrap_or_default().trim_ascii_end().ends_with(b"}");
    let braces = line.iter().enumerate().filter(|(at, byte)| **byte == b'{' && stands_alone(*at));
    braces.take(TRIED).find_map(|(at, _)| message_at(line, at))
}

/// The message that begins there: an object with the members of one, or an array whose first element is. The text may be cut off.
fn message_at(line: &[u8], from: usize) -> Option<Range<usize>> {
    const LOGGED: [&[u8]; 4] = [b"level", b"severity", b"levelname", b"lvl"];
    let (mut at, mut depth, mut names_at, mut end) = (from, 0_usize, 0_usize, line.len());
    let mut names: Vec<Vec<u8>> = Vec::new();
    if !line.get(from).is_some_and(|first| b"{[".contains(first)) {
        return None;
    }
    while let Some(byte) = line.get(at) {
        let next = at + 1;
        match byte {
            b'{' if names_at == 0 => {
                depth += 1;
                names_at = depth;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth < names_at {
                    // Only the first object's names count.
                    names_at = usize::MAX;
                }
                if depth == 0 {
                    end = next;
                    break;
                }
            }
            b'"' => {
                let len = string_len(line.get(next..).unwrap_or_default());
                let string = line.get(next..next + len).unwrap_or_default();
                at = next + len + 1;
                let behind = line.get(at..).unwrap_or_default().trim_ascii_start();
                if depth == names_at && behind.first() == Some(&b':') {
                    names.push(string.to_ascii_lowercase());
                }
                continue;
            }
            _ if names_at == 0 && !byte.is_ascii_whitespace() => return None,
            _ => {}
        }
        at = next;
    }
    let has = |name: &[u8]| names.iter().any(|named| named == name);
    let answers = has(b"id") && [&b"method"[..], b"result", b"error"].into_iter().any(has);
    let is_message = has(b"jsonrpc") || (answers && !LOGGED.into_iter().any(has));
    is_message.then_some(from..end)
}

/// How many bytes a string has before its closing quote, or before its text is cut off.
fn string_len(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at.min(text.len())
}

impl Mark {
    fn fits(&self, line: &[u8], text: &str) -> bool {
        match self {
            Begins(all) => all.iter().any(|begin| text.trim_start_matches([' ', '\t']).starts_with(begin)),
            Has(all) => all.iter().any(|part| text.contains(part)),
            Bytes(bytes) => line.starts_with(bytes),
            Ends(bytes) => line.ends_with(bytes),
            Is(bytes) => line == *bytes,
            Dated => is_dated(text),
        }
    }
}

/// Whether it begins with a year or an hour, with brackets and a colour around it or without.
fn is_dated(text: &str) -> bool {
    let coloured = text.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')).map_or(text, |(_, rest)| rest);
    let text = coloured.trim_start_matches(['[', '(', ' ']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    matches!((digits, text.as_bytes().get(digits)), (4, Some(b'-' | b'/')) | (2, Some(b':' | b'/' | b'-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_author_is_known_by_its_line() {
        for author in AROUND.iter().chain(AUTHORS).chain([&GLUED]) {
            let shown = String::from_utf8_lossy(author.example);
            assert_eq!(of(author.example), Some(author), "{shown}");
        }
    }

    #[test]
    fn other_lines_of_theirs_are_known() {
        for (line, name) in [
            (&b"\x1b[2m2026-01-01T00:00:00.000000Z\x1b[0m \x1b[32m INFO\x1b[0m up\n"[..], "a logger"),
            (b"[01/01/26 00:00:00] INFO     Starting MCP server\n", "a logger"),
            (b"2026-01-01 00:00:00.000 | INFO     | app:main:1 - up\n", "a logger"),
            (b"\x1b[33mwarning\x1b[0m  no_capabilities  server=a\n", "something that colours its output"),
            (b"\r 50%|#####     |{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "a progress bar"),
            (b"added 12 packages in 3s\n", "npm"),
            (b"Weather server ready\n", "a banner at the start"),
            (b"[ OK ] Started server\n", "a banner at the start"),
            (b"{\"level\":\"info\",\"id\":7,\"method\":\"GET\",\"msg\":\"server started\"}\n", "a logger that writes JSON (pino, zap, bunyan, structlog, slog)"),
            (b"{'jsonrpc': '2.0', 'id': 1, 'result': {'serverInfo': {}}}\n", "a printed value of Python"),
            (b"{ jsonrpc: '2.0', result: { serverInfo: {} } }\n", "a printed object of JavaScript"),
            (b"{\"a\":1}{\"jsonrpc\":\"2.0\",\"result\":{\"serverInfo\":{}}}\n", "a print without a line feed, glued to a message"),
            // Text before a message and behind it is judged by itself.
            (b"done{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{\"text\":\"10it/s\"}}\n", "a print without a line feed, glued to a message"),
            (b"server ready {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "a banner at the start"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{}}}\x1b[0m\n", "something that colours its output"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[\"}\"]}} INFO up\n", "a logger"),
            // Bytes around it, and one that is not the server's.
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{}}}\r\r\n", "text mode on Windows, which ends CR LF with CR LF once more"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"linegate-hello\",\"method\":\"initialize\",\"params\":{\"a\":\"server\"}}\n", "a terminal between the client and the server, such as docker run -t"),
        ] {
            assert_eq!(of(line).map(|author| author.name), Some(name), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_message_is_told_from_other_text() {
        for (line, is) in [
            (&b"{\"jsonrpc\":\"2.0\",\"id\":1}\n"[..], true),
            (b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\"}\n", true),
            (b" [ {\"id\":1,\"error\":{}}]\n", true),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1} done\n", true),
            (b"done {\"jsonrpc\":\"2.0\",\"id\":1}\n", false),
            (b"{\"a\":{\"jsonrpc\":\"2.0\"}}\n", false),
            (b"{\"a\":\"jsonrpc\"}\n", false),
            (b"{\"level\":30,\"id\":1,\"error\":\"no\"}\n", false),
            (b"{\"error\":\"no\"}\n", false),
            (b"[1,{\"jsonrpc\":\"2.0\"}]\n", false),
            (b"[]\n", false),
        ] {
            assert_eq!(is_message(line), is, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn nobody_is_accused_for_nothing() {
        for line in [
            &b"xyzzy\n"[..],
            b"42\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
            b"\xff\xfe\n",
            // Messages, with a fault each, that have the words of others in them.
            b"{\"jsonrpc\":\"2.0\",\"id\":\"linegate-hello\",\"result\":{\"serverInfo\":{\"name\":\"s\"}},\"took\":3}\n",
            b"{ \"JSONRPC\" : \"2.0\", \"id\": 1, \"result\": {\"text\": \"ready\"}}\n",
            b"{\"id\":1,\"result\":{\"text\":\"Warning: a.py:1 it/s\"}}\n",
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"server\"}}]\n",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":NaN}}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{}}}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{}}}\n",
            b"{\"result\":{\"serverInfo\":{}},\"id\":1,\"jsonrpc\":",
        ] {
            assert_eq!(of(line), None, "{}", String::from_utf8_lossy(line));
        }
    }
}
