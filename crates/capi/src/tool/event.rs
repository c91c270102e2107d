//! Events (MPI-5, chapter 15.3.8). There are no hints: info arguments must be
//! valid and are ignored, and those that are returned are empty.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use catena_abi::{
    Aint, Count, Datatype, Info, TCbSafety, TEnum, TEventCbFunction, TEventDroppedCbFunction,
    TEventFreeCbFunction, TEventInstance, TEventRegistration, TSourceOrder,
};
use catena_core::any_time;
use catena_mpit::event::{self, Callers, UserData};
use catena_mpit::{Bind, Error, Result, Type, Value, catalog};

use super::{
    at, bind, datatype, enumeration, give, give_string, index, name as text, needed, object, put,
    put_value, tool_fn, verbosity,
};

/// `MPI_T_SOURCE_ORDERED`
const ORDERED: TSourceOrder = TSourceOrder(1);

/// Says how callbacks are called.
pub(super) fn prepare() {
    event::call_by(Callers {
        event: |function, instance, registration, safety, data| {
            function.call(|function| {
                if let Some(f) = function {
                    // SAFETY: the program registered such a function for this data.
                    unsafe { f(instance, registration, safety, data.pointer()) }
                }
            });
        },
        dropped: |function, count, registration, source, safety, data| {
            function.call(|function| {
                if let Some(f) = function {
                    // SAFETY: as above.
                    unsafe { f(count, registration, source, safety, data.pointer()) }
                }
            });
        },
        freed: |function, registration, safety, data| {
            function.call(|function| {
                if let Some(f) = function {
                    // SAFETY: as above.
                    unsafe { f(registration, safety, data.pointer()) }
                }
            });
        },
    });
}

/// A new info object without hints.
fn no_hints() -> Info {
    crate::info::add(any_time(), Arc::default())
}

/// Hints are ignored, but must be an info object.
fn check_hints(info: Info) -> Result<()> {
    any_time()
        .infos
        .find(info)
        .map(drop)
        .map_err(|_| Error::Invalid)
}

fn source(index: c_int) -> Result<()> {
    match usize::try_from(index) {
        Ok(event::SOURCE) => Ok(()),
        _ => Err(Error::InvalidIndex),
    }
}

fn size(ty: Type) -> usize {
    match ty {
        Type::Int | Type::Unsigned => 4,
        Type::Long | Type::Double => 8,
        Type::Text => 1,
    }
}

/// Where elements lie in the buffer of `MPI_T_event_copy`: each aligned.
fn displacements(elements: impl Iterator<Item = Type>) -> Vec<usize> {
    let mut end: usize = 0;
    let place = |ty| {
        let at = end.next_multiple_of(size(ty));
        end = at + size(ty);
        at
    };
    elements.map(place).collect()
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Int(_) => Type::Int,
        Value::Long(_) => Type::Long,
        Value::Real(_) => Type::Double,
    }
}

