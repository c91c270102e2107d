//! What programs call: revocation, agreement, and communicators of survivors.

use catena_core::needs;
use catena_hang::{WaitsFor, What};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use catena_abi::{self as abi, Status, consts};
use catena_base::verdict::Outcome;
use catena_core::Process;
use catena_core::coll::Vote;
use catena_core::comm::{Comm, NONE, Numbers};
use catena_core::request::{self, Done, RequestObject, State};
use catena_objects::error_place::ErrorPlace;
use catena_objects::{Error, Result, fail};

use crate::agreement::{Contribution, Decision};
use crate::tolerance::{Circle, Tolerance};

/// `MPI_Comm_revoke`: not collective. All members come to know, whoever dies; what is under way on
/// the communicator, and whatever is begun on it, fails with `Revoked`. The rest of the program is
/// not disturbed.
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
    /// Among those of its communicator.
    turn: u32,
    flags: i32,
    way: RefCell<CallPath>,
    purpose: RefCell<Purpose>,
    is_done: Cell<bool>,
    error: RefCell<Option<Error>>,
}

/// How it goes on.
#[derive(Debug)]
enum CallPath {
    /// Those before it have not gone theirs yet, or it is not known whether there is a board.
    Waiting,
    /// On the board, in this round.
    Board(u32),
    /// Along the tree, by this number.
    Tree(Rc<Circle>, u32),
}

fn begin(comm: &Arc<Comm>, flags: i32, purpose: Purpose) -> Agreeing {
    Agreeing {
        comm: comm.clone(),
        turn: comm.failed.take_turn(),
        flags,
        way: RefCell::new(CallPath::Waiting),
        purpose: RefCell::new(purpose),
        is_done: Cell::new(false),
        error: RefCell::default(),
    }
}

impl Agreeing {
    /// Takes the way on the board, if that is the one, or along the tree; none yet if others come
    /// before.
    fn set_out(&self, process: &Process) -> Option<CallPath> {
        if !self.comm.failed.is_turn(self.turn) {
            return None;
        }
        let vote = match &*self.purpose.borrow() {
            Purpose::Flags(_) => self.comm.vote_on_board(process, self.flags as u32),
            Purpose::Survivors(..) => Vote::Elsewhere,
        };
        match vote {
            Vote::Later => None,
            Vote::Elsewhere => Some(self.climb(process)),
            Vote::Cast(round) => {
                self.comm.keep_board();
                Some(CallPath::Board(round))
            }
        }
    }

    /// Takes the way along the tree.
    fn climb(&self, process: &Process) -> CallPath {
        let tolerance = process.hook::<Tolerance>();
        let circle = tolerance.circle(process, &self.comm);
        let (me, size) = {
            let series = circle.series.borrow();
            (series.me(), series.size())
        };
        let mut own = Contribution::of(me, size, self.flags as u32);
        {
            let failed = self.comm.failed_ranks(process);
            let acknowledged = self.comm.failed.acknowledged();
            for (n, &rank) in failed.iter().enumerate() {
                if let Some(place) = circle.place_of(rank) {
                    own.failed.add(place);
                    if n < acknowledged {
                        own.acknowledged.add(place);
                    }
                }
            }
        }
        if let Purpose::Survivors(numbers, _) = &*self.purpose.borrow() {
            let words = numbers.as_ref().map_or([NONE; 2], Numbers::words);
            own.rows.push((me, words));
        }
        let number = tolerance.agree(process, &circle, own);
        self.comm.failed.end_turn();
        CallPath::Tree(circle, number)
    }

    /// Takes what was decided, if it was.
    fn finish(&self, process: &Process) -> bool {
        while !self.is_done.get() {
            let next = match &*self.way.borrow() {
                CallPath::Waiting => self.set_out(process),
                CallPath::Board(round) => self.count(process, *round),
                CallPath::Tree(circle, number) => {
                    return self.take_decision(process, circle, *number);
                }
            };
            match next {
                Some(way) => *self.way.borrow_mut() = way,
                None => break,
            }
        }
        self.is_done.get()
    }

    /// Takes the outcome on the board; the other way, if it has none.
    fn count(&self, process: &Process, round: u32) -> Option<CallPath> {
        let outcome = self.comm.count_votes(process, round)?;
        self.comm.release_board(process);
        match outcome {
            Outcome::Abandoned => Some(self.climb(process)),
            Outcome::Agreed(all) => {
                self.comm.failed.end_turn();
                self.is_done.set(true);
                if let Purpose::Flags(to) = &*self.purpose.borrow() {
                    to(all as i32);
                }
                None
            }
        }
    }

    /// Takes the decision on the tree, if there is one.
    fn take_decision(&self, process: &Process, circle: &Circle, number: u32) -> bool {
        let Some(decision) = Tolerance::decision(circle, number) else {
            return false;
        };
        self.is_done.set(true);
        let result = match &mut *self.purpose.borrow_mut() {
            Purpose::Flags(to) => {
                to(decision.flags as i32);
                verdict(circle, &decision)
            }
            Purpose::Survivors(numbers, to) => {
                match self.establish(process, circle, numbers, &decision) {
                    Ok(new) => {
                        to(new);
                        Ok(())
                    }
                    Err(error) => Err(error),
                }
            }
        };
        let handle = self.comm.handle.get();
        *self.error.borrow_mut() = result.err().map(|error| error.on(handle));
        true
    }

