//! One-sided communication (MPI-5, chapter 12): windows and their synchronization.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use catena_abi::{Aint, Comm, Group, Info, Win, consts};
use catena_core::{Process, beside, enter, is_locked};
use catena_objects::{Result, fail};
use catena_rma::registry::{self, WindowRef};
use catena_rma::settings::RMA_LATENCY;
use catena_rma::{Flavor, Part, Plan, create, free, lock_mode};

use crate::args::{self, put, put_string};
use crate::entry::mpi_fn;
use crate::info;
use crate::rma::window;

/// Makes a window, and stores it and, if asked for, its memory.
fn make(
    (flavor, base): (Flavor, *mut c_void),
    (size, unit): (Aint, i64),
    (hints, comm): (Info, Comm),
    baseptr: Option<*mut c_void>,
    win: *mut Win,
) -> Result<()> {
    let process = enter()?;
    let comm = process.comm(comm)?;
    put(win, consts::WIN_NULL, "win")?;
    if baseptr.is_some_and(<*mut c_void>::is_null) {
        return Err(args::null_argument("baseptr"));
    }
    let plan = process
        .objects
        .infos
        .find(hints)
        .and_then(|hints| Plan::new(flavor, base.cast(), size, unit, hints.as_deref()));
    let (made, memory) = create(&process, &comm, plan)?;
    drop(process);
    // Members elsewhere may need this process while it computes.
    beside::start(RMA_LATENCY.get());
    if let Some(to) = baseptr {
        put(to.cast::<*mut u8>(), memory, "baseptr")?;
    }
    put(win, made, "win")
}

/// The window of a call that waits.
#[inline]
pub(crate) fn kept(_process: &Process, win: Win) -> Result<WindowRef<'_>> {
    // SAFETY: the process is entered, and nothing that progress calls frees a window.
    unsafe { registry::keep(win, is_locked()) }
}

fn group(process: &Process, handle: Group) -> Result<Arc<catena_objects::group::Group>> {
    process.objects.groups.find(handle)
}

fn shared_query<U: TryFrom<i64>>(
    win: Win,
    rank: c_int,
    size: *mut Aint,
    disp_unit: *mut U,
    baseptr: *mut c_void,
) -> Result<()> {
    let process = enter()?;
    let window = window(&process, win)?;
    let Part {
        size: bytes,
        unit,
        base,
    } = window.shared_query(window.target_rank(rank)?)?;
    let Ok(unit) = U::try_from(unit) else {
        fail!(
            ValueTooLarge,
            "the unit of displacements is {unit} bytes, too many for the type of the argument \
            disp_unit: call MPI_Win_shared_query_c"
        );
    };
    put(size, bytes as Aint, "size")?;
    put(disp_unit, unit, "disp_unit")?;
    put(baseptr.cast::<*mut u8>(), base, "baseptr")
}

