//! The lines of a random session as values, from which both the text for the gates and the facts for the model are read.

use std::fmt::Write as _;

/// A random number generator that gives the same numbers for a seed for ever (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// The revisions, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];

    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// An id or a token: how the line spells it, and what is left of that after decoding, a string in its quotes.
#[derive(Clone, Debug)]
pub struct Name {
    pub written: String,
    pub meant: String,
}

impl Name {
    /// Spells what is meant plainly, or a string with an escape in place of its first character.
    pub fn spelt(meant: &str, escaped: bool) -> Self {
        let written = match meant.strip_prefix('"').and_then(|rest| rest.chars().next()) {
            Some(first) if escaped => format!("\"\\u{:04x}{}", u32::from(first), &meant[2..]),
            _ => meant.to_owned(),
        };
        Self { written, meant: meant.to_owned() }
    }

    /// One of about three times `space` names: numbers, the same digits as strings, and letters.
    pub fn any(dice: &mut Dice, space: usize) -> Self {
        let number = dice.below(space);
        let meant = match dice.below(4) {
            0 | 1 => format!("{number}"),
            2 => format!("\"{number}\""),
            _ => format!("\"a{number}\""),
        };
        Self::spelt(&meant, dice.percent(30))
    }
}

/// What a request says beside its id.
#[derive(Clone, Debug)]
pub struct Ask {
    pub method: &'static str,
    /// The version that `initialize` asks for.
    pub version: &'static str,
    pub token: Option<Name>,
    /// `params.task` stands there.
    pub task: bool,
    /// The keys of 2026-07-28 stand there, these capabilities with them.
    pub modern: Option<&'static [&'static str]>,
    /// A required member of `params` is missing.
    pub lacking: bool,
}

/// The members of a result with their values.
pub type Members = Vec<(&'static str, String)>;

#[derive(Clone, Debug)]
pub enum Answer {
    Result(Members),
    Error(i32),
}

/// What a line says.
#[derive(Clone, Debug)]
pub enum Says {
    Ask(Name, Ask),
    /// Only an error may do without an id.
    Answer(Option<Name>, Answer),
    Cancel(Option<Name>),
    Progress {
        token: Name,
        tag: Option<Name>,
    },
    /// Any other notification.
    Note {
        method: &'static str,
        tag: Option<Name>,
    },
    /// A request that ends too early.
    CutOff,
}

/// One line of a session.
#[derive(Clone, Debug)]
pub struct Step {
    pub from: Side,
    pub says: Says,
}

impl Step {
    /// The id of a request or response.
    pub const fn id(&self) -> Option<&Name> {
        match &self.says {
            Says::Ask(id, _) | Says::Answer(Some(id), _) => Some(id),
            _ => None,
        }
    }

    /// The line with its LF.
    pub fn line(&self) -> String {
        let mut line = String::from(r#"{"jsonrpc":"2.0""#);
        match &self.says {
            Says::Ask(id, ask) => {
                write!(line, r#","id":{},"method":"{}","params":{{"#, id.written, ask.method).unwrap();
                line.push_str(&list(&[own_params(ask), ask.task.then(|| r#""task":{}"#.into()), meta(ask)]));
                line.push('}');
            }
            Says::Answer(id, answer) => {
                if let Some(id) = id {
                    write!(line, r#","id":{}"#, id.written).unwrap();
                }
                match answer {
                    Answer::Result(members) => {
                        let members: Vec<_> =
                            members.iter().map(|(key, value)| Some(format!(r#""{key}":{value}"#))).collect();
                        write!(line, r#","result":{{{}}}"#, list(&members)).unwrap();
                    }
                    Answer::Error(code) => write!(line, r#","error":{{"code":{code},"message":"m"}}"#).unwrap(),
                }
            }
            Says::Cancel(id) => {
                let id = id.as_ref().map(|id| format!(r#""requestId":{}"#, id.written));
                write!(line, r#","method":"notifications/cancelled","params":{{{}}}"#, list(&[id])).unwrap();
            }
            Says::Progress { token, tag } => {
                let token = format!(r#""progressToken":{},"progress":1"#, token.written);
                let params = list(&[Some(token), tag.as_ref().map(tagged)]);
                write!(line, r#","method":"notifications/progress","params":{{{params}}}"#).unwrap();
            }
            Says::Note { method, tag } => {
                let own = match *method {
                    "notifications/subscriptions/acknowledged" => Some(r#""notifications":{}"#.into()),
                    "notifications/resources/updated" => Some(r#""uri":"u:""#.into()),
                    "notifications/message" => Some(r#""level":"info","data":1"#.into()),
                    _ => None,
                };
                let params = list(&[own, tag.as_ref().map(tagged)]);
                write!(line, r#","method":"{method}","params":{{{params}}}"#).unwrap();
            }
            Says::CutOff => line.push_str(r#","id":1,"method":"ping""#),
        }
        line.push_str(if matches!(self.says, Says::CutOff) { "\n" } else { "}\n" });
        line
    }
}

/// The members that stand there, with commas between them.
fn list(members: &[Option<String>]) -> String {
    members.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(",")
}

fn own_params(ask: &Ask) -> Option<String> {
    let params = match ask.method {
        _ if ask.lacking => return None,
        "initialize" => format!(
            r#""protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#,
            ask.version
        ),
        "tools/call" => r#""name":"n""#.into(),
        "subscriptions/listen" => r#""notifications":{}"#.into(),
        "sampling/createMessage" => r#""messages":[],"maxTokens":1"#.into(),
        "elicitation/create" => r#""message":"m","requestedSchema":{"type":"object","properties":{}}"#.into(),
        _ => return None,
    };
    Some(params)
}

fn meta(ask: &Ask) -> Option<String> {
    let token = ask.token.as_ref().map(|token| format!(r#""progressToken":{}"#, token.written));
    let modern = ask.modern.map(|capabilities| {
        let capabilities: Vec<_> = capabilities.iter().map(|name| Some(format!(r#""{name}":{{}}"#))).collect();
        let capabilities = list(&capabilities);
        format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{{capabilities}}}"#
        )
    });
    let members = list(&[token, modern]);
    (!members.is_empty()).then(|| format!(r#""_meta":{{{members}}}"#))
}

fn tagged(tag: &Name) -> String {
    format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, tag.written)
}
