//! Control variables (MPI-5, chapter 15.3.6).

use std::ffi::{c_char, c_int, c_void};

use catena_abi::{Datatype, TCvarHandle, TEnum, consts};
use catena_mpit::{Bind, Error, Result, Type, catalog, cvar};
use catena_settings::{Plain, Scope};

use super::{
    at, bind, datatype, enumeration, give, give_string, index, name as text, needed, put, tool_fn,
    verbosity,
};

fn scope(scope: Scope) -> c_int {
    match scope {
        Scope::AllEqual => consts::T_SCOPE_ALL_EQ,
        Scope::Local => consts::T_SCOPE_LOCAL,
    }
}

/// Stores a value of `count` elements.
fn store(to: *mut c_void, value: Plain<'_>, count: usize) -> Result<()> {
    match value {
        Plain::Choice(n) => put(to.cast(), n as c_int),
        Plain::Number(n) => put(to.cast(), n),
        Plain::Long(n) => put(to.cast(), n),
        Plain::Real(x) => put(to.cast(), x),
        Plain::Text(text) => {
            needed(to)?;
            let mut room = c_int::try_from(count).unwrap_or(c_int::MAX);
            give_string(to.cast(), &raw mut room, text);
            Ok(())
        }
    }
}

/// Reads a value of `count` elements.
fn load<'a>(from: *const c_void, ty: Type, count: usize) -> Result<Plain<'a>> {
    needed(from)?;
    // SAFETY: the program passes a buffer of the variable's type and count.
    Ok(unsafe {
        match ty {
            Type::Int => {
                let n = from.cast::<c_int>().read();
                Plain::Choice(u32::try_from(n).map_err(|_| Error::Invalid)?)
            }
            Type::Unsigned => Plain::Number(from.cast::<u32>().read()),
            Type::Long => Plain::Long(from.cast::<u64>().read()),
            Type::Double => Plain::Real(from.cast::<f64>().read()),
            Type::Text => {
                let len = libc::strnlen(from.cast(), count);
                let bytes = std::slice::from_raw_parts(from.cast::<u8>(), len);
                let text = std::str::from_utf8(bytes).ok().filter(|_| len < count);
                Plain::Text(text.ok_or(Error::Invalid)?)
            }
        }
    })
}

tool_fn! {
    fn MPI_T_cvar_get_num(num_cvar: *mut c_int) {
        put(num_cvar, catalog().cvars.len() as c_int)
    }

    fn MPI_T_cvar_get_info(cvar_index: c_int, name: *mut c_char, name_len: *mut c_int,
        verbose: *mut c_int, ty: *mut Datatype, enumtype: *mut TEnum, desc: *mut c_char,
        desc_len: *mut c_int, binding: *mut c_int, scoped: *mut c_int)
    {
        let v = at(&catalog().cvars, cvar_index)?;
        give_string(name, name_len, &v.name);
        give(verbose, verbosity(v.audience));
        give(ty, datatype(v.ty));
        give(enumtype, enumeration(v.enumeration));
        give_string(desc, desc_len, &v.doc);
        give(binding, bind(Bind::Process));
        give(scoped, scope(v.scope));
        Ok(())
    }

    fn MPI_T_cvar_get_index(name: *const c_char, cvar_index: *mut c_int) {
        needed(cvar_index)?;
        put(cvar_index, catalog().cvar_index(text(name)?)? as c_int)
    }

    fn MPI_T_cvar_handle_alloc(cvar_index: c_int, _obj_handle: *mut c_void,
        handle: *mut TCvarHandle, count: *mut c_int)
    {
        needed(handle)?;
        needed(count)?;
        let (new, elements) = cvar::open(index(cvar_index)?)?;
        give(count, elements as c_int);
        put(handle, TCvarHandle(new))
    }

    fn MPI_T_cvar_handle_free(handle: *mut TCvarHandle) {
        needed(handle)?;
        // SAFETY: not null, and the program vouches for the rest.
        cvar::close(unsafe { *handle }.0)?;
        put(handle, consts::T_CVAR_HANDLE_NULL)
    }

    fn MPI_T_cvar_read(handle: TCvarHandle, buf: *mut c_void) {
        let (variable, count) = cvar::variable(handle.0)?;
        store(buf, variable.read(), count)
    }

    fn MPI_T_cvar_write(handle: TCvarHandle, buf: *const c_void) {
        let (variable, count) = cvar::variable(handle.0)?;
        variable.write(load(buf, variable.ty, count)?)
    }
}
