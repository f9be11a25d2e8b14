//! Numbers: the grammar of RFC 8259 section 6, and rule 214 on top of it, which keeps to those that all readers take for
//! the same value. No floating point is used: decimals are compared by their digits.

use super::Fault;
use super::string::eight;
use crate::code::Code;
use crate::find::SMALL;
use crate::limits::{Switch, Switches};

/// The largest integer that a double and all its neighbours hold exactly, 2^53-1.
const MAX_SAFE: &[u8] = b"9007199254740991";

/// Most digits of an exponent, as written.
const MAX_EXPONENT_DIGITS: usize = 3;

/// A number that was read: where it ends, and which switches it needed.
pub(super) struct Number {
    pub(super) end: usize,
    pub(super) needs: Switches,
}

/// The end of the number that begins at `start` with a digit, if it is an integer of at most 7 digits and nothing about it
/// needs a closer look.
#[cfg_attr(not(feature = "small"), inline(always))]
pub(super) fn short_integer(text: &[u8], start: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    if SMALL {
        return None;
    }
    let word = eight(text, start);
    // Turned by `0` the digits are the bytes below 10; the sum sets the high bit of those that aren't.
    let value = word ^ (ONES * b'0' as u64);
    let others = (((value & (ONES * 0x7F)) + ONES * (0x80 - 10)) | value) & (ONES * 0x80);
    let len = (others.trailing_zeros() / 8) as usize;
    let behind = word.checked_shr(8 * len as u32)? as u8;
    let leading_zero = word as u8 == b'0' && len > 1;
    (!leading_zero && !matches!(behind, b'.' | b'e' | b'E')).then_some(start + len)
}

/// Reads the number that begins at `start`. Faults 206 and 216 are about the byte that can't stand there.
#[inline]
pub(super) fn number(text: &[u8], start: usize) -> Result<Number, Fault> {
    let negative = text.get(start) == Some(&b'-');
    let first = start + usize::from(negative);
    let whole = digits(text, first);
    let fault = |at: usize| {
        let code = if at < text.len() { Code::BadNumber } else { Code::UnexpectedEnd };
        Err(Fault { code, at })
    };
    if whole == first {
        return fault(whole);
    }
    if whole > first + 1 && text.get(first) == Some(&b'0') {
        return fault(first + 1);
    }
    match text.get(whole) {
        Some(b'.' | b'e' | b'E') => {}
        _ => {
            let few = whole - first < MAX_SAFE.len();
            let needs = if few && !(negative && text.get(first) == Some(&b'0')) {
                Switches::NONE
            } else {
                integer_needs(negative, text.get(first..whole).unwrap_or_default())
            };
            return Ok(Number { end: whole, needs });
        }
    }
    let mut end = whole;
    let mut fraction: &[u8] = &[];
    if text.get(end) == Some(&b'.') {
        let from = end + 1;
        end = digits(text, from);
        if end == from {
            return fault(end);
        }
        fraction = text.get(from..end).unwrap_or_default();
    }
    let mut exponent: Option<(bool, &[u8])> = None;
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = text.get(end + 1);
        let from = end + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
        end = digits(text, from);
        if end == from {
            return fault(end);
        }
        exponent = Some((sign == Some(&b'-'), text.get(from..end).unwrap_or_default()));
    }
    // Up to 15 digits in all, the first not zero where there is an exponent, and that small: far from every bound.
    let usual = (whole - first) + fraction.len() <= 15
        && exponent.is_none_or(|(_, digits)| digits.len() <= 2 && text.get(first) != Some(&b'0'));
    let needs = if usual {
        Switches::NONE
    } else {
        decimal_needs(text.get(first..whole).unwrap_or_default(), fraction, exponent)
    };
    Ok(Number { end, needs })
}

/// The first byte at or after `at` that is no digit.
#[inline]
fn digits(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b'0'..=b'9')) {
        at += 1;
    }
    at
}

#[cold]
fn integer_needs(negative: bool, digits: &[u8]) -> Switches {
    if negative && digits == b"0" {
        Switches::NONE.with(Switch::NumberRange)
    } else if is_safe(digits) {
        Switches::NONE
    } else {
        Switches::NONE.with(Switch::BigIntegers)
    }
}

