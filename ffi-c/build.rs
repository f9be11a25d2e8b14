//! The name under which programs find the shared library at run time: its major version, which changes with the binary
//! interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liblinegate.so.{major}");
    }
}
