//! The steps of a schedule: messages of `link`, copies and reductions in the program's memory.

use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use catena_link::{Cid, Failure, Mode, Plane, ReqId, Selector, Sent};
use catena_objects::error::{Error, Kind, Result};
use catena_schedule::{Exec, Order, Region};
use catena_shm::STARTED;

use super::super::control::{CallControl, who};
use super::super::memory::Memory;
use super::super::tag::function;
use super::super::turn::{Turn, cut};
use crate::buffer::{RecvBuf, SendBuf};
use crate::comm::Comm;
use crate::failure::failure;
use crate::process::{Link, Process};

/// A message of a schedule under way.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub(super) id: ReqId,
    /// Bytes that must arrive; `None` for a send.
    pub(super) expect: Option<u64>,
}

/// An execution that `progress` carries on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgressTarget {
    /// Whom `link` tells of its messages.
    pub whom: Option<u64>,
    /// Results of messages that were taken.
    pub results: u32,
}

/// What carries out the steps of one execution.
pub(super) struct Executor<'a> {
    pub process: &'a Process,
    pub comm: &'a Comm,
    pub turn: Turn,
    pub memory: &'a mut Memory,
    /// The first error that does not end the execution.
    pub noted: &'a mut Option<Error>,
    /// Why there are no data, if there are none.
    pub without: &'a mut Option<Error>,
    pub told: &'a mut ProgressTarget,
}

impl Executor<'_> {
    /// Context, rank and tag for messages with a peer of the schedule: those of the
    /// remote group come behind the local ones.
    #[inline]
    fn envelope(&self, peer: u32) -> (Cid, u32, i32) {
        match &self.comm.remote {
            None => (self.comm.cid, peer, self.turn.comm.tag),
            Some(r) if peer < self.comm.size() => (r.local.cid, peer, self.turn.local.tag),
            Some(_) => (self.comm.cid, peer - self.comm.size(), self.turn.comm.tag),
        }
    }

    /// A message under way, of whose end `link` tells.
    #[inline]
    fn watched(&self, posted: Posted) -> Posted {
        if let Some(whom) = self.told.whom {
            self.process.link(|link| link.set_word(posted.id, whom));
        }
        posted
    }

    #[inline]
    fn settle(&mut self, p: Posted) -> Result<()> {
        let (cid, done) = self.process.link(|link| (link.cid(p.id), link.take(p.id)));
        if done.error.is_none() && p.expect.is_none_or(|expect| expect == done.len) {
            return Ok(());
        }
        let (source, sent, expect) = match done.error.as_deref() {
            Some(&Failure::Truncated {
                source,
                sent,
                capacity,
                ..
            }) => (source, sent, capacity),
            Some(lost) => return Err(failure(lost)),
            None => (done.source as u32, done.len, p.expect.unwrap_or_default()),
        };
        if self.without.is_some() && p.expect == Some(sent) {
            return Ok(());
        }
        let expect = p.expect.unwrap_or(expect);
        self.lengths_differ(cid, source, sent, expect)
    }

    /// Notes it and goes on with whatever came: others wait for what this rank
    /// has yet to send.
    ///
    /// # Errors
    /// Of the sender, if that gave up: this was not its next message, but those were cancelled.
    #[cold]
    fn lengths_differ(&mut self, cid: Cid, source: u32, sent: u64, expect: u64) -> Result<()> {
        let place = self.turn.place;
        if let Some(error) = self.comm.hear_lack(self.process, (cid, source), place) {
            self.without.get_or_insert(error);
            return Ok(());
        }
        if let Some(error) = self.comm.reported_by(self.process, (cid, source), place) {
            return Err(error);
        }
        let what = cut(self.comm).label_of(self.turn.comm.tag).what;
        let text = format!(
            "the arguments of {} differ: {} sent {sent} bytes where rank {} expects {expect}. \
             Counts and types must agree on all ranks",
            function(what),
            who(self.comm, cid, source),
            self.comm.rank
        );
        let error = Error::new(Kind::Truncate, text).on(self.comm.handle.get());
        self.noted.get_or_insert(error);
        Ok(())
    }
}

impl Exec for Executor<'_> {
    type Handle = Posted;
    type Error = Error;

    #[inline]
    fn send(&mut self, peer: u32, from: Region) -> Result<Option<Posted>> {
        let (cid, dest, tag) = self.envelope(peer);
        let buf = match self.without {
            None => self.memory.message(from),
            Some(error) => {
                if from.len > 0 {
                    let place = self.turn.place;
                    CallControl::tell_lack(self.process, (cid, dest), place, error);
                }
                SendBuf::Bytes(ptr::null_mut(), 0)
            }
        };
        let send =
            |link: &mut Link| link.send(cid, Plane::Collective, dest, tag, Mode::Standard, buf);
        let sent = self.process.link(send);
        if STARTED.load(Relaxed) {
            let bytes = from.len as u64;
            self.process.link(|link| link.call_rank(cid, dest, bytes));
        }
        match sent {
            Sent::Done => Ok(None),
            Sent::Pending(id) => Ok(Some(self.watched(Posted { id, expect: None }))),
        }
    }

    #[inline]
    fn recv(&mut self, peer: u32, into: Region) -> Result<Option<Posted>> {
        let buf = match self.without {
            None => RecvBuf::Bytes(self.memory.address(into), into.len as u64),
            Some(_) => RecvBuf::Bytes(ptr::null_mut(), 0),
        };
        let (cid, source, tag) = self.envelope(peer);
        let selector = Selector {
            source: source as i32,
            tag,
        };
        let (id, is_done) = self.process.link(|link| {
            let id = link.recv(cid, Plane::Collective, selector, buf);
            (id, link.is_done(id))
        });
        let posted = Posted {
            id,
            expect: Some(into.len as u64),
        };
        if is_done {
            self.settle(posted)?;
            return Ok(None);
        }
        Ok(Some(self.watched(posted)))
    }

    #[inline]
    fn done(&mut self, handle: Posted) -> Result<bool> {
        if !self.process.link(|link| link.is_done(handle.id)) {
            return Ok(false);
        }
        self.told.results += 1;
        self.settle(handle)?;
        Ok(true)
    }

    fn reduce(&mut self, from: Region, into: Region, order: Order) -> Result<()> {
        if self.without.is_some() {
            return Ok(());
        }
        let (a, b) = (self.memory.address(from), self.memory.address(into));
        let Some(reducer) = &self.memory.reducer else {
            unreachable!("a schedule that reduces is run with an operation");
        };
        // SAFETY: the schedule's regions are within its buffers, whose sizes the
        // caller of the collective vouches for, and do not overlap.
        let done = unsafe {
            match order {
                Order::FromLeft => reducer.apply(a, b, into.len),
                Order::FromRight => reducer.apply_right(a, b, into.len),
            }
        };
        if let Err(no_room) = done {
            *self.without = Some(no_room.into());
        }
        Ok(())
    }

    fn copy(&mut self, from: Region, into: Region) {
        if self.without.is_some() {
            return;
        }
        let (a, b) = (self.memory.address(from), self.memory.address(into));
        // SAFETY: as in `reduce`; user buffers that alias against the rules
        // are still moved byte by byte.
        unsafe { ptr::copy(a, b, from.len) }
    }
}

/// The context and the rank there that a message under way goes to or comes from.
pub(super) fn partner(process: &Process, posted: Posted) -> (Cid, u32) {
    process.link(|link| (link.cid(posted.id), link.partner(posted.id)))
}
