//! Constants and sentinels: `mpif.h`, and the module on which `mpi` and `mpi_f08` stand.
//!
//! A sentinel is known by its address. The library has one variable for each, with a C name
//! that compilers do not change; COMMON blocks and module variables are bound to it.

use catena_abi::consts;
use catena_abi::table::{self, Constant};
use std::fmt::Write;

/// Sentinels: the name, the type of its elements, the shape, the C name, and whether it is
/// a different one in `mpi_f08`.
const SENTINELS: &[(&str, &str, &str, &str, bool)] = &[
    ("MPI_BOTTOM", "INTEGER", "", "mpifort_bottom", false),
    ("MPI_IN_PLACE", "INTEGER", "", "mpifort_in_place", false),
    (
        "MPI_BUFFER_AUTOMATIC",
        "INTEGER",
        "",
        "mpifort_automatic",
        false,
    ),
    (
        "MPI_ARGV_NULL",
        "CHARACTER(1)",
        "(1)",
        "mpifort_argv_null",
        false,
    ),
    (
        "MPI_ARGVS_NULL",
        "CHARACTER(1)",
        "(1,1)",
        "mpifort_argvs_null",
        false,
    ),
    (
        "MPI_ERRCODES_IGNORE",
        "INTEGER",
        "(1)",
        "mpifort_errcodes_ignore",
        false,
    ),
    (
        "MPI_UNWEIGHTED",
        "INTEGER",
        "(1)",
        "mpifort_unweighted",
        false,
    ),
    (
        "MPI_WEIGHTS_EMPTY",
        "INTEGER",
        "(1)",
        "mpifort_weights_empty",
        false,
    ),
    (
        "MPI_STATUS_IGNORE",
        "INTEGER",
        "(MPI_STATUS_SIZE)",
        "mpifort_status_ignore",
        true,
    ),
    (
        "MPI_STATUSES_IGNORE",
        "INTEGER",
        "(MPI_STATUS_SIZE,1)",
        "mpifort_statuses_ignore",
        true,
    ),
];

/// Handle types, and whether a module compares them.
pub const HANDLES: &[&str] = &[
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

/// Procedures of the standard that are handed to others and do little or nothing.
pub const CALLBACKS: &[&str] = &[
    "MPI_NULL_COPY_FN",
    "MPI_DUP_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_DUP_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_DUP_FN",
    "MPI_WIN_NULL_DELETE_FN",
    "MPI_CONVERSION_FN_NULL",
];

/// A constant with its value as Fortran writes it.
struct Value {
    /// With its prefix.
    name: String,
    /// The type without a prefix: `int`, `Offset`, or a handle as in `Comm`.
    ty: String,
    value: i64,
}

/// What only Fortran has.
const OWN: &[(&str, i64)] = &[
    ("MPI_INTEGER_KIND", 4),
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
];

/// The constants of the table that Fortran has: not those of the tool interface, of callbacks
/// and of addresses. Strings have no zero at their end, so they are shorter by one.
fn values() -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for constant in table::constants() {
        let (ty, name, value) = match constant {
            Constant::Section(_) => continue,
            Constant::Error { name, value, .. } => ("int", name, number(value)),
            Constant::Same { name, of } => {
                let same = all.iter().find(|v| v.name == of);
                match same.map(|v| (v.ty.clone(), v.value)) {
                    Some((ty, value)) => {
                        all.push(Value {
                            name: name.to_string(),
                            ty,
                            value,
                        });
                        continue;
                    }
                    None => continue,
                }
            }
            Constant::Value { ty, name, value } => (ty, name, number(value)),
        };
        let tool = name.starts_with("MPI_T_") || name.starts_with("MPI_F_");
        if tool || name.starts_with("MPIX_") || ty.contains('*') || ty.starts_with("T_") {
            continue;
        }
        let value = if name.starts_with("MPI_MAX_") {
            value - 1
        } else {
            value
        };
        all.push(Value {
            name: name.to_string(),
            ty: ty.to_string(),
            value,
        });
    }
    all
}

/// # Panics
/// If it is no number: the table is part of this project.
fn number(text: &str) -> i64 {
    let read = match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    read.unwrap_or_else(|_| panic!("constants.tbl: {text} is no number"))
}

/// What every generated Fortran file begins with.
pub fn head(what: &str) -> String {
    format!("! {what}\n! Made by `cargo xtask gen` from crates/abi/tables: edit those.\n")
}

