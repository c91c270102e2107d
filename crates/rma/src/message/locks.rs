//! The lock of this target, held for origins elsewhere. Its waiters on the node sleep on their
//! doorbells; those elsewhere are this process's to wake, which looks whenever it makes progress,
//! and is rung like a waiter.

use std::sync::atomic::Ordering::{Relaxed, Release};

use catena_base::ticket_lock::Mode;
use catena_core::Process;
use catena_fabric::Peer;

use super::exchange::Exchange;
use super::ready;
use super::record::{Head, Trouble};
use super::state::Proxy;
use crate::window::Window;

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
