//! The binary interface: its version, and what Fortran it is used from (MPI-5,
//! chapter 21).
//!
//! A program may choose between two sizes of each Fortran type, once. Its truth values can be any.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use catena_abi::{Aint, Count, Info, Offset, consts};
use catena_core::any_time;
use catena_core::life::set_fortran_sizes;
use catena_datatype::{Booleans, FortranSizes, booleans, set_booleans};
use catena_objects::info::Info as Pairs;
use catena_objects::{Error, Kind, Result, fail};

use crate::args::{null_argument, put};
use crate::entry::mpi_fn;
use crate::info;

/// What the keys that tell of optional types end with.
const SUPPORTED: &str = "_supported";

/// What the program told of its Fortran compiler.
static FORTRAN: OnceLock<Vec<(String, String)>> = OnceLock::new();

fn pairs_of(info: &Pairs) -> Vec<(String, String)> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let pairs = info.pairs().into_iter();
    pairs.map(|(key, value)| (text(key), text(value))).collect()
}

/// Notes what the program says of its compiler, if the library can do it.
fn note(sizes: &mut FortranSizes, key: &str, value: &str) -> Result<()> {
    let (size, choice) = match key {
        "mpi_logical_size" => (&mut sizes.logical, "4 or 8"),
        "mpi_integer_size" => (&mut sizes.integer, "4 or 8"),
        "mpi_real_size" => (&mut sizes.real, "4 or 8"),
        "mpi_double_precision_size" => (&mut sizes.double_precision, "8 or 16"),
        _ => return supported(key, value),
    };
    let Ok(n) = value.parse() else {
        fail!(
            InfoValue,
            "{key} is '{value}': it must be a number of bytes"
        );
    };
    *size = n;
    if !sizes.are_known() {
        fail!(
            Abi,
            "{key} is {n}, but Catena has {choice} bytes for this type"
        );
    }
    Ok(())
}

/// Looks at a key that tells whether there is an optional type.
fn supported(key: &str, value: &str) -> Result<()> {
    if key.starts_with("mpi_") && key.ends_with(SUPPORTED) && !["true", "false"].contains(&value) {
        fail!(InfoValue, "{key} is '{value}': it must be true or false");
    }
    Ok(())
}

/// The bytes of a truth value that fill `size` bytes.
fn load(at: *const c_void, size: usize, name: &str) -> Result<u128> {
    if at.is_null() {
        return Err(null_argument(name));
    }
    let mut bytes = [0u8; 16];
    // SAFETY: the program passes a LOGICAL of that size, at most 16 bytes.
    unsafe { std::ptr::copy_nonoverlapping(at.cast(), bytes.as_mut_ptr(), size) };
    Ok(u128::from_le_bytes(bytes))
}

fn store(to: *mut c_void, size: usize, value: u128, name: &str) -> Result<()> {
    if to.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the program passes room for a LOGICAL of that size.
    unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), to.cast(), size) };
    Ok(())
}

fn logical_size(size: c_int) -> Result<usize> {
    match size {
        1 | 2 | 4 | 8 | 16 => Ok(size as usize),
        _ => fail!(Arg, "logical_size is {size}: it must be 1, 2, 4, 8 or 16"),
    }
}

#[cold]
fn said_before(what: &str) -> Error {
    Error::new(Kind::Abi, format!("{what} were set before, which counts"))
}

mpi_fn! {
    fn MPI_Abi_get_version(abi_major: *mut c_int, abi_minor: *mut c_int) {
        put(abi_major, consts::ABI_VERSION, "abi_major")?;
        put(abi_minor, consts::ABI_SUBVERSION, "abi_minor")
    }

    fn MPI_Abi_get_info(to: *mut Info) {
        let sizes = [
            ("mpi_aint_size", size_of::<Aint>()),
            ("mpi_count_size", size_of::<Count>()),
            ("mpi_offset_size", size_of::<Offset>()),
        ];
        let pairs = sizes.map(|(key, size)| (key.to_owned(), size.to_string()));
        put(to, info::add(any_time(), Pairs::from_pairs(pairs)), "info")
    }

    fn MPI_Abi_set_fortran_info(from: Info) {
        let Some(info) = any_time().infos.find(from)? else {
            fail!(Info, "the info object is MPI_INFO_NULL");
        };
        if FORTRAN.get().is_some() {
            return Err(said_before("the properties of the Fortran compiler"));
        }
        let pairs = pairs_of(&info);
        let mut sizes = FortranSizes::default();
        for (key, value) in &pairs {
            note(&mut sizes, key, value)?;
        }
        FORTRAN.set(pairs).map_err(|_| said_before("the properties of the Fortran compiler"))?;
        if sizes != FortranSizes::default() {
            set_fortran_sizes(sizes);
        }
        Ok(())
    }

    /// `MPI_INFO_NULL` until the program tells.
    fn MPI_Abi_get_fortran_info(to: *mut Info) {
        let known = FORTRAN.get().map(|pairs| Pairs::from_pairs(pairs.clone()));
        let handle = known.map(|pairs| info::add(any_time(), pairs));
        put(to, handle.unwrap_or(consts::INFO_NULL), "info")
    }

    fn MPI_Abi_set_fortran_booleans(bytes: c_int, logical_true: *mut c_void,
        logical_false: *mut c_void)
    {
        let size = logical_size(bytes)?;
        let truth = load(logical_true, size, "logical_true")?;
        let falsehood = load(logical_false, size, "logical_false")?;
        if truth == falsehood {
            fail!(Arg, "logical_true and logical_false are the same");
        }
        if set_booleans(Booleans { size, truth, falsehood }) {
            return Ok(());
        }
        Err(said_before("the truth values of Fortran"))
    }

    fn MPI_Abi_get_fortran_booleans(bytes: c_int, logical_true: *mut c_void,
        logical_false: *mut c_void, is_set: *mut c_int)
    {
        let size = logical_size(bytes)?;
        let known = booleans().filter(|b| b.size == size);
        if let Some(b) = known {
            store(logical_true, size, b.truth, "logical_true")?;
            store(logical_false, size, b.falsehood, "logical_false")?;
        }
        put(is_set, known.is_some().into(), "is_set")
    }
}
