//! The modules `mpi` and `mpi_f08`: interfaces alone, so that no compiler makes code of them.
//!
//! A procedure with a choice buffer is bound to a C name, as its buffers come by descriptors
//! (TS 29113). All others are external procedures: compilers pass their optional arguments,
//! logicals and lengths of characters in one and the same way, and change their names in one of
//! four ways, all of which the library has.

use crate::constants;
use crate::view::{FortranArg, Procedure, Role};
use catena_abi::meaning::Direction;
use std::fmt::Write;

/// Which module is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Module {
    Mpi,
    F08,
}

/// `mpi.f90`.
pub fn mpi(procedures: &[Procedure]) -> String {
    let mut out = constants::head("The module mpi of MPI 5.0 with the standard ABI.");
    out += "module mpi\n  use, intrinsic :: iso_c_binding, only : c_ptr\n  use mpi_abi_base\n  \
            implicit none\n  private :: c_ptr\n";
    out += &constants::for_mpi();
    for name in constants::CALLBACKS
        .iter()
        .chain(&["MPI_CONVERSION_FN_NULL_C"])
    {
        let _ = writeln!(out, "  external :: {name}");
    }
    for prefix in ["", "P"] {
        for p in procedures.iter().filter(|p| p.is_old()) {
            // Only where there are two: a generic name takes an array for one of another rank
            // never.
            let two = p.args.iter().any(|a| a.role == Role::Place) && !p.name.contains("detach");
            open(
                &mut out,
                if two { prefix } else { "" },
                if two { p.name } else { "" },
            );
            write(&mut out, Module::Mpi, prefix, p, false);
            if two {
                write(&mut out, Module::Mpi, prefix, p, true);
            }
            out += "  end interface\n";
        }
        extras(&mut out, Module::Mpi, prefix);
    }
    out += "end module mpi\n";
    out
}

/// `mpi_f08.f90`.
pub fn mpi_f08(procedures: &[Procedure]) -> String {
    let mut out = constants::head("The module mpi_f08 of MPI 5.0 with the standard ABI.");
    out += "module mpi_f08\n  use, intrinsic :: iso_c_binding, only : c_ptr\n  use mpi_abi_base\n  \
            implicit none\n  private :: c_ptr\n";
    out += &constants::for_mpi_f08();
    out += include_str!("../lib/callbacks.f90");
    operators(&mut out);
    for prefix in ["", "P"] {
        for p in procedures.iter().filter(|p| p.is_new() && !p.is_large()) {
            open(&mut out, prefix, p.name);
            write(&mut out, Module::F08, prefix, p, false);
            let large = format!("{}_c", p.name);
            let large = procedures.iter().find(|q| q.name == large);
            // Where addresses and counts are of one kind, the two may have the same types. The
            // standard then has one alone, but for those that differ in their callbacks.
            match large {
                Some(large) if types(large, false) != types(p, false) => {
                    // mpifort leaves out what lies between such lines where an INTEGER has 8 bytes.
                    let same = are_confused(p, large);
                    out += if same { "!i4\n" } else { "" };
                    write(&mut out, Module::F08, prefix, large, false);
                    out += if same { "!end\n" } else { "" };
                }
                Some(large) if large.args.iter().any(|a| a.role == Role::Callback) => {
                    out += "  end interface\n";
                    open(&mut out, prefix, large.name);
                    write(&mut out, Module::F08, prefix, large, false);
                }
                _ => {}
            }
            out += "  end interface\n";
        }
        extras(&mut out, Module::F08, prefix);
    }
    out += "end module mpi_f08\n";
    out
}

/// `mpi_ext.f90`, or `mpi_f08_ext.f90`: what no version of the standard has.
pub fn extensions(procedures: &[Procedure], is_new: bool) -> String {
    let (module, name, of) = match is_new {
        true => (Module::F08, "mpi_f08_ext", "mpi_f08"),
        false => (Module::Mpi, "mpi_ext", "mpi"),
    };
    let what = format!(
        "The module {name}: what {of} lacks, as no version of the standard has it yet: programs \
         that go on when\n\
         ! processes die (`catena help faults`), and operations that notify (`catena help \
         windows`)."
    );
    let mut out = constants::head(&what);
    let _ = write!(
        out,
        "module {name}\n  use mpi_abi_base\n  implicit none\n  private\n"
    );
    out += &constants::for_extensions();
    let shown = |p: &&Procedure| module == Module::F08 || p.is_old();
    for prefix in ["", "P"] {
        for p in procedures.iter().filter(|p| !p.is_large()) {
            let _ = writeln!(out, "  public :: {prefix}{}", p.name);
        }
    }
    for prefix in ["", "P"] {
        for p in procedures.iter().filter(shown).filter(|p| !p.is_large()) {
            let generic = module == Module::F08;
            open(
                &mut out,
                if generic { prefix } else { "" },
                if generic { p.name } else { "" },
            );
            write(&mut out, module, prefix, p, false);
            let large = format!("{}_c", p.name);
            let large = procedures.iter().find(|q| generic && q.name == large);
            if let Some(large) = large {
                write(&mut out, module, prefix, large, false);
            }
            out += "  end interface\n";
        }
    }
    let _ = writeln!(out, "end module {name}");
    out
}

