//! Error classes and codes that the program adds (MPI-5, chapter 9.5). They lie
//! beyond `MPI_ERR_LASTCODE`.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::consts;
use catena_objects::{Result, fail};

/// A class, which is its own class, or a code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    class: c_int,
    /// Empty if there is none.
    pub(crate) text: Vec<u8>,
}

#[derive(Debug)]
struct All {
    live: BTreeMap<c_int, Added>,
    last: c_int,
}

static ALL: Mutex<All> = Mutex::new(All {
    live: BTreeMap::new(),
    last: consts::ERR_LASTCODE,
});

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Class of an added class or code.
pub(crate) fn class_of(code: c_int) -> Option<c_int> {
    all().live.get(&code).map(|it| it.class)
}

/// Text of an added class or code.
pub(crate) fn text_of(code: c_int) -> Option<Vec<u8>> {
    all().live.get(&code).map(|it| it.text.clone())
}

/// Largest class or code in use (`MPI_LASTUSEDCODE`).
pub(crate) fn last_used() -> c_int {
    let last = all().live.last_key_value().map(|(&code, _)| code);
    last.unwrap_or(consts::ERR_LASTCODE)
}

/// Adds a code of a class, or a class.
pub(crate) fn add(class: Option<c_int>) -> c_int {
    let mut all = all();
    all.last += 1;
    let number = all.last;
    let added = Added {
        class: class.unwrap_or(number),
        text: Vec::new(),
    };
    all.live.insert(number, added);
    number
}

/// Looks at what was added under `code`, to change it.
pub(crate) fn change(code: c_int, change: impl FnOnce(&mut Added)) -> Result<()> {
    match all().live.get_mut(&code) {
        Some(it) => {
            change(it);
            Ok(())
        }
        None => fail!(
            Arg,
            "{code} is not an error class or code that this program has added"
        ),
    }
}

/// Removes a class, or a code, that has no string and, if it is a class, no codes.
pub(crate) fn remove(code: c_int, is_class: bool) -> Result<()> {
    let mut all = all();
    let what = if is_class { "class" } else { "code" };
    match all.live.get(&code) {
        Some(it) if (it.class == code) == is_class => {
            if !it.text.is_empty() {
                fail!(
                    Arg,
                    "error {what} {code} has a string: call MPI_Remove_error_string first"
                );
            }
        }
        _ => fail!(
            Arg,
            "{code} is not an error {what} that this program has added"
        ),
    }
    let of_it =
        |(&other, it): (&c_int, &Added)| (other != code && it.class == code).then_some(other);
    if let Some(other) = all.live.iter().find_map(of_it) {
        fail!(
            Arg,
            "error class {code} has the code {other}: call MPI_Remove_error_code first"
        );
    }
    all.live.remove(&code);
    Ok(())
}
