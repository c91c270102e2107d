//! Failed collective calls on files that nobody has looked at. The error handler of a file returns
//! errors unless the program says otherwise (MPI-5, chapter 14.7), and many programs throw them
//! away: then data are lost, and nothing shows it. So what a collective call has failed with is
//! kept, and told when the file is closed, or MPI ends, unless the program has asked what the code
//! means until then.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use catena_abi as abi;
use catena_core::Process;
use catena_core::coll::is_of_all;
use catena_objects::errhandler::HasErrhandler;

use crate::registry;

/// An error that was returned.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unseen {
    code: i32,
    text: String,
    /// It is a mistake of the program, which every member's data have been lost by.
    is_of_all: bool,
}

/// The first of each file, by its handle.
static UNSEEN: Mutex<BTreeMap<usize, Unseen>> = Mutex::new(BTreeMap::new());

fn unseen() -> MutexGuard<'static, BTreeMap<usize, Unseen>> {
    UNSEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a function that was called on a file is collective.
fn is_collective(function: &str) -> bool {
    const OTHERS: [&str; 6] = [
        "MPI_File_set_view",
        "MPI_File_set_size",
        "MPI_File_preallocate",
        "MPI_File_sync",
        "MPI_File_set_atomicity",
        "MPI_File_close",
    ];
    function.contains("_all") || function.contains("_ordered") || OTHERS.contains(&function)
}

/// A call on a file has returned a code to the program; `text` is that of the error, behind the
/// name of the function.
#[cold]
pub fn note(file: abi::File, code: i32, text: &str) {
    let (function, rest) = text.split_once(": ").unwrap_or(("", text));
    let is_of_all = is_of_all(rest);
    if is_of_all || is_collective(function) {
        let text = text.to_owned();
        unseen().entry(file.0).or_insert(Unseen {
            code,
            text,
            is_of_all,
        });
    }
}

/// Whether a code is that of a call that nobody has looked at.
pub fn has(code: i32) -> bool {
    unseen().values().any(|it| it.code == code)
}

/// The program has asked what a code means.
pub fn looked_at(code: i32) {
    unseen().retain(|_, it| it.code != code);
}

/// A file is to be closed: tells what nobody has looked at.
pub(crate) fn tell(process: &Process, file: abi::File) {
    let found = unseen().remove(&file.0);
    if let Some(found) = found {
        found.tell(process, file);
    }
}

/// MPI ends: tells what nobody has looked at of files that were not closed.
pub fn tell_all(process: &Process) {
    let all = std::mem::take(&mut *unseen());
    for (handle, found) in all {
        found.tell(process, abi::File(handle));
    }
}

impl Unseen {
    #[cold]
    fn tell(&self, process: &Process, handle: abi::File) {
        let file = registry::find(handle).ok();
        let on = file
            .as_ref()
            .map_or(String::new(), |file| format!(" on {}", file.called()));
        let text = format!(
            "a collective call{on} failed, and the program has not asked why: {}; \
             MPI_File_set_errhandler with MPI_ERRORS_ARE_FATAL on MPI_FILE_NULL ends the program \
             where that happens, and a program that deals with it asks what the code means, as by \
             MPI_Error_class, and is told nothing then",
            self.text
        );
        // Where members have called different things the data of all are lost: the job fails.
        let mut boot = process.engine.boot.borrow_mut();
        if self.is_of_all && boot.is_watched() {
            boot.fault(&text);
        } else if file.is_none_or(|file| file.comm.rank == 0) {
            catena_base::tell!("catena: {text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collective_calls_are_told_by_their_names() {
        for (function, is) in [
            ("MPI_File_write_all", true),
            ("MPI_File_write_at_all_end", true),
            ("MPI_File_read_ordered", true),
            ("MPI_File_sync", true),
            ("MPI_File_write", false),
            ("MPI_File_read_at", false),
            ("MPI_File_write_shared", false),
        ] {
            assert_eq!(is_collective(function), is, "{function}");
        }
    }

    #[test]
    fn what_was_asked_for_is_not_told() {
        let file = abi::File(usize::MAX - 7);
        note(file, 5, "MPI_File_write: disk full");
        assert!(!unseen().contains_key(&file.0), "it is not collective");
        note(file, 77_777, "MPI_File_write_all: disk full");
        note(file, 88_888, "MPI_File_write_all: again");
        assert_eq!(unseen()[&file.0].code, 77_777, "the first counts");
        assert!(has(77_777) && !has(88_888));
        looked_at(88_888);
        assert!(unseen().contains_key(&file.0));
        looked_at(77_777);
        assert!(!unseen().contains_key(&file.0));
    }
}