mpi_fn! {
    fn MPI_Win_create | MPI_Win_create_c(base: *mut c_void, size: Aint, disp_unit: Disp,
        hints: Info,
        comm: Comm, win: *mut Win) on comm
    {
        make((Flavor::Create, base), (size, disp_unit as i64), (hints, comm), None, win)
    }

    fn MPI_Win_allocate | MPI_Win_allocate_c(size: Aint, disp_unit: Disp, hints: Info, comm: Comm,
        baseptr: *mut c_void, win: *mut Win) on comm
    {
        let none = std::ptr::null_mut();
        make((Flavor::Allocate, none), (size, disp_unit as i64), (hints, comm), Some(baseptr), win)
    }

    fn MPI_Win_allocate_shared | MPI_Win_allocate_shared_c(size: Aint, disp_unit: Disp, hints: Info,
        comm: Comm, baseptr: *mut c_void, win: *mut Win) on comm
    {
        let none = std::ptr::null_mut();
        make((Flavor::Shared, none), (size, disp_unit as i64), (hints, comm), Some(baseptr), win)
    }

    fn MPI_Win_create_dynamic(hints: Info, comm: Comm, win: *mut Win) on comm {
        let none = std::ptr::null_mut();
        make((Flavor::Dynamic, none), (0, 1), (hints, comm), None, win)
    }

    fn MPI_Win_free(win: *mut Win) on win {
        let process = enter()?;
        free(&process, &registry::find(args::get(win, "win")?)?)?;
        put(win, consts::WIN_NULL, "win")
    }

    fn MPI_Win_attach(win: Win, base: *mut c_void, size: Aint) on win {
        window(&*enter()?, win)?.attach(base.cast(), size as i64)
    }

    fn MPI_Win_detach(win: Win, base: *const c_void) on win {
        let process = enter()?;
        kept(&process, win)?.detach(&process, base.cast())
    }

    /// Of rank `MPI_PROC_NULL` the lowest that has some memory.
    fn MPI_Win_shared_query | MPI_Win_shared_query_c(win: Win, rank: c_int, size: *mut Aint,
        disp_unit: *mut Disp, baseptr: *mut c_void) on win
    {
        shared_query(win, rank, size, disp_unit, baseptr)
    }

    fn MPI_Win_get_group(win: Win, to: *mut Group) on win {
        let process = enter()?;
        let members = window(&process, win)?.group.clone();
        put(to, process.objects.groups.add(members), "group")
    }

    fn MPI_Win_set_name(win: Win, win_name: *const c_char) on win {
        let process = enter()?;
        let name = args::object_name(win_name, "win_name")?;
        *window(&process, win)?.name.borrow_mut() = name;
        Ok(())
    }

    fn MPI_Win_get_name(win: Win, win_name: *mut c_char, resultlen: *mut c_int) on win {
        let process = enter()?;
        let size = consts::MAX_OBJECT_NAME as usize;
        if win == consts::WIN_NULL {
            return put_string(win_name, size, resultlen, "MPI_WIN_NULL");
        }
        put_string(win_name, size, resultlen, window(&process, win)?.name.borrow().as_slice())
    }

    fn MPI_Win_set_info(win: Win, hints: Info) on win {
        let process = enter()?;
        let window = window(&process, win)?;
        let info = info::info(process.objects, hints)?;
        let new = window.hints.borrow().with(&info)?;
        window.hints.replace(new);
        Ok(())
    }

    fn MPI_Win_get_info(win: Win, info_used: *mut Info) on win {
        let process = enter()?;
        let window = window(&process, win)?;
        let told = window.hints.borrow().info(window.flavor == Flavor::Shared);
        put(info_used, info::add(process.objects, told), "info_used")
    }

    fn MPI_Win_fence(assert: c_int, win: Win) on win {
        let process = enter()?;
        kept(&process, win)?.fence(&process, assert)
    }

    fn MPI_Win_post(to: Group, assert: c_int, win: Win) on win {
        let process = enter()?;
        window(&process, win)?.post(&process, &*group(&process, to)?, assert)
    }

    fn MPI_Win_start(to: Group, assert: c_int, win: Win) on win {
        let process = enter()?;
        window(&process, win)?.start(&*group(&process, to)?, assert)
    }

    fn MPI_Win_complete(win: Win) on win {
        let process = enter()?;
        kept(&process, win)?.complete(&process)
    }

    fn MPI_Win_wait(win: Win) on win {
        let process = enter()?;
        kept(&process, win)?.wait(&process)
    }

    fn MPI_Win_test(win: Win, flag: *mut c_int) on win {
        let process = enter()?;
        put(flag, kept(&process, win)?.test(&process)?.into(), "flag")
    }

    fn MPI_Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: Win) on win {
        let process = enter()?;
        let window = kept(&process, win)?;
        let mode = lock_mode(lock_type)?;
        window.lock(&process, mode, window.target_rank(rank)?, assert)
    }

    fn MPI_Win_unlock(rank: c_int, win: Win) on win {
        let process = enter()?;
        let window = kept(&process, win)?;
        window.unlock(&process, window.target_rank(rank)?)
    }

    fn MPI_Win_lock_all(assert: c_int, win: Win) on win {
        let process = enter()?;
        kept(&process, win)?.lock_all(&process, assert)
    }

    fn MPI_Win_unlock_all(win: Win) on win {
        let process = enter()?;
        kept(&process, win)?.unlock_all(&process)
    }

    fn MPI_Win_flush(rank: c_int, win: Win) on win {
        let process = enter()?;
        let window = window(&process, win)?;
        window.flush(&process, window.target_rank(rank)?)
    }

    fn MPI_Win_flush_all(win: Win) on win {
        let process = enter()?;
        window(&process, win)?.flush(&process, None)
    }

    fn MPI_Win_flush_local(rank: c_int, win: Win) on win {
        let process = enter()?;
        let window = window(&process, win)?;
        window.flush_local(&process, window.target_rank(rank)?)
    }

    fn MPI_Win_flush_local_all(win: Win) on win {
        let process = enter()?;
        window(&process, win)?.flush_local(&process, None)
    }

    fn MPI_Win_sync(win: Win) on win {
        window(&*enter()?, win)?.sync();
        Ok(())
    }
}
