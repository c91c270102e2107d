//! Makes the constants and functions of the layer, and names and links the library.

use std::path::PathBuf;

use catena_foreign::{Interface, against_the_core, constants, functions};

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let write = |name, text| std::fs::write(out.join(name), text).expect("OUT_DIR is writable");
    write("constants.rs", constants(Interface::Mpich));
    write("functions.rs", functions());
    against_the_core("libmpi.so.12");
}
