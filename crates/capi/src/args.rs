//! Checks and conversions of arguments that many functions share.

use std::ffi::{CStr, c_char, c_int, c_void};

use catena_abi::{Count, Status, consts};
use catena_datatype::TypeRef;
use catena_objects::info::fitting;
use catena_objects::{Error, Kind, Result, fail};

/// Checks a count.
///
/// # Errors
/// `Count` if it is negative.
#[inline]
pub(crate) fn count(count: Count) -> Result<u64> {
    u64::try_from(count).map_err(|_| bad_count(count))
}

#[cold]
fn bad_count(count: Count) -> Error {
    Error::new(
        Kind::Count,
        format!("the count is {count}: it must not be negative"),
    )
}

/// Checks that a buffer with elements has an address; `MPI_BOTTOM` is fine for
/// types that carry addresses.
///
/// # Errors
/// `Buffer` for `MPI_IN_PLACE` or a null pointer with a count, `Count` for more than memory can
/// hold.
#[inline]
pub(crate) fn buffer(buf: *const c_void, count: u64, ty: &TypeRef) -> Result<()> {
    // One comparison for both that are no addresses: MPI_BOTTOM is the null pointer.
    if buf.addr() <= consts::IN_PLACE && count != 0 {
        no_buffer(buf, count, ty)?;
    }
    match count.checked_mul(ty.size()) {
        Some(bytes) if bytes <= isize::MAX as u64 => Ok(()),
        _ => Err(too_much(count, ty)),
    }
}

#[cold]
fn too_much(count: u64, ty: &TypeRef) -> Error {
    let text = format!(
        "{count} elements of {} bytes are more than memory can hold",
        ty.size()
    );
    Error::new(Kind::Count, text)
}

#[cold]
fn no_buffer(buf: *const c_void, count: u64, ty: &TypeRef) -> Result<()> {
    if buf.addr() == consts::IN_PLACE {
        fail!(
            Buffer,
            "MPI_IN_PLACE is no buffer here: only collectives take it"
        );
    }
    if ty.size() == 0 || ty.true_lb() != 0 || !ty.is_contiguous() {
        return Ok(());
    }
    fail!(
        Buffer,
        "the buffer is a null pointer, but the count is {count}"
    )
}

/// Stores a result.
///
/// # Errors
/// `Arg` if `to` is null; `name` is the argument's.
#[inline]
pub(crate) fn put<T>(to: *mut T, value: T, name: &str) -> Result<()> {
    if to.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: not null, and the program vouches for the rest.
    unsafe { to.write(value) };
    Ok(())
}

/// Reads an argument passed by address.
///
/// # Errors
/// `Arg` if `from` is null; `name` is the argument's.
#[inline]
pub(crate) fn get<T: Copy>(from: *const T, name: &str) -> Result<T> {
    if from.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: not null, and the program vouches for the rest.
    Ok(unsafe { from.read() })
}

#[cold]
pub(crate) fn null_argument(name: &str) -> Error {
    Error::new(Kind::Arg, format!("the argument {name} is a null pointer"))
}

/// An array argument; a null pointer is fine for no elements.
///
/// # Errors
/// `Arg` if it is null though it has elements.
#[inline]
pub(crate) fn array<'a, T>(at: *const T, len: usize, name: &str) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    if at.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the program passes an array of that length, which it does not
    // change during the call.
    Ok(unsafe { std::slice::from_raw_parts(at, len) })
}

/// An array argument that is written.
///
/// # Errors
/// `Arg` if it is null though it has elements.
pub(crate) fn array_mut<'a, T>(at: *mut T, len: usize, name: &str) -> Result<&'a mut [T]> {
    if len == 0 {
        return Ok(&mut []);
    }
    if at.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the program passes an array of that length, ours for the call.
    Ok(unsafe { std::slice::from_raw_parts_mut(at, len) })
}

/// Stores a status but for its error field, unless it is to be ignored.
#[inline]
pub(crate) fn put_status(to: *mut Status, from: &Status) {
    if !to.is_null() {
        // SAFETY: not null (`MPI_STATUS_IGNORE`); the program vouches for the
        // rest.
        unsafe {
            (*to).source = from.source;
            (*to).tag = from.tag;
            (*to).internal = from.internal;
        }
    }
}

/// The bytes of a string argument.
///
/// # Errors
/// `Arg` if it is null.
pub(crate) fn bytes<'a>(at: *const c_char, name: &str) -> Result<&'a [u8]> {
    if at.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the program passes a string that ends with NUL.
    Ok(unsafe { CStr::from_ptr(at) }.to_bytes())
}

/// A string argument.
///
/// # Errors
/// `Arg` if it is null or not UTF-8.
pub(crate) fn string<'a>(at: *const c_char, name: &str) -> Result<&'a str> {
    match std::str::from_utf8(bytes(at, name)?) {
        Ok(s) => Ok(s),
        Err(_) => fail!(Arg, "the argument {name} is not valid UTF-8"),
    }
}

/// The name of an object, clipped to the longest that is allowed.
///
/// # Errors
/// As [`bytes`].
pub(crate) fn object_name(at: *const c_char, name: &str) -> Result<Vec<u8>> {
    let s = bytes(at, name)?;
    let len = fitting(s, consts::MAX_OBJECT_NAME as usize - 1);
    Ok(s[..len].to_vec())
}

/// Stores a string with its terminating NUL in a buffer of `size` bytes,
/// clipped to fit, and its length without the NUL.
///
/// # Errors
/// `Arg` for null pointers.
pub(crate) fn put_string(
    to: *mut c_char,
    size: usize,
    len: *mut c_int,
    s: impl AsRef<[u8]>,
) -> Result<()> {
    if to.is_null() {
        return Err(null_argument("string"));
    }
    let s = s.as_ref();
    let n = fitting(s, size - 1);
    // SAFETY: the standard says how long the program's buffer is: `size`.
    unsafe {
        std::ptr::copy_nonoverlapping(s.as_ptr(), to.cast(), n);
        *to.add(n) = 0;
    }
    put(len, n as c_int, "resultlen")
}
