//! The report as one HTML page for people: nothing is loaded from elsewhere, and every word of the server is escaped.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::outline::{Outline, last_words};
use crate::check::author;
use crate::check::finding::Class;
use crate::check::outcome::{Outcome, Verdict};
use crate::check::text::{escaped, hex};

const STYLE: &str = "\
:root{color-scheme:light dark;--bad:#b3261e;--good:#1b7f3b;--dim:#6b7280;--line:#8884}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem}h3{margin:0;font-size:1.05rem}\
code{overflow-wrap:anywhere}code,pre{font:.88rem/1.45 ui-monospace,monospace}pre{overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere;\
background:#8881;padding:.6rem .8rem;border-radius:.4rem;margin:.2rem 0 .6rem}\
section.fail{border-left:.3rem solid var(--bad);padding:.2rem 0 .2rem 1rem;margin:1.2rem 0}\
.verdict{font-size:1.15rem;font-weight:600}.bad{color:var(--bad)}.good{color:var(--good)}.dim{color:var(--dim)}\
dt{font-weight:600;margin-top:.5rem}dd{margin:0}table{border-collapse:collapse;width:100%}\
td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}\
td:last-child{overflow-wrap:anywhere}";

/// Writes the page.
///
/// # Errors
///
/// The output can't be written.
pub fn write(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(page(outline).as_bytes())
}

fn page(outline: &Outline<'_>) -> String {
    let command = html(&outline.command());
    let failed = outline.failed();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>linegate check: {command}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>linegate check</h1>\n<p><code>{command}</code></p>\n{}\n",
        verdict(outline, failed.len()),
    );
    for (number, outcome) in failed.iter().enumerate() {
        page.push_str(if number == 0 { "<h2>Fix this first</h2>\n" } else { "" });
        page.push_str(if number == 1 { "<h2>What else is wrong</h2>\n" } else { "" });
        failure(outline, outcome, &mut page);
    }
    page.push_str("<h2>Everything that was tried</h2>\n<table>\n<tr><th>Result</th><th>Scenario</th><th>What was seen</th></tr>\n");
    for outcome in outline.reported() {
        let (style, word) = match outcome.verdict() {
            Verdict::Ok => ("good", "ok"),
            Verdict::Fail => ("bad", "failed"),
            Verdict::Skip => ("dim", "not run"),
        };
        let (name, seen) = (html(&outcome.name), html(&super::people::remark(outcome)));
        let why = html(outcome.why);
        let _ = writeln!(
            page,
            "<tr><td class=\"{style}\">{word}</td><td title=\"{why}\"><code>{name}</code></td><td>{seen}</td></tr>"
        );
    }
    page.push_str("</table>\n</body>\n</html>\n");
    page
}

fn verdict(outline: &Outline<'_>, failed: usize) -> String {
    if failed == 0 {
        let ok = outline.count(Verdict::Ok);
        return format!("<p class=\"verdict good\">Clean: {ok} scenarios, no violation.</p>");
    }
    let what = [
        (Class::Stdout, "text on standard output that is no message"),
        (Class::Effects, "malformed lines that the server acted on"),
        (Class::Lifecycle, "trouble with starting, answering or ending"),
    ];
    let mut text = format!(
        "<p class=\"verdict bad\">{failed} of {} scenarios failed.</p>\n<ul>\n",
        failed + outline.count(Verdict::Ok) + outline.count(Verdict::Skip)
    );
    for (class, meaning) in what {
        let count = outline.violations(class);
        if count > 0 {
            let aside = if outline.counted().contains(&class) { "" } else { " (does not count for the exit status)" };
            let _ = writeln!(text, "<li><strong>{}</strong>: {count} - {meaning}{aside}</li>", class.name());
        }
    }
    text.push_str("</ul>");
    text
}

fn failure(outline: &Outline<'_>, outcome: &Outcome, page: &mut String) {
    let _ = writeln!(page, "<section class=\"fail\">\n<h3><code>{}</code></h3>\n<dl>", html(&outcome.name));
    for finding in &outcome.findings {
        fact(page, "What was seen", &html(&escaped(finding.what.as_bytes())));
    }
    let line = outcome.dirt().map(|dirt| &dirt.line);
    if let Some(line) = line {
        fact(page, "The bytes", &(pre(&escaped(&line.bytes)) + &pre(&hex(&line.bytes))));
    }
    if let Some(malformed) = &outcome.malformed {
        fact(page, "The malformed line", &pre(&escaped(&malformed.bytes)));
    }
    if let Some(author) = line.and_then(|line| author::of(&line.text)) {
        fact(page, "Who probably wrote it", &format!("{}. {}", html(author.name), html(author.advice)));
    }
    for fix in outline.fixes(outcome) {
        fact(page, "How to fix it", &html(fix));
    }
    fact(page, "Why it matters", &html(outcome.why));
    for code in line.map(|line| line.code).into_iter().chain(outcome.malformed.as_ref().map(|malformed| malformed.code))
    {
        fact(page, "The rule that is broken", &html(&format!("{code}: {}", code.text())));
    }
    if let Some(run) = outline.evidence(outcome) {
        fact(page, "See it again", &pre(&outline.reproduce_shortly(run)));
        let words = last_words(outline.secrets(), run);
        if !words.is_empty() {
            fact(page, "The server's own log, its last lines", &pre(&words.join("\n")));
        }
    }
    page.push_str("</dl>\n</section>\n");
}

fn fact(page: &mut String, name: &str, value: &str) {
    let _ = writeln!(page, "<dt>{name}</dt><dd>{value}</dd>");
}

fn pre(text: &str) -> String {
    format!("<pre>{}</pre>", html(text))
}

/// Text of anybody, as text of HTML.
fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in crate::tell::printable_lines(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(character),
        }
    }
    safe
}
