//! Attribute caching (MPI-5, chapter 7.7), and the attributes that
//! `MPI_COMM_WORLD` has from the start (chapter 9.1.2).

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use catena_abi::{
    Comm, CommCopyAttrFunction, CommDeleteAttrFunction, CopyAttrFunction, Datatype,
    DeleteAttrFunction, TypeCopyAttrFunction, TypeDeleteAttrFunction, Win, WinCopyAttrFunction,
    WinDeleteAttrFunction, consts,
};
use catena_boot::FAULT_TOLERANCE;
use catena_core::{Process, enter, enter_any, p2p};
use catena_objects::attr::{Attributes, Carrier, OnCopy};
use catena_objects::callback::{CopyFn, DeleteFn, Foreign};
use catena_objects::{Result, fail};
use catena_rma::registry;

use crate::added;
use crate::args::{self, put};
use crate::entry::mpi_fn;

fn on_copy<T>(function: CopyAttrFunction<T>) -> OnCopy {
    match function.map_or(consts::NULL_COPY_FN, |f| f as usize) {
        consts::NULL_COPY_FN => OnCopy::Drop,
        consts::DUP_FN => OnCopy::Keep,
        // SAFETY: the program's function; a handle is a `usize` in C's eyes.
        address => OnCopy::Call(unsafe { std::mem::transmute::<usize, CopyFn>(address) }.into()),
    }
}

fn on_delete<T>(function: DeleteAttrFunction<T>) -> Option<Foreign<DeleteFn>> {
    // SAFETY: the program's function; a handle is a `usize` in C's eyes.
    function.map(|f| unsafe { std::mem::transmute::<usize, DeleteFn>(f as usize) }.into())
}

fn create<T>(
    carrier: Carrier,
    copy: CopyAttrFunction<T>,
    delete: DeleteAttrFunction<T>,
    keyval: *mut c_int,
    extra_state: *mut c_void,
) -> Result<()> {
    let (copy, delete) = (on_copy(copy), on_delete(delete));
    put(
        keyval,
        enter_any()
            .keyvals
            .create(carrier, copy, delete, extra_state.into()),
        "keyval",
    )
}

fn free(carrier: Carrier, keyval: *mut c_int) -> Result<()> {
    enter_any()
        .keyvals
        .free(carrier, args::get(keyval, "keyval")?)?;
    put(keyval, consts::KEYVAL_INVALID, "keyval")
}

/// Values of the predefined attributes, to which programs get pointers; from
/// `MPI_TAG_UB` on in the order of their keys.
static PREDEFINED: [AtomicI32; 7] = [const { AtomicI32::new(0) }; 7];

/// That of `MPIX_FT`: whether the job goes on when processes die.
static TOLERANT: AtomicI32 = AtomicI32::new(0);

fn place(key: c_int) -> Option<&'static AtomicI32> {
    if key == consts::FT {
        return Some(&TOLERANT);
    }
    PREDEFINED.get(usize::try_from(key.checked_sub(consts::TAG_UB)?).ok()?)
}

/// Tells holders of the attribute `MPI_LASTUSEDCODE` that it may have changed.
pub(crate) fn refresh_last_used() {
    if let Some(place) = place(consts::LASTUSEDCODE) {
        place.store(added::last_used(), Relaxed);
    }
}

/// The predefined attribute under `key`.
fn predefined(process: &Process, key: c_int) -> Option<*mut c_void> {
    let place = place(key)?;
    let boot = process.engine.boot.borrow();
    let job = boot.job();
    let value = match key {
        consts::TAG_UB => p2p::TAG_UB,
        consts::IO => consts::ANY_SOURCE,
        consts::HOST => consts::PROC_NULL,
        // The steady clock counts from the start of the node.
        consts::WTIME_IS_GLOBAL => job.node_of.iter().all(|&n| n == job.node_of[0]).into(),
        consts::APPNUM => job.appnum as c_int,
        consts::LASTUSEDCODE => added::last_used(),
        consts::FT => FAULT_TOLERANCE.get().into(),
        _ => job.universe_size as c_int,
    };
    place.store(value, Relaxed);
    Some(place.as_ptr().cast())
}

/// Refuses to change what the library defines.
fn changeable(key: c_int) -> Result<()> {
    if is_predefined(key) {
        fail!(
            Keyval,
            "{key} is the key of a predefined attribute, which cannot be changed"
        );
    }
    Ok(())
}

/// Whether it is the key of an attribute that the library defines.
pub(crate) fn is_predefined(key: c_int) -> bool {
    place(key).is_some() || is_of_windows(key)
}

/// Whether it is the key of one of a window's own attributes.
fn is_of_windows(key: c_int) -> bool {
    (consts::WIN_BASE..=consts::WIN_MODEL).contains(&key)
}

/// Stores what was found.
fn found(value: Option<*mut c_void>, to: *mut c_void, flag: *mut c_int) -> Result<()> {
    if let Some(value) = value {
        put(to.cast::<*mut c_void>(), value, "attribute_val")?;
    }
    put(flag, value.is_some().into(), "flag")
}

fn comm_get(comm: Comm, key: c_int, to: *mut c_void, flag: *mut c_int) -> Result<()> {
    let process = enter()?;
    let comm = process.comm_ref(comm)?;
    if let Some(value) = predefined(&process, key) {
        return found(Some(value), to, flag);
    }
    let keyval = process.objects.keyvals.find(Carrier::Comm, key)?;
    found(comm.attrs.get(&keyval), to, flag)
}

