//! Objects whose addresses are handles, in Rust.

use std::fmt::Write;

use crate::constants::{HANDLES, Interface, integer, objects};

/// Bytes that the public header of Open MPI gives to an object of a type.
fn size(ty: &str) -> usize {
    match ty {
        "Comm" | "Datatype" | "Win" | "Session" => 512,
        "Group" | "Info" | "Request" | "Message" => 256,
        "Errhandler" => 1024,
        "File" => 1536,
        "Op" => 2048,
        _ => panic!("no size for {ty}"),
    }
}

/// Objects that a program may name though the standard has no such constant: type, symbol, and
/// the standard's handle that is nearest.
const BESIDES: [(&str, &str, i64); 12] = [
    // As in `own/structure.rs` of `layer`.
    ("Datatype", "ompi_mpi_lb", 0xcc00_0010),
    ("Datatype", "ompi_mpi_ub", 0xcc00_0011),
    ("Datatype", "ompi_mpi_2cplex", 0x200),
    ("Datatype", "ompi_mpi_2dblcplex", 0x200),
    ("Datatype", "ompi_mpi_c_short_float_complex", 0x2d3),
    ("Datatype", "ompi_mpi_short_float", 0x2ca),
    // Of types that its headers name only where the compiler has them, and of older names.
    ("Datatype", "ompi_mpi_c_complex", 0x212),
    ("Datatype", "ompi_mpi_real2", 0x2ca),
    ("Datatype", "ompi_mpi_complex4", 0x2d3),
    ("Datatype", "ompi_mpi_integer16", 0x2e3),
    ("Datatype", "ompi_mpi_ldblcplex", 0x200),
    // `ERRORS_THROW` of `objects`.
    ("Errhandler", "ompi_mpi_errors_throw_exceptions", 0x144),
];

/// The objects, tables of each type by the standard's handles and by Fortran's integers (0 where
/// none has the integer), and all addresses.
///
/// # Panics
/// If a table is malformed.
pub fn object_statics(interface: Interface) -> String {
    let (mut out, named) = (String::new(), objects(interface));
    for (ty, symbol, native) in named.iter().chain(&BESIDES) {
        let rest = size(ty) / 8 - 1;
        let _ = writeln!(
            out,
            "#[unsafe(no_mangle)]\nstatic {symbol}: Object<{rest}> = Object::new({native});"
        );
    }
    for ty in HANDLES {
        let of = named.iter().chain(&BESIDES).filter(|o| o.0 == ty);
        let entries: String = of
            .map(|(_, symbol, native)| {
                // Without an integer of its own it is known by the standard's.
                let known = i32::try_from(*native).unwrap_or(-1);
                let integer = integer(interface, symbol).unwrap_or(known);
                format!("    Entry::new({native}, {integer}, (&raw const {symbol}).cast()),\n")
            })
            .collect();
        let n = entries.lines().count();
        let _ = writeln!(
            out,
            "pub(crate) static {}: [Entry; {n}] = [\n{entries}];",
            ty.to_uppercase()
        );
    }
    for ty in HANDLES {
        let mut by_integer: Vec<i64> = Vec::new();
        for (_, symbol, native) in named.iter().filter(|o| o.0 == ty) {
            if let Some(at) = integer(interface, symbol) {
                let at = usize::try_from(at).expect("integers are not negative");
                by_integer.resize(by_integer.len().max(at + 1), 0);
                by_integer[at] = *native;
            }
        }
        let _ = writeln!(
            out,
            "pub(crate) static {}_BY_INTEGER: [usize; {}] = {by_integer:?};",
            ty.to_uppercase(),
            by_integer.len()
        );
    }
    let all = HANDLES
        .map(|ty| format!("&{}[..]", ty.to_uppercase()))
        .join(", ");
    let _ = writeln!(
        out,
        "/// The addresses of all objects.\n\
         fn objects() -> impl Iterator<Item = usize> {{\n    \
         [{all}].into_iter().flatten().map(|entry| entry.address())\n}}"
    );
    out
}