tool_fn! {
    fn MPI_T_source_get_num(num_sources: *mut c_int) {
        put(num_sources, event::SOURCE as c_int + 1)
    }

    fn MPI_T_source_get_info(source_index: c_int, name: *mut c_char, name_len: *mut c_int,
        desc: *mut c_char, desc_len: *mut c_int, ordering: *mut TSourceOrder,
        ticks_per_second: *mut Count, max_ticks: *mut Count, info: *mut Info)
    {
        source(source_index)?;
        give_string(name, name_len, event::SOURCE_NAME);
        give_string(desc, desc_len, event::SOURCE_DOC);
        give(ordering, ORDERED);
        give(ticks_per_second, event::ticks_per_second());
        give(max_ticks, Count::MAX);
        if !info.is_null() {
            give(info, no_hints());
        }
        Ok(())
    }

    fn MPI_T_source_get_timestamp(source_index: c_int, timestamp: *mut Count) {
        source(source_index)?;
        put(timestamp, event::now())
    }

    fn MPI_T_event_get_num(num_events: *mut c_int) {
        put(num_events, catalog().events.len() as c_int)
    }

    fn MPI_T_event_get_info(event_index: c_int, name: *mut c_char, name_len: *mut c_int,
        verbose: *mut c_int, types: *mut Datatype, displs: *mut Aint, num_elements: *mut c_int,
        enumtype: *mut TEnum, info: *mut Info, desc: *mut c_char, desc_len: *mut c_int,
        binding: *mut c_int)
    {
        let e = at(&catalog().events, event_index)?;
        give_string(name, name_len, &e.name);
        give(verbose, verbosity(e.audience));
        // SAFETY: null, or the program vouches for it.
        if let Some(number) = unsafe { num_elements.as_mut() } {
            let room = usize::try_from(*number).unwrap_or(0);
            let places = displacements(e.elements.iter().copied());
            for (i, (&ty, at)) in e.elements.iter().zip(places).take(room).enumerate() {
                // Arrays of `room` elements, or null pointers.
                if !types.is_null() {
                    give(types.wrapping_add(i), datatype(ty));
                }
                if !displs.is_null() {
                    give(displs.wrapping_add(i), at as Aint);
                }
            }
            *number = e.elements.len() as c_int;
        }
        give(enumtype, enumeration(Some(e.enumeration)));
        if !info.is_null() {
            give(info, no_hints());
        }
        give_string(desc, desc_len, &e.doc);
        give(binding, bind(e.bind));
        Ok(())
    }

    fn MPI_T_event_get_index(name: *const c_char, event_index: *mut c_int) {
        needed(event_index)?;
        put(event_index, catalog().event_index(text(name)?)? as c_int)
    }

    fn MPI_T_event_handle_alloc(event_index: c_int, obj_handle: *mut c_void, info: Info,
        registration: *mut TEventRegistration)
    {
        needed(registration)?;
        check_hints(info)?;
        let bound = at(&catalog().events, event_index)?.bind != Bind::Process;
        let comm = if bound { object(obj_handle) } else { None };
        put(registration, TEventRegistration(event::open(index(event_index)?, comm)?))
    }

    fn MPI_T_event_handle_set_info(registration: TEventRegistration, info: Info) {
        event::check(registration.0)?;
        check_hints(info)
    }

    fn MPI_T_event_handle_get_info(registration: TEventRegistration, info_used: *mut Info) {
        event::check(registration.0)?;
        needed(info_used)?;
        put(info_used, no_hints())
    }

    fn MPI_T_event_register_callback(registration: TEventRegistration, cb_safety: TCbSafety,
        info: Info, user_data: *mut c_void, function: TEventCbFunction)
    {
        check_hints(info)?;
        event::register(registration.0, cb_safety, function.into(), UserData::new(user_data))
    }

    fn MPI_T_event_callback_set_info(registration: TEventRegistration, cb_safety: TCbSafety,
        info: Info)
    {
        event::check_level(registration.0, cb_safety)?;
        check_hints(info)
    }

    fn MPI_T_event_callback_get_info(registration: TEventRegistration, cb_safety: TCbSafety,
        info_used: *mut Info)
    {
        event::check_level(registration.0, cb_safety)?;
        needed(info_used)?;
        put(info_used, no_hints())
    }

    fn MPI_T_event_set_dropped_handler(registration: TEventRegistration,
        function: TEventDroppedCbFunction)
    {
        event::on_dropped(registration.0, function.into())
    }

    fn MPI_T_event_handle_free(registration: TEventRegistration, user_data: *mut c_void,
        function: TEventFreeCbFunction)
    {
        let data = UserData::new(user_data);
        let safety = event::close(registration.0, function.into(), data)?;
        if let (Some(f), Some(safety)) = (function, safety) {
            // SAFETY: the program passes such a function for this data.
            unsafe { f(registration, safety, user_data) };
        }
        Ok(())
    }

    fn MPI_T_event_read(instance: TEventInstance, element_index: c_int, buffer: *mut c_void) {
        let data = event::data(instance.0)?;
        let element = data.get(index(element_index)?);
        put_value(buffer, *element.ok_or(Error::InvalidIndex)?)
    }

    fn MPI_T_event_copy(instance: TEventInstance, buffer: *mut c_void) {
        let data = event::data(instance.0)?;
        needed(buffer)?;
        let places = displacements(data.iter().map(type_of));
        for (value, at) in data.into_iter().zip(places) {
            put_value(buffer.wrapping_byte_add(at), value)?;
        }
        Ok(())
    }

    fn MPI_T_event_get_timestamp(instance: TEventInstance, timestamp: *mut Count) {
        put(timestamp, event::timestamp(instance.0)?)
    }

    fn MPI_T_event_get_source(instance: TEventInstance, source_index: *mut c_int) {
        event::timestamp(instance.0)?;
        put(source_index, event::SOURCE as c_int)
    }
}
