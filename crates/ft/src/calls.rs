//! What programs call: revocation, agreement, and communicators of survivors.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use catena_abi::{self as abi, Status, consts};
use catena_core::Process;
use catena_core::comm::{Comm, NONE, Numbers};
use catena_core::request::{Done, RequestObject, State};
use catena_objects::error_place::ErrorPlace;
use catena_objects::{Error, Result, fail};

use crate::agreement::{Contribution, Decision};
use crate::tolerance::{Circle, Tolerance};

/// `MPI_Comm_revoke`: not collective. All members come to know, whoever dies; what is under way on
/// the communicator, and whatever is begun on it, fails with `Revoked`. The rest of the program is not
/// disturbed.
pub fn revoke(process: &Process, comm: &Arc<Comm>) {
    let tolerance = process.hook::<Tolerance>();
    tolerance.revoke(process, comm);
    process.progress();
}

/// Takes a result to where the program wants it.
pub type Put<T> = Box<dyn Fn(T)>;

/// What an agreement is for.
enum Purpose {
    /// `MPI_Comm_agree`: where the flags are to go.
    Flags(Put<i32>),
    /// `MPI_Comm_shrink`: this process's numbers, and where the handle is to go.
    Survivors(Option<Numbers>, Put<abi::Comm>),
}

impl fmt::Debug for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Purpose::Flags(_) => "Flags",
            Purpose::Survivors(..) => "Survivors",
        })
    }
}

/// An agreement under way.
#[derive(Debug)]
struct Agreeing {
    comm: Arc<Comm>,
    circle: Rc<Circle>,
    number: u32,
    purpose: RefCell<Purpose>,
    is_done: Cell<bool>,
    error: RefCell<Option<Error>>,
}

fn begin(process: &Process, comm: &Arc<Comm>, flags: i32, purpose: Purpose) -> Agreeing {
    let tolerance = process.hook::<Tolerance>();
    let circle = tolerance.circle(process, comm);
    let (me, size) = {
        let series = circle.series.borrow();
        (series.me(), series.size())
    };
    let mut own = Contribution::of(me, size, flags as u32);
    {
        let failed = process.failed_ranks(comm);
        let acknowledged = comm.failed.acknowledged();
        for (n, &rank) in failed.iter().enumerate() {
            if let Some(place) = circle.place_of(rank) {
                own.failed.add(place);
                if n < acknowledged {
                    own.acknowledged.add(place);
                }
            }
        }
    }
    if let Purpose::Survivors(numbers, _) = &purpose {
        let words = numbers.as_ref().map_or([NONE; 2], Numbers::words);
        own.rows.push((me, words));
    }
    let number = tolerance.agree(process, &circle, own);
    Agreeing {
        comm: comm.clone(),
        circle,
        number,
        purpose: RefCell::new(purpose),
        is_done: Cell::new(false),
        error: RefCell::default(),
    }
}

