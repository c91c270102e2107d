//! The lock of this target, held for origins elsewhere. Its waiters on the node sleep on their
//! doorbells; those elsewhere are this process's to wake, which looks whenever it makes progress,
//! and is rung like a waiter.

use std::sync::atomic::Ordering::{Relaxed, Release};

use catena_base::clock::monotonic_ns;
use catena_base::ticket_lock::Mode;
use catena_core::Process;
use catena_fabric::Peer;
use catena_hang::{Need, What};

use super::carry;
use super::exchange::{self, Exchange};
use super::ready;
use super::record::{Head, Trouble, What as RecordOf};
use super::state::{ELSEWHERE, Held, Proxy};
use crate::window::Window;

/// How long from one question who has a lock to the next, and how long an answer counts,
/// nanoseconds.
const ASK_AGAIN: u64 = 500_000_000;
const OLD: u64 = 2_000_000_000;

impl Window {
    /// Whether members elsewhere wait for this member's lock, or at the gate that it keeps.
    pub(crate) fn has_far_waiters(&self) -> bool {
        let at_gate = self.gate_proxies.borrow();
        self.has_lock_waiters() || at_gate.iter().any(|it| it.waiting.is_some())
    }

    /// Has progress look for those who wait, if some do.
    pub(super) fn note_waiters(&self) {
        if self.has_far_waiters() {
            ready::add(self);
        }
    }

    fn has_lock_waiters(&self) -> bool {
        self.proxies.borrow().iter().any(|it| !it.has_entered)
    }

    /// Draws a ticket for an origin, which is answered when that is served.
    pub(crate) fn lock_for(
        &self,
        exchange: &mut Exchange,
        peer: Peer,
        head: Head,
    ) -> Result<(), Trouble> {
        let mode = if head.a == 1 {
            Mode::Shared
        } else {
            Mode::Exclusive
        };
        let lock = &self.control.target(self.node.me).lock;
        let proxy = Proxy {
            peer,
            head,
            ticket: lock.draw(mode),
            has_entered: false,
            is_gone: false,
        };
        lock.wait();
        let mine = self.control.row(self.node.me);
        mine.proxy_holds.store(1, Relaxed);
        mine.proxy_waits.store(1, Relaxed);
        self.proxies.borrow_mut().push(proxy);
        self.advance_locks(exchange);
        self.note_waiters();
        Ok(())
    }

    /// Lets those enter whose turn it is; true if there were some.
    pub(crate) fn advance_locks(&self, exchange: &mut Exchange) -> bool {
        if !self.has_lock_waiters() {
            return false;
        }
        let me = self.node.me;
        let lock = &self.control.target(me).lock;
        let (mut moved, mut again) = (false, true);
        while std::mem::take(&mut again) {
            let mut proxies = self.proxies.borrow_mut();
            for proxy in proxies.iter_mut().filter(|it| !it.has_entered) {
                if !lock.try_enter(proxy.ticket, me) {
                    continue;
                }
                lock.wait_no_more();
                (proxy.has_entered, moved, again) = (true, true, true);
                if proxy.is_gone {
                    lock.leave(proxy.ticket.mode);
                } else {
                    exchange.confirm(proxy.peer, proxy.head, Trouble::None);
                }
            }
            proxies.retain(|it| !(it.has_entered && it.is_gone));
        }
        if !self.has_lock_waiters() {
            self.control.row(me).proxy_waits.store(0, Relaxed);
        }
        if moved {
            self.wake_waiters(self.me);
        }
        moved
    }

    /// Has those give up who wait here in vain: a member that has died holds what they wait for.
    /// True if there were some.
    pub(crate) fn give_up_waiting(&self, process: &Process, exchange: &mut Exchange) -> bool {
        let at_gate = self.give_up_at_gate(process, exchange);
        let me = self.node.me;
        if !self.has_lock_waiters() {
            return at_gate;
        }
        let is_lost_by = |dead| self.is_lock_lost_by(me, dead);
        if self.death_among(process, is_lost_by).is_none() {
            return at_gate;
        }
        let lock = &self.control.target(me).lock;
        self.proxies.borrow_mut().retain(|proxy| {
            if !proxy.has_entered {
                // Its ticket stays drawn.
                lock.wait_no_more();
                exchange.confirm(proxy.peer, proxy.head, Trouble::Holder);
            }
            proxy.has_entered
        });
        self.control.row(me).proxy_waits.store(0, Relaxed);
        true
    }