fn comm_set(comm: Comm, key: c_int, value: *mut c_void) -> Result<()> {
    let process = enter()?;
    let comm = process.comm(comm)?;
    changeable(key)?;
    set(
        &process,
        Carrier::Comm,
        &comm.attrs,
        comm.handle.get().0,
        key,
        value,
    )
}

fn comm_delete(comm: Comm, key: c_int) -> Result<()> {
    let process = enter()?;
    let comm = process.comm(comm)?;
    changeable(key)?;
    process.objects.keyvals.find(Carrier::Comm, key)?;
    comm.attrs.delete(comm.handle.get().0, key)
}

fn set(
    process: &Process,
    carrier: Carrier,
    attrs: &Attributes,
    handle: usize,
    key: c_int,
    value: *mut c_void,
) -> Result<()> {
    attrs.set(handle, process.objects.keyvals.get(carrier, key)?, value)
}

mpi_fn! {
    fn MPI_Comm_create_keyval(copy: CommCopyAttrFunction, delete: CommDeleteAttrFunction,
        comm_keyval: *mut c_int, extra_state: *mut c_void)
    {
        create(Carrier::Comm, copy, delete, comm_keyval, extra_state)
    }

    fn MPI_Type_create_keyval(copy: TypeCopyAttrFunction, delete: TypeDeleteAttrFunction,
        type_keyval: *mut c_int, extra_state: *mut c_void)
    {
        create(Carrier::Type, copy, delete, type_keyval, extra_state)
    }

    fn MPI_Win_create_keyval(copy: WinCopyAttrFunction, delete: WinDeleteAttrFunction,
        win_keyval: *mut c_int, extra_state: *mut c_void)
    {
        create(Carrier::Win, copy, delete, win_keyval, extra_state)
    }

    fn MPI_Keyval_create(copy: CommCopyAttrFunction, delete: CommDeleteAttrFunction,
        keyval: *mut c_int, extra_state: *mut c_void)
    {
        create(Carrier::Comm, copy, delete, keyval, extra_state)
    }

    fn MPI_Comm_free_keyval(comm_keyval: *mut c_int) {
        free(Carrier::Comm, comm_keyval)
    }

    fn MPI_Type_free_keyval(type_keyval: *mut c_int) {
        free(Carrier::Type, type_keyval)
    }

    fn MPI_Win_free_keyval(win_keyval: *mut c_int) {
        free(Carrier::Win, win_keyval)
    }

    fn MPI_Keyval_free(keyval: *mut c_int) {
        free(Carrier::Comm, keyval)
    }

    fn MPI_Comm_get_attr(comm: Comm, keyval: c_int, attribute_val: *mut c_void, flag: *mut c_int)
        on comm
    {
        comm_get(comm, keyval, attribute_val, flag)
    }

    fn MPI_Comm_set_attr(comm: Comm, keyval: c_int, attribute_val: *mut c_void) on comm {
        comm_set(comm, keyval, attribute_val)
    }

    fn MPI_Comm_delete_attr(comm: Comm, keyval: c_int) on comm {
        comm_delete(comm, keyval)
    }

    fn MPI_Attr_get(comm: Comm, keyval: c_int, attribute_val: *mut c_void, flag: *mut c_int)
        on comm
    {
        comm_get(comm, keyval, attribute_val, flag)
    }

    fn MPI_Attr_put(comm: Comm, keyval: c_int, attribute_val: *mut c_void) on comm {
        comm_set(comm, keyval, attribute_val)
    }

    fn MPI_Attr_delete(comm: Comm, keyval: c_int) on comm {
        comm_delete(comm, keyval)
    }

    fn MPI_Type_get_attr(datatype: Datatype, keyval: c_int, attribute_val: *mut c_void,
        flag: *mut c_int)
    {
        let process = enter()?;
        let ty = process.objects.types.object(datatype)?;
        let keyval = process.objects.keyvals.find(Carrier::Type, keyval)?;
        found(ty.attrs.get(&keyval), attribute_val, flag)
    }

    fn MPI_Type_set_attr(datatype: Datatype, keyval: c_int, attribute_val: *mut c_void) {
        let process = enter()?;
        let ty = process.objects.types.object(datatype)?;
        set(&process, Carrier::Type, &ty.attrs, datatype.0, keyval, attribute_val)
    }

    fn MPI_Type_delete_attr(datatype: Datatype, keyval: c_int) {
        let process = enter()?;
        let ty = process.objects.types.object(datatype)?;
        process.objects.keyvals.find(Carrier::Type, keyval)?;
        ty.attrs.delete(datatype.0, keyval)
    }

    fn MPI_Win_get_attr(win: Win, win_keyval: c_int, attribute_val: *mut c_void, flag: *mut c_int)
        on win
    {
        let process = enter()?;
        let window = registry::find(win)?;
        if is_of_windows(win_keyval) {
            return found(window.attribute(win_keyval), attribute_val, flag);
        }
        let keyval = process.objects.keyvals.find(Carrier::Win, win_keyval)?;
        found(window.attrs.get(&keyval), attribute_val, flag)
    }

    fn MPI_Win_set_attr(win: Win, win_keyval: c_int, attribute_val: *mut c_void) on win {
        let process = enter()?;
        let window = registry::find(win)?;
        changeable(win_keyval)?;
        set(&process, Carrier::Win, &window.attrs, win.0, win_keyval, attribute_val)
    }

    fn MPI_Win_delete_attr(win: Win, win_keyval: c_int) on win {
        let process = enter()?;
        let window = registry::find(win)?;
        changeable(win_keyval)?;
        process.objects.keyvals.find(Carrier::Win, win_keyval)?;
        window.attrs.delete(win.0, win_keyval)
    }
}