/// `mpif.h`, for fixed and free source form: statements begin in column 7 and end before 73.
pub fn include_file() -> String {
    let mut out = head("MPI 5.0 with the standard ABI, for programs without modules.");
    for (name, value) in OWN {
        parameter(&mut out, "INTEGER", name, &value.to_string());
    }
    for v in values() {
        let ty = if v.ty == "Offset" {
            "INTEGER(KIND=MPI_OFFSET_KIND)"
        } else {
            "INTEGER"
        };
        parameter(&mut out, ty, &v.name, &v.value.to_string());
    }
    parameter(&mut out, "LOGICAL", "MPI_SUBARRAYS_SUPPORTED", ".FALSE.");
    parameter(
        &mut out,
        "LOGICAL",
        "MPI_ASYNC_PROTECTS_NONBLOCKING",
        ".FALSE.",
    );
    for (name, ty, shape, symbol, _) in SENTINELS {
        let block = symbol.to_uppercase();
        let _ = writeln!(out, "      {ty} {name}{shape}");
        let _ = writeln!(out, "      COMMON /{block}/ {name}");
        let _ = writeln!(out, "      BIND(C,NAME='{symbol}')::/{block}/");
    }
    for name in ["MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"] {
        let _ = writeln!(out, "      DOUBLE PRECISION {name}\n      EXTERNAL {name}");
    }
    for name in [
        "MPI_AINT_ADD",
        "MPI_AINT_DIFF",
        "PMPI_AINT_ADD",
        "PMPI_AINT_DIFF",
    ] {
        let _ = writeln!(
            out,
            "      INTEGER(KIND=MPI_ADDRESS_KIND) {name}\n      EXTERNAL {name}"
        );
    }
    for name in CALLBACKS.iter().chain(&["MPI_CONVERSION_FN_NULL_C"]) {
        let _ = writeln!(out, "      EXTERNAL {name}");
    }
    out
}

fn parameter(out: &mut String, ty: &str, name: &str, value: &str) {
    let _ = writeln!(out, "      {ty} {name}\n      PARAMETER ({name}={value})");
}

/// `mpi_abi_base.f90`: kinds, types, integer constants and sentinels that both modules share.
pub fn base() -> String {
    let mut out =
        head("What the modules mpi and mpi_f08 have in common. No program uses it itself.");
    out += "module mpi_abi_base\n  implicit none\n";
    for (name, value) in OWN {
        let _ = writeln!(out, "  integer, parameter :: {name} = {value}");
    }
    for v in values() {
        match v.ty.as_str() {
            "int" => {
                let _ = writeln!(out, "  integer, parameter :: {} = {}", v.name, v.value);
            }
            "Offset" => {
                let _ = writeln!(
                    out,
                    "  integer(kind=MPI_OFFSET_KIND), parameter :: {} = {}",
                    v.name, v.value
                );
            }
            _ => {}
        }
    }
    out += "  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.\n";
    out += "  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.\n";
    for name in HANDLES {
        let _ = writeln!(
            out,
            "  type, bind(C) :: MPI_{name}\n    integer :: MPI_VAL\n  end type MPI_{name}"
        );
    }
    out += "  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE\n    integer :: MPI_TAG\n    \
            integer :: MPI_ERROR\n    integer :: MPI_internal(5)\n  end type MPI_Status\n";
    sentinels(&mut out, |own| !own);
    out += "end module mpi_abi_base\n";
    out
}

fn lower(ty: &str) -> String {
    match ty {
        "CHARACTER(1)" => "character(len=1)".to_string(),
        _ => ty.to_lowercase(),
    }
}

/// Sentinels of a module: those whose `mpi_f08` has one of its own, or the others. Each stands in a
/// COMMON block as in `mpif.h`, since a source file may use the module in one procedure and include
/// `mpif.h` in the next: of two variables that are bound to one name compilers complain, but not of
/// two blocks.
fn sentinels(out: &mut String, wanted: impl Fn(bool) -> bool) {
    for (name, ty, shape, symbol, own) in SENTINELS {
        if wanted(*own) {
            let _ = writeln!(
                out,
                "  {} :: {name}{shape}\n  common /{symbol}/ {name}\n  bind(C, name=\"{symbol}\") \
                 :: /{symbol}/",
                lower(ty)
            );
        }
    }
}

/// Handles as integers and the sentinels of the status, for the module `mpi`.
pub fn for_mpi() -> String {
    let mut out = String::new();
    for v in values()
        .iter()
        .filter(|v| v.ty != "int" && v.ty != "Offset")
    {
        let _ = writeln!(out, "  integer, parameter :: {} = {}", v.name, v.value);
    }
    sentinels(&mut out, |own| own);
    out
}

/// What `mpi-ext.h` has, for the modules `mpi_ext` and `mpi_f08_ext`.
pub fn for_extensions() -> String {
    let named = [
        ("MPIX_HAVE_FT", 1),
        ("MPIX_HAVE_NOTIFY", 1),
        ("MPIX_ERR_PROC_FAILED", consts::ERR_PROC_FAILED),
        (
            "MPIX_ERR_PROC_FAILED_PENDING",
            consts::ERR_PROC_FAILED_PENDING,
        ),
        ("MPIX_ERR_REVOKED", consts::ERR_REVOKED),
        ("MPIX_FT", consts::FT),
    ];
    let line = |(name, value)| format!("  integer, parameter, public :: {name} = {value}\n");
    named.into_iter().map(line).collect()
}

/// Handles of types and the sentinels of the status, for the module `mpi_f08`.
pub fn for_mpi_f08() -> String {
    let mut out = String::new();
    for v in values()
        .iter()
        .filter(|v| v.ty != "int" && v.ty != "Offset")
    {
        let (name, ty, value) = (&v.name, &v.ty, v.value);
        let _ = writeln!(
            out,
            "  type(MPI_{ty}), parameter :: {name} = MPI_{ty}({value})"
        );
    }
    out += "  type(MPI_Status), bind(C, name=\"mpifort_f08_status_ignore\") :: MPI_STATUS_IGNORE\n";
    out += "  type(MPI_Status), bind(C, name=\"mpifort_f08_statuses_ignore\") :: \
            MPI_STATUSES_IGNORE(1)\n";
    out
}
