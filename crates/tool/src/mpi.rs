//! What tools themselves ask the library: functions that only tell something, but for the few that
//! checked mode needs. All go through [`asking`]: an error of one calls no handler of the program.

use std::ffi::{c_char, c_int, c_void};

use catena_abi::{
    Aint, Comm, Count, Datatype, Errhandler, GrequestCancelFunction, GrequestFreeFunction,
    GrequestQueryFunction, Group, Info, Request, Session, Status, TPvarHandle, TPvarSession, Win,
    consts,
};

use crate::asking;
use crate::next::Known;

/// Declares functions of the library: each returns an error code, or -1 if there is no library.
macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("`MPI_", stringify!($name), "` of the library.")]
        #[allow(non_snake_case, clippy::too_many_arguments,
            reason = "the function of the standard")]
        #[allow(clippy::not_unsafe_ptr_arg_deref,
            reason = "addresses are what the program has given, or of memory of the tool")]
        pub fn $name($($arg: $ty),*) -> c_int {
            static KNOWN: Known = Known::new(stringify!($name));
            let Some(address) = KNOWN.address() else {
                return -1;
            };
            // SAFETY: the function has this prototype; places for what it tells are good.
            asking::ask(|| unsafe {
                let function = std::mem::transmute::<usize,
                    unsafe extern "C" fn($($ty),*) -> c_int>(address);
                function($($arg),*)
            })
        }
    )*};
}

functions! {
    Comm_rank(comm: Comm, rank: &mut c_int);
    Comm_size(comm: Comm, size: &mut c_int);
    Comm_remote_size(comm: Comm, size: &mut c_int);
    Comm_remote_group(comm: Comm, group: &mut Group);
    Comm_get_name(comm: Comm, name: *mut u8, len: &mut c_int);
    Cartdim_get(comm: Comm, dims: &mut c_int);
    Comm_test_inter(comm: Comm, flag: &mut c_int);
    Topo_test(comm: Comm, status: &mut c_int);
    Dist_graph_neighbors_count(comm: Comm, indegree: &mut c_int, outdegree: &mut c_int,
        weighted: &mut c_int);
    Graph_neighbors_count(comm: Comm, rank: c_int, count: &mut c_int);
    Type_size_c(ty: Datatype, size: &mut Count);
    Type_get_extent_c(ty: Datatype, lb: &mut Count, extent: &mut Count);
    Type_get_true_extent_c(ty: Datatype, lb: &mut Count, extent: &mut Count);
    Type_get_envelope_c(ty: Datatype, integers: &mut Count, addresses: &mut Count,
        counts: &mut Count, types: &mut Count, combiner: &mut c_int);
    Type_get_contents_c(ty: Datatype, integers: Count, addresses: Count, counts: Count,
        types: Count, i: *mut c_int, a: *mut Aint, c: *mut Count, t: *mut Datatype);
    Type_free(ty: &mut Datatype);
    Type_get_name(ty: Datatype, name: *mut u8, len: &mut c_int);
    Unpack_c(from: *const c_void, len: Count, position: &mut Count, to: *mut c_void, count: Count,
        ty: Datatype, comm: Comm);
    Request_get_status(request: Request, flag: &mut c_int, status: &mut Status);
    Request_free(request: &mut Request);
    Grequest_start(query: GrequestQueryFunction, free: GrequestFreeFunction,
        cancel: GrequestCancelFunction, state: *mut c_void, request: &mut Request);
    Grequest_complete(request: Request);
    Group_from_session_pset(session: Session, name: *const c_char, group: &mut Group);
    Session_get_info(session: Session, info: &mut Info);
    Info_get_string(info: Info, key: *const c_char, room: &mut c_int, value: *mut c_char,
        flag: &mut c_int);
    Info_free(info: &mut Info);
    Query_thread(provided: &mut c_int);
    Error_class(code: c_int, class: &mut c_int);
    Error_string(code: c_int, text: *mut u8, len: &mut c_int);
    Win_get_group(win: Win, group: &mut Group);
    Comm_group(comm: Comm, group: &mut Group);
    Group_size(group: Group, size: &mut c_int);
    Group_translate_ranks(from: Group, count: c_int, ranks: *const c_int, to: Group,
        found: *mut c_int);
    Group_free(group: &mut Group);
    Comm_create(comm: Comm, group: Group, new: &mut Comm);
    Comm_free(comm: &mut Comm);
    Comm_set_errhandler(comm: Comm, handler: Errhandler);
    Isend(from: *const c_void, count: c_int, ty: Datatype, dest: c_int, tag: c_int, comm: Comm,
        request: &mut Request);
    Irecv(to: *mut c_void, count: c_int, ty: Datatype, source: c_int, tag: c_int, comm: Comm,
        request: &mut Request);
    Test(request: &mut Request, flag: &mut c_int, status: *mut c_void);
    Wait(request: &mut Request, status: *mut c_void);
    Cancel(request: &mut Request);
    T_init_thread(required: c_int, provided: &mut c_int);
    T_finalize();
    T_pvar_get_num(count: &mut c_int);
    T_pvar_get_info(index: c_int, name: *mut u8, len: &mut c_int, verbosity: &mut c_int,
        class: &mut c_int, ty: &mut Datatype, enumeration: &mut usize, doc: *mut u8,
        doc_len: &mut c_int, bind: &mut c_int, readonly: &mut c_int, continuous: &mut c_int,
        atomic: &mut c_int);
    T_pvar_session_create(session: &mut TPvarSession);
    T_pvar_session_free(session: &mut TPvarSession);
    T_pvar_handle_alloc(session: TPvarSession, index: c_int, object: *mut c_void,
        handle: &mut TPvarHandle, count: &mut c_int);
    T_pvar_start(session: TPvarSession, handle: TPvarHandle);
    T_pvar_read(session: TPvarSession, handle: TPvarHandle, to: *mut c_void);
    Alltoall(send: *const c_void, send_count: c_int, send_type: Datatype, recv: *mut c_void,
        count: c_int, ty: Datatype, comm: Comm);
    Alltoallv(send: *const c_void, send_counts: *const c_int, send_places: *const c_int,
        send_type: Datatype, recv: *mut c_void, counts: *const c_int, places: *const c_int,
            ty: Datatype, comm: Comm);
}

