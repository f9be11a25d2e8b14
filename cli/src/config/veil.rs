//! Hiding the secrets of an entry in a report of its server, whatever form they took on the way: as a literal or JSON where the server
//! prints them so, quoted for a shell, escaped for a terminal, in hexadecimal, or cut off.

use std::ffi::OsStr;

use serde_json::Value;

use super::exposed::Exposed;
use crate::check::{command_line, escaped, hex};
use crate::secrets::{Secrets, parts};
use crate::tell::printable;

/// So many characters of a secret are hidden where the rest of it was cut off.
const PIECE: usize = 4;
/// The same in hexadecimal.
const PIECE_IN_HEX: usize = PIECE * 3 - 1;
/// What stands in front of a cut piece in a report for people.
const BYTES: &str = "  bytes: ";

/// The secrets of an entry in every form.
#[derive(Debug, Default)]
pub struct Veil {
    secrets: Secrets,
    forms: Vec<Form>,
}

#[derive(Debug)]
struct Form {
    label: String,
    text: String,
    /// The shortest piece that is hidden, in bytes.
    least: usize,
}

impl Veil {
    /// A veil over these.
    pub fn over(exposed: &[Exposed]) -> Self {
        let mut veil = Self::default();
        for exposed in exposed {
            let value = exposed.value.as_bytes();
            for part in std::iter::once(value).chain(parts(value)) {
                // Each line of a key may stand alone.
                for line in String::from_utf8_lossy(part).lines() {
                    veil.add(exposed.label(), line);
                }
            }
        }
        veil
    }

    fn add(&mut self, label: &str, value: &str) {
        if value.len() < crate::secrets::SHORTEST {
            return;
        }
        let slashed = value.replace('\\', r"\\");
        let json = Value::from(value).to_string();
        // As servers print it: as it is, as JSON, as a literal in either quotes.
        let printed = [value.to_owned(), json[1..json.len() - 1].to_owned(), slashed.replace('\'', r"\'"), slashed];
        let shown = printed
            .iter()
            .map(String::as_bytes)
            .flat_map(|bytes| [(escaped(bytes), PIECE), (hex(bytes), PIECE_IN_HEX)]);
        let word = command_line(&[OsStr::new(value)]);
        let word = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(&word);
        let texts = printed.iter().cloned().chain([printable(value).into_owned(), word.to_owned()]);
        let texts: Vec<_> = texts.map(|text| (text, PIECE)).chain(shown).collect();
        for (text, least) in texts {
            if !self.forms.iter().any(|form| form.text == text) {
                self.secrets.add_value(label, text.as_bytes());
                self.forms.push(Form { label: format!("[{label}]"), text, least });
            }
        }
    }

    /// The text without them.
    pub fn hide(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.secrets.masked(text.as_bytes())).into_owned()
    }

    /// The same for a text that may begin or end inside of one.
    pub fn hide_pieces(&self, text: &str) -> String {
        let text = self.hide(text);
        let within = |form: &&Form| text.len() >= form.least && form.text.contains(&text);
        if let Some(form) = self.forms.iter().find(within) {
            return form.label.clone();
        }
        let longest = |is_piece: &dyn Fn(&str, usize) -> bool| {
            let piece =
                |form: &'_ Form| (form.least..form.text.len()).rev().find(|length| is_piece(&form.text, *length));
            let pieces = self.forms.iter().filter_map(|form| Some((piece(form)?, form.label.as_str())));
            pieces.max().unwrap_or_default()
        };
        let (ahead, first) =
            longest(&|form, length| form.get(form.len() - length..).is_some_and(|end| text.starts_with(end)));
        let rest = text.get(ahead..).unwrap_or_default();
        let (behind, last) =
            longest(&|form, length| form.get(..length).is_some_and(|beginning| rest.ends_with(beginning)));
        format!("{first}{}{last}", rest.get(..rest.len() - behind).unwrap_or_default())
    }

    /// A line of a report for people without them.
    pub fn hide_in_line(&self, line: &str) -> String {
        match line.strip_prefix(BYTES) {
            Some(bytes) => format!("{BYTES}{}", self.hide_pieces(bytes)),
            None => self.hide(line),
        }
    }

    /// Hides them in every text of a document; in what is cut, pieces of them as well.
    pub fn hide_all(&self, document: &mut Value) {
        self.hide_below("", document);
    }

    fn hide_below(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) if ["bytes", "hex", "stderr"].contains(&name) => *text = self.hide_pieces(text),
            Value::String(text) => *text = self.hide(text),
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.hide_below(name, element)),
            Value::Object(members) => members.iter_mut().for_each(|(name, member)| self.hide_below(name, member)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::exposed::Remedy;
    use super::*;

    const SECRET: &str = "p\"ss\\it's\u{e9}\t-1234-abcd-efgh";

    fn veil() -> Veil {
        let remedy = Remedy::Variable("KEY".to_owned());
        Veil::over(&[Exposed { place: String::new(), value: SECRET.to_owned(), remedy }])
    }

    #[test]
    fn every_form_of_a_secret_is_hidden() {
        let json = Value::from(SECRET).to_string();
        let forms = [
            SECRET.to_owned(),
            escaped(SECRET.as_bytes()),
            escaped(json.as_bytes()),
            hex(json.as_bytes()),
            json,
            // As Python prints a text that has quotes of both kinds.
            SECRET.replace('\\', r"\\").replace('\'', r"\'"),
            hex(SECRET.replace('\\', r"\\").as_bytes()),
            hex(SECRET.as_bytes()),
            command_line(&[OsStr::new(SECRET)]),
            printable(SECRET).into_owned(),
        ];
        for form in forms {
            let hidden = veil().hide(&format!("61 {form} 62"));
            assert!(hidden.trim_matches(|c| "6 12'\"".contains(c)) == "[KEY]", "{form}: {hidden}");
        }
        let header = Exposed { place: String::new(), value: "Bearer abcdef".to_owned(), remedy: Remedy::Elsewhere };
        assert_eq!(Veil::over(&[header]).hide("token abcdef"), "token [secret]");
    }

    #[test]
    fn pieces_of_a_secret_are_hidden() {
        for form in [escaped(SECRET.as_bytes()), hex(SECRET.as_bytes())] {
            let (from, to) = (form.len() - 11, 11);
            assert_eq!(veil().hide_pieces(&form[from..]), "[KEY]");
            assert_eq!(veil().hide_pieces(&form[..to]), "[KEY]");
            assert_eq!(veil().hide_pieces(&form[to..from]), "[KEY]");
            assert_eq!(veil().hide_pieces(&format!("{} 7a {}", &form[from..], &form[..to])), "[KEY] 7a [KEY]");
            assert_eq!(veil().hide_pieces(&format!("{}{form}", &form[from..])), "[KEY][KEY]");
        }
        assert_eq!(veil().hide_pieces("fgh and p\"s"), "fgh and p\"s");
        assert_eq!(veil().hide_in_line("  bytes: x p\"ss"), "  bytes: x [KEY]");
        assert_eq!(veil().hide_in_line("fix: x p\"ss"), "fix: x p\"ss");
    }
}
