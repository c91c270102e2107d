//! Makes the declarations of the library's functions.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let path = PathBuf::from(out).join("declarations.rs");
    std::fs::write(path, catena_foreign::declarations()).expect("OUT_DIR is writable");
}
