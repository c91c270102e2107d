//! Synchronization with members elsewhere: flushes, locks, posts and completions, and meetings of
//! hosts.
//!
//! Whoever asks for something waits for the answer to just that ([`Answer`]): so a thread that
//! waits for a lock keeps no other one waiting. Operations are counted, and a flush waits until all
//! have ended.

use catena_hang::{self as hang, WaitsFor};
use std::sync::Arc;

use catena_base::ticket_lock::Mode;
use catena_core::{Process, kind_of_death};
use catena_fabric::Peer;
use catena_objects::error::{Error, Kind, Result};

use super::carry;
use super::exchange::{self, Exchange, Pending};
use super::record::{Head, Trouble, What};
use super::state::{Answer, ELSEWHERE, Far, Held};
use crate::lost::Awaits;
use crate::window::Window;

impl Window {
    /// Checks that a member is there.
    ///
    /// # Errors
    /// `ProcAborted` if it is gone.
    pub(crate) fn check_there(&self, peer: Peer) -> Result<()> {
        let Some(loss) = exchange::loss(peer) else {
            return Ok(());
        };
        let rank = self.group.rank_of(peer).unwrap_or(u32::MAX);
        let text = format!("rank {rank} of the window is lost: {}", loss.text());
        Err(Error::new(loss.kind(), text))
    }

    /// Sends a record, with a number if there is one, that a member answers when it has come so
    /// far.
    pub(crate) fn ask(
        &self,
        rank: u32,
        what: What,
        (a, b): (u8, u8),
        number: Option<u64>,
    ) -> Arc<Answer> {
        let peer = self.group.member(rank as usize);
        let answer = Arc::new(Answer::default());
        exchange::with(|exchange| {
            let id = exchange.expect(Pending {
                answer: Some(answer.clone()),
                ..Pending::new(peer, self.number, rank)
            });
            let head = Head {
                a,
                b,
                id,
                ..Head::new(what, self.number_at(rank))
            };
            exchange.request(peer, head, |out| {
                out.extend(number.into_iter().flat_map(u64::to_ne_bytes));
            });
        });
        answer
    }

    /// Waits until a member has answered a question.
    ///
    /// # Errors
    /// `ProcAborted` if it is gone.
    pub(crate) fn await_answer(&self, process: &Process, rank: u32, answer: &Answer) -> Result<()> {
        if !answer.has_come() {
            let describe = |process: &Process, waits: &mut WaitsFor| {
                // That one answers by itself.
                let need = self.need(process, hang::What::Remote, |it| it == rank);
                waits.needs.push(need);
            };
            process.block(describe, |_| answer.has_come());
        }
        self.check_there(self.group.member(rank as usize))
    }

    /// Waits until all operations on a member that were started so far have ended, those that a
    /// flush was asked for of which it has said so.
    ///
    /// # Errors
    /// `ProcAborted` if it is gone.
    pub(crate) fn await_operations(&self, process: &Process, rank: u32) -> Result<()> {
        let far = self.far(rank);
        // Another thread may ask for a later one meanwhile.
        let flush = far.flush.borrow().clone();
        let has_ended =
            || far.outstanding.get() == 0 && flush.as_ref().is_none_or(|it| it.has_come());
        if !has_ended() {
            let describe = |process: &Process, waits: &mut WaitsFor| {
                let need = self.need(process, hang::What::Remote, |it| it == rank);
                waits.needs.push(need);
            };
            process.block(describe, |_| has_ended());
        }
        self.check_there(self.group.member(rank as usize))
    }

    /// Waits until a member gives what it was asked for, which others may have.
    ///
    /// # Errors
    /// `ProcFailed` if one has died who held it; as [`Window::await_answer`].
    pub(crate) fn await_holders(
        &self,
        process: &Process,
        rank: u32,
        held: Held,
        answer: &Answer,
    ) -> Result<()> {
        if !answer.has_come() {
            let describe = |process: &Process, waits: &mut WaitsFor| {
                waits.needs.push(self.need_of_holders(process, rank, held));
            };
            process.block(describe, |_| answer.has_come());
        }
        self.check_there(self.group.member(rank as usize))?;
        if !answer.is_refused() {
            return Ok(());
        }
        let text = format!(
            "a member of the window has died that held what rank {rank} is asked for: a lock, or \
             several"
        );
        Err(Error::new(kind_of_death(), text))
    }

