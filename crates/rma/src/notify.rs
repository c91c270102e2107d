//! Operations that notify their target: an extension, after what the Forum's working group proposes
//! for the next version of the standard.
//!
//! Each member has counters ([`notices`](crate::notices)), of which an operation names one. It
//! counts up by 1 once the operation is complete at the target: what was put is there for whoever
//! has seen the counter. So a target waits for data by waiting for a number.
//!
//! An origin that reaches the target's memory counts up itself and rings the target. Where the
//! target carries the operation out, so it does the counting, by a record behind those of the
//! operation (`Notify`). Where a network's remote access moves the data, that record leaves once
//! the network says that they have arrived.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use catena_core::Process;
use catena_core::buffer::RecvBuf;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;

use crate::access::Access;
use crate::epoch::sync_error;
use crate::lost::Awaits;
use crate::message::carry;
use crate::message::exchange::{self, Exchange, Pending};
use crate::message::record::{Head, Trouble, What};
use crate::message::state::Answer;
use crate::notices::{Counters, Piece};
use crate::window::{Flavor, Reach, Window};

impl Window {
    /// `MPIX_Win_set_num_notify`: gives this member as many counters, and sets all to 0.
    /// Collective.
    ///
    /// # Errors
    /// `Arg` for a negative number or fewer than there are; `RmaSync` in an access epoch; `NoMem`;
    /// `Other` if the call fails at another member; `ProcAborted` if one has died.
    pub fn set_num_notify(&self, process: &Process, wanted: i32) -> Result<()> {
        let made = self.make_counters(wanted);
        let failed = self.meet(process, made.is_err())?;
        let made = made?;
        failed_elsewhere(failed)?;
        // Nobody notifies now, so the old ones may go.
        if let Some(piece) = &made {
            piece.tell(&self.control.target(self.node.me).counters);
        }
        self.notices.near.take();
        self.notices.own.replace(made);
        self.meet(process, false)?;
        let open = |member| Counters::open(&self.control.target(member).counters);
        let near: std::io::Result<Vec<Counters>> = (0..self.control.members()).map(open).collect();
        let failed = self.meet(process, near.is_err())?;
        let near = near.map_err(|error| {
            let text = format!("counters of the window's members cannot be mapped: {error}");
            Error::new(Kind::RmaShared, text)
        })?;
        failed_elsewhere(failed)?;
        self.notices.near.replace(near.into());
        self.notices.are_there.set(true);
        Ok(())
    }

    fn make_counters(&self, wanted: i32) -> Result<Option<Piece>> {
        let Ok(count) = u32::try_from(wanted) else {
            fail!(
                Arg,
                "the number of counters is {wanted}: it must not be negative"
            );
        };
        let now = self.own_count();
        if count < now {
            fail!(
                Arg,
                "the window has {now} counters here, which cannot become fewer: {wanted}"
            );
        }
        if !matches!(self.epochs.access.get(), Access::None | Access::Fence) {
            return Err(sync_error(
                "the number of counters changes outside of access epochs: end this one first",
            ));
        }
        if count == 0 {
            return Ok(None);
        }
        let made = Piece::take(count).map_err(|error| {
            let text = format!("no memory for {count} counters: {error}");
            Error::new(Kind::NoMem, text)
        })?;
        Ok(Some(made))
    }

    fn own_count(&self) -> u32 {
        let own = self.notices.own.borrow();
        own.as_ref().map_or(0, |it| it.counters().count())
    }

    /// `MPIX_Win_get_num_notify`: how many counters a member has. One on another host is asked.
    ///
    /// # Errors
    /// `ProcAborted` if it is gone.
    pub fn num_notify(&self, process: &Process, rank: u32) -> Result<u32> {
        if !self.notices.are_there.get() {
            return Ok(0);
        }
        if !self.is_far(rank) {
            return Ok(self.near_count(rank));
        }
        let peer = self.group.member(rank as usize);
        self.check_there(peer)?;
        let mut count = 0u64;
        let answer = Arc::new(Answer::default());
        exchange::with(|exchange| {
            let id = exchange.expect(Pending {
                sink: RecvBuf::Bytes((&raw mut count).cast(), 8),
                left: 8,
                answer: Some(answer.clone()),
                ..Pending::new(peer, self.number, rank)
            });
            let head = Head {
                id,
                ..Head::new(What::Count, self.number_at(rank))
            };
            exchange.tell(peer, head);
        });
        self.await_answer(process, rank, &answer)?;
        Ok(count as u32)
    }

    /// How many counters a member of this node has.
    fn near_count(&self, rank: u32) -> u32 {
        let local = self.targets[rank as usize].local;
        let near = self.notices.near.borrow();
        near.get(local as usize).map_or(0, Counters::count)
    }

    /// Answers how many counters there are.
    pub(crate) fn tell_count(
        &self,
        exchange: &mut Exchange,
        from: catena_fabric::Peer,
        head: Head,
    ) {
        let reply = Head {
            id: head.id,
            ..Head::new(What::Bytes, head.window)
        };
        exchange.reply(from, reply, |_, out| {
            for word in [0, 8, u64::from(self.own_count())] {
                out.extend_from_slice(&word.to_ne_bytes());
            }
        });
    }

