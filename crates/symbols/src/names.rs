//! Names of functions as programmers write them.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A name of a table of symbols, as it stands in the program.
pub(crate) fn readable(name: &str) -> String {
    if let Some(name) = fortran(name) {
        return name;
    }
    if let Ok(name) = rustc_demangle::try_demangle(name) {
        // Without its hash.
        return format!("{name:#}");
    }
    // A version of it, of a library.
    let name = match name.find('@') {
        Some(end) if end > 0 => &name[..end],
        _ => name,
    };
    // What compilers add to parts and copies of functions: `.cold`, `.constprop.0`, `._omp_fn.1`.
    let name = match name.find('.') {
        Some(end) if end > 0 => &name[..end],
        _ => name,
    };
    cpp(name).unwrap_or_else(|| name.into())
}

/// A procedure of a module, `__solver_MOD_exchange` say, and the main program.
fn fortran(name: &str) -> Option<String> {
    if name == "MAIN__" {
        return Some("the main program".into());
    }
    let (module, procedure) = name.strip_prefix("__")?.split_once("_MOD_")?;
    Some(format!("{module}::{procedure}"))
}

/// A name of C++, without its arguments.
fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    symbol.demangle_with_options(&options).ok()
}

/// Whether a function is one of MPI's, for C, Fortran or tools, by its name in a table of symbols.
pub(crate) fn is_mpi(name: &str) -> bool {
    static ALL: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let functions = catena_abi::table::functions();
        functions
            .iter()
            .map(|it| it.name.to_ascii_lowercase())
            .collect()
    });
    let name = name.to_ascii_lowercase();
    let name = name.split_once("_mod_").map_or(&*name, |(_, it)| it);
    let name = name.trim_end_matches('_');
    let name = ["_f08ts", "_f08", "_fts", "_f"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let name = match name.strip_prefix(['p', 'q']) {
        Some(name) if name.starts_with("mpi_") => name,
        _ => name,
    };
    ALL.contains(name) || ALL.contains(name.trim_end_matches("_c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_program() {
        for (name, written) in [
            ("exchange", "exchange"),
            ("exchange.constprop.0", "exchange"),
            ("main._omp_fn.0", "main"),
            ("__solver_MOD_exchange", "solver::exchange"),
            ("MAIN__", "the main program"),
            ("_ZN6solver8exchangeEi", "solver::exchange"),
            ("_ZN6solver8exchangeEi.cold", "solver::exchange"),
            (
                "_ZN6solver8exchange17h0123456789abcdefE",
                "solver::exchange",
            ),
            ("_Znonsense", "_Znonsense"),
            ("nanosleep@@GLIBC_2.17", "nanosleep"),
            (".hidden", ".hidden"),
            ("", ""),
        ] {
            assert_eq!(readable(name), written);
        }
    }

    #[test]
    fn functions_of_mpi_are_known_in_all_languages() {
        for name in [
            "MPI_Recv",
            "PMPI_Recv",
            "MPI_Allgather_c",
            "mpi_recv_",
            "pmpi_recv_",
            "mpi_recv__",
            "mpi_recv_f08_",
            "MPI_RECV",
            "__mpi_f08_MOD_mpi_recv_f08",
        ] {
            assert!(is_mpi(name), "{name}");
        }
        for name in ["mpi_exchange_", "recv", "MPI_", "my_MPI_Recv", ""] {
            assert!(!is_mpi(name), "{name}");
        }
    }

    #[test]
    fn a_name_without_end_is_no_danger() {
        let deep = format!("_Z{}", "N".repeat(4000));
        assert_eq!(readable(&deep), deep);
        _ = readable(&format!("_Z1a{}", "PF".repeat(2000)));
    }
}
