//! The corpora: many distinct frames each, since a branch predictor learns one repeated frame by heart and flatters every
//! parser that branches. All are made here from a seed, shaped after what clients and servers write, and all are lines
//! that the strictest profile accepts.

use linegate::Direction;

use crate::random::Random;

/// Lines of one kind, as one stream.
pub struct Corpus {
    /// The short name, as `--corpus` takes it.
    pub name: &'static str,
    /// What the lines are.
    pub text: &'static str,
    /// Who sends them.
    pub direction: Direction,
    /// The bytes of the stream, a line feed after each line.
    pub stream: Vec<u8>,
    /// Where each line starts and ends, without its line feed.
    pub lines: Vec<(usize, usize)>,
}

impl Corpus {
    fn new(name: &'static str, text: &'static str, direction: Direction, lines: Vec<String>) -> Self {
        let mut corpus = Self { name, text, direction, stream: Vec::new(), lines: Vec::with_capacity(lines.len()) };
        for line in lines {
            let start = corpus.stream.len();
            corpus.stream.extend_from_slice(line.as_bytes());
            corpus.lines.push((start, corpus.stream.len()));
            corpus.stream.push(b'\n');
        }
        corpus
    }

    /// The lines one by one.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|&(start, end)| &self.stream[start..end])
    }
}

/// Every corpus, in the order of the table.
pub fn all() -> Vec<Corpus> {
    use Direction::{FromClient, FromServer};
    let tools = tools_list(&mut Random::new(3));
    let prose = prose(&mut Random::new(6));
    let spaced_tools = tools.iter().map(|line| spaced(line)).collect();
    let escaped_prose = prose.iter().map(|line| escaped(line)).collect();
    vec![
        Corpus::new("a", "small tools/call", FromClient, small_calls(&mut Random::new(1))),
        Corpus::new("b", "initialize", FromClient, initialize(&mut Random::new(2))),
        Corpus::new("c", "tools/list results", FromServer, tools),
        Corpus::new("c2", "c with spaces after , and :", FromServer, spaced_tools),
        Corpus::new("d", "escaped source text", FromClient, source(&mut Random::new(4))),
        Corpus::new("e", "base64", FromServer, base64(&mut Random::new(5))),
        Corpus::new("f", "raw non-ASCII text", FromServer, prose),
        Corpus::new("f2", "f as \\u escapes", FromServer, escaped_prose),
        Corpus::new("g", "numbers", FromServer, numbers(&mut Random::new(7))),
        Corpus::new("h", "mixed client lines", FromClient, mixed(&mut Random::new(8))),
    ]
}

const WORDS: &[&str] = &[
    "account", "archive", "batch", "branch", "buffer", "cache", "channel", "client", "column", "commit", "config",
    "cursor", "customer", "dataset", "date", "deploy", "digest", "draft", "email", "entry", "event", "export", "field",
    "file", "filter", "folder", "format", "graph", "group", "header", "host", "image", "import", "index", "invoice",
    "issue", "item", "job", "key", "label", "limit", "line", "list", "locale", "log", "mode", "name", "node", "note",
    "offset", "order", "owner", "page", "path", "pattern", "plan", "policy", "port", "price", "profile", "project",
    "query", "queue", "range", "record", "region", "release", "report", "request", "result", "role", "route", "row",
    "rule", "sample", "schema", "scope", "secret", "sector", "server", "session", "shard", "size", "sort", "source",
    "state", "status", "stream", "table", "tag", "target", "task", "team", "template", "ticket", "time", "title",
    "token", "topic", "type", "unit", "update", "url", "user", "value", "vector", "version", "view", "volume",
    "webhook", "width", "window", "worker", "zone",
];
const VERBS: &[&str] = &[
    "add", "apply", "build", "cancel", "check", "clone", "close", "copy", "count", "create", "delete", "describe",
    "diff", "edit", "execute", "export", "fetch", "find", "get", "grep", "import", "inspect", "list", "load", "lock",
    "merge", "move", "open", "parse", "publish", "query", "read", "rename", "render", "reset", "resolve", "run",
    "save", "scan", "search", "send", "set", "sync", "tail", "test", "trace", "update", "upload", "validate", "watch",
    "write",
];
const LITTLE: &[&str] =
    &["the", "a", "of", "in", "for", "and", "to", "with", "by", "from", "as", "on", "if", "or", "this", "that"];

