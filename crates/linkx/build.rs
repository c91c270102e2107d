//! Keeps the provider in its process: libfabric closes what it does not use, and exit handlers may
//! still be in it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
