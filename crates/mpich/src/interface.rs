//! How the interface differs from the standard's.

use std::ffi::c_int;

use catena_layer::code::{Parts, foreign_class, native_class, parts, whole};
use catena_layer::{Abi, Families, Pair};

use crate::{addresses, constants, handle, status};

/// The interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpich;

/// Codes that tell more than their class are `n * CLASSES + class`.
const CLASSES: c_int = 128;
/// Codes and classes of the program have this bit, as they must be larger than
/// `MPI_ERR_LASTCODE`.
const ADDED: c_int = 0x4000_0000;

impl Abi for Mpich {
    const NAME: &'static str = "MPICH (libmpi.so.12)";
    const VERSION: Option<(c_int, c_int)> = None;

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
    const BUFFER_AUTOMATIC: usize = constants::BUFFER_AUTOMATIC as usize;
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

    fn weights() -> [usize; 2] {
        addresses::weights()
    }

    fn pvar_handle(handle: usize) -> usize {
        addresses::pvar_handle(handle)
    }

    fn code(native: c_int) -> c_int {
        match parts(native) {
            Parts::Added(code) => ADDED | code,
            Parts::Class(n, class) => CLASSES * n + foreign_class(Self::CLASSES, class),
        }
    }

    fn native_code(code: c_int) -> Option<c_int> {
        if code & ADDED != 0 {
            return (code > 0).then_some(code & !ADDED);
        }
        // A number that is negative has no class.
        let class = native_class(Self::CLASSES, code % CLASSES)?;
        Some(whole(code / CLASSES, class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_layer::code::{code, code_in};

    #[test]
    fn codes_come_back() {
        for &(foreign, native) in Mpich::CLASSES {
            if native == 0 {
                continue;
            }
            assert_eq!(
                (Mpich::code(native), Mpich::native_code(foreign)),
                (foreign, Some(native))
            );
            if native < 64 {
                // 15 is the number whose codes would be those of the tool interface.
                for n in (1..=254).filter(|n| *n != 15) {
                    let code = Mpich::code(64 * n + native);
                    assert_eq!((code % CLASSES, code / CLASSES), (foreign, n));
                    assert_eq!(Mpich::native_code(code), Some(64 * n + native));
                }
            }
        }
        let added = catena_abi::consts::ERR_LASTCODE + 1;
        assert!(Mpich::code(added) > constants::ERR_LASTCODE);
        assert_eq!(Mpich::native_code(Mpich::code(added)), Some(added));
        for other in [127, -3, constants::ERR_LASTCODE] {
            assert_eq!(code::<Mpich>(code_in::<Mpich>(other)), other);
            assert!(!(1..16383).contains(&code_in::<Mpich>(other)));
        }
    }
}
