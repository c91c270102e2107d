//! Variables and events of the tool interface that belong to an object or call the program
//! (MPI-5, chapter 15.3).

use std::mem::transmute;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

/// Calls with the standard's handle of the object at `object`, which is a communicator, a file or
/// none, as `bind` says if `known` is `MPI_SUCCESS`.
///
/// # Safety
/// `object` is null or has a handle of that kind.
unsafe fn with_object<A: Abi>(
    known: c_int,
    bind: c_int,
    object: *mut c_void,
    call: impl FnOnce(*mut c_void) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match bind {
            consts::T_BIND_MPI_COMM if known == consts::SUCCESS => {
                call(InOut::new(object.cast::<A::Comm>()).place().cast())
            }
            consts::T_BIND_MPI_FILE if known == consts::SUCCESS => {
                call(InOut::new(object.cast::<A::File>()).place().cast())
            }
            _ => call(object),
        }
    }
}

pub unsafe fn T_pvar_handle_alloc<A: Abi>(
    session: usize,
    index: c_int,
    object: *mut c_void,
    handle: *mut usize,
    count: *mut c_int,
) -> c_int {
    let mut bind = 0;
    let none = ptr::null_mut::<c_int>;
    let text = ptr::null_mut::<c_char>();
    // SAFETY: the program's arguments; what is null is not stored.
    unsafe {
        let known = core::MPI_T_pvar_get_info(
            index,
            text,
            none(),
            none(),
            none(),
            ptr::null_mut(),
            ptr::null_mut(),
            text,
            none(),
            &raw mut bind,
            none(),
            none(),
            none(),
        );
        let rc = with_object::<A>(known, bind, object, |object| {
            core::MPI_T_pvar_handle_alloc(session, index, object, handle, count)
        });
        code::<A>(rc)
    }
}

pub unsafe fn T_event_handle_alloc<A: Abi>(
    index: c_int,
    object: *mut c_void,
    info: A::Info,
    registration: *mut usize,
) -> c_int {
    let mut bind = 0;
    let none = ptr::null_mut::<c_int>;
    let text = ptr::null_mut::<c_char>();
    // SAFETY: the program's arguments; what is null is not stored.
    unsafe {
        let known = core::MPI_T_event_get_info(
            index,
            text,
            none(),
            none(),
            ptr::null_mut(),
            ptr::null_mut(),
            none(),
            ptr::null_mut(),
            ptr::null_mut(),
            text,
            none(),
            &raw mut bind,
        );
        let info = info.native();
        let rc = with_object::<A>(known, bind, object, |object| {
            core::MPI_T_event_handle_alloc(index, object, info, registration)
        });
        code::<A>(rc)
    }
}

/// The program's function for events, or that for those that were dropped.
struct Callback {
    registration: usize,
    /// The level of safety; none for dropped events.
    safety: Option<c_int>,
    function: usize,
    user_data: *mut c_void,
}

// SAFETY: the library calls the functions from any thread, as the program was told.
unsafe impl Send for Callback {}

/// Boxes, as the library has their addresses.
#[allow(clippy::vec_box, reason = "their addresses must not change")]
static CALLBACKS: Mutex<Vec<Box<Callback>>> = Mutex::new(Vec::new());

#[allow(clippy::vec_box, reason = "see above")]
fn callbacks() -> MutexGuard<'static, Vec<Box<Callback>>> {
    CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn on_event<A: Abi>(
    instance: usize,
    registration: usize,
    safety: c_int,
    user_data: *mut c_void,
) {
    // SAFETY: what `T_event_register_callback` gave, which lives as long as the registration.
    let it = unsafe { &*user_data.cast::<Callback>() };
    // SAFETY: the program registered it as such a function.
    let f: extern "C" fn(usize, usize, c_int, *mut c_void) = unsafe { transmute(it.function) };
    let safety = foreign_named(A::FAMILIES.safety, safety);
    f(instance, registration, safety, it.user_data);
}

pub unsafe fn T_event_register_callback<A: Abi>(
    registration: usize,
    safety: c_int,
    info: A::Info,
    user_data: *mut c_void,
    function: usize,
) -> c_int {
    let safety = named(A::FAMILIES.safety, safety);
    let ours = instead_of(function, on_event::<A> as *const ());
    let new = Box::new(Callback {
        registration,
        safety: Some(safety),
        function,
        user_data,
    });
    let at = (&raw const *new).cast_mut().cast();
    // SAFETY: the program's arguments; the function takes such data.
    let rc = unsafe {
        core::MPI_T_event_register_callback(registration, safety, info.native(), at, ours)
    };
    if rc == consts::SUCCESS {
        // The one that it replaces may be running: it goes with the registration.
        callbacks().push(new);
    }
    code::<A>(rc)
}

extern "C" fn on_dropped<A: Abi>(
    count: Count,
    registration: usize,
    source: c_int,
    safety: c_int,
    user_data: *mut c_void,
) {
    let all = callbacks();
    let mut ours = all.iter().rev().filter(|c| c.registration == registration);
    let Some(function) = ours.find(|c| c.safety.is_none()).map(|c| c.function) else {
        return;
    };
    // The function may call the library.
    drop(all);
    type Function = extern "C" fn(Count, usize, c_int, c_int, *mut c_void);
    // SAFETY: the program registered it as such a function.
    let f: Function = unsafe { transmute(function) };
    // The library passes what belongs to the callback of events, if there is one.
    let data = user_data.cast::<Callback>();
    // SAFETY: null, or what `T_event_register_callback` gave.
    let user_data = unsafe { data.as_ref() }.map_or(ptr::null_mut(), |c| c.user_data);
    let safety = foreign_named(A::FAMILIES.safety, safety);
    f(count, registration, source, safety, user_data);
}

pub unsafe fn T_event_set_dropped_handler<A: Abi>(registration: usize, function: usize) -> c_int {
    callbacks().push(Box::new(Callback {
        registration,
        safety: None,
        function,
        user_data: ptr::null_mut(),
    }));
    let ours = instead_of(function, on_dropped::<A> as *const ());
    // SAFETY: the program's arguments.
    code::<A>(unsafe { core::MPI_T_event_set_dropped_handler(registration, ours) })
}

extern "C" fn on_free<A: Abi>(registration: usize, safety: c_int, user_data: *mut c_void) {
    // SAFETY: what `T_event_handle_free` gave.
    let it = unsafe { Box::from_raw(user_data.cast::<Callback>()) };
    callbacks().retain(|c| c.registration != registration);
    if it.function != 0 {
        // SAFETY: the program passed it as such a function.
        let f: extern "C" fn(usize, c_int, *mut c_void) = unsafe { transmute(it.function) };
        f(
            registration,
            foreign_named(A::FAMILIES.safety, safety),
            it.user_data,
        );
    }
}

pub unsafe fn T_event_handle_free<A: Abi>(
    registration: usize,
    user_data: *mut c_void,
    function: usize,
) -> c_int {
    let last = Callback {
        registration,
        safety: None,
        function,
        user_data,
    };
    let last = Box::into_raw(Box::new(last));
    let ours = on_free::<A> as *const () as usize;
    // SAFETY: the program's arguments; the function takes such data, which it ends.
    let rc = unsafe { core::MPI_T_event_handle_free(registration, last.cast(), ours) };
    if rc != consts::SUCCESS {
        // SAFETY: the box from above, which nobody was given.
        unsafe { callback::end::<Callback>(last.cast()) };
    }
    code::<A>(rc)
}