    /// An origin lets go of the lock.
    pub(crate) fn unlock_for(
        &self,
        exchange: &mut Exchange,
        peer: Peer,
        head: Head,
    ) -> Result<(), Trouble> {
        let found = {
            let mut proxies = self.proxies.borrow_mut();
            let at = proxies
                .iter()
                .position(|it| it.peer == peer && it.has_entered);
            at.map(|at| proxies.swap_remove(at))
        };
        let trouble = exchange.take_note(peer, self.number);
        exchange.confirm(peer, head, trouble);
        if let Some(proxy) = found {
            self.control
                .target(self.node.me)
                .lock
                .leave(proxy.ticket.mode);
            self.wake_waiters(self.me);
            self.advance_locks(exchange);
        }
        Ok(())
    }

    /// Whether a member elsewhere has this member's lock, and does not only wait for it.
    pub(crate) fn has_own_lock_from_far(&self, rank: u32) -> bool {
        let peer = self.group.member(rank as usize);
        let proxies = self.proxies.borrow();
        proxies.iter().any(|it| it.peer == peer && it.has_entered)
    }

    /// Tells an origin, which has waited for this member's lock for long, or at the gate that it
    /// keeps, who has it.
    pub(crate) fn tell_holders(
        &self,
        exchange: &mut Exchange,
        peer: Peer,
        held: u8,
    ) -> Result<(), Trouble> {
        let origin = self.group.rank_of(peer).ok_or(Trouble::Sense)?;
        let me = self.node.me;
        let has_lock = |rank: u32| match self.targets[rank as usize].local {
            ELSEWHERE => self.has_own_lock_from_far(rank),
            local => self.is_holding(local, me),
        };
        let is_holder = |&rank: &u32| match held == Held::Gate as u8 {
            true => self.is_in_gate(rank),
            false => has_lock(rank),
        };
        let holders: Vec<u32> = (0..self.size()).filter(is_holder).collect();
        let head = Head {
            a: held,
            ..Head::new(RecordOf::Holders, self.number_at(origin))
        };
        exchange.request(peer, head, |out| {
            out.extend(holders.into_iter().flat_map(u32::to_ne_bytes));
        });
        Ok(())
    }

    /// A member says who has its lock, or is inside of the gate that it keeps.
    pub(crate) fn learn_holders(&self, from: Peer, held: u8, body: &[u8]) -> Result<(), Trouble> {
        let rank = self.group.rank_of(from).ok_or(Trouble::Sense)?;
        let (ranks, _) = body.as_chunks::<4>();
        let ranks = ranks.iter().map(|it| u32::from_ne_bytes(*it));
        let ranks = ranks.filter(|&it| it < self.size()).collect();
        let far = self.far(rank);
        let holders = far.holders.get(usize::from(held)).ok_or(Trouble::Sense)?;
        *holders.told.borrow_mut() = (monotonic_ns(), ranks);
        Ok(())
    }

    /// What a wait for the lock of a member elsewhere is for, or one at the gate that it keeps:
    /// those who have it, as that one says, which is asked now and then.
    pub(crate) fn need_of_holders(&self, process: &Process, rank: u32, held: Held) -> Need {
        let (far, now) = (self.far(rank), monotonic_ns());
        let of_it = &far.holders[held as usize];
        let peer = self.group.member(rank as usize);
        if now.saturating_sub(of_it.asked.get()) >= ASK_AGAIN {
            let head = Head {
                a: held as u8,
                ..Head::new(RecordOf::Who, self.number_at(rank))
            };
            if exchange::if_free(|exchange| exchange.tell(peer, head)) {
                of_it.asked.set(now);
                carry::send(process, peer);
            }
        }
        let (told, holders) = &*of_it.told.borrow();
        // One that has not answered lately is not in MPI, or does not answer this one.
        let is_known = !holders.is_empty() && now.saturating_sub(*told) < OLD;
        let is_needed = |it| match is_known {
            true => it != self.me && holders.contains(&it),
            false => it == rank,
        };
        let mut need = self.need(process, What::Lock, is_needed);
        need.open |= !is_known;
        need
    }

    /// A member is gone: it waits for no lock here any more. One that it holds it holds for good,
    /// as what it has done under it may be half of what it wanted; so it is said whose death that
    /// was, and those who wait for it give up.
    pub(crate) fn lose_member(&self, peer: Peer) {
        let Some(dead) = self.group.rank_of(peer) else {
            return;
        };
        self.proxies.borrow_mut().retain_mut(|proxy| {
            if proxy.peer != peer {
                return true;
            }
            proxy.is_gone = true;
            if proxy.has_entered {
                let lost = &self.control.target(self.node.me).lost;
                lost.store(dead + 1, Release);
            }
            !proxy.has_entered
        });
        self.lose_at_gate(peer, dead);
    }
}
