//! Checks the arguments of each collective and makes its schedule.
//!
//! Each function serves intra- and intercommunicators: block counts are those
//! of the group that rank arguments name, and `seat` tells whose arguments
//! are significant.

mod moves;
mod reductions;

use std::mem;
use std::ptr;
use std::sync::Arc;

use catena_abi::consts;
use catena_coll::inter::{self, Root};
use catena_coll::{Args, Collective, Layout, Placement, Shape};
use catena_datatype::Kinds;
use catena_schedule::Schedule;

use super::arguments::{blocks, check_place, is_in_place, packed};
use super::count::{BOARD, way_between, way_within};
use super::force::{allows_board, forced};
use super::ranges::Ranges;
use super::schedules::Key;
use super::side::{Side, load};
use super::signature::CallSignature;
use super::site::Ground;
use super::tag::{self, Label};
use super::{Caller, Data, OwnBlock, Prepared, VData, WData, neighbor};
use crate::comm::Comm;
use crate::process::Process;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_objects::op::Reducer;

type CommRef = Arc<Comm>;

/// What is left to do: nothing if the operation ran at once.
type Prepare = Result<Option<Prepared>>;

/// What a call is made from. It is filled where it lies: to copy what was just
/// stored in other portions waits until the stores are done, and those behind
/// a record that others read take long.
struct Call<'a> {
    /// Of rooted operations.
    root: Root,
    /// The call within the group of the communicator.
    args: Args<'a>,
    /// See [`Shape::bytes`] and `inter`.
    bytes: usize,
    input: Side,
    output: Side,
    reducer: Option<Reducer>,
    /// Number of the reduction's operation, or the detail of a call of the library itself.
    operation: u32,
    /// Kinds of the elements that this member gives, or wants where it gives none.
    kinds: Kinds,
}

impl<'a> Call<'a> {
    #[inline(always)]
    fn new(comm: &Comm) -> Self {
        Call::rooted(comm, Root::Near)
    }

    #[inline(always)]
    fn rooted(comm: &Comm, root: Root) -> Self {
        Call {
            root,
            args: Args {
                root: match root {
                    Root::There(rank) => rank,
                    Root::Here | Root::Near => 0,
                },
                ..Args::new(comm.size(), comm.rank)
            },
            bytes: 0,
            input: Side::NONE,
            output: Side::NONE,
            reducer: None,
            operation: 0,
            kinds: Kinds::ANY,
        }
    }

    /// It gives elements of these kinds, and wants others.
    #[inline(always)]
    fn exchanges(&mut self, given: Kinds, wanted: Kinds) {
        self.kinds = given;
        self.args.turned = given.bits() ^ wanted.bits();
    }

    /// Runs the call if it can be done at once, else prepares it. Everything
    /// is compiled for each collective.
    #[inline(always)]
    fn go(&mut self, what: Collective, caller: &Caller<'_>, comm: &CommRef) -> Prepare {
        if caller.now && self.run_now(what, caller.process, comm)? {
            return Ok(None);
        }
        Ok(Some(self.prepare(what, comm)))
    }

    /// Runs the call at once if nobody has anything for another member, or else on the board of the
    /// communicator, if it has one; buffers with gaps are packed first. Members with and without
    /// gaps go the same way.
    #[inline(always)]
    fn run_now(&mut self, what: Collective, process: &Process, comm: &CommRef) -> Result<bool> {
        if comm.is_inter() {
            return Ok(false);
        }
        let done = if self.is_void(what) {
            self.run_void(what, comm)?
        } else if !allows_board(what) {
            return Ok(false);
        } else if self.args.size == 1 {
            comm.check_not_revoked()?;
            self.run_alone(what)?
        } else if self.input.is_packed() || self.output.is_packed() {
            self.run_packed(what, process, comm)?
        } else {
            self.run_on_board(
                what,
                process,
                comm,
                Ok((self.input.direct(), self.output.direct())),
            )?
        };
        if done {
            comm.ran(process, Some(what), BOARD);
        }
        Ok(done)
    }

    /// Whether the members have nothing for each other, which all of them know, in a call that is
    /// no barrier: no member waits for another one then. Lengths that one member alone has say
    /// nothing of those of others, unless there is but one other; and a call with a root costs the
    /// others little.
    #[inline(always)]
    fn is_void(&self, what: Collective) -> bool {
        match what {
            Collective::Allreduce => self.bytes == 0 && self.args.size > 1,
            Collective::Alltoallv if self.args.size == 2 => {
                let other = 1 - self.args.rank;
                self.args.send.len(other) == 0 && self.args.recv.len(other) == 0
            }
            _ => false,
        }
    }

