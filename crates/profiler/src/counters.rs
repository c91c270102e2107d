//! What the library counts itself, for `mpirun --explain`: its variables of MPI_T that belong to
//! the whole process. They count from when they are started, which is when MPI has begun.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fmt::Write;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use catena_abi::{Datatype, TPvarHandle, TPvarSession, consts};
use catena_tool::mpi;

/// The longest name that is asked for.
const NAME: usize = 128;

/// What counts.
struct Counting {
    session: TPvarSession,
    variables: Vec<(String, TPvarHandle)>,
}

/// What was counted from each beginning of MPI to its end.
static SUMS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

static COUNTING: Mutex<Option<Counting>> = Mutex::new(None);

/// Has all variables count from now on.
pub fn begin() {
    let mut counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut provided, mut session) = (0, consts::T_PVAR_SESSION_NULL);
    if counting.is_some() || mpi::T_init_thread(consts::THREAD_SINGLE, &mut provided) != 0 {
        return;
    }
    let mut count = 0;
    if mpi::T_pvar_get_num(&mut count) == 0 && mpi::T_pvar_session_create(&mut session) == 0 {
        let variables = (0..count).filter_map(|index| variable(session, index));
        *counting = Some(Counting {
            session,
            variables: variables.collect(),
        });
        mpi::T_pvar_start(session, consts::T_PVAR_ALL_HANDLES);
    } else {
        mpi::T_finalize();
    }
}

/// Ends that, and gives all that was counted so far: each variable that has counted anything is a
/// line, its name, a blank, and its value.
pub fn end() -> String {
    let mut counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut counting) = counting.take() else {
        return String::new();
    };
    // MPI may begin again after its end, for sessions.
    let mut sums = SUMS.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, handle) in &counting.variables {
        let mut value = 0_u64;
        let code = mpi::T_pvar_read(counting.session, *handle, (&raw mut value).cast());
        if code == 0 && value > 0 {
            *sums.entry(name.clone()).or_default() += value;
        }
    }
    mpi::T_pvar_session_free(&mut counting.session);
    mpi::T_finalize();
    sums.iter().fold(String::new(), |mut text, (name, value)| {
        _ = writeln!(text, "{name} {value}");
        text
    })
}

/// The name and the handle of a variable, if it is one that counts for the whole process.
fn variable(session: TPvarSession, index: c_int) -> Option<(String, TPvarHandle)> {
    let mut name = [0; NAME];
    let (mut len, mut doc_len) = (NAME as c_int, 0);
    let (mut verbosity, mut class, mut bind) = (0, 0, 0);
    let (mut enumeration, mut flags) = (0, [0; 3]);
    let mut ty = Datatype(0);
    let [readonly, continuous, atomic] = &mut flags;
    let code = mpi::T_pvar_get_info(
        index,
        name.as_mut_ptr(),
        &mut len,
        &mut verbosity,
        &mut class,
        &mut ty,
        &mut enumeration,
        ptr::null_mut(),
        &mut doc_len,
        &mut bind,
        readonly,
        continuous,
        atomic,
    );
    let classes = [consts::T_PVAR_CLASS_COUNTER, consts::T_PVAR_CLASS_AGGREGATE];
    let counts = classes.contains(&class) && ty == consts::UNSIGNED_LONG_LONG;
    if code != 0 || !counts || bind != consts::T_BIND_NO_OBJECT {
        return None;
    }
    let (mut handle, mut elements) = (consts::T_PVAR_HANDLE_NULL, 0);
    let null = ptr::null_mut();
    let code = mpi::T_pvar_handle_alloc(session, index, null, &mut handle, &mut elements);
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    (code == 0 && elements == 1).then_some((name, handle))
}