    /// The first thing that went wrong at a target, in words.
    fn take_trouble(&self) -> Result<()> {
        if let Some(failure) = self.take_failure() {
            return Err(failure);
        }
        let troubles = self.troubles.take();
        let Some(&(rank, trouble)) = troubles.first() else {
            return Ok(());
        };
        let (kind, text) = match trouble {
            Trouble::Range => (
                Kind::RmaRange,
                format!(
                    "an operation since the last synchronization needs bytes of rank {rank} that \
                     are not attached to the window there, or not its own"
                ),
            ),
            Trouble::Lost => (
                kind_of_death(),
                format!(
                    "a member of the window has died in the middle of an accumulate to rank \
                     {rank}, whose elements cannot be accumulated to any more"
                ),
            ),
            Trouble::Counter => (
                Kind::Arg,
                format!(
                    "an operation since the last synchronization has named a counter that rank \
                     {rank} of the window does not have: that one gave its number to \
                     MPIX_Win_set_num_notify"
                ),
            ),
            Trouble::Sense | Trouble::Holder | Trouble::None => (
                Kind::Intern,
                format!("rank {rank} did not understand an operation"),
            ),
        };
        Err(Error::new(kind, text))
    }

    /// Has all operations on a target, or on all, complete at both ends.
    ///
    /// # Errors
    /// What has gone wrong at a target since the last time; `ProcAborted` if one is gone.
    pub(crate) fn flush_far(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        if !self.has_messages.get() {
            return Ok(());
        }
        let ranks = match rank {
            Some(rank) => rank..rank + 1,
            None => 0..self.size(),
        };
        let mut outcome = Ok(());
        for rank in ranks.clone() {
            self.flush_remote(process, rank);
        }
        for rank in ranks.clone() {
            // What notifies of remote operations leaves when these have ended, and is to be flushed
            // as well.
            if self.notices.are_there.get() && self.is_under_way(rank) {
                outcome = outcome.and(self.await_operations(process, rank));
            }
            let Some(far) = self.fars.known(rank) else {
                continue;
            };
            if far.early.take() {
                outcome = outcome.and(self.check_there(self.group.member(rank as usize)));
            }
            if far.dirty.take() {
                let there = self.check_there(self.group.member(rank as usize));
                match there {
                    Ok(()) => self.ask_flush(rank, What::Flush),
                    gone => outcome = outcome.and(gone),
                }
            }
        }
        for rank in ranks {
            if self.is_under_way(rank) {
                outcome = outcome.and(self.await_operations(process, rank));
            }
        }
        outcome.and_then(|()| self.take_trouble())
    }

    /// Asks a target to say that all operations before are complete, by this record.
    pub(super) fn ask_flush(&self, rank: u32, what: What) {
        let answer = self.ask(rank, what, (0, 0), None);
        self.far(rank).flush.replace(Some(answer));
    }

    /// Has all operations on a target, or on all, complete here: the program has its buffers again.
    ///
    /// # Errors
    /// As [`Window::flush_far`].
    pub(crate) fn flush_far_locally(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        if !self.has_messages.get() {
            return Ok(());
        }
        let ranks = match rank {
            Some(rank) => rank..rank + 1,
            None => 0..self.size(),
        };
        let is_busy = |far: &Far| far.outstanding.get() + far.lent.get() != 0;
        let some_busy = || {
            let mut ranks = ranks.clone();
            ranks.any(|rank| self.fars.known(rank).is_some_and(is_busy))
        };
        if some_busy() {
            let describe = |process: &Process, waits: &mut WaitsFor| {
                let need = self.need(process, hang::What::Remote, |it| {
                    rank.is_none_or(|rank| it == rank)
                });
                waits.needs.push(need);
            };
            process.block(describe, |_| !some_busy());
        }
        if let Some(rank) = rank {
            self.check_there(self.group.member(rank as usize))?;
        }
        self.take_trouble()
    }

    /// Whether some operations on a member have not ended.
    pub(super) fn is_under_way(&self, rank: u32) -> bool {
        let is_asked = |far: &Far| {
            let flush = far.flush.borrow();
            flush.as_ref().is_some_and(|it| !it.has_come())
        };
        let far = self.fars.known(rank);
        far.is_some_and(|far| far.outstanding.get() != 0 || is_asked(far))
    }

    /// Whether a member is on another host, so that it does not share what `control` has.
    #[inline]
    pub(crate) fn is_far(&self, rank: u32) -> bool {
        self.targets[rank as usize].local == ELSEWHERE
    }

