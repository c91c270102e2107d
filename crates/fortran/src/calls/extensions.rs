//! C code of the procedures whose functions no version of the standard has.

use std::fmt::Write;

use super::{Body, head, lower};
use crate::view::Procedure;

/// `failures.c` and `notify.c`: what no version of the standard has, of one chapter. The library is
/// loaded without the functions, over a library that lacks them.
pub fn extensions(procedures: &[Procedure], chapter: &str, what: &str) -> String {
    let mut out = head(what, "extensions.h");
    out += "\n#ifndef INTEGER_8\n";
    for p in procedures.iter().filter(|p| p.chapter == chapter) {
        let arguments: Vec<&str> = p.declarations.iter().map(String::as_str).collect();
        let _ = writeln!(
            out,
            "\nextern int C({})({}) __attribute__((weak));",
            p.bare(),
            arguments.join(", ")
        );
        out += Body::new(p, None, p.has_choice()).text().trim_start();
        let _ = match p.has_choice() {
            true if p.is_large() => Ok(()),
            true => writeln!(out, "NAMES_FTS({})", lower(p)),
            false => writeln!(out, "NAMES_X({})", lower(p)),
        };
    }
    out += "\n#endif\n";
    out
}
