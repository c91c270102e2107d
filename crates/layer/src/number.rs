//! Ranks, tags, named constants, keys of attributes, and addresses with a meaning.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;

use catena_abi::{DARG_AS_SIZE, Offset, consts};

use crate::abi::{Abi, Pair};
use crate::rarely;

pub use catena_abi::consts::IN_PLACE;

/// A number that means nothing in the standard's interface.
const MEANINGLESS: c_int = c_int::MIN / 2;

/// The standard's rank. What has no meaning in the interface has none in the standard's.
#[inline]
pub fn rank<A: Abi>(n: c_int) -> c_int {
    if n >= 0 {
        return n;
    }
    let known = NamedRanks::<A>::NATIVE.get(!n as usize);
    known.copied().unwrap_or(n)
}

/// The standard's ranks for -1, -2 and so on.
struct NamedRanks<A>(PhantomData<A>);

impl<A: Abi> NamedRanks<A> {
    const NATIVE: &[c_int; 4] = &[
        named_rank::<A>(-1),
        named_rank::<A>(-2),
        named_rank::<A>(-3),
        named_rank::<A>(-4),
    ];
}

const fn named_rank<A: Abi>(n: c_int) -> c_int {
    if n == A::PROC_NULL {
        consts::PROC_NULL
    } else if n == A::ANY_SOURCE {
        consts::ANY_SOURCE
    } else if n == A::ROOT {
        consts::ROOT
    } else if n >= consts::ROOT {
        MEANINGLESS
    } else {
        n
    }
}

/// The rank as the interface has it.
#[inline]
pub fn foreign_rank<A: Abi>(n: c_int) -> c_int {
    if n >= 0 {
        return n;
    }
    rarely();
    match n {
        consts::PROC_NULL => A::PROC_NULL,
        consts::ANY_SOURCE => A::ANY_SOURCE,
        consts::ROOT => A::ROOT,
        _ => n,
    }
}

/// The standard's tag.
#[inline]
pub fn tag<A: Abi>(n: c_int) -> c_int {
    if n >= 0 {
        return n;
    }
    rarely();
    if n == A::ANY_TAG {
        consts::ANY_TAG
    } else if n == consts::ANY_TAG {
        MEANINGLESS
    } else {
        n
    }
}

/// The standard's displacement of a file's view.
#[inline]
pub fn displacement<A: Abi>(n: Offset) -> Offset {
    if n == A::DISPLACEMENT_CURRENT {
        consts::DISPLACEMENT_CURRENT
    } else if n == consts::DISPLACEMENT_CURRENT {
        MEANINGLESS.into()
    } else {
        n
    }
}

/// The tag as the interface has it.
#[inline]
pub fn foreign_tag<A: Abi>(n: c_int) -> c_int {
    if n >= 0 {
        return n;
    }
    rarely();
    if n == consts::ANY_TAG { A::ANY_TAG } else { n }
}

/// Translates `len` ranks that a call has stored.
///
/// # Safety
/// `at` is null or has that many.
pub unsafe fn rank_out<A: Abi>(rc: c_int, at: *mut c_int, len: usize) {
    if rc == consts::SUCCESS && !at.is_null() {
        for i in 0..len {
            // SAFETY: the caller's promise.
            unsafe { *at.add(i) = foreign_rank::<A>(*at.add(i)) };
        }
    }
}

/// The standard's ranks for the `len` at `at`.
///
/// # Safety
/// `at` is null or has that many.
pub unsafe fn ranks<A: Abi>(at: *const c_int, len: usize) -> Translated {
    // SAFETY: the caller's promise.
    unsafe { Translated::new(at, len, rank::<A>) }
}

/// Translates a tag that a call has stored.
///
/// # Safety
/// `at` is null or has one.
pub unsafe fn tag_out<A: Abi>(rc: c_int, at: *mut c_int) {
    if rc == consts::SUCCESS && !at.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *at = foreign_tag::<A>(*at) };
    }
}

/// An array of integers in the standard's words.
#[derive(Debug)]
pub struct Translated(Option<Vec<c_int>>);