    /// Checks the counter of a target that an operation names, as far as that is known here.
    ///
    /// # Errors
    /// `Arg` if there is no such counter.
    pub fn check_notice(&self, rank: u32, index: i32) -> Result<u32> {
        let known = match self.is_far(rank) && self.notices.are_there.get() {
            true => None,
            false if self.is_far(rank) => Some(0),
            false => Some(self.near_count(rank)),
        };
        match u32::try_from(index) {
            Ok(index) if known.is_none_or(|count| index < count) => Ok(index),
            _ => Err(self.no_counter(rank, index.into(), known)),
        }
    }

    #[cold]
    fn no_counter(&self, rank: u32, index: i64, known: Option<u32>) -> Error {
        let has = match known {
            Some(0) => "it has none: all members call MPIX_Win_set_num_notify first".to_owned(),
            Some(count) => format!("it has those from 0 to {}", count - 1),
            None => "they count from 0".to_owned(),
        };
        let text = format!("rank {rank} of the window has no counter {index}: {has}");
        Error::new(Kind::Arg, text)
    }

    /// Says whether the next operation is one that notifies: [`Window::notify`] is called right
    /// behind it.
    pub fn announce_notice(&self, follows: bool) {
        self.notices.follow.set(follows);
    }

    /// Has a counter of a target count an operation that this process has started, and that is the
    /// last one to it.
    ///
    /// # Errors
    /// `ProcAborted` if the target is gone.
    pub fn notify(&self, process: &Process, rank: u32, index: u32) -> Result<()> {
        let target = &self.targets[rank as usize];
        // What is attached of a device is reached by messages, whatever else is not.
        let is_moving = || {
            let far = self.fars.known(rank);
            far.is_some_and(|far| far.dirty.get() || far.is_moving())
        };
        let is_mixed = self.flavor == Flavor::Dynamic && self.has_near_messages.get();
        if matches!(target.reach, Reach::Message { .. }) || is_mixed && is_moving() {
            return self.notify_by_message(process, rank, index);
        }
        let near = self.notices.near.borrow();
        let counters = near.get(target.local as usize);
        if let Some(counter) = counters.and_then(|it| it.get(index)) {
            counter.fetch_add(1, Release);
            self.ring(rank);
        }
        Ok(())
    }

    #[cold]
    fn notify_by_message(&self, process: &Process, rank: u32, index: u32) -> Result<()> {
        let peer = self.group.member(rank as usize);
        self.check_there(peer)?;
        let far = self.far(rank);
        if far.is_moving() {
            self.notify_when_there(process, rank, index);
        } else {
            far.dirty.set(true);
            exchange::with(|exchange| exchange.notify(peer, self.number_at(rank), index));
        }
        carry::send(process, peer);
        Ok(())
    }

    /// An origin's operation is complete: its counter counts.
    pub(crate) fn count_notice(&self, index: u32) -> std::result::Result<(), Trouble> {
        let own = self.notices.own.borrow();
        let counters = own.as_ref().map(Piece::counters);
        let counter = counters.as_ref().and_then(|it| it.get(index));
        counter.ok_or(Trouble::Counter)?.fetch_add(1, Release);
        Ok(())
    }

    /// Calls `use_it` with a counter of this process.
    fn with_own<R>(
        &self,
        index: i32,
        use_it: impl FnOnce(&std::sync::atomic::AtomicU64) -> R,
    ) -> Result<R> {
        let own = self.notices.own.borrow();
        let counters = own.as_ref().map(Piece::counters);
        let known = counters.as_ref().map_or(0, Counters::count);
        let found = u32::try_from(index).ok();
        let found = found.and_then(|at| counters.as_ref()?.get(at));
        let counter = found.ok_or_else(|| self.no_counter(self.me, index.into(), Some(known)))?;
        drop(own);
        Ok(use_it(counter))
    }

    /// `MPIX_Win_get_notify_value`.
    ///
    /// # Errors
    /// `Arg` if there is no such counter.
    pub fn notify_value(&self, process: &Process, index: i32) -> Result<u64> {
        if self.has_messages.get() {
            process.progress();
        }
        self.with_own(index, |counter| counter.load(Acquire))
    }

    /// `MPIX_Win_reset_notify_value`: what it was.
    ///
    /// # Errors
    /// `Arg` if there is no such counter.
    pub fn reset_notify_value(&self, index: i32) -> Result<u64> {
        self.with_own(index, |counter| counter.swap(0, AcqRel))
    }

    /// `MPIX_Win_test_notify`: whether a counter of this process has come to a number.
    ///
    /// # Errors
    /// `Arg` if there is no such counter, `ProcAborted` if it has not, and a member has died.
    pub fn test_notify(&self, process: &Process, index: i32, threshold: u64) -> Result<bool> {
        let has_come = || self.with_own(index, |counter| counter.load(Acquire) >= threshold);
        if has_come()? {
            return Ok(true);
        }
        process.progress();
        match has_come()? {
            true => Ok(true),
            false => self.all_live(process).map(|()| false),
        }
    }

    /// `MPIX_Win_wait_notify`: waits until it has.
    ///
    /// # Errors
    /// As [`Window::test_notify`].
    pub fn wait_notify(&self, process: &Process, index: i32, threshold: u64) -> Result<()> {
        self.with_own(index, |counter| {
            let has_come = || counter.load(Acquire) >= threshold;
            match has_come() {
                true => Ok(()),
                false => self.wait_unless_lost(process, Awaits::Any, has_come, |_| true),
            }
        })?
    }
}

/// The error of a collective call that another member cannot take part in.
fn failed_elsewhere(failures: u32) -> Result<()> {
    match failures {
        0 => Ok(()),
        _ => fail!(
            Other,
            "the call failed at another member of the window, which says why"
        ),
    }
}
