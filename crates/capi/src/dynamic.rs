//! Processes that come and go (MPI-5, chapters 11.8 and 11.9).

use std::ffi::{c_char, c_int};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use catena_abi::{Comm, Info, consts};
use catena_boot::Side;
use catena_core::enter;
use catena_dynamic::spawn::Command;
use catena_dynamic::{join, name, port, spawn};
use catena_objects::info::Info as Hints;
use catena_objects::{Result, fail};

use crate::args::{self, put, put_string};
use crate::comm::put_comm;
use crate::entry::mpi_fn;
use crate::errors;

/// Most arguments of a command.
const MOST: usize = 1 << 20;

/// The hints behind a handle; none for `MPI_INFO_NULL`.
fn hints(handle: Info) -> Result<Option<Arc<Hints>>> {
    enter()?.objects.infos.find(handle)
}

/// The strings of an array that ends with a null pointer; none for `MPI_ARGV_NULL`.
fn strings(argv: *mut *mut c_char) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    if argv.is_null() {
        return Ok(all);
    }
    while all.len() < MOST {
        // SAFETY: the program's array goes on to its null pointer.
        let next = unsafe { argv.add(all.len()).read() };
        if next.is_null() {
            return Ok(all);
        }
        all.push(args::bytes(next, "argv")?.to_vec());
    }
    fail!(
        Arg,
        "argv has more than {MOST} arguments, or does not end with a null pointer"
    )
}

/// Stores one code for each of some processes that were asked for, unless they are to be ignored.
fn put_codes(to: *mut c_int, from: usize, count: usize, code: c_int) {
    if to.is_null() {
        return;
    }
    for at in from..from + count {
        // SAFETY: the program's array has room for a code of each process.
        unsafe { to.add(at).write(code) };
    }
}

/// What the root knows of the processes that it has asked for, as it tells all members: the class
/// of the error, and how many were asked for and are started of each command.
fn outcome(made: &Result<(Comm, Vec<u32>)>, asked: &[usize]) -> Vec<u32> {
    let (class, started) = match made {
        Ok((_, counts)) => (consts::SUCCESS, &counts[..]),
        Err(error) => (errors::class(error.kind()), &[][..]),
    };
    let started = started.iter().chain(std::iter::repeat(&0));
    let counts = asked.iter().zip(started);
    let counts = counts.flat_map(|(&asked, &started)| [asked as u32, started]);
    std::iter::once(class as u32).chain(counts).collect()
}

/// What was made, and what becomes of the codes of the processes that were asked for, by
/// command: some of each are started, or none is. What the root knows of that it tells all.
fn conclude(
    on: &Arc<catena_core::comm::Comm>,
    root: c_int,
    made: Result<(Comm, Vec<u32>)>,
    (intercomm, codes): (*mut Comm, *mut c_int),
    asked: &[usize],
) -> Result<()> {
    let process = enter()?;
    let own = outcome(&made, asked);
    let told = spawn::tell_outcome(&process, on, root, own);
    if let Some((&class, counts)) = told.as_deref().and_then(<[u32]>::split_first) {
        let failed = match class as c_int {
            consts::SUCCESS => consts::ERR_SPAWN,
            class => class,
        };
        let mut at = 0;
        for count in counts.chunks_exact(2) {
            let (asked, started) = (count[0] as usize, count[1].min(count[0]) as usize);
            put_codes(codes, at, started, consts::SUCCESS);
            put_codes(codes, at + started, asked - started, failed);
            at += asked;
        }
    }
    put(intercomm, made?.0, "intercomm")
}

/// A port's name in a program's string.
fn port_name(at: *const c_char) -> Result<String> {
    args::string(at, "port_name").map(str::to_owned)
}

