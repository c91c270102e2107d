//! Handles, which are ints.
//!
//! A predefined handle is one of MPICH's numbers. Any other is what `MPI_Comm_toint` and its
//! relatives give in the standard's interface: the low half of Catena's handle, which has the
//! index of the object and its kind, and means no predefined one of its type. The high half, the
//! generation of the object, stands in a table that is written whenever a handle is given to the
//! program. The library tells when an object ends, so no generation there is a dead one, but for
//! requests of messages, which end too often: of these it tells when another interface hands one
//! over as an integer. An integer whose object nobody noted is that of an object that another
//! interface of the process has made, and the library is asked.

use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use catena_abi as abi;
use catena_layer::core;
use catena_layer::handle::{FIRST_DYNAMIC, Handle};

use crate::constants;

/// Entries of a page of the table: 16 KiB.
const PAGE_BITS: u32 = 12;
type Page = [AtomicU32; 1 << PAGE_BITS];

/// Generations by the low halves of handles; a page is there if any of its handles has been given
/// to the program. 0 stands for one that was not.
static PAGES: [AtomicPtr<Page>; 1 << (31 - PAGE_BITS)] =
    [const { AtomicPtr::new(ptr::null_mut()) }; 1 << (31 - PAGE_BITS)];

/// The generation of the handle with this low half, 0 if it is not known.
#[inline]
fn generation(low: u32) -> u32 {
    let page = PAGES[(low >> PAGE_BITS) as usize & (PAGES.len() - 1)].load(Acquire);
    // SAFETY: null or a page, which is never freed.
    match unsafe { page.as_ref() } {
        Some(page) => page[low as usize % page.len()].load(Relaxed),
        None => 0,
    }
}

/// Notes the generation of a handle that the program is about to get; returns its low half.
#[inline]
fn note(native: usize) -> u32 {
    let low = native as u32 & 0x7fff_ffff;
    let place = &PAGES[(low >> PAGE_BITS) as usize];
    let mut page = place.load(Acquire);
    if page.is_null() {
        page = new_page(place);
    }
    // SAFETY: a page, which is never freed.
    let page = unsafe { &*page };
    page[low as usize % page.len()].store(stored(native), Relaxed);
    low
}

/// What the table has for a handle: its generation and one more, so that 0 stands for none.
#[inline]
fn stored(native: usize) -> u32 {
    ((native >> 32) as u32).wrapping_add(1)
}

#[cold]
fn new_page(place: &AtomicPtr<Page>) -> *mut Page {
    let new: Box<Page> = Box::new([const { AtomicU32::new(0) }; 1 << PAGE_BITS]);
    let new = Box::into_raw(new);
    // SAFETY: the function may be called from any thread at any time.
    unsafe { core::catena_when_freed(forget, handed) };
    match place.compare_exchange(ptr::null_mut(), new, Release, Acquire) {
        Ok(_) => new,
        Err(other) => {
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            other
        }
    }
}

/// Forgets the generation of a handle whose object has ended, unless another has its place already.
extern "C" fn forget(native: usize) {
    let low = native as u32 & 0x7fff_ffff;
    let page = PAGES[(low >> PAGE_BITS) as usize].load(Acquire);
    // SAFETY: null or a page, which is never freed.
    if let Some(page) = unsafe { page.as_ref() } {
        let place = &page[low as usize % page.len()];
        let _ = place.compare_exchange(stored(native), 0, Relaxed, Relaxed);
    }
}

/// Another interface hands a request over as an integer, by which this one may have known a message
/// that has ended.
extern "C" fn handed(native: usize) {
    note(native);
}

/// The number of a handle that a function of the program is called with. Its generation is noted
/// only if the object lives.
#[inline]
fn note_lent(native: usize, ask: impl FnOnce(i32) -> usize) -> u32 {
    let low = native as u32 & 0x7fff_ffff;
    if generation(low) == stored(native) || ask(low as i32) != native {
        return low;
    }
    note(native)
}

/// Any handle with this bit means nothing to Catena.
const MEANINGLESS: usize = 1 << 31;

/// The handle of Catena for a number that is not predefined. One that this program was not given
/// may have come as an integer from another interface in the process, so Catena is asked.
#[inline]
fn dynamic(low: u32, ask: impl FnOnce(i32) -> usize) -> usize {
    match generation(low) {
        0 => asked(low, ask),
        known => (known.wrapping_sub(1) as usize) << 32 | low as usize,
    }
}

#[cold]
fn asked(low: u32, ask: impl FnOnce(i32) -> usize) -> usize {
    let found = if low < FIRST_DYNAMIC as u32 || low >= 1 << 31 {
        0
    } else {
        ask(low as i32)
    };
    // What is not there comes back as the null handle.
    if found < FIRST_DYNAMIC {
        low as usize | MEANINGLESS
    } else {
        found
    }
}