impl Translated {
    /// # Safety
    /// `at` is null or has `len` entries.
    unsafe fn new(at: *const c_int, len: usize, f: impl Fn(c_int) -> c_int) -> Self {
        // SAFETY: the caller's promise.
        let read = |i| f(unsafe { *at.add(i) });
        Translated((!at.is_null()).then(|| (0..len).map(read).collect()))
    }

    /// Its address, null if there was none.
    pub fn as_ptr(&self) -> *const c_int {
        self.0.as_ref().map_or(std::ptr::null(), |all| all.as_ptr())
    }
}

/// The standard's constant. One that is not in the family is none there either.
pub fn named(family: &[Pair], n: c_int) -> c_int {
    match family.iter().find(|pair| pair.0 == n) {
        Some(pair) => pair.1,
        None if family.iter().any(|pair| pair.1 == n) => MEANINGLESS,
        None => n,
    }
}

/// The constant of the interface.
pub fn foreign_named(family: &[Pair], n: c_int) -> c_int {
    family
        .iter()
        .find(|pair| pair.1 == n)
        .map_or(n, |pair| pair.0)
}

/// Translates a constant that a call has stored.
///
/// # Safety
/// `at` is null or has one.
pub unsafe fn named_out(family: &[Pair], rc: c_int, at: *mut c_int) {
    if rc == consts::SUCCESS && !at.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *at = foreign_named(family, *at) };
    }
}

/// The standard's argument of a distribution: a block size, or the constant that stands for the
/// usual one. The block size that has the number of the standard's constant is [`DARG_AS_SIZE`]
/// there.
#[inline]
pub fn darg<A: Abi>(n: c_int) -> c_int {
    match n {
        consts::DISTRIBUTE_DFLT_DARG => DARG_AS_SIZE,
        _ => named(A::FAMILIES.darg, n),
    }
}

/// The argument of a distribution as the interface has it.
pub fn foreign_darg<A: Abi>(n: c_int) -> c_int {
    match n {
        DARG_AS_SIZE => consts::DISTRIBUTE_DFLT_DARG,
        _ => foreign_named(A::FAMILIES.darg, n),
    }
}

/// The standard's arguments for the `len` distributions at `at`.
///
/// # Safety
/// `at` is null or has that many.
pub unsafe fn dargs<A: Abi>(at: *const c_int, len: usize) -> Translated {
    // SAFETY: the caller's promise.
    unsafe { Translated::new(at, len, darg::<A>) }
}

/// The standard's constants for the `len` at `at`.
///
/// # Safety
/// `at` is null or has that many.
pub unsafe fn all_named(family: &'static [Pair], at: *const c_int, len: usize) -> Translated {
    // SAFETY: the caller's promise.
    unsafe { Translated::new(at, len, |n| named(family, n)) }
}

/// The standard's bits. Those that are not in the family are meaningless there.
pub fn flags(family: &[Pair], bits: c_int) -> c_int {
    let known = family.iter().fold(0, |all, pair| all | pair.0);
    let set = family.iter().filter(|pair| bits & pair.0 != 0);
    let rest = if bits & !known == 0 { 0 } else { 1 << 30 };
    set.fold(rest, |all, pair| all | pair.1)
}

/// Translates bits that a call has stored.
///
/// # Safety
/// `at` is null or has them.
pub unsafe fn flags_out(family: &[Pair], rc: c_int, at: *mut c_int) {
    if rc == consts::SUCCESS && !at.is_null() {
        // SAFETY: the caller's promise.
        let bits = unsafe { *at };
        let set = family.iter().filter(|pair| bits & pair.1 != 0);
        // SAFETY: as above.
        unsafe { *at = set.fold(0, |all, pair| all | pair.0) };
    }
}

/// The standard's key of an attribute; those that programs make are the same.
#[inline]
pub fn keyval<A: Abi>(n: c_int) -> c_int {
    match A::KEYS.iter().find(|pair| pair.0 == n) {
        Some(pair) => pair.1,
        None if n == A::KEYVAL_INVALID => consts::KEYVAL_INVALID,
        None if n < FIRST_KEYVAL => MEANINGLESS,
        None => n,
    }
}

