//! Barriers and collectives that move data (MPI-5, chapters 6.3 to 6.8).

use super::{
    Blocks, Call, Caller, Collective, CommRef, Data, Layout, Prepare, Ranges, Seat, Side, VData,
    WData, blocks, in_place, no_alias, same_length,
};

#[allow(clippy::missing_errors_doc, reason = "see `barrier`")]
impl Caller<'_> {
    /// `MPI_Barrier`.
    ///
    /// # Errors
    /// As the arguments deserve; so with all functions here.
    pub fn barrier(&self, comm: &CommRef) -> Prepare {
        Call::default().go(self, comm)
    }

    /// `MPI_Bcast`.
    pub fn bcast(&self, comm: &CommRef, data: Data, root: i32) -> Prepare {
        let seat = Seat::of(comm, root)?;
        let mut call = Call {
            what: Collective::Bcast,
            root: seat.root,
            ..Call::default()
        };
        if seat.is_root || seat.is_leaf {
            let Blocks { side, block } = blocks(self.world, &data, 1, "")?;
            (call.bytes, call.recv) = (block, Layout::Even(block));
            // The root's data may lie where nothing can be written.
            call.output = if seat.is_root { side.constant() } else { side };
        }
        call.go(self, comm)
    }

    /// `MPI_Gather`.
    pub fn gather(&self, comm: &CommRef, send: Data, recv: Data, root: i32) -> Prepare {
        let seat = Seat::of(comm, root)?;
        let in_place = seat.is_root && seat.is_leaf && send.is_in_place();
        let mut call = Call {
            what: Collective::Gather,
            root: seat.root,
            in_place,
            ..Call::default()
        };
        if seat.is_root {
            let r = blocks(self.world, &recv, comm.peers, "receive")?;
            (call.recv, call.output, call.bytes) = (Layout::Even(r.block), r.side, r.block);
            call.send = call.recv;
        }
        if seat.is_leaf && !in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            if seat.is_root {
                no_alias(send.buf, recv.buf, s.block)?;
                same_length("gather", s.block, call.bytes)?;
            }
            (call.send, call.input, call.bytes) = (Layout::Even(s.block), s.side, s.block);
        }
        call.go(self, comm)
    }

    /// `MPI_Gatherv`.
    pub fn gatherv(&self, comm: &CommRef, send: Data, recv: VData, root: i32) -> Prepare {
        let seat = Seat::of(comm, root)?;
        let in_place = seat.is_root && seat.is_leaf && send.is_in_place();
        let mut call = Call {
            what: Collective::Gatherv,
            root: seat.root,
            in_place,
            ..Call::default()
        };
        let ranges;
        if seat.is_root {
            (call.output, ranges) = recv.side(self.world, "receive")?;
            call.recv = ranges.layout();
        }
        if seat.is_leaf && !in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            (call.send, call.input) = (Layout::Even(s.block), s.side);
        }
        call.go(self, comm)
    }

    /// `MPI_Scatter`.
    pub fn scatter(&self, comm: &CommRef, send: Data, recv: Data, root: i32) -> Prepare {
        let seat = Seat::of(comm, root)?;
        let in_place = seat.is_root && seat.is_leaf && recv.is_in_place();
        let mut call = Call {
            what: Collective::Scatter,
            root: seat.root,
            in_place,
            ..Call::default()
        };
        if seat.is_root {
            let s = blocks(self.world, &send, comm.peers, "send")?;
            (call.send, call.input, call.bytes) = (Layout::Even(s.block), s.side, s.block);
            call.recv = call.send;
        }
        if seat.is_leaf && !in_place {
            let r = blocks(self.world, &recv, 1, "receive")?;
            if seat.is_root {
                no_alias(send.buf, recv.buf, r.block)?;
                same_length("scatter", call.bytes, r.block)?;
            }
            (call.recv, call.output, call.bytes) = (Layout::Even(r.block), r.side, r.block);
        }
        call.go(self, comm)
    }

    /// `MPI_Scatterv`.
    pub fn scatterv(&self, comm: &CommRef, send: VData, recv: Data, root: i32) -> Prepare {
        let seat = Seat::of(comm, root)?;
        let in_place = seat.is_root && seat.is_leaf && recv.is_in_place();
        let mut call = Call {
            what: Collective::Scatterv,
            root: seat.root,
            in_place,
            ..Call::default()
        };
        let ranges;
        if seat.is_root {
            (call.input, ranges) = send.side(self.world, "send")?;
            call.send = ranges.layout();
        }
        if seat.is_leaf && !in_place {
            let r = blocks(self.world, &recv, 1, "receive")?;
            (call.recv, call.output) = (Layout::Even(r.block), r.side);
        }
        call.go(self, comm)
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
    #[inline]
    fn even(&self, what: Collective, comm: &CommRef, send: Data, sent: u32, recv: Data) -> Prepare {
        let in_place = in_place(comm, send.buf)?;
        let r = blocks(self.world, &recv, comm.peers, "receive")?;
        let mut call = Call {
            what,
            in_place,
            bytes: r.block,
            send: Layout::Even(r.block),
            recv: Layout::Even(r.block),
            output: r.side,
            ..Call::default()
        };
        if !in_place {
            let s = blocks(self.world, &send, sent, "send")?;
            if comm.is_inter() {
                // Either group may send more than the other.
                call.bytes = r.block.max(s.block);
            } else {
                same_length(what.name(), s.block, r.block)?;
            }
            no_alias(send.buf, recv.buf, s.block)?;
            (call.send, call.input) = (Layout::Even(s.block), s.side);
        }
        call.go(self, comm)
    }

    /// `MPI_Allgatherv`.
    pub fn allgatherv(&self, comm: &CommRef, send: Data, recv: VData) -> Prepare {
        let in_place = in_place(comm, send.buf)?;
        let (output, ranges) = recv.side(self.world, "receive")?;
        let mut call = Call {
            what: Collective::Allgatherv,
            in_place,
            recv: ranges.layout(),
            output,
            ..Call::default()
        };
        if !comm.is_inter() {
            let mine = ranges.lens[comm.rank as usize];
            (call.bytes, call.send) = (ranges.lens.iter().sum(), Layout::Even(mine));
        }
        if !in_place {
            let s = blocks(self.world, &send, 1, "send")?;
            if !comm.is_inter() {
                same_length("allgatherv", s.block, call.send.len(0))?;
            }
            (call.send, call.input) = (Layout::Even(s.block), s.side);
        }
        call.go(self, comm)
    }

    /// `MPI_Alltoallv`.
    pub fn alltoallv(&self, comm: &CommRef, send: VData, recv: VData) -> Prepare {
        let to = recv.side(self.world, "receive")?;
        let there = !in_place(comm, send.buf)?;
        let from = there.then(|| send.side(self.world, "send")).transpose()?;
        self.exchange(comm, from, to)
    }

    /// `MPI_Alltoallw`.
    pub fn alltoallw(&self, comm: &CommRef, send: WData, recv: WData) -> Prepare {
        let to = recv.side(self.world, "receive")?;
        let there = !in_place(comm, send.buf)?;
        let from = there.then(|| send.side(self.world, "send")).transpose()?;
        self.exchange(comm, from, to)
    }

    fn exchange(
        &self,
        comm: &CommRef,
        from: Option<(Side, Ranges)>,
        (output, received): (Side, Ranges),
    ) -> Prepare {
        let in_place = from.is_none();
        let (input, sent) = from.unwrap_or((Side::NONE, Ranges::default()));
        let sent = if in_place { &received } else { &sent };
        let call = Call {
            what: Collective::Alltoallv,
            in_place,
            send: sent.layout(),
            recv: received.layout(),
            input,
            output,
            ..Call::default()
        };
        call.go(self, comm)
    }

    /// An allgather of bytes, for the library itself.
    pub(in crate::coll) fn share(&self, comm: &CommRef, mine: &[u8], all: &mut [u8]) -> Prepare {
        let call = Call {
            what: Collective::Allgather,
            bytes: mine.len(),
            send: Layout::Even(mine.len()),
            recv: Layout::Even(mine.len()),
            input: Side::bytes(mine.as_ptr().cast_mut()),
            output: Side::bytes(all.as_mut_ptr()),
            ..Call::default()
        };
        call.go(self, comm)
    }
}