    /// Runs such a call. It has its place among the others, and is remembered: a member with other
    /// arguments waits in vain, and asks.
    #[inline(always)]
    fn run_void(&self, what: Collective, comm: &CommRef) -> Result<bool> {
        comm.check_not_revoked()?;
        debug_assert_eq!(self.bytes, 0);
        comm.coll
            .note_void(CallSignature::void(self.label(what, comm)));
        self.run_alone(what)
    }

    /// Runs the call of a member who waits for nobody, and copies what it has for itself.
    #[inline(always)]
    fn run_alone(&self, what: Collective) -> Result<bool> {
        use Collective::{Alltoallv, Barrier, Bcast, Exscan, Gatherv, Scatterv};
        let has_own = self.args.size == 1 || what == Alltoallv;
        if !has_own || self.args.in_place || matches!(what, Barrier | Bcast | Exscan) {
            return Ok(true);
        }
        let (send, recv, me) = (self.args.send, self.args.recv, self.args.rank);
        if matches!(what, Gatherv | Scatterv | Alltoallv) {
            same_length(what.name(), send.len(me), recv.len(me))?;
        }
        if self.input.is_packed() || self.output.is_packed() {
            return self.copy_packed();
        }
        self.copy_block((self.input.direct(), self.output.direct()));
        Ok(true)
    }

    /// Copies this member's block for itself between the two buffers.
    #[inline(always)]
    fn copy_block(&self, (from, to): (*mut u8, *mut u8)) {
        let (send, recv, me) = (self.args.send, self.args.recv, self.args.rank);
        let (from, to) = (
            from.wrapping_add(send.offset(me)),
            to.wrapping_add(recv.offset(me)),
        );
        // SAFETY: the program lends both buffers, which have these blocks.
        unsafe { ptr::copy(from, to, send.len(me)) };
    }

    #[cold]
    #[inline(never)]
    fn copy_packed(&self) -> Result<bool> {
        let (mut from, mut to) = load(&self.input, &self.output)?;
        self.copy_block((from.base(), to.base()));
        self.output.store(&to);
        Ok(true)
    }

    #[cold]
    #[inline(never)]
    fn run_packed(&mut self, what: Collective, process: &Process, comm: &CommRef) -> Result<bool> {
        let mut sides = load(&self.input, &self.output);
        let ends = sides.as_mut().map(|(from, to)| (from.base(), to.base()));
        let done = self.run_on_board(what, process, comm, ends.map_err(|error| &*error))?;
        if let (true, Ok((_, to))) = (done, &sides) {
            self.output.store(to);
        }
        Ok(done)
    }

    #[inline(always)]
    fn run_on_board(
        &self,
        what: Collective,
        process: &Process,
        comm: &CommRef,
        ends: std::result::Result<(*mut u8, *mut u8), &Error>,
    ) -> Result<bool> {
        let label = self.label(what, comm);
        let say = || CallSignature {
            label,
            bytes: self.bytes as u64,
            on_board: true,
            is_persistent: false,
            is_idle: false,
            function: 0,
        };
        comm.run_on_board(
            process,
            label,
            &self.args,
            ends,
            self.reducer.as_ref(),
            &say,
        )
    }

    /// Nothing is left of the call.
    #[inline(never)]
    fn prepare(&mut self, what: Collective, comm: &CommRef) -> Prepared {
        let key = Key {
            what,
            neighbors: false,
            root: self.root,
            in_place: self.args.in_place,
            elem: self.args.elem,
            commutative: self.args.commutative,
            bytes: self.bytes,
            send: self.args.send,
            recv: self.args.recv,
        };
        let recipe = comm.coll.schedules.borrow_mut().get(&key);
        if self.bytes == 0 && what.reduces() {
            // Nothing is of no kind, also in tags.
            self.kinds = Kinds::ANY;
        }
        Prepared {
            comm: comm.clone(),
            label: self.label(what, comm),
            recipe,
            input: mem::replace(&mut self.input, Side::NONE),
            output: mem::replace(&mut self.output, Side::NONE),
            reducer: self.reducer.take(),
            is_persistent: false,
            turned: self.args.turned,
            function: 0,
        }
    }

    fn label(&self, what: Collective, comm: &Comm) -> Label {
        Label {
            what: Some(what),
            detail: match what.is_rooted() {
                true => tag::rooted(comm.rank, self.root, self.operation),
                false => self.operation,
            },
            kinds: self.kinds,
        }
    }
}

