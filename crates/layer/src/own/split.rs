//! `MPI_Comm_split_type` with the ways to split that an interface has besides the standard's.

use catena_abi::Info;

use super::*;
use crate::abi::SplitBy;

/// A communicator that is not given to the program.
struct Inner(Comm);

impl Inner {
    const NULL: Inner = Inner(consts::COMM_NULL);

    fn is_null(&self) -> bool {
        self.0 == consts::COMM_NULL
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.is_null() {
            // SAFETY: a communicator that nobody else knows.
            unsafe { core::MPI_Comm_free(&raw mut self.0) };
        }
    }
}

/// Splits by a resource. Members that may run in several of its kind, such as those that are not
/// bound, come together on each host, as they share all of them.
///
/// # Safety
/// The handles are the program's; `new` is null or writable.
unsafe fn by_resource(comm: Comm, uri: &CStr, key: c_int, hints: Info, new: *mut Comm) -> c_int {
    let guided = consts::COMM_TYPE_HW_GUIDED;
    let (mut host, mut part, mut info) = (Inner::NULL, Inner::NULL, consts::INFO_NULL);
    let name = c"mpi_hw_resource_type";
    // SAFETY: the program's handles, and variables that live as long as the calls.
    unsafe {
        let mut rc = match hints == consts::INFO_NULL {
            true => core::MPI_Info_create(&raw mut info),
            false => core::MPI_Info_dup(hints, &raw mut info),
        };
        for (by, of, to) in [
            (c"hwloc://Machine", comm, &mut host),
            (uri, comm, &mut part),
        ] {
            if rc == consts::SUCCESS {
                rc = core::MPI_Info_set(info, name.as_ptr(), by.as_ptr());
            }
            if rc == consts::SUCCESS {
                rc = core::MPI_Comm_split_type(of, guided, key, info, &raw mut to.0);
            }
        }
        if info != consts::INFO_NULL {
            core::MPI_Info_free(&raw mut info);
        }
        if rc != consts::SUCCESS {
            return rc;
        }
        if !host.is_null() {
            let color = if part.is_null() { 0 } else { consts::UNDEFINED };
            let mut rest = Inner::NULL;
            rc = core::MPI_Comm_split(host.0, color, key, &raw mut rest.0);
            if rc != consts::SUCCESS {
                return rc;
            }
            if part.is_null() {
                std::mem::swap(&mut part, &mut rest);
            }
        }
        new.write(std::mem::replace(&mut part, Inner::NULL).take());
        rc
    }
}

impl Inner {
    /// The communicator, which is somebody else's from now on.
    fn take(mut self) -> Comm {
        std::mem::replace(&mut self.0, consts::COMM_NULL)
    }
}

pub unsafe fn Comm_split_type<A: Abi>(
    comm: A::Comm,
    split_type: c_int,
    key: c_int,
    info: A::Info,
    newcomm: *mut A::Comm,
) -> c_int {
    let (comm, info, mut new) = (comm.native(), info.native(), Out::new(newcomm));
    // SAFETY: the program's arguments.
    unsafe {
        let rc = match A::split_by(split_type) {
            Some(_) if newcomm.is_null() => {
                core::MPI_Comm_split_type(comm, consts::UNDEFINED, key, info, ptr::null_mut())
            }
            Some(SplitBy::Everything) => core::MPI_Comm_split(comm, 0, key, new.place()),
            Some(SplitBy::Resource(uri)) => by_resource(comm, uri, key, info, new.place()),
            None => {
                let split_type = named(A::FAMILIES.split_type, split_type);
                core::MPI_Comm_split_type(comm, split_type, key, info, new.place())
            }
        };
        new.finish();
        code::<A>(rc)
    }
}