    /// Takes the lock of a member elsewhere.
    ///
    /// # Errors
    /// `ProcAborted` if it is gone.
    pub(crate) fn lock_far(&self, process: &Process, rank: u32, mode: Mode) -> Result<()> {
        self.check_there(self.group.member(rank as usize))?;
        let kind = match mode {
            Mode::Shared => 1,
            Mode::Exclusive => 2,
        };
        let answer = self.ask(rank, What::Lock, (kind, 0), None);
        self.await_holders(process, rank, Held::Lock, &answer)?;
        self.far(rank).held.set(Some(mode));
        Ok(())
    }

    /// Gives back the lock of a member elsewhere, once all operations on it are complete.
    ///
    /// # Errors
    /// As [`Window::flush_far`].
    pub(crate) fn unlock_far(&self, process: &Process, ranks: &[u32]) -> Result<()> {
        let mut outcome = Ok(());
        for &rank in ranks {
            let far = self.far(rank);
            let there = self.check_there(self.group.member(rank as usize));
            let was_held = far.held.take().is_some();
            match there {
                Ok(()) if was_held => {
                    far.dirty.set(false);
                    self.ask_flush(rank, What::Unlock);
                }
                Ok(()) => {}
                gone => outcome = outcome.and(gone),
            }
        }
        for &rank in ranks {
            if self.is_under_way(rank) {
                outcome = outcome.and(self.await_operations(process, rank));
            }
        }
        outcome.and_then(|()| self.take_trouble())
    }

    /// Tells a member elsewhere of a post or a completion, at once.
    pub(crate) fn tell_far(&self, process: &Process, rank: u32, what: What) {
        let peer = self.group.member(rank as usize);
        exchange::with(|exchange| exchange.tell(peer, Head::new(what, self.number_at(rank))));
        carry::send(process, peer);
    }

    /// A member tells of its epochs.
    pub(crate) fn hear(
        &self,
        from: Peer,
        what: What,
        head: Head,
    ) -> std::result::Result<(), Trouble> {
        let rank = self.group.rank_of(from).ok_or(Trouble::Sense)?;
        let far = self.far(rank);
        match what {
            What::Post => far.posts.set(far.posts.get().wrapping_add(1)),
            What::Complete => far.completions.set(far.completions.get().wrapping_add(1)),
            _ => {
                let heard = &mut self.meetings.heard.borrow_mut();
                heard.push((head.id, head.a, head.c != 0));
            }
        }
        Ok(())
    }

    /// Has the hosts meet, each by its lowest member, which this process is: in every round it
    /// tells another one, twice as far away as in the last, and hears of another one. How many
    /// failed, of those here `failures`; of others one at least is counted.
    ///
    /// # Errors
    /// `ProcAborted` if a member is gone.
    pub(crate) fn meet_hosts(&self, process: &Process, failures: u32) -> Result<u32> {
        let hosts = self.node.leaders.len();
        let me = self.node.leader_number;
        let meeting = self.meetings.gone_to.get();
        self.meetings.gone_to.set(meeting.wrapping_add(1));
        let mut others_failed = false;
        let mut round = 0u8;
        while 1 << round < hosts {
            let step = 1usize << round;
            let to = self.node.leaders[(me + step) % hosts];
            let head = Head {
                a: round,
                c: (failures != 0 || others_failed).into(),
                id: meeting,
                ..Head::new(What::Meet, self.number_at(to))
            };
            let peer = self.group.member(to as usize);
            exchange::with(|exchange: &mut Exchange| exchange.tell(peer, head));
            carry::send(process, peer);
            let heard = || {
                let mut heard = self.meetings.heard.borrow_mut();
                let at = heard
                    .iter()
                    .position(|it| (it.0, it.1) == (meeting, round))?;
                Some(heard.swap_remove(at).2)
            };
            let mut told = heard();
            if told.is_none() {
                let has_told = || {
                    told = told.or_else(&heard);
                    told.is_some()
                };
                self.wait_unless_lost(process, Awaits::Together, has_told, |_| true)?;
            }
            others_failed |= told == Some(true);
            round += 1;
        }
        Ok(failures + u32::from(others_failed && failures == 0))
    }

    /// The error of a meeting to which a member did not come.
    pub(crate) fn missing_member(&self) -> Error {
        let gone = self
            .group
            .members()
            .find_map(|peer| self.check_there(peer).err());
        gone.unwrap_or_else(|| {
            Error::new(
                kind_of_death(),
                "a member of the window is gone, and the others know which",
            )
        })
    }
}