fn open(out: &mut String, prefix: &str, name: &str) {
    let line = format!("  interface {prefix}{name}");
    *out += line.trim_end();
    out.push('\n');
}

/// Whether the two cannot have one generic name where an INTEGER has 8 bytes. The last argument,
/// `ierror`, may be absent.
fn are_confused(p: &Procedure, large: &Procedure) -> bool {
    let (small, large) = (types(p, true), types(large, true));
    small.len().abs_diff(large.len()) <= 1 && std::iter::zip(&small, &large).all(|(a, b)| a == b)
}

/// What tells procedures of one generic name apart, where an INTEGER has 4 bytes or is `long`.
fn types(p: &Procedure, long: bool) -> Vec<String> {
    let of = |arg: &FortranArg| match arg.role {
        Role::Address | Role::Count | Role::Offset => "8 bytes".to_string(),
        Role::Callback => "procedure".to_string(),
        _ => match kind_of(Module::F08, p, arg, false) {
            kind if long && kind == "integer" => "8 bytes".to_string(),
            kind => kind,
        },
    };
    p.args.iter().map(of).collect()
}

/// Interface of one procedure; `pointers` where places for addresses are of `TYPE(C_PTR)`.
fn write(out: &mut String, module: Module, prefix: &str, p: &Procedure, pointers: bool) {
    let by_descriptor = p.args.iter().any(|a| is_choice(module, p, a));
    let suffix = match (module, by_descriptor) {
        (Module::Mpi, _) if pointers => "_cptr",
        (Module::Mpi, _) => "",
        (Module::F08, true) => "_f08ts",
        (Module::F08, false) => "_f08",
    };
    let name = format!("{prefix}{}{suffix}", p.name);
    let mut names: Vec<&str> = p.args.iter().map(fortran_name).collect();
    if p.has_error {
        names.push("ierror");
    }
    let what = if p.result.is_some() {
        "function"
    } else {
        "subroutine"
    };
    let _ = write!(out, "    {what} {name}({})", wrap(&names));
    if by_descriptor {
        let kind = if module == Module::Mpi {
            "fts"
        } else {
            "f08ts"
        };
        let symbol = format!("{prefix}{}_{kind}", p.name).to_lowercase();
        let _ = write!(out, " &\n        bind(C, name=\"{symbol}\")");
    }
    out.push('\n');
    *out += "      import\n      implicit none\n";
    if let Some(result) = p.result {
        let _ = writeln!(out, "      {} :: {name}", result.to_lowercase());
    }
    for arg in &p.args {
        let _ = writeln!(out, "      {}", declaration(module, p, arg, pointers));
    }
    if p.has_error {
        let optional = if module == Module::F08 {
            ", optional"
        } else {
            ""
        };
        let _ = writeln!(out, "      integer{optional}, intent(out) :: ierror");
    }
    let _ = writeln!(out, "    end {what} {name}");
}

/// Where the module `mpi` has a buffer and `mpi_f08` the address of one: what it has there is
/// of no use, says the standard.
fn is_choice(module: Module, p: &Procedure, arg: &FortranArg) -> bool {
    let detached = arg.role == Role::Place && p.name.contains("detach");
    arg.role == Role::Choice || (module == Module::Mpi && detached)
}

/// Names in lines that are not too long.
fn wrap(names: &[&str]) -> String {
    let mut out = String::new();
    let mut width = 50;
    for (i, name) in names.iter().enumerate() {
        if i > 0 {
            out += ", ";
        }
        if width + name.len() > 100 {
            out += "&\n        ";
            width = 8;
        }
        out += name;
        width += name.len() + 2;
    }
    out
}

/// The name of the standard's Fortran bindings where C has another.
fn fortran_name(arg: &FortranArg) -> &str {
    match arg.name.as_str() {
        "indx" => "index",
        "function" => "handler_function",
        name => name,
    }
}

