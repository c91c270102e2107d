//! Info objects (MPI-5, chapter 10).

use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use catena_abi::{Info, consts};
use catena_core::{AnyTime, any_time, init};
use catena_objects::info::{Info as Pairs, check_key};
use catena_objects::{Result, fail};

use crate::args::{self, put};
use crate::entry::mpi_fn;

/// The info object behind a handle, which must not be null.
pub(crate) fn info(objects: &AnyTime, handle: Info) -> Result<Arc<Pairs>> {
    match objects.infos.find(handle)? {
        Some(info) => Ok(info),
        None => fail!(Info, "the info object is MPI_INFO_NULL"),
    }
}

/// An info object that the program may change: any but `MPI_INFO_ENV`.
fn own(objects: &AnyTime, handle: Info) -> Result<Arc<Pairs>> {
    if handle == consts::INFO_ENV {
        fail!(Info, "MPI_INFO_ENV can only be read");
    }
    info(objects, handle)
}

/// Checks hints of which none is followed: they must be an info object, or `MPI_INFO_NULL`.
pub(crate) fn check(objects: &AnyTime, handle: Info) -> Result<()> {
    objects.infos.find(handle).map(drop)
}

/// Stores an info object.
pub(crate) fn add(objects: &AnyTime, info: Arc<Pairs>) -> Info {
    Info(objects.infos.table.insert(info))
}

fn key<'a>(at: *const c_char) -> Result<&'a [u8]> {
    if at.is_null() {
        fail!(InfoKey, "the argument key is a null pointer");
    }
    let key = args::bytes(at, "key")?;
    check_key(key)?;
    Ok(key)
}

/// Stores the first `room` bytes of a value and a terminating NUL.
fn put_value(to: *mut c_char, room: usize, value: &[u8]) -> Result<()> {
    if to.is_null() {
        return Err(args::null_argument("value"));
    }
    let n = value.len().min(room);
    // SAFETY: the program's buffer has `room` bytes and one for the NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(value.as_ptr(), to.cast(), n);
        *to.add(n) = 0;
    }
    Ok(())
}

mpi_fn! {
    fn MPI_Info_create(info: *mut Info) {
        put(info, add(any_time(), Arc::default()), "info")
    }

    fn MPI_Info_create_env(argc: c_int, argv: *mut *mut c_char, info: *mut Info) {
        let env = init::info_env();
        let argc = usize::try_from(argc).unwrap_or(0);
        if !argv.is_null() && argc > 0 {
            let words: Vec<&[u8]> = args::array(argv, argc, "argv")?
                .iter()
                .filter(|word| !word.is_null())
                // SAFETY: the arguments of a program are strings.
                .map(|&word| unsafe { CStr::from_ptr(word) }.to_bytes())
                .collect();
            if let Some((command, rest)) = words.split_first() {
                env.set("command", init::clip(command.to_vec()))?;
                env.set("argv", init::clip(rest.join(&b' ')))?;
            }
        }
        put(info, add(any_time(), env), "info")
    }

    fn MPI_Info_dup(handle: Info, newinfo: *mut Info) {
        let objects = any_time();
        let copy = info(objects, handle)?.duplicate();
        put(newinfo, add(objects, copy), "newinfo")
    }

    fn MPI_Info_free(handle: *mut Info) {
        let objects = any_time();
        let old = args::get(handle, "info")?;
        own(objects, old)?;
        objects.infos.table.remove(old.0);
        put(handle, consts::INFO_NULL, "info")
    }

    fn MPI_Info_set(handle: Info, name: *const c_char, value: *const c_char) {
        let objects = any_time();
        let info = own(objects, handle)?;
        let name = key(name)?;
        if value.is_null() {
            fail!(InfoValue, "the value of info key '{}' is a null pointer",
                String::from_utf8_lossy(name));
        }
        info.set(name, args::bytes(value, "value")?)
    }

    fn MPI_Info_delete(handle: Info, name: *const c_char) {
        let objects = any_time();
        own(objects, handle)?.delete(key(name)?)
    }

    fn MPI_Info_get(handle: Info, name: *const c_char, valuelen: c_int, value: *mut c_char,
        flag: *mut c_int)
    {
        let objects = any_time();
        let found = info(objects, handle)?.get(key(name)?);
        if let Some(found) = &found {
            match usize::try_from(valuelen) {
                Ok(room) => put_value(value, room, found)?,
                Err(_) => fail!(Arg, "valuelen is {valuelen}: it must not be negative"),
            }
        }
        put(flag, found.is_some().into(), "flag")
    }

    fn MPI_Info_get_string(handle: Info, name: *const c_char, buflen: *mut c_int,
        value: *mut c_char,
        flag: *mut c_int)
    {
        let objects = any_time();
        let found = info(objects, handle)?.get(key(name)?);
        if let Some(found) = &found {
            match usize::try_from(args::get(buflen, "buflen")?) {
                Ok(0) => {}
                Ok(size) => put_value(value, size - 1, found)?,
                Err(_) => fail!(Arg, "buflen is negative"),
            }
            put(buflen, found.len() as c_int + 1, "buflen")?;
        }
        put(flag, found.is_some().into(), "flag")
    }

    fn MPI_Info_get_valuelen(handle: Info, name: *const c_char, valuelen: *mut c_int,
        flag: *mut c_int)
    {
        let objects = any_time();
        let found = info(objects, handle)?.get(key(name)?);
        if let Some(found) = &found {
            put(valuelen, found.len() as c_int, "valuelen")?;
        }
        put(flag, found.is_some().into(), "flag")
    }

    fn MPI_Info_get_nkeys(handle: Info, nkeys: *mut c_int) {
        let objects = any_time();
        put(nkeys, info(objects, handle)?.len() as c_int, "nkeys")
    }

    fn MPI_Info_get_nthkey(handle: Info, n: c_int, name: *mut c_char) {
        let objects = any_time();
        let found = info(objects, handle)?.nth_key(n)?;
        put_value(name, consts::MAX_INFO_KEY as usize - 1, &found)
    }
}