/// Whether digits without leading zeros are at most 2^53-1.
fn is_safe(digits: &[u8]) -> bool {
    digits.len() < MAX_SAFE.len() || (digits.len() == MAX_SAFE.len() && digits <= MAX_SAFE)
}

/// What a decimal needs, by its significant digits and its magnitude.
fn decimal_needs(whole: &[u8], fraction: &[u8], exponent: Option<(bool, &[u8])>) -> Switches {
    const RANGE: Switches = Switches::NONE.with(Switch::NumberRange);
    let mantissa = || whole.iter().chain(fraction).copied();
    let Some(leading) = mantissa().position(|digit| digit != b'0') else {
        return if exponent.is_some() { RANGE } else { Switches::NONE };
    };
    let mut power = 0i64;
    if let Some((negative, digits)) = exponent {
        if digits.len() > MAX_EXPONENT_DIGITS {
            return RANGE;
        }
        power = digits.iter().fold(0, |power, digit| power * 10 + i64::from(digit - b'0'));
        if negative {
            power = -power;
        }
    }
    let significant = whole.len() + fraction.len() - leading;
    if significant > 17 {
        return RANGE;
    }
    // The value is d.ddd * 10^power, the digits padded to 17.
    power += whole.len() as i64 - 1 - leading as i64;
    let digits = mantissa().skip(leading).chain(core::iter::repeat(b'0')).take(17);
    let digits = digits.fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    let above = power > 308 || (power == 308 && digits > 17_976_931_348_623_157);
    let below = power < -308 || (power == -308 && digits < 22_250_738_585_072_014);
    if above || below {
        RANGE
    } else if significant > 15 {
        Switches::NONE.with(Switch::InexactDecimals)
    } else {
        Switches::NONE
    }
}

/// Whether a checked number is an integer literal: no fraction, no exponent, not minus zero.
pub(crate) fn is_integer(token: &[u8]) -> bool {
    token != b"-0" && !token.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Whether a checked number is written with at most 15 digits and nothing else.
#[cfg_attr(not(feature = "small"), inline(always))]
#[cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "asked for by the rules of MCP"))]
pub(crate) fn is_plain_integer(token: &[u8]) -> bool {
    token.len() < MAX_SAFE.len() && token.iter().all(u8::is_ascii_digit)
}

/// Whether a checked number has the value of an integer, however it is written: the integers of JSON Schema.
pub(crate) fn is_integral(token: &[u8]) -> bool {
    let token = token.strip_prefix(b"-").unwrap_or(token);
    let mark = token.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(token.len());
    let (mantissa, exponent) = token.split_at_checked(mark).unwrap_or((token, &[]));
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let Some(last) = mantissa.iter().rposition(|byte| matches!(byte, b'1'..=b'9')) else {
        return true;
    };
    // The last digit that isn't zero counts this power of ten, before the exponent.
    let power = if last < point { point as i64 - 1 - last as i64 } else { point as i64 - last as i64 };
    let negative = exponent.get(1) == Some(&b'-');
    let digits = exponent.iter().filter(|byte| byte.is_ascii_digit());
    let exponent = digits.fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if negative { power.saturating_sub(exponent) >= 0 } else { power.saturating_add(exponent) >= 0 }
}

/// Whether an integer literal lies within 2^53-1 either way.
pub(crate) fn is_safe_integer(token: &[u8]) -> bool {
    is_safe(token.strip_prefix(b"-").unwrap_or(token))
}

#[cfg(test)]
mod tests {
    use super::is_integral;

    #[test]
    fn integers_of_json_schema() {
        for token in [
            "0",
            "-0",
            "7",
            "1.0",
            "1e2",
            "1.5e1",
            "10e-1",
            "-120.00E-1",
            "0.0e-9",
            "0.001e3",
            "1e99999999999999999999",
        ] {
            assert!(is_integral(token.as_bytes()), "{token}");
        }
        for token in ["0.5", "1.5", "1e-1", "15e-2", "1.25e1", "0.001e2", "1e-99999999999999999999"] {
            assert!(!is_integral(token.as_bytes()), "{token}");
        }
    }
}
