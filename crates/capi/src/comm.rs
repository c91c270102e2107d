//! Communicators (MPI-5, chapters 7.4 to 7.8 and 11.10.1).

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use catena_abi::{Comm, Errhandler, Group, Info, Request, consts};
use catena_core::comm::{self, Across, Origin, RemoteLeader};
use catena_core::compress::Wishes;
use catena_core::{Process, enter, p2p};
use catena_objects::error_place::Target;
use catena_objects::{Result, fail};

use crate::args::{self, put, put_string};
use crate::entry::mpi_fn;
use crate::errhandler;
use crate::group::comparison;
use crate::info;

/// Stores the handle of the communicator that `make` makes; the null handle if
/// this process is no member, or it fails.
pub(crate) fn put_comm<T: Into<Option<Comm>>>(
    to: *mut Comm,
    make: impl FnOnce() -> Result<T>,
) -> Result<()> {
    put(to, consts::COMM_NULL, "newcomm")?;
    match make()?.into() {
        Some(new) => put(to, new, "newcomm"),
        None => Ok(()),
    }
}

fn remote(comm: &catena_core::comm::Comm) -> Result<&Arc<catena_objects::group::Group>> {
    match &comm.remote {
        Some(remote) => Ok(&remote.group),
        None => fail!(Comm, "the communicator is not an intercommunicator"),
    }
}

fn idup(
    process: &Process,
    comm: Comm,
    hints: Result<Option<Wishes>>,
    newcomm: *mut Comm,
    request: *mut Request,
) -> Result<()> {
    put(newcomm, consts::COMM_NULL, "newcomm")?;
    put(request, consts::REQUEST_NULL, "request")?;
    // SAFETY: not null; the program lends it until the request is complete.
    let started = unsafe { process.comm(comm)?.idup(process, hints, newcomm)? };
    put(request, started, "request")
}

/// The arguments of a communicator that is made from groups alone.
fn origin<'a>(
    process: &Process,
    stringtag: *const c_char,
    hints: Info,
    errhandler: Errhandler,
) -> Result<Origin<'a>> {
    let tag = args::bytes(stringtag, "stringtag")?;
    let most = consts::MAX_STRINGTAG_LEN as usize - 1;
    if tag.len() > most {
        fail!(
            Arg,
            "the string tag has {} bytes, at most {most} are allowed",
            tag.len()
        );
    }
    info::check(process.objects, hints)?;
    Ok(Origin {
        tag,
        errhandler: errhandler::fitting(process.objects, errhandler, Target::Comm)?,
    })
}

/// What the hints for a duplicate say.
fn wishes(process: &Process, hints: Info) -> Result<Option<Wishes>> {
    let hints = process.objects.infos.find(hints)?;
    comm::wishes(process, hints.as_deref()).map(Some)
}

