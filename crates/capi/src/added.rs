//! Error classes and codes that the program adds (MPI-5, chapter 9.5). They lie
//! beyond `MPI_ERR_LASTCODE`.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi::consts;
use catena_objects::{Result, fail};

use crate::args::{self, put};
use crate::attr::refresh_last_used;
use crate::entry::mpi_fn;
use crate::errors;

/// A class, which is its own class, or a code.
#[derive(Clone, Debug, Default)]
struct Added {
    class: c_int,
    /// Empty if there is none.
    text: Vec<u8>,
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
fn add(class: Option<c_int>) -> c_int {
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
fn change(code: c_int, change: impl FnOnce(&mut Added)) -> Result<()> {
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

fn remove(code: c_int, is_class: bool) -> Result<()> {
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
    drop(all);
    refresh_last_used();
    Ok(())
}

mpi_fn! {
    fn Add_error_class(errorclass: *mut c_int) {
        put(errorclass, consts::ERR_UNKNOWN, "errorclass")?;
        let new = add(None);
        refresh_last_used();
        put(errorclass, new, "errorclass")
    }

    fn Add_error_code(errorclass: c_int, errorcode: *mut c_int) {
        put(errorcode, consts::ERR_UNKNOWN, "errorcode")?;
        if errors::class_of(errorclass) != Some(errorclass) {
            fail!(Arg, "{errorclass} is not an error class");
        }
        let new = add(Some(errorclass));
        refresh_last_used();
        put(errorcode, new, "errorcode")
    }

    fn Add_error_string(errorcode: c_int, string: *const c_char) {
        let string = args::bytes(string, "string")?;
        if string.len() >= consts::MAX_ERROR_STRING as usize {
            fail!(Arg, "the string has {} bytes, at most {} are allowed", string.len(),
                consts::MAX_ERROR_STRING - 1);
        }
        change(errorcode, |it| it.text = string.to_vec())
    }

    fn Remove_error_class(errorclass: c_int) {
        remove(errorclass, true)
    }

    fn Remove_error_code(errorcode: c_int) {
        remove(errorcode, false)
    }

    fn Remove_error_string(errorcode: c_int) {
        change(errorcode, |it| it.text.clear())
    }
}
