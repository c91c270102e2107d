//! Keys of attributes and their values (MPI-5, chapter 7.7).

use super::*;
use crate::abi::Pair;

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

/// Values of predefined attributes that differ in the interface; programs get pointers to them, and
/// keep them. So each value that differs from object to object has a place of its own. Only one
/// interface is in a layer.
static VALUES: [AtomicI32; 3] = [const { AtomicI32::new(0) }; 3];
/// The constants that `MPI_WIN_CREATE_FLAVOR` points to, in the order of the family.
static FLAVORS: [AtomicI32; 4] = [const { AtomicI32::new(0) }; 4];
/// The constants that `MPI_WIN_MODEL` points to.
static MODELS: [AtomicI32; 2] = [const { AtomicI32::new(0) }; 2];

/// The place of a constant of a family, which has one for each.
fn place_of(places: &'static [AtomicI32], family: &[Pair], n: c_int) -> &'static AtomicI32 {
    debug_assert_eq!(places.len(), family.len());
    let at = family.iter().position(|pair| pair.1 == n);
    &places[at.expect("the library has no other") % places.len()]
}

/// Puts the interface's value in the place of the standard's, if they differ.
///
/// # Safety
/// `to` has the address of an `int` if the key is one of these and `flag` is true.
unsafe fn predefined<A: Abi>(key: c_int, to: *mut c_void, flag: *mut c_int) {
    let in_family = |places, family, n| (place_of(places, family, n), foreign_named(family, n));
    let value = |n: c_int| match key {
        // The same for all communicators.
        consts::HOST => Some((&VALUES[0], foreign_rank::<A>(n))),
        consts::IO => Some((&VALUES[1], foreign_rank::<A>(n))),
        consts::LASTUSEDCODE if n <= consts::ERR_LASTCODE => Some((&VALUES[2], A::ERR_LASTCODE)),
        consts::LASTUSEDCODE => Some((&VALUES[2], A::code(n))),
        consts::WIN_CREATE_FLAVOR => Some(in_family(&FLAVORS, A::FAMILIES.flavor, n)),
        consts::WIN_MODEL => Some(in_family(&MODELS, A::FAMILIES.model, n)),
        _ => None,
    };
    const DIFFER: [c_int; 5] = [
        consts::HOST,
        consts::IO,
        consts::LASTUSEDCODE,
        consts::WIN_CREATE_FLAVOR,
        consts::WIN_MODEL,
    ];
    if !DIFFER.contains(&key) {
        return;
    }
    if to.is_null() || flag.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let to = to.cast::<*const c_int>();
        if *flag != 0
            && let Some((place, n)) = value(**to)
        {
            place.store(n, Relaxed);
            to.write(place.as_ptr());
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
