//! Calls by the names of the profiling interface, `PMPI_Send`.
//!
//! A tool makes them from within the call of the program whose place it has taken: the program's
//! was looked at, so they are passed on. Others are the program's own. A wrapper that is linked
//! into the program comes before this tool, which sees nothing else of the call; and a program may
//! pass over its tools on purpose, with some of its calls. Without them a request that is complete
//! would be taken for a pending one.

use catena_tool::object;

use crate::call::{Args, Class, Means};
use crate::{jumped, objects};

/// What the library for Fortran calls for itself, to find out about the arguments that it has to
/// convert, and to make types of sections of arrays: how these names begin.
const OF_FORTRAN: [&str; 18] = [
    "MPI_Type_",
    "MPI_Info_",
    "MPI_Errhandler_",
    "MPI_Error_class",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Comm_remote_size",
    "MPI_Comm_test_inter",
    "MPI_Comm_get_errhandler",
    "MPI_Comm_set_errhandler",
    "MPI_Comm_call_errhandler",
    "MPI_Cart",
    "MPI_Graph_",
    "MPI_Dist_graph_neighbors",
    "MPI_Topo_test",
    "MPI_Psend_init",
    "MPI_Precv_init",
    "MPI_Pack",
];

/// Whether a call that returns to `caller`, whose part of the stack begins at `top`, is a part of
/// another one that was looked at, or of none of the program's.
pub fn is_part_of_another(args: &Args, caller: usize, top: usize) -> bool {
    let name = args.call.name;
    let is_asking = || OF_FORTRAN.iter().any(|it| name.starts_with(it));
    jumped::is_in_call(top) || !object::is_direct(caller) && is_asking() && !gives_back_known(args)
}

/// Whether a call gives back an object that a call of the program has made.
fn gives_back_known(args: &Args) -> bool {
    let class = match args.call.args {
        [arg] if args.call.name.ends_with("_free") => match arg.means {
            Means::Handle(class) => class,
            _ => return false,
        },
        _ => return false,
    };
    // SAFETY: a place of a handle, or null.
    let handle = unsafe { args.at::<usize>(0) };
    let is_object = ![Class::Request, Class::Message].contains(&class);
    is_object && handle.is_some_and(|handle| objects::made(class, handle).is_some())
}