    /// Makes the communicator of those that are alive.
    fn establish(
        &self,
        process: &Process,
        circle: &Circle,
        numbers: &mut Option<Numbers>,
        decision: &Decision,
    ) -> Result<abi::Comm> {
        let survivors = decision.survivors();
        if let Some((at, _)) = survivors.iter().find(|(_, row)| row[0] == NONE) {
            let rank = circle.participants.get(*at as usize);
            let rank = rank.map_or(0, |it| it.rank);
            fail!(Other, "the call failed at rank {rank}, so it fails at all");
        }
        let me = circle.series.borrow().me();
        if !survivors.iter().any(|(at, _)| *at == me) {
            fail!(
                ProcFailed,
                "the other members have lost this process, and go on without it"
            );
        }
        let Some(numbers) = numbers.take() else {
            fail!(Other, "this process has no number left for a communicator");
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (at, row) in survivors {
            let Some(participant) = circle.participants.get(at as usize) else {
                continue;
            };
            match participant.rank.checked_sub(self.comm.size()) {
                None => ours.push((participant.rank, row)),
                Some(rank) => theirs.push((rank, row)),
            }
        }
        ours.sort_unstable();
        theirs.sort_unstable();
        let new = self.comm.of_some(process, numbers, &ours, &theirs);
        Ok(new.unwrap_or(consts::COMM_NULL))
    }
}

/// All survivors find the same.
fn verdict(circle: &Circle, decision: &Decision) -> Result<()> {
    if !decision.has_unacknowledged() {
        return Ok(());
    }
    let unacknowledged = decision.failed.iter();
    let mut new = unacknowledged.filter(|&it| !decision.acknowledged.has(it));
    let rank = new
        .next()
        .and_then(|at| circle.participants.get(at as usize));
    let rank = rank.map_or(0, |it| it.rank);
    fail!(
        ProcFailed,
        "rank {rank} has died, which not all members have acknowledged: MPI_Comm_ack_failed \
        does so; all members get this error, and the flags are agreed on"
    )
}

impl RequestObject<Process> for Agreeing {
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

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        let mut need = needs::of_all(process, What::Agreement, &self.comm);
        // It goes on without those that die, and what they decide takes several rounds.
        need.open = true;
        waits.needs.push(need);
    }
}

/// Waits for it.
fn conclude(process: &Process, agreeing: &Agreeing) -> Result<()> {
    process.block(
        |process, waits| agreeing.describe(process, waits),
        |process| agreeing.finish(process),
    );
    agreeing.error.borrow_mut().take().map_or(Ok(()), Err)
}

/// Has progress carry it on.
fn carry_on(process: &Process, agreeing: Agreeing) -> abi::Request {
    let request = Arc::new(agreeing);
    if !request.finish(process) {
        request::carry_on(process, request.clone());
    }
    request::add(process, request)
}

/// `MPI_Comm_agree`: all members that are alive get the bitwise and of what they bring, and of what
/// some of the dead have brought; revoked or not.
///
/// # Errors
/// `ProcFailed`, at all or none, if a member has died and not all have acknowledged it; the flags,
/// which come first, are agreed on even so.
pub fn agree(process: &Process, comm: &Arc<Comm>, flags: i32) -> (i32, Result<()>) {
    if comm.failed.is_nobodys_turn()
        && let Some(agreed) = comm.agree_on_board(process, flags as u32)
    {
        return (agreed as i32, Ok(()));
    }
    let place = Rc::new(Cell::new(flags));
    let to = place.clone();
    let put: Put<i32> = Box::new(move |flags| to.set(flags));
    let result = conclude(process, &begin(comm, flags, Purpose::Flags(put)));
    (place.get(), result)
}

/// `MPI_Comm_iagree`: `put` is given the flags before the request is complete.
pub fn iagree(process: &Process, comm: &Arc<Comm>, flags: i32, put: Put<i32>) -> abi::Request {
    carry_on(process, begin(comm, flags, Purpose::Flags(put)))
}

/// `MPI_Comm_shrink`: the members that are alive, in their order; revoked or not. The new
/// communicator has the error handler of the old one, nothing else of it. `MPI_COMM_NULL` if one
/// group of an intercommunicator is all dead.
///
/// # Errors
/// `Other` at all if one of them has no number left for a communicator.
pub fn shrink(process: &Process, comm: &Arc<Comm>) -> Result<abi::Comm> {
    let mut numbers = comm.take_numbers(process).ok();
    let words = numbers.as_ref().map_or([NONE; 2], Numbers::words);
    if comm.failed.is_nobodys_turn()
        && let Some(rows) = comm.share_on_board(process, words)
        && let Some(numbers) = numbers.take()
    {
        return Ok(comm.of_all(process, numbers, &rows));
    }
    let place = Rc::new(Cell::new(consts::COMM_NULL));
    let to = place.clone();
    let put: Put<abi::Comm> = Box::new(move |new| to.set(new));
    let purpose = Purpose::Survivors(numbers, put);
    conclude(process, &begin(comm, 0, purpose))?;
    Ok(place.get())
}

/// `MPI_Comm_ishrink`: `put` is given the handle before the request is complete.
pub fn ishrink(process: &Process, comm: &Arc<Comm>, put: Put<abi::Comm>) -> abi::Request {
    let numbers = comm.take_numbers(process).ok();
    carry_on(process, begin(comm, 0, Purpose::Survivors(numbers, put)))
}
