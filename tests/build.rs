//! Makes the example gateway's code includable: without its opening paragraph, which may stand only at the start of a crate.

use std::path::PathBuf;
use std::{env, fs};

const EXAMPLE: &str = "../examples/rust/gateway.rs";

fn main() {
    println!("cargo::rerun-if-changed={EXAMPLE}");
    let code = fs::read_to_string(EXAMPLE).expect("the example is there");
    let items: String = code.split_inclusive('\n').filter(|line| !line.starts_with("//!")).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo gives a place"));
    fs::write(out.join("gateway.rs"), items).expect("written");
}
