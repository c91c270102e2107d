//! Names the library, and keeps it loaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcatena_profile.so");
    // Its functions are called until the very end of the process.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
