//! `include/mpi.h`.

use catena_abi::table::{self, Constant, Function};
use std::fmt::Write;

/// Widest line of a prototype.
const WIDTH: usize = 96;

/// What the tables do not say: integer types, handles, the status, callbacks.
///
/// The tags of the structs are part of the ABI: C++ puts them into the names
/// of overloaded functions.
const TYPES: &str = include_str!("types.h");

/// Prototypes of functions of the program, which every interface has.
pub(super) const CALLBACKS: &str = include_str!("callbacks.h");

/// Events of the tool interface.
const TOOLS: &str = include_str!("tools.h");

/// Names that errors of failed processes have in the next version of the standard and in the
/// `mpi.h` of Open MPI, whose programs find them without `mpi-ext.h`.
const FAILURES: [&str; 3] = ["ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING", "ERR_REVOKED"];

/// Handles and statuses as Fortran has them, in terms of the functions above.
const HANDLES: &str = include_str!("handles.h");

pub fn header() -> String {
    let mut out = String::from(
        "/*\n * The C interface of MPI 5.0 with the standard ABI, as Catena has it.\n *\n \
         * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those.\n \
         * A program compiled with this file runs on every MPI library that has\n \
         * libmpi_abi.so.1, and the other way round.\n */\n\n\
         #ifndef CATENA_MPI_H\n#define CATENA_MPI_H\n\n",
    );
    out += TYPES;
    out += CALLBACKS;
    out += TOOLS;
    constants(&mut out);
    out += "\n/* As the next version of the standard is to have them */\n\n";
    for name in FAILURES {
        let _ = define(&mut out, &format!("MPI_{name}"), &format!("MPIX_{name}"));
    }
    let all = table::functions();
    for prefix in ["MPI_", "PMPI_"] {
        if prefix == "PMPI_" {
            out += "\n/* The same functions for tools that intercept the ones above. */\n";
        }
        for chapter in table::chapters() {
            if prefix == "MPI_" {
                let _ = writeln!(out, "\n/* {} */\n", chapter.title);
            } else {
                out.push('\n');
            }
            for f in all.iter().filter(|f| f.chapter == chapter.name) {
                out += &prototype(prefix, f);
            }
        }
    }
    out += HANDLES;
    out += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    out
}

fn constants(out: &mut String) {
    for constant in table::constants() {
        let _ = match constant {
            Constant::Section(title) => writeln!(out, "\n/* {title} */\n"),
            Constant::Error { name, value, .. } => define(out, name, value),
            Constant::Same { name, of } => define(out, name, of),
            Constant::Value {
                ty: "int",
                name,
                value,
            } if value.starts_with('-') => define(out, name, &format!("({value})")),
            Constant::Value {
                ty: "int",
                name,
                value,
            } => define(out, name, value),
            Constant::Value { ty, name, value } => {
                let (base, stars) = ty.split_at(ty.find('*').unwrap_or(ty.len()));
                let mut ty = match base {
                    "int" | "char" | "void" => base.to_string(),
                    _ => format!("MPI_{base}"),
                };
                if !stars.is_empty() {
                    ty += " ";
                    ty += stars;
                }
                define(out, name, &format!("(({ty}){value})"))
            }
        };
    }
}

pub(super) fn define(out: &mut String, name: &str, value: &str) -> std::fmt::Result {
    writeln!(out, "#define {name:<31} {value}")
}

pub(super) fn prototype(prefix: &str, f: &Function) -> String {
    let bare = f.name.trim_start_matches("MPI_");
    let mut out = format!("{} {prefix}{bare}(", f.returns);
    let mut column = out.len();
    if f.args.is_empty() {
        out += "void";
    }
    for (i, arg) in f.args.iter().enumerate() {
        let last = i + 1 == f.args.len();
        let room = arg.declaration.len() + if last { 2 } else { 1 };
        if i > 0 && column + 1 + room > WIDTH {
            out += "\n    ";
            column = 4;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out += arg.declaration;
        if !last {
            out.push(',');
        }
        column += arg.declaration.len() + 1;
    }
    out += ");\n";
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_function_has_both_prototypes() {
        let text = super::header();
        for f in catena_abi::table::functions() {
            let count = |s: String| text.matches(&s).count();
            assert_eq!(count(format!("{} {}(", f.returns, f.name)), 1, "{}", f.name);
            assert_eq!(
                count(format!("{} P{}(", f.returns, f.name)),
                1,
                "P{}",
                f.name
            );
        }
        assert!(text.lines().all(|l| l.len() <= super::WIDTH));
    }
}
