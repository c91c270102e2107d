//! Start and end of the world model (MPI-5, chapter 11.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catena_abi::{self as abi, consts};
use catena_boot::FAULT_TOLERANCE;
use catena_link::Envelope;

use crate::comm::{Comm, finish_messages};
use crate::components;
use crate::phase::{self, WorldModel};
pub use crate::phase::{is_finalized, is_initialized};
use crate::process::{Entered, Process, enter, life, no_world_model};
use catena_objects::error::{Error, Result};
use catena_objects::fail;

/// `MPI_Init_thread`; returns the thread level that is granted.
///
/// # Errors
/// `Other` if it was called before, or the process cannot be wired up: the
/// text says what failed and what to do.
pub fn init(required: i32) -> Result<i32> {
    if !phase::begin() {
        fail!(
            Other,
            "MPI_Init or MPI_Init_thread was called before: a process calls one of them \
            once, in C or in Fortran; MPI_Initialized tells whether it was"
        );
    }
    let level = catena_process::granted(required);
    // Where all threads may call MPI, those that never will are told apart.
    let before = (level == consts::THREAD_MULTIPLE).then(catena_trace::threads);
    if let Err(e) = life().join(Some(level)) {
        phase::give_up();
        return Err(e);
    }
    phase::run(WorldModel {
        level,
        main_thread: std::thread::current().id(),
    });
    components::begin(&*enter()?)?;
    if let Some(before) = before {
        catena_trace::note_helpers(&before);
    }
    Ok(level)
}

/// The world model. Any thread may ask at any time.
///
/// # Errors
/// `Other` outside of it.
pub fn world_model() -> Result<WorldModel> {
    phase::world_model().ok_or_else(no_world_model)
}

/// `MPI_Finalize`: collective over the world. `raise` is given what fails, while
/// the world model still stands; gives the error code that it returns, or 0.
///
/// It may be called again if it is called outside of the world model, or if a
/// delete callback of an attribute on `MPI_COMM_SELF` fails. If a process is
/// lost the end is that of this process alone, and the launcher hears of it. `unmatched`, if there
/// is one, is told of a message on each communicator that was never received.
pub fn finalize(raise: impl Fn(&Error) -> i32, unmatched: Option<&Unmatched>) -> i32 {
    let process = match tidy_up() {
        Ok(process) => process,
        Err(error) => return raise(&error),
    };
    let comms = process.comms.of_world();
    let before = unmatched.map_or(Ok(()), |unmatched| {
        look_for_unmatched(&process, &comms, unmatched)
    });
    finish_messages(&process, &comms);
    process.come_to_end();
    // Nobody leaves while somebody may still need its memory or its progress.
    let is_revoked = || process.comms.world.failed.is_revoked();
    let by_launcher = || process.engine.fence(&process);
    // A collective that has failed there, of which the program was told, is no reason why it should
    // not end well.
    let has_given_up = || process.comms.world.has_given_up();
    let fails = FAILS.load(Ordering::Relaxed);
    let met = match before {
        Err(_) if is_revoked() => by_launcher(),
        Err(error) => by_launcher().and(Err(error)),
        Ok(()) => match FAULT_TOLERANCE.get() || is_revoked() || has_given_up() || fails {
            // The launcher knows who is left to be waited for.
            true => by_launcher(),
            false => match Comm::last_barrier(&process) {
                // Others go there at once if they know that before.
                Err(_) if is_revoked() => by_launcher(),
                // Only here is the program told of it.
                Err(error) if has_given_up() => by_launcher().and(Err(error)),
                met => met,
            },
        },
    };
    if met.is_ok() {
        finish_messages(&process, &comms);
    }
    let parted = process.engine.leave_together(&process);
    let mut code = 0;
    if let Err(error) = met.and(parted) {
        code = raise(&error);
        let text = format!("MPI_Finalize: {}", error.text());
        process.engine.boot.borrow_mut().fault(&text);
    }
    phase::end();
    process.comms.forget_recent();
    match life().leave(&process, true) {
        Err(error) if code == 0 => raise(&error),
        _ => code,
    }
}

/// Is told the handle of a communicator, and the message there that was never received.
pub type Unmatched = dyn Fn(abi::Comm, &Envelope);

/// Tells what was never received, once all have come here and so have sent what they send. All
/// ranks of a job are checked, or none is.
///
/// # Errors
/// As the barrier in which all meet.
fn look_for_unmatched(process: &Process, comms: &[Arc<Comm>], unmatched: &Unmatched) -> Result<()> {
    let world = &process.comms.world;
    let is_whole = !world.failed.is_revoked() && !world.has_given_up();
    let is_alone = FAULT_TOLERANCE.get() || FAILS.load(Ordering::Relaxed);
    if is_alone || !is_whole {
        return Ok(());
    }
    Comm::end_barrier(process)?;
    for comm in comms {
        let found = comm.iprobe(process, consts::ANY_SOURCE, consts::ANY_TAG);
        if let Ok(Some(envelope)) = found {
            unmatched(comm.handle.get(), &envelope);
        }
    }
    Ok(())
}

/// Whether the process ends with a status that is a failure.
static FAILS: AtomicBool = AtomicBool::new(false);

/// The process ends with a status that is a failure: at its end it meets the others, if they come,
/// by the launcher alone, as their calls would be taken for wrong ones otherwise.
pub fn note_failure() {
    FAILS.store(true, Ordering::Relaxed);
}

/// What `MPI_Finalize` does first of all, while everything still works (MPI-5, 11.2.4): calls the
/// delete callbacks of the attributes of `MPI_COMM_SELF`.
///
/// # Errors
/// That of a callback, or `Other` outside of the world model.
pub fn delete_attributes() -> Result<()> {
    let process = enter()?;
    delete_own_attributes(&process)
}

fn delete_own_attributes(process: &Process) -> Result<()> {
    process.world_model()?;
    process.comms.own.attrs.delete_all(consts::COMM_SELF.0)
}

/// What comes before the end of the world model.
fn tidy_up() -> Result<Entered<Process>> {
    let process = enter()?;
    delete_own_attributes(&process)?;
    process.buffer.flush(&process);
    process.engine.hooks.finalize(&process)?;
    for comm in process.comms.of_world() {
        comm.buffer.flush(&process);
        if !Arc::ptr_eq(&comm, &process.comms.world) {
            comm.withdraw(&process);
        }
    }
    process.comms.leaders.end_world(&process);
    Ok(process)
}

/// `MPI_Abort`: ends the job; does not return.
pub fn abort(code: i32, message: &str) -> ! {
    if let Ok(process) = enter()
        && let Ok(mut boot) = process.engine.boot.try_borrow_mut()
    {
        boot.abort(code, message);
    } else {
        catena_base::tell!("catena: {message}");
    }
    // Like a process that failed, whatever the code is.
    let status = if code & 0xff == 0 { 1 } else { code & 0xff };
    // SAFETY: ends the process without running its exit handlers, which may
    // wait for what will never come.
    unsafe { libc::_exit(status) }
}

pub use crate::environment::{clip, info_env};
