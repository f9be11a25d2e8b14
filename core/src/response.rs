//! Response lines, written piece by piece into a caller's slice. What doesn't fit is counted, so that the length that would
//! have sufficed is known.

use core::fmt;

/// A buffer was too small (902).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// Bytes that would have sufficed.
    pub needed: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buffer is too small: {} bytes are needed", self.needed)
    }
}

impl core::error::Error for TooSmall {}

/// A response line that is being written, for a host that composes its own. Nothing judges it but the gate that it is given to.
pub struct Line<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl<'o> Line<'o> {
    /// The beginning of a response, up to what it says: the id as it is to be written, quotes included.
    #[must_use]
    pub fn response(out: &'o mut [u8], id: Option<&[u8]>) -> Self {
        let mut line = Self { out, len: 0 };
        line.put(b"{\"jsonrpc\":\"2.0\",");
        if let Some(id) = id {
            line.put(b"\"id\":");
            line.put(id);
            line.put(b",");
        }
        line
    }

    /// Bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(place) = self.out.get_mut(self.len..end) {
            place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        }
        self.len = end;
    }

    /// An error: its code, and its message up to the closing quote.
    pub fn begin_error(&mut self, code: i32) {
        self.put(b"\"error\":{\"code\":");
        self.put_integer(code);
        self.put(b",\"message\":\"");
    }

    /// A whole error.
    pub(crate) fn put_error(&mut self, code: i32, message: &str) {
        self.begin_error(code);
        self.put_inside(message);
        self.put(b"\"}");
    }

    /// The result of a tool that is one text, up to the text. `complete`: it says its type, as 2026-07-28 asks.
    pub(crate) fn begin_tool_text(&mut self, complete: bool) {
        self.put(b"\"result\":{");
        self.put(if complete { b"\"resultType\":\"complete\"," } else { b"" });
        self.put(b"\"content\":[{\"type\":\"text\",\"text\":\"");
    }

    /// What comes after the text.
    pub(crate) fn end_tool_text(&mut self, is_error: bool) {
        self.put(b"\"}],\"isError\":");
        self.put(if is_error { b"true}" } else { b"false}" });
    }

    /// A text as a JSON string.
    pub(crate) fn put_string(&mut self, text: &str) {
        self.put(b"\"");
        self.put_inside(text);
        self.put(b"\"");
    }

    /// A text inside the quotes of a JSON string. What some reader takes for a line's end is escaped as well.
    pub fn put_inside(&mut self, text: &str) {
        let mut rest = text;
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| must_be_escaped(*letter)) {
            let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.put(plain.as_bytes());
            match letter {
                '"' => self.put(b"\\\""),
                '\\' => self.put(b"\\\\"),
                '\n' => self.put(b"\\n"),
                '\t' => self.put(b"\\t"),
                '\r' => self.put(b"\\r"),
                letter => {
                    self.put(b"\\u");
                    for shift in [12, 8, 4, 0] {
                        let digit = ((letter as u32 >> shift) & 0xf) as u8;
                        self.put(&[if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }]);
                    }
                }
            }
            rest = from.get(letter.len_utf8()..).unwrap_or_default();
        }
        self.put(rest.as_bytes());
    }

    fn put_integer(&mut self, value: i32) {
        let mut digits = [0u8; 11];
        let mut at = digits.len();
        let mut rest = value.unsigned_abs();
        loop {
            at -= 1;
            if let Some(place) = digits.get_mut(at) {
                *place = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if value < 0 {
            self.put(b"-");
        }
        self.put(digits.get(at..).unwrap_or_default());
    }

    /// The end of the message and of its line; gives its length.
    ///
    /// # Errors
    /// [`TooSmall`] (902) where the slice is shorter; nothing of use is in it then.
    pub fn end(mut self) -> Result<usize, TooSmall> {
        self.put(b"}\n");
        if self.len > self.out.len() { Err(TooSmall { needed: self.len }) } else { Ok(self.len) }
    }
}

impl fmt::Debug for Line<'_> {
    /// Shows the length, never the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Controls, the quote and the backslash, and U+0085, U+2028 and U+2029, which Unicode line splitters cut at.
const fn must_be_escaped(letter: char) -> bool {
    matches!(letter, '\0'..='\u{1f}' | '"' | '\\' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}')
}

/// A text that is written inside a JSON string.
impl fmt::Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put_inside(text);
        Ok(())
    }
}
