//! Checks the arguments of each collective and makes its plan.

use std::sync::Arc;

use catena_abi::{self as abi, Count, Datatype};
use catena_coll::{Args, Collective, Layout, Shape};

use super::force::allows_board;
use super::side::{Ranges, Side, check_count, is_in_place};
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
    root: u32,
    in_place: bool,
    /// See [`Shape::bytes`].
    bytes: usize,
    send: Layout<'a>,
    recv: Layout<'a>,
    input: Side,
    output: Side,
    reducer: Option<(Reducer, bool)>,
}

impl Default for Call<'_> {
    fn default() -> Self {
        Call {
            what: Collective::Barrier,
            root: 0,
            in_place: false,
            bytes: 0,
            send: Layout::Even(0),
            recv: Layout::Even(0),
            input: Side::NONE,
            output: Side::NONE,
            reducer: None,
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
        let size = comm.size();
        let args = Args {
            size,
            rank: comm.rank,
            root: self.root,
            in_place: self.in_place,
            elem,
            commutative,
            send: self.send,
            recv: self.recv,
        };
        let mut reducer = self.reducer.map(|(r, _)| r);
        if caller.now && allows_board(self.what) {
            let done = if self.input.is_packed() || self.output.is_packed() {
                let sides = (&self.input, &self.output);
                run_packed(caller.world, comm, self.what, &args, sides, &mut reducer)?
            } else {
                let ends = (self.input.direct(), self.output.direct());
                caller
                    .world
                    .run_on_board(comm, self.what, &args, ends, &mut reducer)?
            };
            if done {
                return Ok(None);
            }
        }
        let shape = Shape {
            size,
            bytes: self.bytes,
            elem,
            commutative,
        };
        Ok(Some(Prepared {
            comm: comm.clone(),
            plan: Arc::new(choose(caller.world, self.what, &shape).plan(&args)),
            input: self.input,
            output: self.output,
            reducer,
        }))
    }
}

/// As `run_on_board`, for buffers with gaps. Members with and without gaps must
/// go the same way.
#[cold]
fn run_packed(
    w: &World,
    comm: &CommRef,
    what: Collective,
    args: &Args<'_>,
    (input, output): (&Side, &Side),
    reducer: &mut Option<Reducer>,
) -> Result<bool> {
    use Collective::{Alltoallv, Gatherv, Scatterv};
    // No board takes these: packing would be in vain.
    if args.size == 1 || matches!(what, Gatherv | Scatterv | Alltoallv) {
        return Ok(false);
    }
    let (mut from, mut to) = (input.load(), output.load());
    let done = w.run_on_board(comm, what, args, (from.base(), to.base()), reducer)?;
    if done {
        output.store(&to);
    }
    Ok(done)
}

impl Ranges {
    fn layout(&self) -> Layout<'_> {
        Layout::Table {
            counts: &self.lens,
            displs: &self.offsets,
        }
    }
}

fn intra(comm: &Comm) -> Result<()> {
    if comm.is_inter() {
        fail!(
            Unsupported,
            "collectives on intercommunicators do not exist yet"
        );
    }
    Ok(())
}

