//! Collective operations: from checked arguments to a plan, and its runs.
//!
//! `prepare` turns a call into a [`Prepared`] operation, which is all that a
//! persistent request has to keep; a blocking call runs it on the spot, a
//! non-blocking one leaves the run to `progress`. `side` is where the
//! program's layouts become packed bytes, `run` the executor. Blocking calls
//! among ranks that share memory need no plan: `node` runs them on the `board`.

mod board;
mod force;
mod neighbor;
mod node;
mod plans;
mod prepare;
mod run;
mod side;
mod site;

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use catena_abi::{self as abi, consts};
use catena_coll::{Algorithm, Args, Collective, Layout, Shape};
use catena_plan::Plan;

pub use force::SETTINGS;
pub(crate) use node::Retired;
pub use run::{CollRun, Memory, Scratch};
pub use side::{Data, VData, WData, is_in_place};

use run::Sides;
use side::Side;

use crate::comm::Comm;
use crate::error::Result;
use crate::op::Reducer;
use crate::request::RequestObj;
use crate::world::World;

/// Where the collectives of a communicator stand.
#[derive(Debug, Default)]
pub struct CollState {
    sequence: Cell<u32>,
    plans: RefCell<plans::Plans>,
    node: RefCell<node::Membership>,
    map: OnceCell<site::Map>,
}

/// Who calls: the process, and whether it waits for the result.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'w> {
    /// The process.
    pub world: &'w World,
    /// The call blocks, so the operation may run while it is prepared.
    pub now: bool,
}

impl CollState {
    /// The tag of the next operation; all members count alike.
    fn next_tag(&self) -> i32 {
        let n = self.sequence.get();
        self.sequence.set(n.wrapping_add(1));
        (n & i32::MAX as u32) as i32
    }
}

/// An operation that can be run, again and again.
#[derive(Clone, Debug)]
pub struct Prepared {
    comm: Arc<Comm>,
    plan: Arc<Plan>,
    input: Side,
    output: Side,
    reducer: Option<Reducer>,
}

impl Prepared {
    /// The communicator that it works on.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    fn begin(&self) -> CollRun {
        let (mut input, mut output) = (self.input.load(), self.output.load());
        let memory = Memory {
            tag: self.comm.coll.next_tag(),
            input: input.base(),
            output: output.base(),
            scratch: Scratch::new(self.plan.scratch()),
            reducer: self.reducer.clone(),
        };
        let store = self.output.is_packed().then(|| self.output.clone());
        let sides = Sides {
            input,
            output,
            store,
        };
        CollRun::new(self.comm.clone(), self.plan.clone(), memory, sides)
    }
}

/// The algorithm for a call, chosen by the model of the machine.
fn choose(w: &World, what: Collective, shape: &Shape) -> &'static Algorithm {
    catena_coll::select(what, shape, w.model(), force::forced(what))
}

impl World {
    /// Runs an operation to its end.
    ///
    /// # Errors
    /// That of the operation, raised on its communicator.
    pub fn run(&self, prepared: Prepared) -> Result<()> {
        let mut run = prepared.begin();
        if !run.advance(self) {
            self.block(|w| run.advance(w));
        }
        run.take_error().map_or(Ok(()), Err)
    }

    /// Starts an operation that `progress` carries on.
    ///
    /// # Errors
    /// None so far: errors come with the request's completion.
    pub fn start_collective(&self, prepared: &Prepared) -> Result<abi::Request> {
        let mut run = prepared.begin();
        run.advance(self);
        let done = run.is_done();
        let obj = Arc::new(RequestObj::Collective(RefCell::new(run)));
        if !done {
            self.carry_on(obj.clone());
        }
        Ok(abi::Request(self.objects.requests.insert(obj)))
    }

    /// Leaves a request to `progress` until it is done.
    pub(crate) fn carry_on(&self, obj: Arc<RequestObj>) {
        self.active.borrow_mut().push(obj);
        self.running.set(self.running.get() + 1);
    }

    /// Advances what is under way; true if anything became complete.
    #[cold]
    #[inline(never)]
    pub(crate) fn advance_active(&self) -> bool {
        // A user operation may call MPI: what it meets is left alone.
        if self.advancing.replace(true) {
            return false;
        }
        let mut completed = false;
        let mut at = 0;
        loop {
            let Some(obj) = self.active.borrow().get(at).cloned() else {
                break;
            };
            let done = match &*obj {
                RequestObj::Collective(run) => run.borrow_mut().advance(self),
                RequestObj::Making(making) => making.borrow_mut().advance(self),
                _ => true,
            };
            if done {
                completed = true;
                self.active.borrow_mut().swap_remove(at);
                self.running.set(self.running.get() - 1);
            } else {
                at += 1;
            }
        }
        self.advancing.set(false);
        completed
    }

    /// Blocks until every member has called it.
    ///
    /// # Errors
    /// `ProcAborted` if a member is gone.
    pub fn barrier(&self, comm: &Arc<Comm>) -> Result<()> {
        let caller = Caller {
            world: self,
            now: true,
        };
        self.run_rest(caller.barrier(comm)?)
    }

    /// Runs what a blocking call has left to do.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_rest(&self, left: Option<Prepared>) -> Result<()> {
        left.map_or(Ok(()), |prepared| self.run(prepared))
    }

    /// Gathers equally many bytes from every member, for every member.
    pub(crate) fn share(&self, comm: &Arc<Comm>, mine: &[u8]) -> Result<Vec<u8>> {
        let size = comm.size();
        let mut all = vec![0; mine.len() * size as usize];
        let shape = Shape {
            size,
            bytes: mine.len(),
            elem: 1,
            commutative: true,
            placement: self.placement(comm),
        };
        let args = Args {
            size,
            rank: comm.rank,
            root: 0,
            in_place: false,
            elem: 1,
            commutative: true,
            send: Layout::Even(mine.len()),
            recv: Layout::Even(mine.len()),
            site: self.site(comm),
        };
        let prepared = Prepared {
            comm: comm.clone(),
            plan: Arc::new(choose(self, Collective::Allgather, &shape).plan(&args)),
            input: Side::bytes(mine.as_ptr().cast_mut()),
            output: Side::bytes(all.as_mut_ptr()),
            reducer: None,
        };
        match self.run(prepared) {
            Ok(()) => Ok(all),
            Err(e) => {
                // What a failed operation left behind may still arrive there.
                std::mem::forget(all);
                Err(e)
            }
        }
    }

    /// Whether the arguments of the root are significant here.
    pub fn is_root(&self, comm: &Comm, root: i32) -> bool {
        if comm.is_inter() {
            root == consts::ROOT
        } else {
            root == comm.rank as i32
        }
    }
}
