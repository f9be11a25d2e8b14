//! What a check finds: a violation, its class, and what mends it.

use linegate::{Code, Stage};

use super::author;
use super::outcome::Dirt;
use super::wire::NoResult;
pub use crate::args::Class;

impl Class {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Stdout, Self::Effects, Self::Lifecycle];

    /// The class's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Effects => "effects",
            Self::Lifecycle => "lifecycle",
        }
    }
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its class.
    pub class: Class,
    /// What was seen.
    pub what: String,
    /// What mends it.
    pub fix: &'static str,
    /// The bad line that it is about.
    pub dirt: Option<Box<Dirt>>,
}

impl Finding {
    /// A bad line on stdout.
    pub fn dirt(dirt: &Dirt) -> Self {
        let Dirt { scenario, line, .. } = dirt;
        let (is, fix) = if line.code.stage() <= Stage::Rpc && author::is_message(&line.text) {
            ("no valid message", mending(line.code))
        } else if line.code.stage() <= Stage::Rpc {
            (
                "no message",
                "Write logs, banners and progress to stderr, and keep libraries and child processes off stdout.",
            )
        } else {
            (
                "a message that the protocol does not have there",
                "Send what the revision has, with all that it asks for, and answer each request once and nothing else.",
            )
        };
        let what = format!("line {} of stdout in {scenario} is {is}", line.number);
        Self { class: Class::Stdout, what, fix, dirt: Some(Box::new(dirt.clone())) }
    }

    /// A fault of the session or of the process.
    pub const fn life(what: String, fix: &'static str) -> Self {
        Self { class: Class::Lifecycle, what, fix, dirt: None }
    }

    /// A violation of the session's ordinary work: a valid request got no result.
    pub fn no_result(method: &str, instead: &NoResult) -> Self {
        let (what, fix) = match instead {
            NoResult::Error { code, message } => (
                format!("{method} was answered with error {code}: {message}"),
                "Answer with a result: the request is valid.",
            ),
            NoResult::Closed => (
                format!("stdout ended before {method} was answered"),
                "Serve until the input ends; what the server wrote to stderr may say why it stopped.",
            ),
            NoResult::Silent => (
                format!("{method} was not answered in time"),
                "Answer each request with one line on stdout, and flush it; --timeout gives a slow server more time.",
            ),
        };
        Self::life(what, fix)
    }

    /// A violation of the session's ordinary work: a result is not what was asked for.
    pub const fn wrong_result(what: String) -> Self {
        let fix = "Give the result all that the protocol's revision asks of it.";
        Self::life(what, fix)
    }
}

/// What mends a fault of a message that the server itself has written: the rule says what is wrong, this how to write it.
const fn mending(code: Code) -> &'static str {
    match code {
        Code::FrameTooLong | Code::TooDeep | Code::TooManyKeys | Code::KeyTooLong => {
            "Write smaller messages: readers of clients have limits."
        }
        Code::FrameEmpty | Code::BareCr | Code::Truncated | Code::UnexpectedEnd => {
            "Write each message whole on one line, and end it with one line feed alone."
        }
        Code::Bom | Code::NulByte | Code::InvalidUtf8 => {
            "Write UTF-8, without a byte order mark and without bytes around it."
        }
        Code::TrailingBytes | Code::SurroundingSpace => {
            "End each message with a line feed, and write nothing else on its line."
        }
        Code::DuplicateKey | Code::CaseCollision | Code::ForbiddenKey => {
            "Give an object of the message each member once, under a name that no reader takes for another."
        }
        Code::Batch => "Write each message on a line of its own: the revision has no batches.",
        Code::UnknownMember => {
            "Leave other members out of the message: what a server has to say beside stands in result, error.data, params or _meta."
        }
        Code::JsonrpcMissing | Code::JsonrpcWrong => r#"Give each message the member "jsonrpc":"2.0"."#,
        Code::IdType | Code::IdNull | Code::IdRange | Code::IdMissing => {
            "Answer with the id of the request, as it came."
        }
        _ if matches!(code.stage(), Stage::Rpc) => {
            "Write messages as JSON-RPC has them: an answer with id and either a result or an error, both objects."
        }
        _ => {
            "Write messages by a JSON library that keeps to RFC 8259: no NaN, no Infinity, no raw control characters, no half characters."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::outcome::BadLine;

    #[test]
    fn a_fault_of_a_message_is_mended_in_the_message() {
        let fix = |code: Code, text: &str| {
            let text = text.as_bytes().to_vec();
            let line = BadLine { number: 1, at: 0, code, bytes: text.clone(), text, bad_lines: 1 };
            let Finding { what, fix, .. } = Finding::dirt(&Dirt { scenario: "call".to_owned(), run: 0, line });
            (what.split_once(" is ").expect("a sentence").1.to_owned(), fix)
        };
        let own = r#"{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{}}}"#;
        for code in (101..=316).filter_map(Code::from_number) {
            let (is, fix) = fix(code, own);
            assert!(is == "no valid message" && !fix.contains("logs"), "{code}: {fix}");
        }
        assert!(fix(Code::DuplicateKey, own).1.starts_with("Give an object of the message each member once"));
        for other in ["Ready", r#"{"level":30,"msg":"up"}"#, &format!("Ready {own}")] {
            let (is, fix) = fix(Code::UnexpectedByte, other);
            assert!(is == "no message" && fix.starts_with("Write logs"), "{other}: {fix}");
        }
        assert!(fix(Code::AnsweredTwice, own).0.starts_with("a message that the protocol does not have"));
    }
}
