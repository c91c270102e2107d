//! The tool information interface (MPI-5, chapter 15.3).
//!
//! Its functions return codes of their own and never call an error handler.
//! Output arguments of the `get_info` functions may be null pointers; elsewhere
//! that is `MPI_T_ERR_INVALID`.

mod category;
mod cvar;
mod event;
mod life;
mod pvar;

use std::ffi::{CStr, c_char, c_int, c_void};

use catena_abi::{Datatype, TEnum, consts};
use catena_mpit::{self as tool, Audience, Bind, Error, ObjectKind, Result, Type, Value, catalog};

/// Defines functions of the interface, which must be initialised; the body is a
/// `tool::Result<()>`.
macro_rules! tool_fn {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $crate::export::export! {$(
            fn $name($($arg: $ty),*) -> ::core::ffi::c_int {
                let body = move || -> ::catena_mpit::Result<()> {
                    if !::catena_mpit::is_initialized() {
                        return Err(::catena_mpit::Error::NotInitialized);
                    }
                    $body
                };
                $crate::tool::code(body())
            }
        )*}
    };
}

pub(crate) use tool_fn;

/// The return code of a call.
fn code(outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => consts::SUCCESS,
        Err(Error::NotInitialized) => consts::T_ERR_NOT_INITIALIZED,
        Err(Error::Invalid) => consts::T_ERR_INVALID,
        Err(Error::InvalidIndex) => consts::T_ERR_INVALID_INDEX,
        Err(Error::InvalidName) => consts::T_ERR_INVALID_NAME,
        Err(Error::InvalidHandle) => consts::T_ERR_INVALID_HANDLE,
        Err(Error::InvalidSession) => consts::T_ERR_INVALID_SESSION,
        Err(Error::CvarSetNever) => consts::T_ERR_CVAR_SET_NEVER,
        Err(Error::CvarSetNotNow) => consts::T_ERR_CVAR_SET_NOT_NOW,
        Err(Error::PvarNoWrite) => consts::T_ERR_PVAR_NO_WRITE,
        Err(Error::PvarNoStartStop) => consts::T_ERR_PVAR_NO_STARTSTOP,
        Err(Error::PvarNoAtomic) => consts::T_ERR_PVAR_NO_ATOMIC,
    }
}

/// Stores a result that must have a place.
fn put<T>(to: *mut T, value: T) -> Result<()> {
    needed(to)?;
    give(to, value);
    Ok(())
}

/// Whether an argument is there that must be.
fn needed<T>(at: *const T) -> Result<()> {
    if at.is_null() {
        Err(Error::Invalid)
    } else {
        Ok(())
    }
}

/// Stores a result if there is a place for it.
fn give<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not null, and the program vouches for the rest.
        unsafe { to.write(value) };
    }
}

/// Stores a string as 15.3.3 says: at most `*len` bytes with the NUL, and the
/// length that all of it needs.
fn give_string(to: *mut c_char, len: *mut c_int, s: &str) {
    // SAFETY: null, or the program vouches for it.
    let Some(len) = (unsafe { len.as_mut() }) else {
        return;
    };
    let room = usize::try_from(*len).unwrap_or(0);
    if !to.is_null() && room > 0 {
        let n = s.len().min(room - 1);
        // SAFETY: the program's buffer has `room` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(s.as_ptr(), to.cast(), n);
            *to.add(n) = 0;
        }
    }
    *len = c_int::try_from(s.len() + 1).unwrap_or(c_int::MAX);
}

/// A name that something is looked for by.
fn name<'a>(at: *const c_char) -> Result<&'a str> {
    needed(at)?;
    // SAFETY: the program passes a string that ends with NUL.
    let name = unsafe { CStr::from_ptr(at) };
    name.to_str().map_err(|_| Error::InvalidName)
}

/// What an index means.
fn at<T>(all: &'static [T], index: c_int) -> Result<&'static T> {
    let index = usize::try_from(index).map_err(|_| Error::InvalidIndex)?;
    all.get(index).ok_or(Error::InvalidIndex)
}

/// An index that something may have; the callee knows what exists.
fn index(index: c_int) -> Result<usize> {
    usize::try_from(index).map_err(|_| Error::InvalidIndex)
}

/// The object that something is to be bound to.
fn object<T: Copy>(at: *const c_void) -> Option<T> {
    // SAFETY: null, or the address of a handle, as the standard demands of
    // what has to be bound; callers ask for nothing else.
    unsafe { at.cast::<T>().as_ref() }.copied()
}

fn enumeration(index: Option<usize>) -> TEnum {
    index.map_or(consts::T_ENUM_NULL, |at| TEnum(at + 1))
}

fn datatype(ty: Type) -> Datatype {
    match ty {
        Type::Int => consts::INT,
        Type::Unsigned => consts::UNSIGNED,
        Type::Long => consts::UNSIGNED_LONG_LONG,
        Type::Double => consts::DOUBLE,
        Type::Text => consts::CHAR,
    }
}

fn bind(bind: Bind) -> c_int {
    match bind {
        Bind::Process => consts::T_BIND_NO_OBJECT,
        Bind::Object(ObjectKind::File) => consts::T_BIND_MPI_FILE,
        Bind::Object(_) => consts::T_BIND_MPI_COMM,
    }
}

fn verbosity(audience: Audience) -> c_int {
    match audience {
        Audience::User => consts::T_VERBOSITY_USER_BASIC,
        Audience::UserDetail => consts::T_VERBOSITY_USER_DETAIL,
        Audience::Tuner => consts::T_VERBOSITY_TUNER_BASIC,
        Audience::TunerDetail => consts::T_VERBOSITY_TUNER_DETAIL,
        Audience::Developer => consts::T_VERBOSITY_MPIDEV_BASIC,
    }
}

/// Stores a value, which has its own type.
fn put_value(to: *mut c_void, value: Value) -> Result<()> {
    match value {
        Value::Int(n) => put(to.cast(), n),
        Value::Long(n) => put(to.cast(), n),
        Value::Real(x) => put(to.cast(), x),
    }
}

tool_fn! {
    fn MPI_T_enum_get_info(enumtype: TEnum, num: *mut c_int, name: *mut c_char,
        name_len: *mut c_int)
    {
        let e = enumeration_of(enumtype)?;
        give(num, e.items.len() as c_int);
        give_string(name, name_len, &e.name);
        Ok(())
    }

    fn MPI_T_enum_get_item(enumtype: TEnum, indx: c_int, value: *mut c_int, name: *mut c_char,
        name_len: *mut c_int)
    {
        let item = at(&enumeration_of(enumtype)?.items, indx)?;
        give(value, indx);
        give_string(name, name_len, item);
        Ok(())
    }
}

fn enumeration_of(handle: TEnum) -> Result<&'static tool::Enumeration> {
    let index = handle.0.checked_sub(1).ok_or(Error::InvalidHandle)?;
    catalog()
        .enumerations
        .get(index)
        .ok_or(Error::InvalidHandle)
}
