//! How the interface differs from the standard's.

use std::ffi::c_int;

use catena_layer::code::{Parts, foreign_class, native_class, parts};
use catena_layer::{Abi, Families, Pair, SplitBy};

use crate::{constants, handle, status};

/// `MPI_ERR_PROC_FAILED`, `MPI_ERR_PROC_FAILED_PENDING` and `MPI_ERR_REVOKED`, which are not the
/// standard's: their texts are those of unknown errors.
const FAILURES: std::ops::RangeInclusive<c_int> = 75..=77;

/// The interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenMpi;

impl Abi for OpenMpi {
    const NAME: &'static str = "Open MPI (libmpi.so.40)";
    // Its headers have the constants of MPI 4.0, and not those that came with 4.1.
    const VERSION: Option<(c_int, c_int)> = Some((4, 0));

    type Comm = handle::Comm;
    type Datatype = handle::Datatype;
    type Op = handle::Op;
    type Group = handle::Group;
    type Win = handle::Win;
    type File = handle::File;
    type Session = handle::Session;
    type Message = handle::Message;
    type Info = handle::Info;
    type Errhandler = handle::Errhandler;
    type Request = handle::Request;
    type Status = status::Status;

    const ANY_SOURCE: c_int = constants::ANY_SOURCE as c_int;
    const PROC_NULL: c_int = constants::PROC_NULL as c_int;
    const ROOT: c_int = constants::ROOT as c_int;
    const ANY_TAG: c_int = constants::ANY_TAG as c_int;
    const DISPLACEMENT_CURRENT: i64 = constants::DISPLACEMENT_CURRENT;
    const KEYVAL_INVALID: c_int = constants::KEYVAL_INVALID as c_int;
    const IN_PLACE: usize = constants::IN_PLACE as usize;
    // Its headers have no such constant; what the standard has means nothing to its programs.
    const BUFFER_AUTOMATIC: usize = catena_abi::consts::BUFFER_AUTOMATIC;
    const STATUS_IGNORE: usize = constants::STATUS_IGNORE as usize;
    const ERR_LASTCODE: c_int = constants::ERR_LASTCODE;

    const MAX_PROCESSOR_NAME: usize = constants::MAX_PROCESSOR_NAME as usize;
    const MAX_OBJECT_NAME: usize = constants::MAX_OBJECT_NAME as usize;
    const MAX_ERROR_STRING: usize = constants::MAX_ERROR_STRING as usize;
    const MAX_LIBRARY_VERSION_STRING: usize = constants::MAX_LIBRARY_VERSION_STRING as usize;
    const MAX_INFO_KEY: usize = constants::MAX_INFO_KEY as usize;
    const MAX_PORT_NAME: usize = constants::MAX_PORT_NAME as usize;
    const MAX_PSET_NAME_LEN: usize = constants::MAX_PSET_NAME_LEN as usize;
    const MAX_DATAREP_STRING: usize = constants::MAX_DATAREP_STRING as usize;

    const FAMILIES: Families = constants::FAMILIES;
    const KEYS: &'static [Pair] = constants::KEYS;
    const CLASSES: &'static [Pair] = constants::CLASSES;

    /// `OMPI_COMM_TYPE_HWTHREAD` and what follows it, but for the compute unit: what is larger than
    /// a host and smaller than all of them Catena does not know.
    fn split_by(split_type: c_int) -> Option<SplitBy> {
        Some(SplitBy::Resource(match split_type {
            1 => c"hwloc://PU",
            2 => c"hwloc://Core",
            3 => c"hwloc://L1Cache",
            4 => c"hwloc://L2Cache",
            5 => c"hwloc://L3Cache",
            6 => c"hwloc://Package",
            7 => c"hwloc://NUMANode",
            // A host has one board here.
            8 | 9 => c"hwloc://Machine",
            11 => return Some(SplitBy::Everything),
            _ => return None,
        }))
    }

    fn weights() -> [usize; 2] {
        [
            constants::UNWEIGHTED as usize,
            constants::WEIGHTS_EMPTY as usize,
        ]
    }

    fn pvar_handle(handle: usize) -> usize {
        if handle == usize::MAX {
            return catena_abi::consts::T_PVAR_ALL_HANDLES.0;
        }
        handle
    }

    /// The class: programs of Open MPI, where codes are classes, compare codes with classes.
    fn code(native: c_int) -> c_int {
        match parts(native) {
            Parts::Added(code) => code,
            Parts::Class(_, class) => foreign_class(Self::CLASSES, class),
        }
    }

    fn is_own_class(code: c_int) -> bool {
        FAILURES.contains(&code)
    }

    fn native_code(code: c_int) -> Option<c_int> {
        if code > catena_abi::consts::ERR_LASTCODE {
            return Some(code);
        }
        let unknown = catena_abi::consts::ERR_UNKNOWN;
        native_class(Self::CLASSES, code).or(Self::is_own_class(code).then_some(unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_layer::code::{code, code_in};

    #[test]
    fn classes_come_back() {
        for &(foreign, native) in OpenMpi::CLASSES {
            assert_eq!(OpenMpi::code(native), foreign);
            assert_eq!(OpenMpi::native_code(foreign), Some(native));
            if (1..64).contains(&native) {
                // 15 is the number whose codes would be those of the tool interface.
                for n in (1..=254).filter(|n| *n != 15) {
                    assert_eq!(OpenMpi::code(64 * n + native), foreign);
                }
            }
        }
        let added = catena_abi::consts::ERR_LASTCODE + 1;
        assert_eq!(OpenMpi::code(added), added);
        assert_eq!(OpenMpi::native_code(added), Some(added));
        for other in [93, -3, 333, constants::ERR_LASTCODE] {
            assert_eq!(code::<OpenMpi>(code_in::<OpenMpi>(other)), other);
            assert!(!(1..16383).contains(&code_in::<OpenMpi>(other)));
        }
    }
}
