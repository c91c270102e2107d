//! Older MPI libraries, by the names that programs ask for. Their binary interfaces are those of no
//! library that is made today, and Catena does not have them.

/// The MPI whose library has this name, if it is one of the older ones.
pub fn mpi_of(name: &str) -> Option<&'static str> {
    let (stem, version) = name.split_once(".so")?;
    let version = version.trim_start_matches('.');
    let (version, _) = version.split_once('.').unwrap_or((version, ""));
    Some(match (stem, version) {
        ("libmpi", "0") => "Open MPI 1.2 to 1.4",
        ("libmpi", "1") => "Open MPI 1.5 to 1.8, or of Platform MPI",
        ("libmpi", "20") => "Open MPI 2",
        ("libmpi" | "libmpi_mt", "3" | "4") => "Intel MPI 3 or 4",
        ("libmpich", "1" | "2" | "3" | "8") => "MPICH2 or MVAPICH2 1",
        ("libmpich", "10") => "MPICH 3.0 or MVAPICH2 1.9 to 2.0",
        _ => return None,
    })
}

/// The MPI with the library `libmpi.so.12` whose program it is that needs `symbol`, if that is not
/// MPICH's.
pub fn mpi_with(symbol: &str) -> Option<&'static str> {
    symbol.starts_with("ompi_").then_some("Open MPI 1.10")
}

/// What a user can do about it.
pub const REMEDY: &str = "compile the program again, with Catena's mpicc or with that of an MPI \
                          whose library is called libmpi.so.12 (MPICH), libmpi.so.40 (Open MPI) or \
                          libmpi_abi.so.1, or run it with the mpirun of that MPI";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_libraries_are_known_by_their_names() {
        for (name, of) in [
            ("libmpi.so.0", "Open MPI 1.2"),
            ("libmpi.so.1", "Open MPI 1.5"),
            ("libmpi.so.1.0.2", "Open MPI 1.5"),
            ("libmpi.so.20", "Open MPI 2"),
            ("libmpi.so.4", "Intel"),
            ("libmpi_mt.so.4", "Intel"),
            ("libmpich.so.1.2", "MPICH2"),
            ("libmpich.so.3", "MPICH2"),
            ("libmpich.so.10", "MVAPICH2"),
        ] {
            assert!(
                mpi_of(name).is_some_and(|mpi| mpi.starts_with(of) || mpi.contains(of)),
                "{name}"
            );
        }
        for name in [
            "libmpi.so.12",
            "libmpi.so.40",
            "libmpi.so.40.30.4",
            "libmpich.so.12",
            "libmpi_abi.so.1",
            "libmpi_cxx.so.1",
            "libmpi.so",
            "libmpi.a",
            "libm.so.6",
        ] {
            assert_eq!(mpi_of(name), None, "{name}");
        }
    }
}
