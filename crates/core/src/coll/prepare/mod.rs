//! Checks the arguments of each collective and makes its plan.
//!
//! Each function serves intra- and intercommunicators: block counts are those
//! of the group that rank arguments name, and a [`Seat`] tells whose arguments
//! are significant.

mod moves;
mod reductions;

use std::sync::Arc;

use catena_abi::consts;
use catena_coll::inter::{self, Root};
use catena_coll::{Args, Collective, Layout, Placement, Shape};
use catena_plan::Plan;

use super::count::{BOARD, way_between, way_within};
use super::force::allows_board;
use super::plans::Key;
use super::side::{Ranges, Side, check_place, is_in_place};
use super::tag::{self, Label};
use super::{Caller, Data, Prepared, VData, WData, choose};
use crate::comm::Comm;
use crate::error::Result;
use crate::fail;
use crate::op::Reducer;
use crate::world::World;

type CommRef = Arc<Comm>;

/// What is left to do: nothing if the operation ran at once.
type Prepare = Result<Option<Prepared>>;

/// What the plan of a call is made from.
struct Call<'a> {
    what: Collective,
    /// Of rooted operations.
    root: Root,
    in_place: bool,
    /// See [`Shape::bytes`] and `inter`.
    bytes: usize,
    send: Layout<'a>,
    recv: Layout<'a>,
    input: Side,
    output: Side,
    reducer: Option<(Reducer, bool)>,
    /// Number of the reduction's operation.
    operation: u32,
}

impl Default for Call<'_> {
    fn default() -> Self {
        Call {
            what: Collective::Barrier,
            root: Root::Near,
            in_place: false,
            bytes: 0,
            send: Layout::Even(0),
            recv: Layout::Even(0),
            input: Side::NONE,
            output: Side::NONE,
            reducer: None,
            operation: 0,
        }
    }
}

impl Call<'_> {
    #[inline]
    fn go(self, caller: &Caller<'_>, comm: &CommRef) -> Prepare {
        let (elem, commutative) = match &self.reducer {
            Some((r, commutative)) => (r.unit().max(1), *commutative),
            None => (1, true),
        };
        let reducer = self.reducer.map(|(r, _)| r);
        let key = Key {
            what: self.what,
            neighbors: false,
            root: self.root,
            in_place: self.in_place,
            elem,
            commutative,
            send: self.send,
            recv: self.recv,
        };
        if caller.now && !comm.is_inter() && allows_board(self.what) {
            let args = key.within(comm);
            let sides = (&self.input, &self.output);
            if run_now(
                caller.world,
                comm,
                self.what,
                &args,
                sides,
                reducer.as_ref(),
            )? {
                caller.world.ran(comm, Some(self.what), BOARD);
                return Ok(None);
            }
        }
        let mut plans = comm.coll.plans.borrow_mut();
        let plan = plans.get(&key, || key.plan(caller.world, comm, self.bytes));
        let detail = if self.what.is_rooted() {
            tag::root(comm, self.root)
        } else {
            self.operation
        };
        Ok(Some(Prepared {
            comm: comm.clone(),
            label: Label {
                what: Some(self.what),
                detail,
            },
            plan,
            input: self.input,
            output: self.output,
            reducer,
            turn: None,
        }))
    }
}

impl<'a> Key<'a> {
    /// The call within the group of `comm`.
    fn within(&self, comm: &Comm) -> Args<'a> {
        let root = match self.root {
            Root::There(rank) => rank,
            Root::Here | Root::Near => 0,
        };
        Args {
            size: comm.size(),
            rank: comm.rank,
            root,
            in_place: self.in_place,
            elem: self.elem,
            commutative: self.commutative,
            send: self.send,
            recv: self.recv,
            site: None,
        }
    }

    /// The call between the two groups of `comm`.
    fn between(&self, comm: &Comm) -> inter::Args<'a> {
        inter::Args {
            local: comm.size(),
            rank: comm.rank,
            remote: comm.peers,
            root: self.root,
            elem: self.elem,
            commutative: self.commutative,
            send: self.send,
            recv: self.recv,
        }
    }

    /// Chooses an algorithm and builds its plan.
    #[cold]
    fn plan(&self, w: &World, comm: &Comm, bytes: usize) -> Plan {
        let mut shape = Shape {
            size: comm.size(),
            bytes,
            elem: self.elem,
            commutative: self.commutative,
            placement: w.placement(comm),
        };
        if !comm.is_inter() {
            let mut args = self.within(comm);
            args.site = w.site(comm);
            let algorithm = choose(w, self.what, &shape);
            let way = way_within(self.what, algorithm.name);
            return algorithm.plan(&args).labelled(way);
        }
        // Both groups must see the same.
        shape.size = match self.root {
            _ if !self.what.is_rooted() => comm.size().max(comm.peers),
            Root::There(_) => comm.size(),
            Root::Here | Root::Near => comm.peers,
        };
        // Each group knows its own nodes only.
        shape.placement = Placement::one_node(shape.size);
        let algorithm = inter::select(self.what, &shape, w.model());
        let algorithm = algorithm.expect("scans were refused");
        let way = way_between(self.what, algorithm.name);
        let plan = algorithm.plan(&self.between(comm), w.model());
        plan.labelled(way)
    }
}