mpi_fn! {
    /// Only the root's arguments say what is started.
    fn MPI_Comm_spawn(command: *const c_char, argv: *mut *mut c_char, maxprocs: c_int, info: Info,
        root: c_int, comm: Comm, intercomm: *mut Comm, array_of_errcodes: *mut c_int) on comm
    {
        let process = enter()?;
        put(intercomm, consts::COMM_NULL, "intercomm")?;
        let on = process.comm(comm)?;
        let commands = || {
            Ok(vec![Command {
                program: args::bytes(command, "command")?.to_vec(),
                args: strings(argv)?,
                maxprocs,
                info: hints(info)?,
            }])
        };
        let is_root = root == on.rank as c_int;
        let made = spawn::spawn(&process, &on, root, commands);
        let asked = [if is_root { maxprocs.max(0) as usize } else { 0 }];
        conclude(&on, root, made, (intercomm, array_of_errcodes), &asked)
    }

    /// Only the root's arguments say what is started.
    fn MPI_Comm_spawn_multiple(count: c_int, array_of_commands: *mut *mut c_char,
        array_of_argv: *mut *mut *mut c_char, array_of_maxprocs: *const c_int,
        array_of_info: *const Info, root: c_int, comm: Comm, intercomm: *mut Comm,
        array_of_errcodes: *mut c_int) on comm
    {
        let process = enter()?;
        put(intercomm, consts::COMM_NULL, "intercomm")?;
        let on = process.comm(comm)?;
        let mut asked = Vec::new();
        let commands = || {
            if count < 1 {
                fail!(Count, "count is {count}: at least one command must be given");
            }
            let n = count as usize;
            let names = args::array(array_of_commands.cast_const(), n, "array_of_commands")?;
            let counts = args::array(array_of_maxprocs, n, "array_of_maxprocs")?;
            let infos = args::array(array_of_info, n, "array_of_info")?;
            asked = counts.iter().map(|&it| it.max(0) as usize).collect();
            let one = |at: usize| {
                let argv = match array_of_argv.is_null() {
                    true => Vec::new(),
                    // SAFETY: the program's array has an element for each command.
                    false => strings(unsafe { array_of_argv.add(at).read() })?,
                };
                Ok(Command {
                    program: args::bytes(names[at], "array_of_commands")?.to_vec(),
                    args: argv,
                    maxprocs: counts[at],
                    info: hints(infos[at])?,
                })
            };
            (0..n).map(one).collect()
        };
        let made = spawn::spawn(&process, &on, root, commands);
        conclude(&on, root, made, (intercomm, array_of_errcodes), &asked)
    }

    fn MPI_Comm_get_parent(parent: *mut Comm) {
        put(parent, catena_dynamic::parent(&*enter()?), "parent")
    }

    fn MPI_Open_port(info: Info, port_name: *mut c_char) {
        hints(info)?;
        let process = enter()?;
        let port = port::open(&process)?;
        let most = consts::MAX_PORT_NAME as usize;
        let mut len = 0;
        put_string(port_name, most, &raw mut len, port.as_str())
    }

    fn MPI_Close_port(port_name: *const c_char) {
        let process = enter()?;
        port::close(&process, &self::port_name(port_name)?)
    }

    fn MPI_Comm_accept(port_name: *const c_char, info: Info, root: c_int, comm: Comm,
        newcomm: *mut Comm) on comm
    {
        let process = enter()?;
        put_comm(newcomm, || {
            let on = process.comm(comm)?;
            let port = || Ok((self::port_name(port_name)?, hints(info)?));
            port::meet(&process, &on, root, Side::Host, port)
        })
    }

    fn MPI_Comm_connect(port_name: *const c_char, info: Info, root: c_int, comm: Comm,
        newcomm: *mut Comm) on comm
    {
        let process = enter()?;
        put_comm(newcomm, || {
            let on = process.comm(comm)?;
            let port = || Ok((self::port_name(port_name)?, hints(info)?));
            port::meet(&process, &on, root, Side::Guest, port)
        })
    }

    fn MPI_Comm_join(fd: c_int, intercomm: *mut Comm) {
        let process = enter()?;
        put_comm(intercomm, || {
            if fd < 0 {
                fail!(Arg, "fd is {fd}, which is no descriptor");
            }
            // SAFETY: the program keeps the descriptor open during the call.
            join::join(&process, unsafe { BorrowedFd::borrow_raw(fd) })
        })
    }

    fn MPI_Publish_name(service_name: *const c_char, info: Info, port_name: *const c_char) {
        hints(info)?;
        let service = args::string(service_name, "service_name")?;
        let process = enter()?;
        name::publish(&process, service, &self::port_name(port_name)?)
    }

    fn MPI_Lookup_name(service_name: *const c_char, info: Info, port_name: *mut c_char) {
        hints(info)?;
        let service = args::string(service_name, "service_name")?;
        let process = enter()?;
        let port = name::look_up(&process, service)?;
        let mut len = 0;
        put_string(port_name, consts::MAX_PORT_NAME as usize, &raw mut len, port.as_str())
    }

    fn MPI_Unpublish_name(service_name: *const c_char, info: Info, port_name: *const c_char) {
        hints(info)?;
        let service = args::string(service_name, "service_name")?;
        let process = enter()?;
        name::withdraw(&process, service, &self::port_name(port_name)?)
    }
}
