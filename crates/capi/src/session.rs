//! Sessions (MPI-5, chapter 11.3); their error handlers are in `errhandler`,
//! their buffers in `buffer`.

use std::ffi::{c_char, c_int};

use catena_abi::{Errhandler, Group, Info, Session, consts};
use catena_core::{any_time, enter, life, session};
use catena_objects::error_place::Target;
use catena_objects::fail;
use catena_objects::info::Info as Pairs;

use crate::args::{self, put, put_string};
use crate::entry::mpi_fn;
use crate::{errhandler, info};

mpi_fn! {
    fn MPI_Session_init(hints: Info, handler: Errhandler, session: *mut Session)
        on handler
    {
        put(session, consts::SESSION_NULL, "session")?;
        let objects = any_time();
        let handler = errhandler::fitting(objects, handler, Target::Session)?;
        let hints = objects.infos.find(hints)?.unwrap_or_default();
        catena_library::assemble();
        put(session, session::init(&hints, handler)?, "session")
    }

    /// In a copy of the process that `fork` has made nothing is left to do.
    fn MPI_Session_finalize(session: *mut Session) on session {
        if life::is_copy() {
            return put(session, consts::SESSION_NULL, "session");
        }
        let process = enter()?;
        let finalized = process.objects.session(args::get(session, "session")?)?;
        finalized.finalize(&process)?;
        put(session, consts::SESSION_NULL, "session")
    }

    fn MPI_Session_get_info(session: Session, info_used: *mut Info) on session {
        let process = enter()?;
        let copy = process.objects.session(session)?.info.duplicate();
        put(info_used, info::add(process.objects, copy), "info_used")
    }

    fn MPI_Session_get_num_psets(session: Session, hints: Info,
        npset_names: *mut c_int) on session {
        let process = enter()?;
        process.objects.session(session)?;
        process.objects.infos.find(hints)?;
        put(npset_names, session::process_sets(&process)?.len() as c_int, "npset_names")
    }

    /// With no room for the name, tells how much it needs, with the NUL.
    fn MPI_Session_get_nth_pset(session: Session, hints: Info, n: c_int, pset_len: *mut c_int,
        pset_name: *mut c_char) on session
    {
        let process = enter()?;
        process.objects.session(session)?;
        process.objects.infos.find(hints)?;
        let sets = session::process_sets(&process)?;
        let Some(set) = usize::try_from(n).ok().and_then(|n| sets.get(n)) else {
            fail!(Arg, "n is {n}, but this process is in {} process sets", sets.len());
        };
        match usize::try_from(args::get(pset_len, "pset_len")?) {
            Err(_) => fail!(Arg, "pset_len is negative"),
            Ok(0) => {}
            Ok(room) => {
                let mut stored = 0;
                put_string(pset_name, room, &raw mut stored, &set.name)?;
            }
        }
        put(pset_len, set.name.len() as c_int + 1, "pset_len")
    }

    fn MPI_Session_get_pset_info(session: Session, pset_name: *const c_char, to: *mut Info)
        on session
    {
        let process = enter()?;
        process.objects.session(session)?;
        let set = session::process_set(&process, args::string(pset_name, "pset_name")?)?;
        let size = ("mpi_size".to_owned(), set.members.len().to_string());
        let version = set.version().map(|it| ("catena_version".to_owned(), it.to_string()));
        let pairs = [size].into_iter().chain(version);
        put(to, info::add(process.objects, Pairs::from_pairs(pairs)), "info")
    }

    fn MPI_Group_from_session_pset(session: Session, pset_name: *const c_char,
        newgroup: *mut Group) on session
    {
        let process = enter()?;
        let session = process.objects.session(session)?;
        put(newgroup, consts::GROUP_NULL, "newgroup")?;
        let group = session.group_of_set(&process, args::string(pset_name, "pset_name")?)?;
        put(newgroup, process.objects.groups.add(group), "newgroup")
    }
}