/// As `run_on_board`; buffers with gaps are packed first. Members with and
/// without gaps must go the same way.
#[inline]
fn run_now(
    w: &World,
    comm: &CommRef,
    what: Collective,
    args: &Args<'_>,
    (input, output): (&Side, &Side),
    reducer: Option<&Reducer>,
) -> Result<bool> {
    if args.size == 1 {
        return Ok(false);
    }
    if !input.is_packed() && !output.is_packed() {
        let ends = (input.direct(), output.direct());
        return w.run_on_board(comm, what, args, ends, reducer);
    }
    run_packed(w, comm, what, args, (input, output), reducer)
}

#[cold]
fn run_packed(
    w: &World,
    comm: &CommRef,
    what: Collective,
    args: &Args<'_>,
    (input, output): (&Side, &Side),
    reducer: Option<&Reducer>,
) -> Result<bool> {
    let (mut from, mut to) = (input.load(), output.load());
    let done = w.run_on_board(comm, what, args, (from.base(), to.base()), reducer)?;
    if done {
        output.store(&to);
    }
    Ok(done)
}

impl Ranges {
    pub(super) fn layout(&self) -> Layout<'_> {
        Layout::Table {
            counts: &self.lens,
            displs: &self.offsets,
        }
    }
}

/// What a process is in a rooted operation.
#[derive(Clone, Copy)]
struct Seat {
    root: Root,
    /// The arguments of the root are significant.
    is_root: bool,
    /// Those of everyone else are.
    is_leaf: bool,
}

impl Seat {
    #[inline]
    fn of(comm: &Comm, root: i32) -> Result<Self> {
        if !comm.is_inter() && (root as u32) < comm.size() {
            return Ok(Seat {
                root: Root::There(root as u32),
                is_root: root as u32 == comm.rank,
                is_leaf: true,
            });
        }
        Seat::between(comm, root)
    }

    #[cold]
    fn between(comm: &Comm, root: i32) -> Result<Self> {
        let last = comm.peers - 1;
        let root = match root {
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
        };
        Ok(Seat {
            root,
            is_root: root == Root::Here,
            is_leaf: matches!(root, Root::There(_)),
        })
    }
}

/// Whether the program passed `MPI_IN_PLACE`, where it may.
fn in_place(comm: &Comm, send: *const u8) -> Result<bool> {
    if comm.is_inter() {
        check_place(send, "send")?;
    }
    Ok(is_in_place(send))
}

fn no_alias(send: *const u8, recv: *const u8, bytes: usize) -> Result<()> {
    if send == recv && bytes != 0 {
        fail!(
            Buffer,
            "the send and the receive buffer are the same: pass MPI_IN_PLACE as one of \
            them"
        );
    }
    Ok(())
}

/// Packed length of a plain side, in bytes.
fn packed(count: u64, size: u64) -> Result<usize> {
    match count
        .checked_mul(size)
        .and_then(|n| usize::try_from(n).ok())
    {
        Some(n) if n <= isize::MAX as usize => Ok(n),
        _ => fail!(
            Count,
            "{count} elements of {size} bytes are more than memory can hold"
        ),
    }
}

/// A plain side of one block per rank.
pub(super) struct Blocks {
    pub side: Side,
    pub block: usize,
}

pub(super) fn blocks(w: &World, data: &Data, n: u32, what: &str) -> Result<Blocks> {
    let (count, ty) = data.check(w, what)?;
    let block = packed(count, ty.size())?;
    packed(count.saturating_mul(u64::from(n)), ty.size())?;
    Ok(Blocks {
        side: Side::plain(data.buf, count * u64::from(n), ty),
        block,
    })
}

fn same_length(what: &str, send: usize, recv: usize) -> Result<()> {
    if send != recv {
        fail!(
            Truncate,
            "{what} sends {send} bytes to where this rank expects {recv}: the send and \
            the receive arguments do not match"
        );
    }
    Ok(())
}