/// The type, without what may stand beside it.
fn kind_of(module: Module, p: &Procedure, arg: &FortranArg, pointers: bool) -> String {
    if is_choice(module, p, arg) {
        return "type(*), dimension(..)".to_string();
    }
    let f08 = module == Module::F08;
    match arg.role {
        Role::Place if f08 || pointers => "type(c_ptr)".to_string(),
        Role::Place | Role::Address => "integer(kind=MPI_ADDRESS_KIND)".to_string(),
        Role::Count => "integer(kind=MPI_COUNT_KIND)".to_string(),
        Role::Offset => "integer(kind=MPI_OFFSET_KIND)".to_string(),
        Role::Handle if f08 => format!("type(MPI_{})", arg.base),
        Role::Status if f08 => "type(MPI_Status)".to_string(),
        Role::Text | Role::Texts => "character(len=*)".to_string(),
        Role::Logical => "logical".to_string(),
        Role::Callback if f08 => format!("procedure({})", arg.base),
        Role::Callback => "external".to_string(),
        _ => "integer".to_string(),
    }
}

fn declaration(module: Module, p: &Procedure, arg: &FortranArg, pointers: bool) -> String {
    let mut out = kind_of(module, p, arg, pointers);
    let choice = is_choice(module, p, arg);
    let intent = match arg.direction {
        Direction::In => ", intent(in)",
        Direction::Out => ", intent(out)",
        Direction::InOut => ", intent(inout)",
    };
    // The bytes of a buffer that MPI does not write keep their values, and so does the error in a
    // status: INTENT(OUT) would let a compiler drop what was stored there before the call.
    let kept = (choice && arg.direction != Direction::In)
        || (arg.role == Role::Status && arg.direction == Direction::Out);
    if arg.role != Role::Callback && !kept {
        let detached = choice && arg.role == Role::Place;
        out += if detached { "" } else { intent };
    }
    let later = p
        .args
        .iter()
        .any(|a| a.base == "Request" && a.direction == Direction::Out);
    let written = p.is_written_later(arg);
    if (choice && p.goes_on) || (arg.array && later && arg.direction == Direction::In) || written {
        out += ", asynchronous";
    }
    let _ = write!(out, " :: {}", fortran_name(arg));
    out += shape(module, arg);
    out
}

fn shape(module: Module, arg: &FortranArg) -> &'static str {
    let status = arg.role == Role::Status && module == Module::Mpi;
    match (arg.name.as_str(), arg.array) {
        ("ranges", _) => "(3, *)",
        ("array_of_argv", _) => "(count, *)",
        ("argv", _) => "(*)",
        (_, true) if status => "(MPI_STATUS_SIZE, *)",
        (_, false) if status => "(MPI_STATUS_SIZE)",
        (_, true) => "(*)",
        _ => "",
    }
}

/// What is no function of the table.
fn extras(out: &mut String, module: Module, prefix: &str) {
    let (suffix, kind, optional) = match module {
        Module::Mpi => ("", "fts", ""),
        Module::F08 => ("_f08", "f08ts", ", optional"),
    };
    let name = format!("{prefix}MPI_Sizeof");
    let symbol = format!("{name}_{kind}").to_lowercase();
    let _ = writeln!(
        out,
        "  interface {name}\n    subroutine {name}{suffix}(x, size, ierror) &\n        \
         bind(C, name=\"{symbol}\")\n      import\n      implicit none\n      \
         type(*), dimension(..), intent(in) :: x\n      integer, intent(out) :: size\n      \
         integer{optional}, intent(out) :: ierror\n    end subroutine\n  end interface"
    );
    for (name, from, to) in [
        (
            "f2f08",
            "integer, intent(in) :: f_status(MPI_STATUS_SIZE)",
            "type(MPI_Status), intent(out) :: f08_status",
        ),
        (
            "f082f",
            "type(MPI_Status), intent(in) :: f08_status",
            "integer, intent(out) :: f_status(MPI_STATUS_SIZE)",
        ),
    ] {
        let args = if name == "f2f08" {
            "f_status, f08_status"
        } else {
            "f08_status, f_status"
        };
        let _ = writeln!(
            out,
            "  interface {prefix}MPI_Status_{name}\n    subroutine \
             {prefix}MPI_Status_{name}{suffix}({args}, ierror)\n      import\n      implicit \
             none\n      {from}\n      {to}\n      integer{optional}, intent(out) :: ierror\n    \
             end subroutine\n  end interface"
        );
    }
}

/// Handles are compared.
fn operators(out: &mut String) {
    for (operator, name) in [("==", "eq"), ("/=", "ne")] {
        let _ = writeln!(out, "  interface operator({operator})");
        for handle in constants::HANDLES {
            let function = format!("MPI_{handle}_{name}_f08");
            let _ = writeln!(
                out,
                "    elemental function {function}(a, b)\n      import\n      implicit none\n      \
                 logical :: {function}\n      type(MPI_{handle}), intent(in) :: a, b\n    \
                 end function"
            );
        }
        *out += "  end interface\n";
    }
}