/// The foreign number of a predefined handle.
#[cold]
fn predefined(pairs: &[(u32, usize)], native: usize) -> u32 {
    let found = pairs.iter().find(|pair| pair.1 == native);
    found.map_or(native as u32 | MEANINGLESS as u32, |pair| pair.0)
}

/// The foreign number of the null handle.
const fn null(pairs: &[(u32, usize)], native: usize) -> u32 {
    let mut i = 0;
    while pairs[i].1 != native {
        i += 1;
    }
    pairs[i].0
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident $table:ident $null:ident $fromint:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(u32);

        impl Handle for $name {
            type Native = abi::$name;

            #[inline]
            fn native(self) -> abi::$name {
                // SAFETY: a number; the library looks whether there is such an object.
                let ask = |low| unsafe { core::$fromint(low) }.0;
                for &(foreign, native) in constants::$table {
                    if foreign == self.0 {
                        return abi::$name(native);
                    }
                }
                abi::$name(dynamic(self.0, ask))
            }

            #[inline]
            fn foreign(native: abi::$name) -> Self {
                if native.0 < FIRST_DYNAMIC {
                    return $name(predefined(constants::$table, native.0));
                }
                $name(note(native.0))
            }

            fn lent(native: abi::$name) -> Self {
                if native.0 < FIRST_DYNAMIC {
                    return Self::foreign(native);
                }
                // SAFETY: a number; the library looks whether there is such an object.
                $name(note_lent(native.0, |low| unsafe { core::$fromint(low) }.0))
            }

            #[inline]
            fn null() -> Self {
                $name(const { null(constants::$table, abi::consts::$null.0) })
            }

            fn to_fortran(self) -> i32 {
                self.0 as i32
            }

            fn from_fortran(integer: i32) -> Self {
                $name(integer as u32)
            }
        }
    )*};
}

handles! {
    /// `MPI_Comm`
    Comm COMM COMM_NULL MPI_Comm_fromint;
    /// `MPI_Op`
    Op OP OP_NULL MPI_Op_fromint;
    /// `MPI_Group`
    Group GROUP GROUP_NULL MPI_Group_fromint;
    /// `MPI_Win`
    Win WIN WIN_NULL MPI_Win_fromint;
    /// `MPI_Session`
    Session SESSION SESSION_NULL MPI_Session_fromint;
    /// `MPI_Message`
    Message MESSAGE MESSAGE_NULL MPI_Message_fromint;
    /// `MPI_Info`
    Info INFO INFO_NULL MPI_Info_fromint;
    /// `MPI_Errhandler`
    Errhandler ERRHANDLER ERRHANDLER_NULL MPI_Errhandler_fromint;
    /// `MPI_Request`
    Request REQUEST REQUEST_NULL MPI_Request_fromint;
}

/// `MPI_Datatype`
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datatype(u32);

/// Predefined datatypes by the low byte of their numbers, which is enough to tell those apart
/// that are not pairs; (0, 0) where there is none.
static BY_LOW_BYTE: [(u32, u32); 256] = {
    let (mut all, mut i) = ([(0, 0); 256], 0);
    while i < constants::DATATYPE.len() {
        let (foreign, native) = constants::DATATYPE[i];
        if foreign >> 24 == 0x4c {
            let place = &mut all[foreign as usize & 0xff];
            assert!(place.0 == 0, "two datatypes have this low byte");
            *place = (foreign, native as u32);
        }
        i += 1;
    }
    all
};

impl Handle for Datatype {
    type Native = abi::Datatype;

    #[inline]
    fn native(self) -> abi::Datatype {
        let (foreign, native) = BY_LOW_BYTE[self.0 as usize & 0xff];
        if foreign == self.0 && foreign != 0 {
            return abi::Datatype(native as usize);
        }
        self.other()
    }

    #[inline]
    fn foreign(native: abi::Datatype) -> Self {
        if native.0 < FIRST_DYNAMIC {
            return Datatype(predefined(constants::DATATYPE, native.0));
        }
        Datatype(note(native.0))
    }

    fn lent(native: abi::Datatype) -> Self {
        if native.0 < FIRST_DYNAMIC {
            return Self::foreign(native);
        }
        // SAFETY: a number; the library looks whether there is such an object.
        Datatype(note_lent(
            native.0,
            |low| unsafe { core::MPI_Type_fromint(low) }.0,
        ))
    }

    fn null() -> Self {
        Datatype(const { null(constants::DATATYPE, abi::consts::DATATYPE_NULL.0) })
    }

    fn to_fortran(self) -> i32 {
        self.0 as i32
    }