/// Keys below are predefined.
const FIRST_KEYVAL: c_int = 1 << 16;

/// A key that the call makes invalid.
#[derive(Debug)]
pub struct KeyvalInOut<A> {
    at: *mut c_int,
    value: c_int,
    interface: std::marker::PhantomData<A>,
}

impl<A: Abi> KeyvalInOut<A> {
    /// The key at `at`, which may be null.
    ///
    /// # Safety
    /// It is null or readable.
    pub unsafe fn new(at: *mut c_int) -> Self {
        // SAFETY: the caller's promise.
        let value = if at.is_null() {
            0
        } else {
            // SAFETY: the caller's promise.
            keyval::<A>(unsafe { *at })
        };
        KeyvalInOut {
            at,
            value,
            interface: std::marker::PhantomData,
        }
    }

    /// Where the call finds it.
    pub fn place(&mut self) -> *mut c_int {
        if self.at.is_null() {
            return self.at;
        }
        &raw mut self.value
    }

    /// Stores that it is invalid, if it is.
    ///
    /// # Safety
    /// What `new` was given is null or writable.
    pub unsafe fn finish(&self) {
        if self.value == consts::KEYVAL_INVALID && !self.at.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *self.at = A::KEYVAL_INVALID };
        }
    }
}

/// The standard's address of a buffer: another one if it means something.
#[inline]
pub fn buffer<A: Abi>(at: *const c_void) -> *const c_void {
    if A::IN_PLACE != IN_PLACE && at.addr() == A::IN_PLACE {
        return IN_PLACE as *const c_void;
    }
    at
}

/// The standard's address of a buffer for buffered sends.
pub fn attached<A: Abi>(at: *mut c_void) -> *mut c_void {
    if at.addr() == A::BUFFER_AUTOMATIC {
        return consts::BUFFER_AUTOMATIC as *mut c_void;
    }
    at
}

/// The standard's address of weights.
pub fn weights<A: Abi>(at: *const c_int) -> *const c_int {
    let [unweighted, empty] = A::weights();
    if at.addr() == unweighted {
        consts::UNWEIGHTED as *const c_int
    } else if at.addr() == empty {
        consts::WEIGHTS_EMPTY as *const c_int
    } else {
        at
    }
}

/// The standard's key of an info object: of a key that is longer than those of the interface, which
/// it could not give back whole, one that the call refuses.
///
/// # Safety
/// `key` is null or a text that ends with a zero.
pub unsafe fn info_key<A: Abi>(key: *const c_char) -> *const c_char {
    /// Longer than any key, and no text of a program.
    const TOO_LONG: &[u8; consts::MAX_INFO_KEY as usize + 2] = &{
        let mut text = [b'k'; consts::MAX_INFO_KEY as usize + 2];
        text[text.len() - 1] = 0;
        text
    };
    // SAFETY: the caller's promise; nothing behind the zero is read.
    let fits = key.is_null() || (0..A::MAX_INFO_KEY).any(|i| unsafe { *key.add(i) } == 0);
    if fits { key } else { TOO_LONG.as_ptr().cast() }
}

/// The sum of `len` numbers of entries.
///
/// # Safety
/// `at` is null or has that many.
pub unsafe fn sum(at: *const c_int, len: usize) -> usize {
    let len = if at.is_null() { 0 } else { len };
    // SAFETY: the caller's promise.
    (0..len).map(|i| entries(unsafe { *at.add(i) })).sum()
}

/// A number of entries; calls refuse a negative one.
#[inline]
pub fn entries(n: impl TryInto<usize>) -> usize {
    n.try_into().unwrap_or(0)
}

/// A number of entries that stands at `at`.
///
/// # Safety
/// It is null or readable.
pub unsafe fn entries_at(at: *const c_int) -> usize {
    if at.is_null() {
        0
    } else {
        // SAFETY: the caller's promise.
        entries(unsafe { *at })
    }
}
