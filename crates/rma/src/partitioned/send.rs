//! The sending end.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi as abi;
use catena_core::Process;
use catena_core::buffer::SendBuf;
use catena_core::comm::partition_tag;
use catena_core::request::{Done, RequestObject, State};
use catena_link::{Awaited, Mode, Plane, ReqId, Sent};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::end::End;
use super::pairing::Pair;

/// How a partition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The program may still write it.
    Open,
    /// It waits for the answer of the receiver.
    Ready,
    /// It is under way.
    Leaving(ReqId),
    /// It has left.
    Left,
}

/// `MPI_Psend_init`.
#[derive(Debug)]
pub struct PartSend {
    end: End,
    pair: Option<Pair>,
    /// The first of the receiver's tags, once it has told.
    tags: Cell<Option<u32>>,
    is_active: Cell<bool>,
    parts: RefCell<Box<[Part]>>,
    /// Partitions that are open or ready.
    missing: Cell<u32>,
    /// Why they cannot leave.
    failed: RefCell<Option<Error>>,
    /// The object itself, for progress.
    own: RefCell<std::sync::Weak<PartSend>>,
    /// Whether progress carries it on.
    is_carried: Cell<bool>,
}

impl PartSend {
    /// Makes one and tells the other end.
    pub fn init(process: &Process, end: End) -> abi::Request {
        let pair = end
            .peer
            .map(|peer| Pair::next(&end.comm, peer, end.tag, true));
        if let Some(pair) = &pair {
            let bytes = end.bytes();
            let words = [end.partitions, bytes as u32, (bytes >> 32) as u32];
            pair.tell(process, &end.comm, &words);
        }
        let parts = vec![Part::Open; end.partitions as usize];
        let send = Arc::new(PartSend {
            end,
            pair,
            tags: Cell::new(None),
            is_active: Cell::new(false),
            parts: RefCell::new(parts.into()),
            missing: Cell::new(0),
            failed: RefCell::default(),
            own: RefCell::default(),
            is_carried: Cell::new(false),
        });
        *send.own.borrow_mut() = Arc::downgrade(&send);
        process.add_request(send)
    }

    /// `MPI_Pready`.
    pub(super) fn ready(&self, process: &Process, partition: i32) -> Result<()> {
        let at = self.end.check(partition)?;
        if !self.is_active.get() {
            fail!(
                Request,
                "the partitioned request is not active: call MPI_Start first"
            );
        }
        if self.parts.borrow()[at] != Part::Open {
            fail!(Arg, "partition {partition} is ready already");
        }
        self.parts.borrow_mut()[at] = Part::Ready;
        if self.pair.is_none() {
            return Ok(());
        }
        if self.tags.get().is_none() {
            self.learn(process);
        }
        match self.tags.get() {
            Some(tags) => self.leave(process, at, tags),
            None => self.carry(process),
        }
        Ok(())
    }

    /// Has progress send what is ready as soon as the receiver has told.
    fn carry(&self, process: &Process) {
        if let Some(own) = self.own.borrow().upgrade()
            && !self.is_carried.replace(true)
        {
            process.carry_on(own);
        }
    }

    fn learn(&self, process: &Process) {
        let told = self
            .pair
            .as_ref()
            .and_then(|pair| pair.told(process, &self.end.comm));
        if let Some([tags]) = told.as_deref() {
            self.tags.set(Some(*tags));
        }
    }

    /// Sends a partition.
    fn leave(&self, process: &Process, at: usize, tags: u32) {
        let end = &self.end;
        let Some(peer) = end.peer else {
            return;
        };
        let before = end.ty.extent() as isize * end.count as isize * at as isize;
        let buf = end.buf.wrapping_offset(before);
        let message = SendBuf::new(buf, end.count, &end.ty);
        let tag = partition_tag(tags + at as u32);
        let sent = process.link(|link| {
            let (cid, plane) = (end.comm.cid, Plane::Collective);
            link.send(cid, plane, peer, tag, Mode::Standard, message)
        });
        self.parts.borrow_mut()[at] = match sent {
            Sent::Done => Part::Left,
            Sent::Pending(id) => Part::Leaving(id),
        };
        self.missing.set(self.missing.get() - 1);
    }

    /// Whether every partition has left.
    fn is_over(&self, process: &Process) -> bool {
        if self.tags.get().is_none() && self.failed.borrow().is_none() {
            // A receiver that has died will not tell its tags.
            *self.failed.borrow_mut() = self.end.death(process);
        }
        self.pair.is_none()
            || self.failed.borrow().is_some()
            || self.missing.get() == 0
                && self.parts.borrow().iter().all(|part| match part {
                    Part::Leaving(id) => process.link(|link| link.is_done(*id)),
                    part => *part == Part::Left,
                })
    }
}

impl RequestObject for PartSend {
    fn state(&self, process: &Process) -> Result<State> {
        Ok(match self.is_active.get() {
            false => State::Inactive,
            true if self.is_over(process) => State::Complete,
            true => State::Pending,
        })
    }

    fn complete(&self, process: &Process) -> Done {
        self.is_active.set(false);
        let mut done = Done::EMPTY;
        done.error = self.failed.take();
        for part in &mut *self.parts.borrow_mut() {
            if let Part::Leaving(id) = *part {
                let error = Done::from(process.link(|link| link.take(id))).error;
                done.error = done.error.or(error);
            }
            *part = Part::Open;
        }
        done
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn start(&self, _process: &Process) -> Result<()> {
        if self.is_active.replace(true) {
            return Err(Error::new(
                Kind::Request,
                "the partitioned request is active already: complete it first",
            ));
        }
        self.missing.set(self.end.partitions);
        Ok(())
    }

    fn free(&self, process: &Process) -> Result<()> {
        for part in &mut *self.parts.borrow_mut() {
            if let Part::Leaving(id) = *part {
                process.link(|link| link.detach(id));
                *part = Part::Left;
            }
        }
        Ok(())
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.end.comm.handle.get().into())
    }

    fn awaits(&self, _process: &Process, awaited: &mut Awaited) {
        if let (None, Some(rank)) = (self.tags.get(), self.end.peer) {
            let comm = &self.end.comm;
            let group = comm.remote.as_ref().map_or(&comm.group, |it| &it.group);
            awaited.named.insert(group.member(rank as usize));
        }
    }

    fn advance(&self, process: &Process) -> bool {
        if self.tags.get().is_none() {
            self.learn(process);
        }
        let Some(tags) = self.tags.get() else {
            let over = self.is_over(process);
            self.is_carried.set(!over);
            return over;
        };
        for at in 0..self.end.partitions as usize {
            let is_ready = self.parts.borrow()[at] == Part::Ready;
            if is_ready {
                self.leave(process, at, tags);
            }
        }
        self.is_carried.set(false);
        true
    }
}
