//! Barriers and collectives that move data (MPI-5, chapters 6.3 to 6.8).

use std::ptr;

use super::{
    BOARD, Call, Caller, Collective, CommRef, Data, Kinds, Label, Layout, OwnBlock, Prepare,
    Ranges, Side, VData, WData, blocks, in_place, no_alias, root_of, same_length, seat,
};
use catena_objects::error::Result;

#[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
impl Caller<'_> {
    /// `MPI_Barrier`.
    ///
    /// # Errors
    /// As the arguments deserve; so with all functions here.
    pub fn barrier(&self, comm: &CommRef) -> Prepare {
        Call::new(comm).go(Collective::Barrier, self, comm)
    }

    /// A barrier of the library itself, which calls it `label`.
    pub(in crate::coll) fn barrier_as(&self, comm: &CommRef, label: Label) -> Prepare {
        let mut call = Call::new(comm);
        call.operation = label.detail;
        call.go(Collective::Barrier, self, comm)
    }

    /// `MPI_Bcast`.
    pub fn bcast(&self, comm: &CommRef, data: Data, root: i32) -> Prepare {
        let root = root_of(comm, root)?;
        let (is_root, is_leaf) = seat(comm, root);
        let mut call = Call::rooted(comm, root);
        if is_root || is_leaf {
            let (block, kinds) = blocks(self.process, &data, 1, "data", &mut call.output)?;
            (call.bytes, call.args.recv, call.kinds) = (block, Layout::Even(block), kinds);
            if is_root {
                // The root's data may lie where nothing can be written.
                call.output.set_constant();
            }
        }
        call.go(Collective::Bcast, self, comm)
    }

    /// `MPI_Gather`.
    pub fn gather(&self, comm: &CommRef, send: Data, recv: Data, root: i32) -> Prepare {
        let root = root_of(comm, root)?;
        let (is_root, is_leaf) = seat(comm, root);
        let mut call = Call::rooted(comm, root);
        call.args.in_place = is_root && is_leaf && send.is_in_place();
        if is_root {
            let output = &mut call.output;
            let (block, kinds) = blocks(self.process, &recv, comm.peers, "receive", output)?;
            (call.bytes, call.args.recv, call.kinds) = (block, Layout::Even(block), kinds);
            call.args.send = Layout::Even(block);
        }
        if is_leaf && !call.args.in_place {
            let (block, kinds) = blocks(self.process, &send, 1, "send", &mut call.input)?;
            if is_root {
                no_alias(send.buf, recv.buf, block)?;
                same_length("gather", block, call.bytes)?;
            } else {
                call.kinds = kinds;
            }
            (call.bytes, call.args.send) = (block, Layout::Even(block));
        }
        call.go(Collective::Gather, self, comm)
    }

    /// `MPI_Gatherv`.
    pub fn gatherv(&self, comm: &CommRef, send: Data, recv: VData<'_>, root: i32) -> Prepare {
        let root = root_of(comm, root)?;
        let (is_root, is_leaf) = seat(comm, root);
        let mut ranges = Ranges::new();
        let mut call = Call::rooted(comm, root);
        call.args.in_place = is_root && is_leaf && send.is_in_place();
        if is_root {
            call.kinds = recv.side(self.process, "receive", &mut ranges, &mut call.output)?;
            call.args.recv = ranges.layout();
        }
        if is_leaf && !call.args.in_place {
            let (block, kinds) = blocks(self.process, &send, 1, "send", &mut call.input)?;
            if is_root {
                no_alias(
                    send.buf,
                    recv.start(self.process, comm.rank as usize)?,
                    block,
                )?;
            } else {
                call.kinds = kinds;
            }
            call.args.send = Layout::Even(block);
        }
        call.go(Collective::Gatherv, self, comm)
    }

    /// `MPI_Scatter`.
    pub fn scatter(&self, comm: &CommRef, send: Data, recv: Data, root: i32) -> Prepare {
        let root = root_of(comm, root)?;
        let (is_root, is_leaf) = seat(comm, root);
        let mut call = Call::rooted(comm, root);
        call.args.in_place = is_root && is_leaf && recv.is_in_place();
        if is_root {
            let (block, kinds) = blocks(self.process, &send, comm.peers, "send", &mut call.input)?;
            (call.bytes, call.args.send, call.kinds) = (block, Layout::Even(block), kinds);
            call.args.recv = Layout::Even(block);
        }
        if is_leaf && !call.args.in_place {
            let (block, kinds) = blocks(self.process, &recv, 1, "receive", &mut call.output)?;
            if is_root {
                no_alias(send.buf, recv.buf, block)?;
                same_length("scatter", call.bytes, block)?;
            } else {
                call.kinds = kinds;
            }
            (call.bytes, call.args.recv) = (block, Layout::Even(block));
        }
        call.go(Collective::Scatter, self, comm)
    }

    /// `MPI_Scatterv`.
    pub fn scatterv(&self, comm: &CommRef, send: VData<'_>, recv: Data, root: i32) -> Prepare {
        let root = root_of(comm, root)?;
        let (is_root, is_leaf) = seat(comm, root);
        let mut ranges = Ranges::new();
        let mut call = Call::rooted(comm, root);
        call.args.in_place = is_root && is_leaf && recv.is_in_place();
        if is_root {
            call.kinds = send.side(self.process, "send", &mut ranges, &mut call.input)?;
            call.args.send = ranges.layout();
        }
        if is_leaf && !call.args.in_place {
            let (block, kinds) = blocks(self.process, &recv, 1, "receive", &mut call.output)?;
            if is_root {
                no_alias(
                    send.start(self.process, comm.rank as usize)?,
                    recv.buf,
                    block,
                )?;
            } else {
                call.kinds = kinds;
            }
            call.args.recv = Layout::Even(block);
        }
        call.go(Collective::Scatterv, self, comm)
    }

    /// `MPI_Allgather`.
    pub fn allgather(&self, comm: &CommRef, send: Data, recv: Data) -> Prepare {
        self.even(Collective::Allgather, comm, send, 1, recv)
    }

    /// `MPI_Alltoall`.
    pub fn alltoall(&self, comm: &CommRef, send: Data, recv: Data) -> Prepare {
        self.even(Collective::Alltoall, comm, send, comm.peers, recv)
    }

    /// One block, or one for each peer, to everyone and one from everyone.
    #[inline(always)]
    fn even(&self, what: Collective, comm: &CommRef, send: Data, sent: u32, recv: Data) -> Prepare {
        let mut call = Call::new(comm);
        call.args.in_place = in_place(comm, send.buf)?;
        let output = &mut call.output;
        let (block, wanted) = blocks(self.process, &recv, comm.peers, "receive", output)?;
        (call.bytes, call.args.recv, call.kinds) = (block, Layout::Even(block), wanted);
        call.args.send = Layout::Even(block);
        if !call.args.in_place {
            let (sends, given) = blocks(self.process, &send, sent, "send", &mut call.input)?;
            call.exchanges(given, wanted);
            if comm.is_inter() {
                // Either group may send more than the other.
                call.bytes = block.max(sends);
            } else {
                same_length(what.name(), sends, block)?;
            }
            no_alias(send.buf, recv.buf, sends)?;
            call.args.send = Layout::Even(sends);
        }
        call.go(what, self, comm)
    }

    /// `MPI_Allgatherv`.
    pub fn allgatherv(&self, comm: &CommRef, send: Data, recv: VData<'_>) -> Prepare {
        let mut ranges = Ranges::new();
        let mut call = Call::new(comm);
        call.args.in_place = in_place(comm, send.buf)?;
        let wanted = recv.side(self.process, "receive", &mut ranges, &mut call.output)?;
        (call.args.recv, call.kinds) = (ranges.layout(), wanted);
        if !comm.is_inter() {
            let mine = call.args.recv.len(comm.rank);
            (call.bytes, call.args.send) = (ranges.bytes(), Layout::Even(mine));
        }
        if !call.args.in_place {
            let (block, given) = blocks(self.process, &send, 1, "send", &mut call.input)?;
            if block != 0 {
                call.exchanges(given, wanted);
            }
            if !comm.is_inter() {
                same_length("allgatherv", block, call.args.send.len(0))?;
                no_alias(
                    send.buf,
                    recv.start(self.process, comm.rank as usize)?,
                    block,
                )?;
            }
            call.args.send = Layout::Even(block);
        }
        call.go(Collective::Allgatherv, self, comm)
    }

    /// `MPI_Alltoallv`.
    pub fn alltoallv(&self, comm: &CommRef, send: VData<'_>, recv: VData<'_>) -> Prepare {
        let there = !in_place(comm, send.buf)?;
        if there && !comm.is_inter() {
            let mine = comm.rank as usize;
            let (sent, received) = (
                send.start(self.process, mine)?,
                recv.start(self.process, mine)?,
            );
            no_alias(sent, received, 1)?;
        }
        self.exchange(
            comm,
            |ranges, to| recv.side(self.process, "receive", ranges, to),
            there.then_some(|ranges: &mut _, from: &mut _| {
                send.side(self.process, "send", ranges, from)
            }),
        )
    }

    /// `MPI_Alltoallv` of a member that has nothing for others, and gets nothing: it waits for
    /// nobody, as nobody waits for it. Between runs of bytes that needs neither tables nor a
    /// `Call`; false if nothing happened, as there are others, or the call does not block.
    #[inline]
    pub fn keep_own(&self, comm: &CommRef, send: &OwnBlock, recv: &OwnBlock) -> Result<bool> {
        const WHAT: Collective = Collective::Alltoallv;
        if !self.now {
            return Ok(false);
        }
        let types = &self.process.objects.types;
        // An error is found again.
        let Ok(sent) = types.committed(send.data.ty) else {
            return Ok(false);
        };
        let received = match recv.data.ty == send.data.ty {
            true => sent,
            false => match types.committed(recv.data.ty) {
                Ok(ty) => ty,
                Err(_) => return Ok(false),
            },
        };
        let Some((from, len)) = send.run(sent, "send")? else {
            return Ok(false);
        };
        let Some((to, room)) = recv.run(received, "receive")? else {
            return Ok(false);
        };
        no_alias(from, to, len.min(room))?;
        if !comm.passes(self.process, WHAT)? && !comm.passes_on_board(self.process, WHAT)? {
            return Ok(false);
        }
        if len != room {
            same_length(WHAT.name(), len, room)?;
        }
        // SAFETY: the program lends both buffers, which have these blocks.
        unsafe {
            match len {
                0 => {}
                8 => to
                    .cast::<u64>()
                    .write_unaligned(from.cast::<u64>().read_unaligned()),
                _ => ptr::copy(from, to, len),
            }
        }
        comm.ran(self.process, Some(WHAT), BOARD);
        Ok(true)
    }

    /// `MPI_Alltoallw`.
    pub fn alltoallw(&self, comm: &CommRef, send: WData<'_>, recv: WData<'_>) -> Prepare {
        let there = !in_place(comm, send.buf)?;
        if there && !comm.is_inter() {
            let mine = comm.rank as usize;
            no_alias(send.start(mine), recv.start(mine), 1)?;
        }
        self.exchange(
            comm,
            |ranges, to| recv.side(self.process, "receive", ranges, to),
            there.then_some(|ranges: &mut _, from: &mut _| {
                send.side(self.process, "send", ranges, from)
            }),
        )
    }

    /// Blocks of their own lengths between all; in place unless there is a send
    /// side.
    #[inline(always)]
    fn exchange(
        &self,
        comm: &CommRef,
        recv: impl FnOnce(&mut Ranges, &mut Side) -> Result<Kinds>,
        send: Option<impl FnOnce(&mut Ranges, &mut Side) -> Result<Kinds>>,
    ) -> Prepare {
        let (mut sent, mut received) = (Ranges::new(), Ranges::new());
        let mut call = Call::new(comm);
        let wanted = recv(&mut received, &mut call.output)?;
        call.kinds = wanted;
        call.args.recv = received.layout();
        call.args.in_place = send.is_none();
        call.args.send = match send {
            Some(send) => {
                let given = send(&mut sent, &mut call.input)?;
                call.exchanges(given, wanted);
                sent.layout()
            }
            None => call.args.recv,
        };
        call.go(Collective::Alltoallv, self, comm)
    }

    /// An allgather in place of a number of each member, for the library itself, which calls it
    /// `label`.
    pub(in crate::coll) fn tell_all(
        &self,
        comm: &CommRef,
        all: &mut [u64],
        label: Label,
    ) -> Prepare {
        let mut call = Call::new(comm);
        call.operation = label.detail;
        call.bytes = size_of::<u64>();
        call.args.in_place = true;
        (call.args.send, call.args.recv) = (Layout::Even(call.bytes), Layout::Even(call.bytes));
        call.output = Side::bytes(all.as_mut_ptr().cast());
        call.go(Collective::Allgather, self, comm)
    }
}