    fn from_fortran(integer: i32) -> Self {
        Datatype(integer as u32)
    }
}

impl Datatype {
    /// Whether it is that of a datatype.
    pub(crate) fn means_something(self) -> bool {
        let native = self.native();
        native != abi::consts::DATATYPE_NULL && native.0 & MEANINGLESS == 0
    }

    /// The handle of Catena for a derived type, a pair or the null handle.
    #[inline]
    fn other(self) -> abi::Datatype {
        // SAFETY: a number; the library looks whether there is such an object.
        let ask = |low| unsafe { core::MPI_Type_fromint(low) }.0;
        if self.0 >> 24 & 0x7f == 0x0c
            && let Some(pair) = constants::DATATYPE.iter().find(|pair| pair.0 == self.0)
        {
            return abi::Datatype(pair.1);
        }
        abi::Datatype(dynamic(self.0, ask))
    }
}

/// `MPI_File`, a pointer: Catena's handle, but for the null handle, which is a null pointer.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct File(usize);

impl Handle for File {
    type Native = abi::File;

    fn native(self) -> abi::File {
        match self.0 {
            0 => abi::consts::FILE_NULL,
            // Predefined ones of the standard mean nothing here.
            small if small < FIRST_DYNAMIC => abi::File(small | MEANINGLESS),
            other => abi::File(other),
        }
    }

    fn null() -> Self {
        File(0)
    }

    fn foreign(native: abi::File) -> Self {
        if native == abi::consts::FILE_NULL {
            File(0)
        } else {
            File(native.0)
        }
    }

    fn to_fortran(self) -> i32 {
        if self.0 == 0 {
            return 0;
        }
        // SAFETY: a handle; the library looks at its number only.
        unsafe { core::MPI_File_toint(self.native()) }
    }

    fn from_fortran(integer: i32) -> Self {
        if integer == 0 {
            return File(0);
        }
        // SAFETY: a number; the library looks whether there is such an object.
        File::foreign(unsafe { core::MPI_File_fromint(integer) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_handles_come_back() {
        macro_rules! check {
            ($($name:ident $table:ident;)*) => {$(
                for &(foreign, native) in constants::$table {
                    assert_eq!($name(foreign).native(), abi::$name(native));
                    // Of two names for one handle the first is given.
                    let first = constants::$table.iter().find(|pair| pair.1 == native);
                    let given = $name::foreign(abi::$name(native)).0;
                    assert_eq!(Some(given), first.map(|pair| pair.0));
                }
            )*};
        }
        check! {
            Comm COMM; Datatype DATATYPE; Op OP; Group GROUP; Win WIN; Session SESSION;
            Message MESSAGE; Info INFO; Errhandler ERRHANDLER; Request REQUEST;
        }
    }

    #[test]
    fn a_handle_that_was_given_comes_back_whole() {
        for (kind, generation) in [
            (1_usize, 0_usize),
            (1, 7),
            (8, 0xffff_fffe),
            (7, 0x8000_0000),
        ] {
            let native = generation << 32 | kind << 27 | 12345;
            let given = Request::foreign(abi::Request(native));
            assert_eq!(given.0, (kind << 27 | 12345) as u32);
            assert_eq!(given.native(), abi::Request(native));
        }
    }

    #[test]
    fn a_request_that_is_handed_over_takes_the_place_of_one_that_has_ended() {
        let at = |generation: usize| generation << 32 | 8 << 27 | 88_000;
        let ended = Request::foreign(abi::Request(at(3)));
        handed(at(4));
        let got = Request::from_fortran(ended.to_fortran());
        assert_eq!(got.native(), abi::Request(at(4)));
    }

    #[test]
    fn a_dead_handle_does_not_take_the_place_of_a_live_one() {
        let at = |generation: usize| generation << 32 | 1 << 27 | 77_000;
        let (dead, live) = (at(3), at(4));
        let there = |_| live;
        let low = Comm::foreign(abi::Comm(dead)).0;
        forget(dead);
        assert_eq!(
            dynamic(low, there),
            live,
            "nobody was given it: it is asked for"
        );
        assert_eq!(Comm::foreign(abi::Comm(live)).0, low);
        // The object ended while the program's function was about to be called with it.
        assert_eq!(note_lent(dead, there), low);
        forget(dead);
        assert_eq!(dynamic(low, |_| unreachable!("it is known")), live);
        forget(live);
        assert_eq!(note_lent(dead, |_| 0), low);
        assert!(dynamic(low, |_| 0) & MEANINGLESS != 0);
        assert_eq!(note_lent(live, there), low);
        assert_eq!(dynamic(low, |_| unreachable!("it is known")), live);
    }
}
