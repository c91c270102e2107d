//! Collectives that combine data (MPI-5, chapters 6.9 to 6.12).

use catena_abi::{self as abi, Count, Datatype};

use super::{
    BOARD, Call, CallSignature, Caller, Collective, CommRef, Data, Label, Layout, Prepare, Ranges,
    in_place, is_in_place, no_alias, packed, root_of, seat,
};
use crate::coll::arguments::{Numbers, check_buffer, check_count};
use crate::coll::tag;
use crate::comm::Comm;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::op::Reducer;

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
    /// Fills in a reduction whose vector is `data.count` elements long.
    #[inline(always)]
    fn reduction(
        &self,
        call: &mut Call<'_>,
        send: *const u8,
        data: &Data,
        op: abi::Op,
        part: Part,
    ) -> Result<()> {
        let count = check_count(data.count, "data")?;
        let objects = self.process.objects;
        let ty = objects.types.committed(data.ty)?;
        (call.operation, call.kinds) = (tag::operation(op), ty.kinds());
        if let Some(kernel) = objects.ops.kernel(op, data.ty, ty)? {
            call.reducer = Some(Reducer::Kernel(kernel));
            call.args.elem = kernel.size;
        } else {
            let op = objects.ops.find(op)?;
            call.args.commutative = op.commutative();
            call.args.elem = (ty.size() as usize).max(1);
            call.reducer = Some(op.bind(data.ty, ty)?.holding(&objects.types));
        }
        let bytes = packed(count, ty.size())?;
        call.bytes = bytes;
        call.args.send = Layout::Even(bytes);
        call.args.recv = Layout::Even(bytes);
        call.args.in_place = part.gives && is_in_place(send);
        if call.args.in_place && !part.gets {
            return Err(misplaced());
        }
        if part.gets {
            check_buffer(data.buf, count, ty, "receive")?;
            call.output.set(data.buf, count, ty);
        }
        if part.gives && !call.args.in_place {
            let from = send.cast_mut();
            check_buffer(from, count, ty, "send")?;
            if part.gets {
                no_alias(send, data.buf, bytes)?;
            }
            call.input.set(from, count, ty);
        }
        Ok(())
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
        let root = root_of(comm, root)?;
        let (gets, gives) = seat(comm, root);
        let mut call = Call::rooted(comm, root);
        if gives || gets {
            self.reduction(&mut call, send, &recv, op, Part { gives, gets })?;
        }
        call.go(Collective::Reduce, self, comm)
    }

    /// `MPI_Allreduce`.
    pub fn allreduce(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        in_place(comm, send)?;
        if recv.count == 0 && self.now && !comm.is_inter() && comm.size() > 1 {
            return self.reduce_nothing(comm, &recv, op);
        }
        let mut call = Call::new(comm);
        self.reduction(&mut call, send, &recv, op, Part::BOTH)?;
        call.go(Collective::Allreduce, self, comm)
    }

    /// An allreduce of no elements, of which no member has any: the arguments are checked, and the
    /// call has its place among the others.
    fn reduce_nothing(&self, comm: &CommRef, recv: &Data, op: abi::Op) -> Prepare {
        const WHAT: Collective = Collective::Allreduce;
        let objects = self.process.objects;
        let ty = objects.types.committed(recv.ty)?;
        if objects.ops.kernel(op, recv.ty, ty)?.is_none() {
            objects.ops.find(op)?.bind(recv.ty, ty)?;
        }
        check_buffer(recv.buf, 0, ty, "receive")?;
        comm.check_not_revoked()?;
        let label = Label::of(WHAT as u32, tag::operation(op));
        comm.coll.note_void(CallSignature::void(label));
        comm.ran(self.process, Some(WHAT), BOARD);
        Ok(None)
    }

    /// `MPI_Scan`.
    pub fn scan(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        let mut call = Call::new(comm);
        self.reduction(&mut call, send, &recv, op, Part::BOTH)?;
        call.go(Collective::Scan, self, comm)
    }

    /// `MPI_Exscan`.
    pub fn exscan(&self, comm: &CommRef, send: *const u8, recv: Data, op: abi::Op) -> Prepare {
        intra(comm)?;
        let part = Part {
            gives: true,
            // Rank 0 gets nothing, and may have no receive buffer.
            gets: comm.rank != 0 || is_in_place(send),
        };
        let mut call = Call::new(comm);
        self.reduction(&mut call, send, &recv, op, part)?;
        call.go(Collective::Exscan, self, comm)
    }

    /// `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`.
    pub fn reduce_scatter(
        &self,
        comm: &CommRef,
        send: *const u8,
        recv: *mut u8,
        counts: Numbers<'_>,
        ty: Datatype,
        op: abi::Op,
    ) -> Prepare {
        let in_place = in_place(comm, send)?;
        let size = self.process.objects.types.committed(ty)?.size();
        let mut ranges = Ranges::new();
        let mut total: Count = 0;
        let (lengths, offsets) = ranges.reset(counts.len());
        for (i, (len, offset)) in lengths.iter_mut().zip(offsets).enumerate() {
            let n = check_count(counts.at(i), "receive")?;
            (*len, *offset) = (packed(n, size)?, packed(total as u64, size)?);
            total += counts.at(i);
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
        let mut call = Call::new(comm);
        self.reduction(&mut call, send, &whole, op, part)?;
        if !in_place {
            let mine = Data {
                count: counts.at(comm.rank as usize),
                ..whole
            };
            let (count, ty) = mine.check(self.process, "receive")?;
            no_alias(send, recv, call.bytes)?;
            call.output.set(recv, count, ty);
        }
        call.args.send = ranges.layout();
        call.go(Collective::ReduceScatter, self, comm)
    }
}

#[cold]
fn misplaced() -> Error {
    let text = "only the root may pass MPI_IN_PLACE as its send buffer, and no process on an \
        intercommunicator";
    Error::new(Kind::Buffer, text)
}

#[inline(always)]
fn intra(comm: &Comm) -> Result<()> {
    if comm.is_inter() {
        return Err(no_order());
    }
    Ok(())
}

#[cold]
fn no_order() -> Error {
    let text = "the communicator joins two groups, and there is no order of ranks across both";
    Error::new(Kind::Comm, text)
}