/// The call between the two groups of `comm`.
fn between<'k>(comm: &Comm, key: &Key<'k>) -> inter::Args<'k> {
    inter::Args {
        local: comm.size(),
        rank: comm.rank,
        remote: comm.peers,
        root: key.root,
        elem: key.elem,
        commutative: key.commutative,
        send: key.send,
        recv: key.recv,
    }
}

impl Comm {
    /// Chooses an algorithm and builds its schedule.
    #[cold]
    pub(super) fn schedule(&self, process: &Process, key: &Key<'_>) -> Schedule {
        if key.neighbors {
            return neighbor::schedule(self, key);
        }
        let what = key.what;
        let Ground {
            model,
            placement,
            site,
            tuned,
        } = self.ground(process, what);
        let mut shape = Shape {
            size: self.size(),
            bytes: key.bytes,
            elem: key.elem,
            commutative: key.commutative,
            placement,
        };
        if !self.is_inter() {
            let args = Args {
                site,
                ..key.args(self.size(), self.rank)
            };
            let named = forced(what).or(tuned);
            let algorithm = catena_coll::select(what, &shape, model, named);
            let way = way_within(what, algorithm.name);
            return algorithm.schedule(&args).labelled(way);
        }
        // Both groups must see the same.
        shape.size = match key.root {
            _ if !what.is_rooted() => self.size().max(self.peers),
            Root::There(_) => self.size(),
            Root::Here | Root::Near => self.peers,
        };
        // Each group knows its own nodes only.
        shape.placement = Placement::one_node(shape.size);
        let algorithm = inter::select(what, &shape, model);
        let algorithm = algorithm.expect("scans were refused");
        let way = way_between(what, algorithm.name);
        let schedule = algorithm.schedule(&between(self, key), model);
        schedule.labelled(way)
    }
}

/// What the root argument of a call says.
#[inline(always)]
fn root_of(comm: &Comm, root: i32) -> Result<Root> {
    if !comm.is_inter() && (root as u32) < comm.size() {
        return Ok(Root::There(root as u32));
    }
    root_between(comm, root)
}

#[cold]
fn root_between(comm: &Comm, root: i32) -> Result<Root> {
    let last = comm.peers - 1;
    Ok(match root {
        _ if !comm.is_inter() => fail!(
            Root,
            "the root is rank {root}, but the communicator has ranks 0 to {last}"
        ),
        consts::ROOT => Root::Here,
        consts::PROC_NULL => Root::Near,
        rank if (rank as u32) < comm.peers => Root::There(rank as u32),
        _ => fail!(
            Root,
            "the root is {root}, but on this intercommunicator it must be MPI_ROOT, \
            MPI_PROC_NULL or a rank of the remote group, 0 to {last}"
        ),
    })
}

/// Whether the arguments of the root are significant here, and those of
/// everyone else.
#[inline(always)]
fn seat(comm: &Comm, root: Root) -> (bool, bool) {
    match root {
        Root::There(rank) => (!comm.is_inter() && rank == comm.rank, true),
        Root::Here => (true, false),
        Root::Near => (false, false),
    }
}

/// Whether the program passed `MPI_IN_PLACE`, where it may.
#[inline(always)]
fn in_place(comm: &Comm, send: *const u8) -> Result<bool> {
    if comm.is_inter() {
        check_place(send, "send")?;
    }
    Ok(is_in_place(send))
}

/// Refuses buffers that are the same, unless they are `MPI_BOTTOM`, where types have addresses.
#[inline(always)]
fn no_alias(send: *const u8, recv: *const u8, bytes: usize) -> Result<()> {
    if send == recv && bytes != 0 && !send.is_null() {
        return Err(alias());
    }
    Ok(())
}

#[cold]
fn alias() -> Error {
    let text = "the send and the receive buffer are the same: pass MPI_IN_PLACE as one of them";
    Error::new(Kind::Buffer, text)
}

#[inline(always)]
fn same_length(what: &str, send: usize, recv: usize) -> Result<()> {
    if send != recv {
        return Err(lengths_differ(what, send, recv));
    }
    Ok(())
}

#[cold]
fn lengths_differ(what: &str, send: usize, recv: usize) -> Error {
    let text = format!(
        "{what} sends {send} bytes to where this rank expects {recv}: the send and the receive \
         arguments do not match (both counts are of the block of one rank)"
    );
    Error::new(Kind::Truncate, text)
}