fn check_root(comm: &Comm, root: i32) -> Result<u32> {
    intra(comm)?;
    if (root as u32) < comm.size() {
        return Ok(root as u32);
    }
    fail!(
        Root,
        "the root is rank {root}, but the communicator has ranks 0 to {}",
        comm.size() - 1
    )
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
struct Blocks {
    side: Side,
    block: usize,
}

fn blocks(w: &World, data: &Data, n: u32, what: &str) -> Result<Blocks> {
    let (count, ty) = data.check(w, what)?;
    let block = packed(count, ty.size())?;
    packed(count.saturating_mul(u64::from(n)), ty.size())?;
    Ok(Blocks {
        side: Side::plain(data.buf, count * u64::from(n), ty),
        block,
    })
}

impl Caller<'_> {
    /// `MPI_Barrier`.
    ///
    /// # Errors
    /// As the arguments deserve; so with all functions here.
    pub fn barrier(&self, comm: &CommRef) -> Prepare {
        intra(comm)?;
        Call::default().go(self, comm)
    }

    /// `MPI_Bcast`.
    #[allow(missing_docs, clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn bcast(&self, comm: &CommRef, data: Data, root: i32) -> Prepare {
        let root = check_root(comm, root)?;
        let b = blocks(self.world, &data, 1, "")?;
        let call = Call {
            what: Collective::Bcast,
            root,
            bytes: b.block,
            recv: Layout::Even(b.block),
            // The root's data may lie where nothing can be written.
            output: if comm.rank == root {
                b.side.constant()
            } else {
                b.side
            },
            ..Call::default()
        };
        call.go(self, comm)
    }

    /// `MPI_Gather`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn gather(&self, comm: &CommRef, send: Data, recv: Data, root: i32) -> Prepare {
        let root = check_root(comm, root)?;
        let at_root = comm.rank == root;
        let in_place = at_root && send.is_in_place();
        let mut call = Call {
            what: Collective::Gather,
            root,
            in_place,
            ..Call::default()
        };
        if at_root {
            let r = blocks(self.world, &recv, comm.size(), "receive")?;
            (call.recv, call.output, call.bytes) = (Layout::Even(r.block), r.side, r.block);
            call.send = call.recv;
        }
        if !in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            if at_root {
                no_alias(send.buf, recv.buf, s.block)?;
                same_length("gather", s.block, call.bytes)?;
            }
            (call.send, call.input, call.bytes) = (Layout::Even(s.block), s.side, s.block);
        }
        call.go(self, comm)
    }

    /// `MPI_Gatherv`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn gatherv(&self, comm: &CommRef, send: Data, recv: VData, root: i32) -> Prepare {
        let root = check_root(comm, root)?;
        let at_root = comm.rank == root;
        let in_place = at_root && send.is_in_place();
        let mut call = Call {
            what: Collective::Gatherv,
            root,
            in_place,
            ..Call::default()
        };
        let ranges;
        if at_root {
            let (side, r) = recv.side(self.world, "receive")?;
            ranges = r;
            (call.recv, call.output) = (ranges.layout(), side);
        }
        if !in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            (call.send, call.input) = (Layout::Even(s.block), s.side);
        }
        call.go(self, comm)
    }

    /// `MPI_Scatter`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn scatter(&self, comm: &CommRef, send: Data, recv: Data, root: i32) -> Prepare {
        let root = check_root(comm, root)?;
        let at_root = comm.rank == root;
        let in_place = at_root && recv.is_in_place();
        let mut call = Call {
            what: Collective::Scatter,
            root,
            in_place,
            ..Call::default()
        };
        if at_root {
            let s = blocks(self.world, &send, comm.size(), "send")?;
            (call.send, call.input, call.bytes) = (Layout::Even(s.block), s.side, s.block);
            call.recv = call.send;
        }
        if !in_place {
            let r = blocks(self.world, &recv, 1, "receive")?;
            if at_root {
                no_alias(send.buf, recv.buf, r.block)?;
                same_length("scatter", r.block, call.bytes)?;
            }
            (call.recv, call.output, call.bytes) = (Layout::Even(r.block), r.side, r.block);
        }
        call.go(self, comm)
    }

    /// `MPI_Scatterv`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn scatterv(&self, comm: &CommRef, send: VData, recv: Data, root: i32) -> Prepare {
        let root = check_root(comm, root)?;
        let at_root = comm.rank == root;
        let in_place = at_root && recv.is_in_place();
        let mut call = Call {
            what: Collective::Scatterv,
            root,
            in_place,
            ..Call::default()
        };
        let ranges;
        if at_root {
            let (side, r) = send.side(self.world, "send")?;
            ranges = r;
            (call.send, call.input) = (ranges.layout(), side);
        }
        if !in_place {
            let r = blocks(self.world, &recv, 1, "receive")?;
            (call.recv, call.output) = (Layout::Even(r.block), r.side);
        }
        call.go(self, comm)
    }

    /// `MPI_Allgather`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn allgather(&self, comm: &CommRef, send: Data, recv: Data) -> Prepare {
        intra(comm)?;
        let r = blocks(self.world, &recv, comm.size(), "receive")?;
        let mut call = Call {
            what: Collective::Allgather,
            in_place: send.is_in_place(),
            bytes: r.block,
            send: Layout::Even(r.block),
            recv: Layout::Even(r.block),
            output: r.side,
            ..Call::default()
        };
        if !call.in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            same_length("allgather", s.block, r.block)?;
            no_alias(send.buf, recv.buf, s.block)?;
            call.input = s.side;
        }
        call.go(self, comm)
    }

    /// `MPI_Allgatherv`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn allgatherv(&self, comm: &CommRef, send: Data, recv: VData) -> Prepare {
        intra(comm)?;
        let (output, ranges) = recv.side(self.world, "receive")?;
        let mine = ranges.lens[comm.rank as usize];
        let mut call = Call {
            what: Collective::Allgatherv,
            in_place: send.is_in_place(),
            bytes: ranges.lens.iter().sum(),
            send: Layout::Even(mine),
            recv: ranges.layout(),
            output,
            ..Call::default()
        };
        if !call.in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            same_length("allgatherv", s.block, mine)?;
            call.input = s.side;
        }
        call.go(self, comm)
    }

    /// `MPI_Alltoall`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn alltoall(&self, comm: &CommRef, send: Data, recv: Data) -> Prepare {
        intra(comm)?;
        let r = blocks(self.world, &recv, comm.size(), "receive")?;
        let mut call = Call {
            what: Collective::Alltoall,
            in_place: send.is_in_place(),
            bytes: r.block,
            send: Layout::Even(r.block),
            recv: Layout::Even(r.block),
            output: r.side,
            ..Call::default()
        };
        if !call.in_place {
            let s = blocks(self.world, &send, comm.size(), "send")?;
            same_length("alltoall", s.block, r.block)?;
            no_alias(send.buf, recv.buf, s.block)?;
            call.input = s.side;
        }
        call.go(self, comm)
    }

    /// `MPI_Alltoallv`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn alltoallv(&self, comm: &CommRef, send: VData, recv: VData) -> Prepare {
        intra(comm)?;
        let to = recv.side(self.world, "receive")?;
        let from = if send.is_in_place() {
            None
        } else {
            Some(send.side(self.world, "send")?)
        };
        self.exchange(comm, from, to)
    }

    /// `MPI_Alltoallw`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn alltoallw(&self, comm: &CommRef, send: WData, recv: WData) -> Prepare {
        intra(comm)?;
        let to = recv.side(self.world, "receive")?;
        let from = if send.is_in_place() {
            None
        } else {
            Some(send.side(self.world, "send")?)
        };
        self.exchange(comm, from, to)
    }

    fn exchange(
        &self,
        comm: &CommRef,
        from: Option<(Side, Ranges)>,
        to: (Side, Ranges),
    ) -> Prepare {
        let in_place = from.is_none();
        let (input, sent) = from.unwrap_or((Side::NONE, Ranges::default()));
        let call = Call {
            what: Collective::Alltoallv,
            in_place,
            send: if in_place {
                to.1.layout()
            } else {
                sent.layout()
            },
            recv: to.1.layout(),
            input,
            output: to.0,
            ..Call::default()
        };
        call.go(self, comm)
    }

    /// The sides of a reduction whose vector is `data.count` elements long;
    /// `wants` says whether this rank gets a result.
    fn reduction(
        &self,
        what: Collective,
        send: *const u8,
        data: &Data,
        op: abi::Op,
        wants: bool,
    ) -> Result<Call<'static>> {
        let count = check_count(data.count, "")?;
        let ty = self.world.objects.committed(data.ty)?;
        let op = self.world.objects.op(op)?;
        let reducer = op.bind(data.ty, ty)?;
        let bytes = packed(count, ty.size())?;
        let in_place = is_in_place(send);
        if !wants && in_place {
            fail!(
                Buffer,
                "only the root may pass MPI_IN_PLACE as its send buffer"
            );
        }
        let mut call = Call {
            what,
            in_place,
            bytes,
            send: Layout::Even(bytes),
            recv: Layout::Even(bytes),
            reducer: Some((reducer, op.commutative())),
            ..Call::default()
        };
        if wants {
            data.check(self.world, "receive")?;
            call.output = Side::plain(data.buf, count, ty);
        }
        if !in_place {
            let from = Data {
                buf: send.cast_mut(),
                ..*data
            };
            from.check(self.world, "send")?;
            if wants {
                no_alias(send, data.buf, bytes)?;
            }
            call.input = Side::plain(send.cast_mut(), count, ty);
        }
        Ok(call)
    }

    /// `MPI_Reduce`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn reduce(
        &self,
        comm: &CommRef,
        send: *const u8,
        recv: Data,
        op: abi::Op,
        root: i32,
    ) -> Prepare {
        let root = check_root(comm, root)?;
        let wants = comm.rank == root;
        let call = self.reduction(Collective::Reduce, send, &recv, op, wants)?;
        Call { root, ..call }.go(self, comm)
    }

    /// `MPI_Allreduce`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn allreduce(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        self.reduction(Collective::Allreduce, send, &recv, op, true)?
            .go(self, comm)
    }

    /// `MPI_Scan`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn scan(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        self.reduction(Collective::Scan, send, &recv, op, true)?
            .go(self, comm)
    }

    /// `MPI_Exscan`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn exscan(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        // Rank 0 gets nothing, and may have no receive buffer.
        let wants = comm.rank != 0 || is_in_place(send);
        self.reduction(Collective::Exscan, send, &recv, op, wants)?
            .go(self, comm)
    }

    /// `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.
    #[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
    pub fn reduce_scatter(
        &self,
        comm: &CommRef,
        send: *const u8,
        recv: *mut u8,
        counts: &[Count],
        ty: Datatype,
        op: abi::Op,
    ) -> Prepare {
        intra(comm)?;
        let size = self.world.objects.committed(ty)?.size();
        let mut ranges = Ranges::default();
        let mut total: Count = 0;
        for &count in counts {
            let n = check_count(count, "receive")?;
            ranges.offsets.push(packed(total as u64, size)?);
            ranges.lens.push(packed(n, size)?);
            total += count;
        }
        let in_place = is_in_place(send);
        // In place the whole vector is in the receive buffer, else only this
        // rank's block of the result.
        let whole = Data {
            buf: recv,
            count: total,
            ty,
        };
        let mut call = self.reduction(Collective::ReduceScatter, send, &whole, op, in_place)?;
        if !in_place {
            let mine = Data {
                count: counts[comm.rank as usize],
                ..whole
            };
            let (count, ty) = mine.check(self.world, "receive")?;
            no_alias(send, recv, call.bytes)?;
            call.output = Side::plain(recv, count, ty);
        }
        Call {
            send: ranges.layout(),
            ..call
        }
        .go(self, comm)
    }
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