mpi_fn! {
    fn MPI_Comm_size(comm: Comm, size: *mut c_int) on comm {
        put(size, enter()?.comm_ref(comm)?.size() as c_int, "size")
    }

    fn MPI_Comm_rank(comm: Comm, rank: *mut c_int) on comm {
        put(rank, enter()?.comm_ref(comm)?.rank as c_int, "rank")
    }

    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: *mut c_int) on comm1 {
        let process = enter()?;
        let like = process.comm_ref(comm1)?.compare(process.comm_ref(comm2)?)?;
        put(result, comparison(like), "result")
    }

    fn MPI_Comm_group(comm: Comm, group: *mut Group) on comm {
        let process = enter()?;
        let members = process.comm_ref(comm)?.group.clone();
        put(group, process.objects.groups.add(members), "group")
    }

    fn MPI_Comm_test_inter(comm: Comm, flag: *mut c_int) on comm {
        put(flag, enter()?.comm_ref(comm)?.is_inter().into(), "flag")
    }

    fn MPI_Comm_remote_size(comm: Comm, size: *mut c_int) on comm {
        let process = enter()?;
        put(size, remote(process.comm_ref(comm)?)?.size() as c_int, "size")
    }

    fn MPI_Comm_remote_group(comm: Comm, group: *mut Group) on comm {
        let process = enter()?;
        let members = remote(process.comm_ref(comm)?)?.clone();
        put(group, process.objects.groups.add(members), "group")
    }

    fn MPI_Comm_dup(comm: Comm, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || process.comm(comm)?.dup(&process, Ok(None)))
    }

    fn MPI_Comm_dup_with_info(comm: Comm, hints: Info, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || process.comm(comm)?.dup(&process, wishes(&process, hints)))
    }

    fn MPI_Comm_idup(comm: Comm, newcomm: *mut Comm, request: *mut Request) on comm {
        idup(&*enter()?, comm, Ok(None), newcomm, request)
    }

    fn MPI_Comm_idup_with_info(comm: Comm, hints: Info, newcomm: *mut Comm, request: *mut Request)
        on comm
    {
        let process = enter()?;
        idup(&process, comm, wishes(&process, hints), newcomm, request)
    }

    fn MPI_Comm_create(comm: Comm, group: Group, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || process.comm(comm)?.create(&process,
            process.objects.groups.find(group)))
    }

    fn MPI_Comm_create_group(comm: Comm, group: Group, tag: c_int, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || {
            let tag = p2p::send_tag(tag)?;
            process.comm(comm)?.create_group(&process, &process.objects.groups.find(group)?, tag)
        })
    }

    fn MPI_Comm_split(comm: Comm, color: c_int, key: c_int, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || process.comm(comm)?.split(&process, color, key))
    }

    fn MPI_Comm_split_type(comm: Comm, split_type: c_int, key: c_int, hints: Info,
        newcomm: *mut Comm) on comm
    {
        let process = enter()?;
        put_comm(newcomm, ||{
            process.comm(comm)?.split_type(&process, split_type, key,
                process.objects.infos.find(hints))
        })
    }

    /// Messages that are still on their way belong to `link`, which finishes
    /// them.
    fn MPI_Comm_free(comm: *mut Comm) on comm {
        let process = enter()?;
        process.comm(args::get(comm, "comm")?)?.free(&process)?;
        put(comm, consts::COMM_NULL, "comm")
    }

    fn MPI_Comm_disconnect(comm: *mut Comm) on comm {
        let process = enter()?;
        process.comm(args::get(comm, "comm")?)?.disconnect(&process)?;
        put(comm, consts::COMM_NULL, "comm")
    }

    fn MPI_Intercomm_create(local_comm: Comm, local_leader: c_int, peer_comm: Comm,
        remote_leader: c_int, tag: c_int, newintercomm: *mut Comm) on local_comm
    {
        let process = enter()?;
        let remote_leader = RemoteLeader {
            comm: peer_comm,
            leader: remote_leader,
            tag,
        };
        put_comm(newintercomm, || {
            process.comm(local_comm)?.create_intercomm(&process, local_leader, remote_leader)
        })
    }

    fn MPI_Intercomm_merge(intercomm: Comm, high: c_int, newintracomm: *mut Comm) on intercomm {
        let process = enter()?;
        put_comm(newintracomm, || process.comm(intercomm)?.merge(&process, high != 0))
    }

    fn MPI_Comm_create_from_group(group: Group, stringtag: *const c_char, hints: Info,
        errhandler: Errhandler, newcomm: *mut Comm) on errhandler
    {
        let process = enter()?;
        put_comm(newcomm, || {
            let origin = origin(&process, stringtag, hints, errhandler)?;
            origin.create_comm(&process, &process.objects.groups.find(group)?)
        })
    }

    fn MPI_Intercomm_create_from_groups(local_group: Group, local_leader: c_int,
        remote_group: Group, remote_leader: c_int, stringtag: *const c_char, hints: Info,
        errhandler: Errhandler, newintercomm: *mut Comm) on errhandler
    {
        let process = enter()?;
        put_comm(newintercomm, || {
            let origin = origin(&process, stringtag, hints, errhandler)?;
            let remote = process.objects.groups.find(remote_group);
            let across = remote.map(|group| Across { group, leader: remote_leader });
            let local = process.objects.groups.find(local_group)?;
            origin.create_intercomm(&process, &local, local_leader, across)
        })
    }


    fn MPI_Comm_set_name(comm: Comm, comm_name: *const c_char) on comm {
        let process = enter()?;
        let name = args::object_name(comm_name, "comm_name")?;
        *process.comm_ref(comm)?.name.borrow_mut() = name;
        Ok(())
    }

    fn MPI_Comm_get_name(comm: Comm, comm_name: *mut c_char, resultlen: *mut c_int) on comm {
        let process = enter()?;
        let size = consts::MAX_OBJECT_NAME as usize;
        if comm == consts::COMM_NULL {
            return put_string(comm_name, size, resultlen, "MPI_COMM_NULL");
        }
        put_string(comm_name, size, resultlen, process.comm_ref(comm)?.name.borrow().as_slice())
    }

    /// Of the hints, those of `compress` of `core` are followed after a communicator is made.
    fn MPI_Comm_set_info(comm: Comm, hints: Info) on comm {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        comm.follow(&process, &*info::info(process.objects, hints)?)
    }

    fn MPI_Comm_get_info(comm: Comm, info_used: *mut Info) on comm {
        let process = enter()?;
        let used = process.comm_ref(comm)?.info_used(&process)?;
        put(info_used, info::add(process.objects, used), "info_used")
    }
}
