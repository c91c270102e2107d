//! `mpi.h` of other interfaces, for the C code that is built over Catena's layers for them: the
//! Fortran libraries. What the tables have is declared, nothing else.

use catena_abi::table::{self, Constant};
use catena_foreign::Interface;
use std::collections::HashMap;
use std::fmt::Write;

use super::header;

/// Types of handles: the name and the one in Rust.
const HANDLES: [&str; 11] = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
];

/// The fields of a status.
fn status(interface: Interface) -> &'static str {
    match interface {
        Interface::Mpich => {
            "    int count_lo;\n    int count_hi_and_cancelled;\n    int MPI_SOURCE;\n    int \
             MPI_TAG;\n    int MPI_ERROR;\n"
        }
        Interface::OpenMpi => {
            "    int MPI_SOURCE;\n    int MPI_TAG;\n    int MPI_ERROR;\n    int \
             cancelled;\n    size_t count;\n"
        }
    }
}

/// How the interface is called in what is made.
fn name(interface: Interface) -> &'static str {
    match interface {
        Interface::Mpich => "MPICH",
        Interface::OpenMpi => "OPENMPI",
    }
}

/// The header of an interface.
///
/// # Panics
/// If a table is malformed.
pub fn header(interface: Interface) -> String {
    let name = name(interface);
    let mut out = format!(
        "/*\n * The C interface of libraries with the ABI that crates/foreign/tables has, for code \
         that\n * is built over Catena's layer. Made by `cargo xtask gen`: edit the tables.\n \
         */\n\n\
         #ifndef CATENA_MPI_H\n#define CATENA_MPI_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #define CATENA_INTERFACE_{name} 1\n#define CATENA_INTERFACE_FOREIGN 1\n\n\
         typedef intptr_t MPI_Aint;\ntypedef int64_t MPI_Count;\ntypedef int64_t MPI_Offset;\n\n"
    );
    for ty in HANDLES {
        let _ = match interface {
            Interface::Mpich if ty != "File" => writeln!(out, "typedef int MPI_{ty};"),
            _ => writeln!(out, "typedef struct catena_{ty} *MPI_{ty};"),
        };
    }
    out += "\ntypedef struct {\n";
    out += status(interface);
    out += "} MPI_Status;\n\n";
    out += header::CALLBACKS;
    constants(&mut out, interface);
    out.push('\n');
    for prefix in ["MPI_", "PMPI_"] {
        // The tool interface is not Fortran's.
        for f in table::functions()
            .iter()
            .filter(|f| !f.name.starts_with("MPI_T_"))
        {
            out += &header::prototype(prefix, f);
        }
        for ty in HANDLES {
            let bare = if ty == "Datatype" { "Type" } else { ty };
            let _ = writeln!(out, "int {prefix}{bare}_c2f(MPI_{ty} handle);");
            let _ = writeln!(out, "MPI_{ty} {prefix}{bare}_f2c(int integer);");
        }
    }
    out + "\n#endif\n"
}

/// A pointer of the table as C has it.
fn c_type(ty: &str) -> String {
    let stars = ty.find('*').unwrap_or(ty.len());
    let (base, stars) = ty.split_at(stars);
    match base {
        "Status" => format!("MPI_Status {stars}"),
        base => format!("{base} {stars}"),
    }
}

fn constants(out: &mut String, interface: Interface) {
    let values: HashMap<&str, &str> = interface.values().into_iter().collect();
    let mut declared = Vec::new();
    out.push('\n');
    for constant in table::constants() {
        let (name, ty, own) = match constant {
            Constant::Section(_) | Constant::Same { .. } => continue,
            Constant::Error { name, .. } => (name, "int", "none"),
            Constant::Value { name, ty, value } => (name, ty, value),
        };
        let pointer = ty.contains('*');
        let Some(value) = values.get(name) else {
            // Addresses of nothing are the same everywhere.
            if pointer && own == "0" {
                let _ = header::define(out, name, &format!("(({})0)", c_type(ty)));
            }
            // Those that are variables.
            if interface == Interface::Mpich
                && ["MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"].contains(&name)
            {
                let _ = writeln!(out, "extern int *const {name};");
            }
            continue;
        };
        let symbol = value.starts_with(|c: char| c.is_alphabetic());
        if symbol && !declared.contains(value) {
            let _ = writeln!(out, "extern char {value}[];");
            declared.push(value);
        }
        let of = match ty {
            _ if HANDLES.contains(&ty) => format!("((MPI_{ty}){value})"),
            _ if pointer => format!("(({}){value})", c_type(ty)),
            _ => format!("({value})"),
        };
        let _ = header::define(out, name, &of);
    }
}

/// What the module `mpi_f08` of Open MPI has in its library: the integers of predefined handles.
///
/// # Panics
/// If a table is malformed.
pub fn module_handles() -> String {
    let mut out = String::from(
        "/* Handles of Open MPI's module mpi_f08, which are variables of its library.\n * Made by \
         `cargo xtask gen` from crates/foreign/tables: edit that. */\n\n",
    );
    for (name, integer) in Interface::OpenMpi.integers() {
        let name = name.to_lowercase();
        let _ = writeln!(out, "const int ompi_f08_{name} = {integer};");
        let _ = writeln!(out, "const int __mpi_f08_types_MOD_{name} = {integer};");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_addresses_have_their_types() {
        let (mpich, open) = (header(Interface::Mpich), header(Interface::OpenMpi));
        let has = |text: &str, line: &str| {
            let squeezed = |l: &str| l.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.lines().any(|l| squeezed(l) == line), "{line}");
        };
        has(&mpich, "#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)");
        has(&mpich, "#define MPI_STATUS_IGNORE ((MPI_Status *)1)");
        has(&mpich, "#define MPI_BOTTOM ((void *)0)");
        has(&mpich, "extern int *const MPI_UNWEIGHTED;");
        has(
            &open,
            "#define MPI_COMM_WORLD ((MPI_Comm)ompi_mpi_comm_world)",
        );
        has(&open, "#define MPI_PROC_NULL (-2)");
    }
}