impl Agreeing {
    /// Takes what was decided, if it was.
    fn finish(&self, process: &Process) -> bool {
        if self.is_done.get() {
            return true;
        }
        let Some(decision) = Tolerance::decision(&self.circle, self.number) else {
            return false;
        };
        self.is_done.set(true);
        let result = match &mut *self.purpose.borrow_mut() {
            Purpose::Flags(to) => {
                to(decision.flags as i32);
                self.verdict(&decision)
            }
            Purpose::Survivors(numbers, to) => match self.establish(process, numbers, &decision) {
                Ok(new) => {
                    to(new);
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        let handle = self.comm.handle.get();
        *self.error.borrow_mut() = result.err().map(|error| error.on(handle));
        true
    }

    /// All survivors find the same.
    fn verdict(&self, decision: &Decision) -> Result<()> {
        if !decision.has_unacknowledged() {
            return Ok(());
        }
        let unacknowledged = decision.failed.iter();
        let mut new = unacknowledged.filter(|&it| !decision.acknowledged.has(it));
        let rank = new
            .next()
            .and_then(|at| self.circle.participants.get(at as usize));
        let rank = rank.map_or(0, |it| it.rank);
        fail!(
            ProcFailed,
            "rank {rank} has died, which not all members have acknowledged: MPI_Comm_ack_failed \
            does so; all members get this error, and the flags are agreed on"
        )
    }

    /// Makes the communicator of those that are alive.
    fn establish(
        &self,
        process: &Process,
        numbers: &mut Option<Numbers>,
        decision: &Decision,
    ) -> Result<abi::Comm> {
        let survivors = decision.survivors();
        if let Some((at, _)) = survivors.iter().find(|(_, row)| row[0] == NONE) {
            let rank = self
                .circle
                .participants
                .get(*at as usize)
                .map_or(0, |it| it.rank);
            fail!(Other, "the call failed at rank {rank}, so it fails at all");
        }
        let Some(numbers) = numbers.take() else {
            fail!(Other, "this process has no number left for a communicator");
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (at, row) in survivors {
            let Some(participant) = self.circle.participants.get(at as usize) else {
                continue;
            };
            match participant.rank.checked_sub(self.comm.size()) {
                None => ours.push((participant.rank, row)),
                Some(rank) => theirs.push((rank, row)),
            }
        }
        ours.sort_unstable();
        theirs.sort_unstable();
        let new = process.comm_of_survivors(&self.comm, numbers, &ours, &theirs);
        Ok(new.unwrap_or(consts::COMM_NULL))
    }
}

impl RequestObject for Agreeing {
    fn state(&self, _: &Process) -> Result<State> {
        Ok(match self.is_done.get() {
            true => State::Complete,
            false => State::Pending,
        })
    }

    fn complete(&self, _: &Process) -> Done {
        Done {
            status: Status::empty(),
            error: self.error.borrow_mut().take(),
        }
    }

    fn cancel(&self, _: &Process) -> Result<()> {
        fail!(Request, "a collective operation cannot be cancelled")
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.comm.handle.get().into())
    }

    fn advance(&self, process: &Process) -> bool {
        self.finish(process)
    }
}

/// Waits for it.
fn conclude(process: &Process, agreeing: &Agreeing) -> Result<()> {
    process.block(|process| agreeing.finish(process));
    agreeing.error.borrow_mut().take().map_or(Ok(()), Err)
}

/// Has progress carry it on.
fn carry_on(process: &Process, agreeing: Agreeing) -> abi::Request {
    let request = Arc::new(agreeing);
    if !request.finish(process) {
        process.carry_on(request.clone());
    }
    process.add_request(request)
}

/// `MPI_Comm_agree`: all members that are alive get the bitwise and of what they bring, and of what
/// some of the dead have brought; revoked or not.
///
/// # Errors
/// `ProcFailed`, at all or none, if a member has died and not all have acknowledged it; the flags,
/// which come first, are agreed on even so.
pub fn agree(process: &Process, comm: &Arc<Comm>, flags: i32) -> (i32, Result<()>) {
    if let Some(agreed) = process.agree_on_board(comm, flags as u32) {
        return (agreed as i32, Ok(()));
    }
    let place = Rc::new(Cell::new(flags));
    let to = place.clone();
    let put: Put<i32> = Box::new(move |flags| to.set(flags));
    let result = conclude(process, &begin(process, comm, flags, Purpose::Flags(put)));
    (place.get(), result)
}

/// `MPI_Comm_iagree`: `put` is given the flags before the request is complete.
pub fn iagree(process: &Process, comm: &Arc<Comm>, flags: i32, put: Put<i32>) -> abi::Request {
    carry_on(process, begin(process, comm, flags, Purpose::Flags(put)))
}

/// `MPI_Comm_shrink`: the members that are alive, in their order; revoked or not. The new
/// communicator has the error handler of the old one, nothing else of it. `MPI_COMM_NULL` if one
/// group of an intercommunicator is all dead.
///
/// # Errors
/// `Other` at all if one of them has no number left for a communicator.
pub fn shrink(process: &Process, comm: &Arc<Comm>) -> Result<abi::Comm> {
    let mut numbers = process.numbers_for_survivors(comm).ok();
    let words = numbers.as_ref().map_or([NONE; 2], Numbers::words);
    if let Some(rows) = process.share_on_board(comm, words)
        && let Some(numbers) = numbers.take()
    {
        return Ok(process.comm_of_all(comm, numbers, &rows));
    }
    let place = Rc::new(Cell::new(consts::COMM_NULL));
    let to = place.clone();
    let put: Put<abi::Comm> = Box::new(move |new| to.set(new));
    let purpose = Purpose::Survivors(numbers, put);
    conclude(process, &begin(process, comm, 0, purpose))?;
    Ok(place.get())
}

/// `MPI_Comm_ishrink`: `put` is given the handle before the request is complete.
pub fn ishrink(process: &Process, comm: &Arc<Comm>, put: Put<abi::Comm>) -> abi::Request {
    let numbers = process.numbers_for_survivors(comm).ok();
    carry_on(
        process,
        begin(process, comm, 0, Purpose::Survivors(numbers, put)),
    )
}
