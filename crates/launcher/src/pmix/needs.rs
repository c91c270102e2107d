//! Whether a program wants PMIx, by the libraries that it is linked to.

use std::ffi::OsString;
use std::path::Path;

use crate::linked::{self, Linked};

/// The library of Open MPI, or of PMIx itself, that the file at `path` is linked
/// to, if it is a program that is. If it is `taken` over, Open MPI's does not count.
pub fn library(path: &Path, taken: bool) -> Option<String> {
    let linked = Linked::read(path)?;
    let mut names = linked.needed.into_iter();
    names.find(|name| wants(name) && !(taken && name.contains(".so.40")))
}

/// Whether the library with this name speaks PMIx. Libraries of Open MPI have
/// this number, up to version 5 at least.
pub fn wants(name: &str) -> bool {
    let open_mpi = name.starts_with("libmpi") || name.starts_with("liboshmem");
    name.starts_with("libpmix.so") || open_mpi && name.contains(".so.40")
}

/// Where the dynamic loader finds the libpmix of the program at `path`, if it
/// has variables `vars`.
pub fn libpmix(path: &Path, vars: &[(OsString, OsString)]) -> Option<OsString> {
    let is_pmix = |name: &str| name.starts_with("libpmix.so");
    linked::loaded(path, Path::new("."), vars, is_pmix)
        .into_iter()
        .next()
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_pmix_are_told_from_those_with() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(library(&own, false), None);
        assert_eq!(libpmix(&own, &[]), None);
    }

    #[test]
    fn open_mpi_is_told_from_others() {
        for name in [
            "libmpi.so.40",
            "libmpi.so.40.40.7",
            "libmpi_mpifh.so.40",
            "liboshmem.so.40",
            "libpmix.so.2",
        ] {
            assert!(wants(name), "{name}");
        }
        for name in [
            "libmpi.so.12",
            "libmpi_abi.so.1",
            "libm.so.6",
            "libpmi.so.0",
        ] {
            assert!(!wants(name), "{name}");
        }
    }
}
