//! What must not compile: each file of `tests/compile-fail` fails, with the errors that its first line names.
//!
//! The messages are recorded beside the files, for the compiler of [`RECORDED`]. Another compiler words them otherwise; there
//! the codes and the lines of the errors are compared, and nothing else. To record them again, run this test with
//! `TRYBUILD=overwrite` and look at what changed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of the compiler whose messages are recorded.
const RECORDED: &str = "rustc 1.95.";

/// Where a second run of this test finds the copies that it may write beside.
const COPIES: &str = "LINEGATE_COMPILE_FAIL_COPIES";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The cases of a folder, in order.
fn cases(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    cases.sort();
    cases
}

/// Code and line of each error, in order.
fn errors(messages: &str) -> Vec<(String, u32)> {
    let mut errors = Vec::new();
    let mut code = None;
    for line in messages.lines() {
        if let Some(rest) = line.strip_prefix("error") {
            code = Some(rest.split(':').next().unwrap_or_default().trim_matches(['[', ']']).to_owned());
        } else if let (Some(place), Some(error)) = (line.trim_start().strip_prefix("--> "), code.take()) {
            let number = place.rsplit(':').nth(1).and_then(|number| number.parse().ok());
            errors.push((error, number.unwrap_or_else(|| panic!("no line in {place}"))));
        } else if line.is_empty() {
            code = None;
        }
    }
    errors
}

#[test]
fn what_must_not_compile_does_not() {
    if let Some(copies) = env::var_os(COPIES) {
        let tests = trybuild::TestCases::new();
        tests.compile_fail(Path::new(&copies).join("*.rs"));
        return;
    }
    let version =
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("--version").output().unwrap();
    let tests = trybuild::TestCases::new();
    tests.pass("pass/*.rs");
    if String::from_utf8(version.stdout).unwrap().starts_with(RECORDED) {
        tests.compile_fail("*.rs");
    } else {
        drop(tests);
        compare_codes();
    }
}

/// Records the messages of this compiler beside copies of the cases, and compares codes and lines.
fn compare_codes() {
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile-fail");
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir_all(copies.join("support")).unwrap();
    for case in cases(&folder()) {
        fs::copy(&case, copies.join(case.file_name().unwrap())).unwrap();
    }
    fs::copy(folder().join("support/tools.rs"), copies.join("support/tools.rs")).unwrap();
    let mut again = Command::new(env::current_exe().unwrap());
    again.args(["--exact", "what_must_not_compile_does_not"]).env("TRYBUILD", "overwrite").env(COPIES, &copies);
    // Its output is kept back: it has a count of tests of its own.
    let again = again.output().unwrap();
    assert!(again.status.success(), "a case compiles that must not:\n{}", String::from_utf8_lossy(&again.stderr));
    for case in cases(&folder()) {
        let recorded = case.with_extension("stderr");
        let now = copies.join(recorded.file_name().unwrap());
        let [recorded, now] = [recorded, now].map(|path| errors(&fs::read_to_string(path).unwrap()));
        assert_eq!(now, recorded, "{}", case.display());
    }
}

/// However often they are recorded again: each case fails for the one reason that it is there for.
#[test]
fn each_case_fails_for_its_own_reason() {
    let cases = cases(&folder());
    assert!(cases.len() >= 12);
    for case in cases {
        let text = fs::read_to_string(&case).unwrap();
        let codes: Vec<&str> =
            text.strip_prefix("//! ").and_then(|text| text.split(':').next()).unwrap().split(", ").collect();
        let recorded = errors(&fs::read_to_string(case.with_extension("stderr")).unwrap());
        assert!(!recorded.is_empty(), "{}", case.display());
        let given: Vec<&str> = recorded.iter().map(|(given, _)| given.as_str()).collect();
        let same = given.iter().all(|code| codes.contains(code)) && codes.iter().all(|code| given.contains(code));
        assert!(same, "{}: {recorded:?}", case.display());
    }
}

#[test]
fn errors_are_read_with_code_and_line() {
    let messages = "error[E0277]: no\n --> compile-fail/a.rs:12:5\n  |\nnote: x\n --> b.rs:1:1\n\nerror: other\n  --> a.rs:3:9\n\nerror: aborting\n";
    assert_eq!(errors(messages), [("E0277".to_owned(), 12), (String::new(), 3)]);
}
