//! Keys of attributes and their values (MPI-5, chapter 7.7).

use super::*;

unsafe fn create<A: Abi, H: Handle>(
    carrier: c_int,
    copy: usize,
    delete: usize,
    key: *mut c_int,
    extra_state: *mut c_void,
) -> c_int {
    let state = Keyval {
        copy,
        delete,
        extra_state,
    };
    let state = Box::into_raw(Box::new(state)).cast();
    let on_copy: Option<core::CopyFn> = (copy != 0).then_some(callback::copy::<A, H>);
    let on_delete: Option<core::DeleteFn> = (delete != 0).then_some(callback::delete::<A, H>);
    let end: core::End = callback::end::<Keyval>;
    // SAFETY: the program's arguments; the functions take such a state, which the library ends.
    let rc =
        unsafe { core::catena_keyval_create(carrier, on_copy, on_delete, state, Some(end), key) };
    code::<A>(rc)
}

macro_rules! keyvals {
    ($($name:ident $carrier:literal $handle:ident;)*) => {$(
        pub unsafe fn $name<A: Abi>(
            copy: usize, delete: usize, key: *mut c_int, extra_state: *mut c_void,
        ) -> c_int {
            // SAFETY: the program's arguments.
            unsafe { create::<A, A::$handle>($carrier, copy, delete, key, extra_state) }
        }
    )*};
}

keyvals! {
    Comm_create_keyval 0 Comm;
    Keyval_create 0 Comm;
    Type_create_keyval 1 Datatype;
    Win_create_keyval 2 Win;
}

/// Values of predefined attributes that differ in the interface; programs get pointers to them.
/// Only one interface is in a layer.
static VALUES: [AtomicI32; 5] = [const { AtomicI32::new(0) }; 5];

/// Puts the interface's value in the place of the standard's, if they differ.
///
/// # Safety
/// `to` has the address of an `int` if the key is one of these and `flag` is true.
unsafe fn predefined<A: Abi>(key: c_int, to: *mut c_void, flag: *mut c_int) {
    let value: (usize, fn(c_int) -> c_int) = match key {
        consts::HOST => (0, foreign_rank::<A>),
        consts::IO => (1, foreign_rank::<A>),
        consts::LASTUSEDCODE => (2, |code| {
            if code <= consts::ERR_LASTCODE {
                A::ERR_LASTCODE
            } else {
                A::code(code)
            }
        }),
        consts::WIN_CREATE_FLAVOR => (3, |n| foreign_named(A::FAMILIES.flavor, n)),
        consts::WIN_MODEL => (4, |n| foreign_named(A::FAMILIES.model, n)),
        _ => return,
    };
    if to.is_null() || flag.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let to = to.cast::<*const c_int>();
        if *flag != 0 {
            VALUES[value.0].store(value.1(**to), Relaxed);
            to.write(VALUES[value.0].as_ptr());
        }
    }
}

macro_rules! get {
    ($($name:ident $core:ident $handle:ident;)*) => {$(
        pub unsafe fn $name<A: Abi>(
            of: A::$handle, key: c_int, value: *mut c_void, flag: *mut c_int,
        ) -> c_int {
            let key = keyval::<A>(key);
            // SAFETY: the program's arguments.
            unsafe {
                let rc = core::$core(of.native(), key, value, flag);
                if rc == consts::SUCCESS {
                    predefined::<A>(key, value, flag);
                }
                code::<A>(rc)
            }
        }
    )*};
}

get! {
    Comm_get_attr MPI_Comm_get_attr Comm;
    Attr_get MPI_Attr_get Comm;
    Win_get_attr MPI_Win_get_attr Win;
}