fn word(r: &mut Random) -> &'static str {
    r.pick(WORDS)
}

fn tool_name(r: &mut Random) -> String {
    format!("{}_{}", r.pick(VERBS), word(r))
}

fn path(r: &mut Random) -> String {
    let mut path = String::from(r.pick(&["/home/dev", "/srv/app", "/data", "src", "docs"]));
    for _ in 0..r.between(1, 3) {
        path.push('/');
        path.push_str(word(r));
    }
    path + r.pick(&[".rs", ".py", ".ts", ".md", ".json", ".toml", ".txt"])
}

fn sentence(r: &mut Random, words: usize) -> String {
    let mut text = String::new();
    for i in 0..words {
        if i > 0 {
            text.push(' ');
        }
        text.push_str(match r.below(5) {
            0 | 1 => r.pick(LITTLE),
            2 => r.pick(VERBS),
            _ => word(r),
        });
    }
    text
}

fn id(r: &mut Random, ordinal: usize) -> String {
    match r.below(10) {
        0 => format!("\"{:08x}-{:04x}-4{:03x}\"", r.bits() as u32, r.bits() as u16, r.bits() & 0xfff),
        1 => format!("\"req-{ordinal}\""),
        _ => ordinal.to_string(),
    }
}

/// A request in the order of members that one of the common client libraries writes.
fn request(r: &mut Random, ordinal: usize, method: &str, params: &str) -> String {
    let id = id(r, ordinal);
    match r.below(3) {
        0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
        1 => format!(r#"{{"method":"{method}","params":{params},"jsonrpc":"2.0","id":{id}}}"#),
        _ => format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":{id}}}"#),
    }
}

fn call_params(r: &mut Random) -> String {
    let name = tool_name(r);
    let arguments = match r.below(6) {
        0 => {
            let (offset, limit) = (r.below(5000), r.between(10, 2000));
            format!(r#""path":"{}","offset":{offset},"limit":{limit}"#, path(r))
        }
        1 => {
            let (words, limit, case) = (r.between(2, 6), r.between(1, 100), r.chance(50));
            format!(r#""query":"{}","max_results":{limit},"case_sensitive":{case}"#, sentence(r, words))
        }
        2 => {
            format!(r#""command":"{} {}","cwd":"{}","timeout":{}"#, r.pick(VERBS), path(r), path(r), r.between(1, 120))
        }
        3 => {
            let (latitude, longitude) = (r.below(9000), r.below(18000));
            let (sign, unit) = (r.pick(&["", "-"]), r.pick(&["metric", "imperial"]));
            format!(
                r#""latitude":{sign}{}.{:02},"longitude":{}.{:02},"unit":"{unit}""#,
                latitude / 100,
                latitude % 100,
                longitude / 100,
                longitude % 100
            )
        }
        4 => {
            let labels = format!(r#""{}","{}""#, word(r), word(r));
            let words = r.between(3, 7);
            format!(r#""title":"{}","labels":[{labels}],"draft":{}"#, sentence(r, words), r.chance(50))
        }
        _ => {
            let filter = format!(
                r#"{{"field":"{}","op":"{}","value":{}}}"#,
                word(r),
                r.pick(&["eq", "lt", "gt"]),
                r.below(1000)
            );
            format!(r#""table":"{}","filter":{filter},"order_by":null"#, word(r))
        }
    };
    let meta = match r.below(3) {
        0 => format!(r#","_meta":{{"progressToken":{}}}"#, r.below(100_000)),
        _ => String::new(),
    };
    format!(r#"{{"name":"{name}","arguments":{{{arguments}}}{meta}}}"#)
}

fn small_calls(r: &mut Random) -> Vec<String> {
    (0..4096)
        .map(|i| {
            let params = call_params(r);
            request(r, i, "tools/call", &params)
        })
        .collect()
}

fn initialize(r: &mut Random) -> Vec<String> {
    (0..2048)
        .map(|i| {
            let version = r.pick(&["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
            let mut capabilities = format!(r#""roots":{{"listChanged":{}}}"#, r.chance(50));
            if r.chance(70) {
                capabilities.push_str(r#","sampling":{}"#);
            }
            if r.chance(50) {
                capabilities.push_str(r#","elicitation":{}"#);
            }
            if r.chance(40) {
                let feature = format!(r#"{{"enabled":{},"level":{}}}"#, r.chance(50), r.below(10));
                capabilities.push_str(&format!(r#","experimental":{{"{}/{}":{feature}}}"#, word(r), word(r)));
            }
            let (major, minor, patch) = (r.below(3), r.below(20), r.below(50));
            let client = format!("{}-{}", word(r), r.pick(&["desktop", "cli", "agent", "ide", "inspector"]));
            let title = format!("{} {}", word(r), word(r));
            let params = format!(
                r#"{{"protocolVersion":"{version}","capabilities":{{{capabilities}}},"clientInfo":{{"name":"{client}","title":"{title}","version":"{major}.{minor}.{patch}"}}}}"#
            );
            request(r, i, "initialize", &params)
        })
        .collect()
}

/// `count` words, none twice, so that they can be the keys of one object.
fn distinct(r: &mut Random, count: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    while names.len() < count {
        let name = match r.below(3) {
            0 => format!("{}_{}", word(r), word(r)),
            _ => word(r).to_owned(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn property(r: &mut Random, depth: usize) -> String {
    let words = r.between(3, 9);
    let description = sentence(r, words);
    let rest = match r.below(if depth == 0 { 6 } else { 5 }) {
        0 => format!(r#""type":"integer","minimum":{},"maximum":{}"#, r.below(10), r.between(100, 10_000)),
        1 => format!(r#""type":"boolean","default":{}"#, r.chance(50)),
        2 => {
            let count = r.between(2, 5);
            let values: Vec<String> = distinct(r, count).iter().map(|value| format!("\"{value}\"")).collect();
            format!(r#""type":"string","enum":[{}]"#, values.join(","))
        }
        3 => format!(
            r#""type":"array","items":{{"type":"{}"}},"maxItems":{}"#,
            r.pick(&["string", "number"]),
            r.between(1, 100)
        ),
        4 => format!(r#""type":"string","maxLength":{}"#, r.between(16, 4096)),
        _ => {
            let count = r.between(1, 3);
            format!(r#""type":"object",{}"#, properties(r, count, depth + 1))
        }
    };
    format!(r#"{{"description":"{description}",{rest}}}"#)
}

fn properties(r: &mut Random, count: usize, depth: usize) -> String {
    let names = distinct(r, count);
    let members: Vec<String> = names.iter().map(|name| format!(r#""{name}":{}"#, property(r, depth))).collect();
    let required: Vec<String> = names.iter().take(count.div_ceil(2)).map(|name| format!("\"{name}\"")).collect();
    format!(r#""properties":{{{}}},"required":[{}]"#, members.join(","), required.join(","))
}

fn tool(r: &mut Random) -> String {
    let name = tool_name(r);
    let (title, words, count) = (sentence(r, 2), r.between(8, 30), r.between(2, 6));
    let description = sentence(r, words);
    let schema = properties(r, count, 0);
    let hints = format!(r#""readOnlyHint":{},"destructiveHint":{}"#, r.chance(50), r.chance(50));
    format!(
        r#"{{"name":"{name}","title":"{title}","description":"{description}.","inputSchema":{{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",{schema},"additionalProperties":false}},"annotations":{{{hints}}}}}"#
    )
}

fn tools_list(r: &mut Random) -> Vec<String> {
    (0..48)
        .map(|i| {
            let mut tools = tool(r);
            while tools.len() < 31_000 {
                tools.push(',');
                tools.push_str(&tool(r));
            }
            format!(r#"{{"jsonrpc":"2.0","id":{i},"result":{{"tools":[{tools}]}}}}"#)
        })
        .collect()
}

/// The line with a space after each comma and colon between tokens, as Python's `json.dumps` writes it.
fn spaced(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + line.len() / 4);
    let (mut inside, mut escape) = (false, false);
    for c in line.chars() {
        out.push(c);
        if inside {
            (inside, escape) = (escape || c != '"', !escape && c == '\\');
        } else if c == '"' {
            inside = true;
        } else if matches!(c, ',' | ':') {
            out.push(' ');
        }
    }
    out
}

/// The line with every character beyond ASCII as `\u` escapes.
fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len() * 2);
    let mut units = [0; 2];
    for c in line.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn code_line(r: &mut Random) -> String {
    let indent = "    ".repeat(r.below(4));
    let (name, value) = (word(r), word(r));
    match r.below(9) {
        0 => String::new(),
        1 => format!("{indent}// {}", sentence(r, 8)),
        2 => format!("{indent}let {name} = {value}.{}(&{}, {});", r.pick(VERBS), word(r), r.below(1000)),
        3 => format!(r#"{indent}println!(\"{name}: {{}}\\n\", {value});"#),
        4 => format!(r#"{indent}if {name}.get(\"{value}\") == Some(\"{}\") {{"#, word(r)),
        5 => format!("{indent}}}"),
        6 => format!(r#"\t\treturn Err(Error::new(\"{}\"));"#, sentence(r, 5)),
        7 => format!(r#"{indent}let re = Regex::new(\"^\\\\d+\\\\s*{name}$\")?;"#),
        _ => format!("{indent}fn {}_{name}({value}: &str) -> Result<{}, Error> {{", r.pick(VERBS), word(r)),
    }
}

fn source(r: &mut Random) -> Vec<String> {
    (0..12)
        .map(|i| {
            let mut text = String::new();
            while text.len() < 100_000 {
                text.push_str(&code_line(r));
                text.push_str("\\n");
            }
            let params = format!(r#"{{"name":"write_file","arguments":{{"path":"{}","content":"{text}"}}}}"#, path(r));
            request(r, i, "tools/call", &params)
        })
        .collect()
}

fn base64(r: &mut Random) -> Vec<String> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let blob: String = (0..1 << 20).map(|_| char::from(DIGITS[r.below(64)])).collect();
    let contents = format!(r#"{{"uri":"file:///archive.bin","mimeType":"application/octet-stream","blob":"{blob}"}}"#);
    vec![format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"contents":[{contents}]}}}}"#)]
}

/// A word of a language that isn't written in ASCII.
fn foreign(r: &mut Random, script: usize) -> String {
    let length = r.between(2, 9);
    let mut letters = |first: u32, count: usize| -> String {
        (0..length).filter_map(|_| char::from_u32(first + r.below(count) as u32)).collect()
    };
    match script {
        0 => letters(0x0430, 32),
        1 => letters(0x4e00, 0x2000),
        2 => letters(0x3042, 80),
        3 => letters(0xac00, 0x2000),
        4 => letters(0x03b1, 25),
        5 => letters(0x0905, 50),
        _ => {
            let latin = ["é", "ü", "ß", "ñ", "å", "a", "e", "n", "r", "t", "s", "i"];
            (0..length).map(|_| r.pick(&latin)).collect()
        }
    }
}

fn prose(r: &mut Random) -> Vec<String> {
    (0..16)
        .map(|i| {
            let mut text = String::new();
            while text.len() < 50_000 {
                let script = r.below(7);
                for _ in 0..r.between(5, 25) {
                    text.push_str(&foreign(r, script));
                    text.push(' ');
                }
                text.push_str(r.pick(&["。", ". ", "… ", "! ", "\\n", " 🙂 ", " — ", " 12 "]));
            }
            format!(r#"{{"jsonrpc":"2.0","id":{i},"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}}}"#)
        })
        .collect()
}

fn number(r: &mut Random) -> String {
    let sign = r.pick(&["", "", "", "-"]);
    match r.below(8) {
        0 => r.below(10).to_string(),
        1 => format!("{sign}{}", r.between(1, 100_000)),
        2 => format!("{sign}{}", r.bits() % ((1 << 53) - 1) + 1),
        3 => format!("{sign}{}.{}", r.below(1000), r.between(1, 99)),
        4 => format!("{sign}0.{:015}{}", r.bits() % 1_000_000_000_000_000, r.between(1, 9)),
        5 => format!("{sign}{}.{:06}", r.between(1, 180), r.below(1_000_000)),
        6 => format!("{sign}{}.{}e{}{}", r.between(1, 9), r.below(100_000), r.pick(&["", "-", "+"]), r.between(1, 300)),
        _ => format!("{sign}0.{:04}", r.below(10_000)),
    }
}

fn numbers(r: &mut Random) -> Vec<String> {
    (0..12)
        .map(|i| {
            let mut rows = String::new();
            while rows.len() < 100_000 {
                let row: Vec<String> = (0..r.between(4, 32)).map(|_| number(r)).collect();
                if !rows.is_empty() {
                    rows.push(',');
                }
                rows.push_str(&format!("[{}]", row.join(",")));
            }
            format!(r#"{{"jsonrpc":"2.0","id":{i},"result":{{"content":[],"structuredContent":{{"rows":[{rows}]}}}}}}"#)
        })
        .collect()
}

fn mixed(r: &mut Random) -> Vec<String> {
    (0..10_000)
        .map(|i| match r.below(20) {
            0 => format!(r#"{{"jsonrpc":"2.0","id":{i},"method":"ping"}}"#),
            1 => request(r, i, "tools/list", "{}"),
            2 => {
                let params = format!(r#"{{"uri":"file:///{}"}}"#, path(r).trim_start_matches('/'));
                request(r, i, "resources/read", &params)
            }
            3 => {
                let params =
                    format!(r#"{{"name":"{}","arguments":{{"{}":"{}"}}}}"#, tool_name(r), word(r), sentence(r, 4));
                request(r, i, "prompts/get", &params)
            }
            4 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":"{}"}}}}"#,
                r.below(i + 1),
                sentence(r, 4)
            ),
            5 | 6 => {
                let (total, token) = (r.between(10, 1000), r.below(10_000));
                let progress = format!(r#""progress":{},"total":{total},"progressToken":{token}"#, r.below(total));
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{progress}}}}}"#)
            }
            7 => {
                let uri = format!("file:///{}", path(r).trim_start_matches('/'));
                let roots = format!(r#"{{"uri":"{uri}","name":"{}"}}"#, word(r));
                format!(r#"{{"jsonrpc":"2.0","id":{i},"result":{{"roots":[{roots}]}}}}"#)
            }
            8 => format!(r#"{{"jsonrpc":"2.0","id":{i},"error":{{"code":-32603,"message":"{}"}}}}"#, sentence(r, 6)),
            9 => {
                let words = r.between(20, 400);
                let content = format!("{}\\n{}", foreign(r, 6), sentence(r, words));
                let params =
                    format!(r#"{{"name":"write_note","arguments":{{"path":"{}","content":"{content}"}}}}"#, path(r));
                request(r, i, "tools/call", &params)
            }
            _ => {
                let params = call_params(r);
                request(r, i, "tools/call", &params)
            }
        })
        .collect()
}
