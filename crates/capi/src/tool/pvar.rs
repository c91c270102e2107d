//! Performance variables (MPI-5, chapter 15.3.7).

use std::ffi::{c_char, c_int, c_void};

use catena_abi::{Comm, Datatype, File, TEnum, TPvarHandle, TPvarSession, consts};
use catena_mpit::session::{self, Which};
use catena_mpit::{Bind, Class, Error, ObjectKind, Result, Type, Value, catalog};

use super::{
    at, bind, datatype, enumeration, give, give_string, index, name as text, needed, object, put,
    put_value, tool_fn, verbosity,
};

const CLASSES: [(Class, c_int); 7] = [
    (Class::State, consts::T_PVAR_CLASS_STATE),
    (Class::Level, consts::T_PVAR_CLASS_LEVEL),
    (Class::Size, consts::T_PVAR_CLASS_SIZE),
    (Class::HighWatermark, consts::T_PVAR_CLASS_HIGHWATERMARK),
    (Class::Counter, consts::T_PVAR_CLASS_COUNTER),
    (Class::Aggregate, consts::T_PVAR_CLASS_AGGREGATE),
    (Class::Timer, consts::T_PVAR_CLASS_TIMER),
];

fn class(class: Class) -> c_int {
    let row = CLASSES.iter().find(|row| row.0 == class);
    row.map_or(consts::T_PVAR_CLASS_GENERIC, |row| row.1)
}

fn which(handle: TPvarHandle) -> Which {
    match handle {
        consts::T_PVAR_ALL_HANDLES => Which::All,
        one => Which::One(one.0),
    }
}

/// Reads the value that a variable is to have.
fn load(from: *const c_void, ty: Type) -> Result<Value> {
    needed(from)?;
    // SAFETY: the program passes a buffer of the variable's type.
    unsafe {
        match ty {
            Type::Long => Ok(Value::Long(from.cast::<u64>().read())),
            Type::Double => Ok(Value::Real(from.cast::<f64>().read())),
            Type::Int => Ok(Value::Int(from.cast::<c_int>().read())),
            Type::Unsigned | Type::Text => Err(Error::Invalid),
        }
    }
}

tool_fn! {
    fn MPI_T_pvar_get_num(num_pvar: *mut c_int) {
        put(num_pvar, catalog().pvars.len() as c_int)
    }

    fn MPI_T_pvar_get_info(pvar_index: c_int, name: *mut c_char, name_len: *mut c_int,
        verbose: *mut c_int, var_class: *mut c_int, ty: *mut Datatype, enumtype: *mut TEnum,
        desc: *mut c_char, desc_len: *mut c_int, binding: *mut c_int, readonly: *mut c_int,
        continuous: *mut c_int, atomic: *mut c_int)
    {
        let v = at(&catalog().pvars, pvar_index)?;
        let present = v.class.is_present();
        give_string(name, name_len, &v.name);
        give(verbose, verbosity(v.audience));
        give(var_class, class(v.class));
        give(ty, datatype(v.class.ty()));
        give(enumtype, enumeration(catalog().pvar_enumeration(v)));
        give_string(desc, desc_len, &v.doc);
        give(binding, bind(v.bind()));
        give(readonly, present.into());
        give(continuous, present.into());
        give(atomic, (!present).into());
        Ok(())
    }

    fn MPI_T_pvar_get_index(name: *const c_char, var_class: c_int, pvar_index: *mut c_int) {
        needed(pvar_index)?;
        let class = CLASSES.iter().find(|row| row.1 == var_class).map(|row| row.0);
        put(pvar_index, catalog().pvar_index(text(name)?, class)? as c_int)
    }

    fn MPI_T_pvar_session_create(session: *mut TPvarSession) {
        needed(session)?;
        put(session, TPvarSession(session::create()?))
    }

    fn MPI_T_pvar_session_free(session: *mut TPvarSession) {
        needed(session)?;
        // SAFETY: not null, and the program vouches for the rest.
        session::free(unsafe { *session }.0)?;
        put(session, consts::T_PVAR_SESSION_NULL)
    }

    fn MPI_T_pvar_handle_alloc(session: TPvarSession, pvar_index: c_int, obj_handle: *mut c_void,
        handle: *mut TPvarHandle, count: *mut c_int)
    {
        needed(handle)?;
        needed(count)?;
        session::check(session.0)?;
        let bound = match at(&catalog().pvars, pvar_index)?.bind() {
            Bind::Process => None,
            Bind::Object(ObjectKind::File) => {
                object(obj_handle).map(|File(handle)| (ObjectKind::File, handle))
            }
            Bind::Object(kind) => object(obj_handle).map(|Comm(handle)| (kind, handle)),
        };
        let new = session::open(session.0, index(pvar_index)?, bound)?;
        give(count, 1);
        put(handle, TPvarHandle(new))
    }

    fn MPI_T_pvar_handle_free(session: TPvarSession, handle: *mut TPvarHandle) {
        needed(handle)?;
        // SAFETY: not null, and the program vouches for the rest.
        session::close(session.0, unsafe { *handle }.0)?;
        put(handle, consts::T_PVAR_HANDLE_NULL)
    }

    fn MPI_T_pvar_start(session: TPvarSession, handle: TPvarHandle) {
        session::start(session.0, which(handle))
    }

    fn MPI_T_pvar_stop(session: TPvarSession, handle: TPvarHandle) {
        session::stop(session.0, which(handle))
    }

    fn MPI_T_pvar_reset(session: TPvarSession, handle: TPvarHandle) {
        session::reset(session.0, which(handle))
    }

    fn MPI_T_pvar_read(session: TPvarSession, handle: TPvarHandle, buf: *mut c_void) {
        let value = session::read(session.0, handle.0)?;
        put_value(buf, value)
    }

    fn MPI_T_pvar_readreset(session: TPvarSession, handle: TPvarHandle, buf: *mut c_void) {
        needed(buf)?;
        put_value(buf, session::read_reset(session.0, handle.0)?)
    }

    fn MPI_T_pvar_write(session: TPvarSession, handle: TPvarHandle, buf: *const c_void) {
        let class = session::class(session.0, handle.0)?;
        session::write(session.0, handle.0, load(buf, class.ty())?)
    }
}
