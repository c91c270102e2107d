//! Lists the names of all functions: whoever needs no more than these is spared the tables.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut names = String::new();
    for table in ["tables/functions.tbl", "tables/extensions.tbl"] {
        println!("cargo::rerun-if-changed={table}");
        let text = fs::read_to_string(table).expect("a table of this crate");
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '['])) {
            let before = line.split('(').next().unwrap_or_default();
            let name = before.split_whitespace().last();
            names += name.unwrap_or_else(|| panic!("{table} has a line without a name: {line}"));
            names.push('\n');
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("names.txt"), names).expect("OUT_DIR is writable");
}
