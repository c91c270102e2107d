//! From what the system says of a file to an error of MPI (MPI-5, chapter 14.7).

use std::io;

use catena_objects::error::{Error, Kind};

use crate::driver::Direction;

/// What sort of error a code of the system is.
fn kind(code: i32) -> Kind {
    match code {
        libc::ENOENT | libc::ENXIO | libc::ENODEV => Kind::NoSuchFile,
        libc::EEXIST => Kind::FileExists,
        libc::EACCES | libc::EPERM => Kind::Access,
        libc::EISDIR | libc::ENOTDIR | libc::ENAMETOOLONG | libc::ELOOP | libc::EINVAL => {
            Kind::BadFile
        }
        libc::EROFS => Kind::ReadOnly,
        libc::ENOSPC => Kind::NoSpace,
        libc::EDQUOT => Kind::Quota,
        libc::ETXTBSY | libc::EBUSY => Kind::FileInUse,
        libc::ENOMEM => Kind::NoMem,
        _ => Kind::Io,
    }
}

/// What was done when it failed, where the remedy depends on it.
pub(crate) const OPENING: &str = "cannot open";

/// What to do about it, as the end of a sentence; `doing` says what failed.
fn remedy(code: i32, doing: &str) -> String {
    match code {
        libc::ENOENT if doing == OPENING => {
            "; MPI_MODE_CREATE makes a file in a folder that exists".to_owned()
        }
        libc::EMFILE => {
            let mut limit = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: the limit may be written.
            unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
            format!(
                "; this process may have {} descriptors: close files, or raise 'ulimit -n'",
                limit.rlim_cur
            )
        }
        libc::ENFILE => "; the machine has no descriptors left".to_owned(),
        libc::EFBIG => "; the file system or 'ulimit -f' allows no file as long".to_owned(),
        libc::EISDIR => "; MPI opens files only".to_owned(),
        libc::ESPIPE => "; a pipe has no places: MPI works on files that have".to_owned(),
        _ => String::new(),
    }
}

/// The error of a call on the file `name`; `doing` says what failed, as in "cannot open".
#[cold]
pub(crate) fn of_system(name: &str, doing: &str, error: &io::Error) -> Error {
    let code = error.raw_os_error().unwrap_or(0);
    let text = format!("{doing} '{name}': {error}{}", remedy(code, doing));
    Error::new(kind(code), text)
}

/// What sort of error a code of the system is on a file that is open: its name is not wrong.
fn kind_when_open(code: i32) -> Kind {
    match kind(code) {
        Kind::BadFile | Kind::NoSuchFile | Kind::FileExists => Kind::Io,
        kind => kind,
    }
}

/// As [`of_system`], of a file that is open.
#[cold]
pub(crate) fn of_open_file(name: &str, doing: &str, error: &io::Error) -> Error {
    let code = error.raw_os_error().unwrap_or(0);
    let text = format!("{doing} '{name}': {error}{}", remedy(code, doing));
    Error::new(kind_when_open(code), text)
}

/// As [`of_open_file`], of reading or writing.
#[cold]
pub(crate) fn of_transfer(name: &str, way: Direction, error: &io::Error, done: u64) -> Error {
    let way = match way {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let code = error.raw_os_error().unwrap_or(0);
    let text = format!(
        "cannot {way} '{name}' after {done} bytes: {error}{}",
        remedy(code, way)
    );
    Error::new(kind_when_open(code), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_make_a_file_is_no_remedy_where_one_cannot_be_deleted() {
        let error = io::Error::from_raw_os_error(libc::ENOENT);
        let advises = |doing| {
            of_system("f", doing, &error)
                .text()
                .contains("MPI_MODE_CREATE")
        };
        assert!(advises(OPENING) && !advises("cannot delete"));
    }
}
