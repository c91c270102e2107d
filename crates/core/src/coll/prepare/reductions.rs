//! Collectives that combine data (MPI-5, chapters 6.9 to 6.12).

use catena_abi::{self as abi, Count, Datatype};

use super::{
    Call, Caller, Collective, CommRef, Data, Layout, Prepare, Ranges, Seat, Side, in_place,
    is_in_place, no_alias, packed,
};
use crate::coll::side::check_count;
use crate::coll::tag;
use crate::comm::Comm;
use crate::error::Result;
use crate::fail;

/// What a process has to do with a reduction.
#[derive(Clone, Copy)]
struct Part {
    gives: bool,
    gets: bool,
}

impl Part {
    const BOTH: Part = Part {
        gives: true,
        gets: true,
    };
}

#[allow(clippy::missing_errors_doc, reason = "as the arguments deserve")]
impl Caller<'_> {
    /// The sides of a reduction whose vector is `data.count` elements long.
    fn reduction(
        &self,
        what: Collective,
        send: *const u8,
        data: &Data,
        op: abi::Op,
        part: Part,
    ) -> Result<Call<'static>> {
        let count = check_count(data.count, "")?;
        let ty = self.world.objects.committed(data.ty)?;
        let operation = tag::operation(op);
        let op = self.world.objects.op(op)?;
        let reducer = op.bind(data.ty, ty)?;
        let bytes = packed(count, ty.size())?;
        let in_place = part.gives && is_in_place(send);
        if in_place && !part.gets {
            fail!(
                Buffer,
                "only the root may pass MPI_IN_PLACE as its send buffer, and no process \
                on an intercommunicator"
            );
        }
        let mut call = Call {
            what,
            in_place,
            bytes,
            send: Layout::Even(bytes),
            recv: Layout::Even(bytes),
            reducer: Some((reducer, op.commutative())),
            operation,
            ..Call::default()
        };
        if part.gets {
            data.check(self.world, "receive")?;
            call.output = Side::plain(data.buf, count, ty);
        }
        if part.gives && !in_place {
            let from = Data {
                buf: send.cast_mut(),
                ..*data
            };
            from.check(self.world, "send")?;
            if part.gets {
                no_alias(send, data.buf, bytes)?;
            }
            call.input = Side::plain(send.cast_mut(), count, ty);
        }
        Ok(call)
    }

    /// `MPI_Reduce`.
    pub fn reduce(
        &self,
        comm: &CommRef,
        send: *const u8,
        recv: Data,
        op: abi::Op,
        root: i32,
    ) -> Prepare {
        let seat = Seat::of(comm, root)?;
        let part = Part {
            gives: seat.is_leaf,
            gets: seat.is_root,
        };
        let call = if part.gives || part.gets {
            self.reduction(Collective::Reduce, send, &recv, op, part)?
        } else {
            Call {
                what: Collective::Reduce,
                ..Call::default()
            }
        };
        let root = seat.root;
        Call { root, ..call }.go(self, comm)
    }

    /// `MPI_Allreduce`.
    pub fn allreduce(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        in_place(comm, send)?;
        self.reduction(Collective::Allreduce, send, &recv, op, Part::BOTH)?
            .go(self, comm)
    }

    /// `MPI_Scan`.
    pub fn scan(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        self.reduction(Collective::Scan, send, &recv, op, Part::BOTH)?
            .go(self, comm)
    }

    /// `MPI_Exscan`.
    pub fn exscan(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        let part = Part {
            gives: true,
            // Rank 0 gets nothing, and may have no receive buffer.
            gets: comm.rank != 0 || is_in_place(send),
        };
        self.reduction(Collective::Exscan, send, &recv, op, part)?
            .go(self, comm)
    }

    /// `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.
    pub fn reduce_scatter(
        &self,
        comm: &CommRef,
        send: *const u8,
        recv: *mut u8,
        counts: &[Count],
        ty: Datatype,
        op: abi::Op,
    ) -> Prepare {
        let in_place = in_place(comm, send)?;
        let size = self.world.objects.committed(ty)?.size();
        let mut ranges = Ranges::default();
        let mut total: Count = 0;
        for &count in counts {
            let n = check_count(count, "receive")?;
            ranges.offsets.push(packed(total as u64, size)?);
            ranges.lens.push(packed(n, size)?);
            total += count;
        }
        // In place the whole vector is in the receive buffer, else only this
        // rank's block of the result.
        let whole = Data {
            buf: recv,
            count: total,
            ty,
        };
        let part = Part {
            gives: true,
            gets: in_place,
        };
        let mut call = self.reduction(Collective::ReduceScatter, send, &whole, op, part)?;
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

fn intra(comm: &Comm) -> Result<()> {
    if comm.is_inter() {
        fail!(
            Comm,
            "the communicator joins two groups, and there is no order of ranks across both"
        );
    }
    Ok(())
}