/// This process's rank in a communicator; -1 if that cannot be told.
pub fn rank(comm: Comm) -> i32 {
    let mut rank = -1;
    Comm_rank(comm, &mut rank);
    rank
}

/// Whether it connects two groups.
pub fn is_inter(comm: Comm) -> bool {
    let mut inter = 0;
    Comm_test_inter(comm, &mut inter) == 0 && inter != 0
}

/// How many ranks a collective reaches: of an intercommunicator, those of the remote group.
pub fn peers(comm: Comm) -> usize {
    let mut size = 0;
    match is_inter(comm) {
        true => Comm_remote_size(comm, &mut size),
        false => Comm_size(comm, &mut size),
    };
    usize::try_from(size).unwrap_or(0)
}

/// How many ranks the group of this one has.
pub fn members(comm: Comm) -> usize {
    let mut size = 0;
    Comm_size(comm, &mut size);
    usize::try_from(size).unwrap_or(0)
}

/// Whether the ranks lie in a grid.
pub fn is_grid(comm: Comm) -> bool {
    let mut kind = consts::UNDEFINED;
    Topo_test(comm, &mut kind) == 0 && kind == consts::CART
}

/// Neighbours that send to this rank, and those that it sends to, unless they lie in a grid.
pub fn neighbors(comm: Comm) -> (usize, usize) {
    let (mut kind, mut from, mut to, mut weighted) = (consts::UNDEFINED, 0, 0, 0);
    Topo_test(comm, &mut kind);
    match kind {
        consts::DIST_GRAPH => {
            Dist_graph_neighbors_count(comm, &mut from, &mut to, &mut weighted);
        }
        consts::GRAPH => {
            Graph_neighbors_count(comm, rank(comm), &mut from);
            to = from;
        }
        _ => {}
    }
    let count = |n: c_int| usize::try_from(n).unwrap_or(0);
    (count(from), count(to))
}

/// The name of a datatype, or what it is.
pub fn type_name(ty: Datatype) -> String {
    if let Some(name) = ty.name() {
        return name.into();
    }
    let mut name = [0; consts::MAX_OBJECT_NAME as usize];
    let mut len = 0;
    let known = Type_get_name(ty, name.as_mut_ptr(), &mut len) == 0 && len > 0;
    match known {
        true => text(&name, len),
        false => "a derived type".into(),
    }
}

/// The thread level of a session, in words; `None` if that cannot be told.
pub fn thread_level(session: Session) -> Option<String> {
    let mut info = consts::INFO_NULL;
    if Session_get_info(session, &mut info) != 0 {
        return None;
    }
    let mut value = [0_u8; 32];
    let (mut room, mut is_there) = (value.len() as c_int, 0);
    let to = value.as_mut_ptr().cast();
    let code = Info_get_string(info, c"thread_level".as_ptr(), &mut room, to, &mut is_there);
    Info_free(&mut info);
    (code == 0 && is_there != 0).then(|| text(&value, room - 1))
}

/// What the library says of an error code, and its class.
pub fn error(code: c_int) -> Option<(c_int, String)> {
    let mut class = 0;
    let mut text_of = [0; consts::MAX_ERROR_STRING as usize];
    let mut len = 0;
    let is_known = Error_class(code, &mut class) == 0
        && Error_string(code, text_of.as_mut_ptr(), &mut len) == 0;
    is_known.then(|| (class, text(&text_of, len)))
}

/// The class of an error.
pub fn class(code: c_int) -> c_int {
    let mut class = 0;
    match Error_class(code, &mut class) {
        0 => class,
        _ => code,
    }
}

/// Whether an error says that processes are gone, or that one has given up a communicator for that.
pub fn is_death(code: c_int) -> bool {
    const DEATHS: [c_int; 4] = [
        consts::ERR_PROC_ABORTED,
        consts::ERR_PROC_FAILED,
        consts::ERR_PROC_FAILED_PENDING,
        consts::ERR_REVOKED,
    ];
    DEATHS.contains(&class(code))
}

fn text(bytes: &[u8], len: c_int) -> String {
    let len = usize::try_from(len).unwrap_or(0).min(bytes.len());
    String::from_utf8_lossy(&bytes[..len]).into_owned()
}

/// The ranks that the members of a group have in another one; `None` where one has none.
pub fn translated(from: Group, to: Group) -> Option<Vec<i32>> {
    let mut size = 0;
    if Group_size(from, &mut size) != 0 {
        return None;
    }
    let ranks: Vec<c_int> = (0..size).collect();
    let mut found = vec![consts::UNDEFINED; ranks.len()];
    let code = Group_translate_ranks(from, size, ranks.as_ptr(), to, found.as_mut_ptr());
    (code == 0 && !found.contains(&consts::UNDEFINED)).then_some(found)
}

/// Whether all members of a communicator are ranks of this job's world.
pub fn is_of_world(comm: Comm) -> bool {
    let (mut group, mut world) = (consts::GROUP_NULL, consts::GROUP_NULL);
    if is_inter(comm) || Comm_group(comm, &mut group) != 0 {
        return false;
    }
    let is_of_world =
        Comm_group(consts::COMM_WORLD, &mut world) == 0 && translated(group, world).is_some();
    Group_free(&mut group);
    if world != consts::GROUP_NULL {
        Group_free(&mut world);
    }
    is_of_world
}
