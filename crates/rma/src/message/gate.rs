//! The gate of `passive_target` for members elsewhere: they ask the lowest member of the lowest
//! node, in whose memory it lies, and which is rung like any other that waits there.

use std::sync::atomic::Ordering::{Relaxed, Release};

use catena_base::class_lock::{Class, Queue};
use catena_core::Process;
use catena_fabric::Peer;
use catena_objects::error::Result;

use super::carry;
use super::exchange::{self, Exchange};
use super::record::{Head, Trouble, What};
use super::state::{GateProxy, Held};
use crate::window::Window;

/// A class as a number.
fn number(class: Class) -> u8 {
    match class {
        Class::Exclusive => 0,
        Class::All => 1,
    }
}

fn class(head: Head) -> Class {
    match head.a {
        0 => Class::Exclusive,
        _ => Class::All,
    }
}

impl Window {
    /// Whether another node has the gate.
    pub(crate) fn is_gate_elsewhere(&self) -> bool {
        self.node.leader_number != 0
    }

    /// Enters the gate of another node.
    ///
    /// # Errors
    /// `ProcAborted` if its keeper is gone.
    pub(crate) fn enter_far_gate(
        &self,
        process: &Process,
        class: Class,
        queue: Queue,
    ) -> Result<()> {
        let keeper = self.node.leaders[0];
        self.check_there(self.group.member(keeper as usize))?;
        let queue = u8::from(queue == Queue::Beside);
        let answer = self.ask(keeper, What::Enter, (number(class), queue), None);
        self.await_holders(process, keeper, Held::Gate, &answer)
    }

    /// Whether a member elsewhere is inside of the gate that this one keeps.
    pub(crate) fn is_in_own_gate_from_far(&self, rank: u32) -> bool {
        let peer = self.group.member(rank as usize);
        let proxies = self.gate_proxies.borrow();
        let mut its = proxies.iter().filter(|it| it.peer == peer);
        its.any(|it| it.waiting.is_none())
    }

    /// How many members elsewhere this one's row counts at the gate, and how many of them wait.
    pub(crate) fn count_in_own_gate_from_far(&self) -> (u32, u32) {
        let proxies = self.gate_proxies.borrow();
        let waiting = proxies.iter().filter(|it| it.waiting.is_some());
        (proxies.len() as u32, waiting.count() as u32)
    }

    /// Leaves it.
    pub(crate) fn leave_far_gate(&self, process: &Process, class: Class) {
        let keeper = self.node.leaders[0];
        let peer = self.group.member(keeper as usize);
        let head = Head {
            a: number(class),
            ..Head::new(What::Leave, self.number_at(keeper))
        };
        exchange::with(|exchange| exchange.tell(peer, head));
        carry::send(process, peer);
    }

    /// A member elsewhere wants to be inside of the gate that this one keeps.
    pub(crate) fn enter_gate_for(
        &self,
        exchange: &mut Exchange,
        peer: Peer,
        head: Head,
    ) -> std::result::Result<(), Trouble> {
        let (class, queue) = match head.b {
            0 => (class(head), Queue::Behind),
            _ => (class(head), Queue::Beside),
        };
        let mine = self.control.row(self.node.me);
        mine.in_gate.store(mine.in_gate.load(Relaxed) + 1, Relaxed);
        let gate = &self.control.meeting().gate;
        let waiting = match gate.try_enter(class, queue) {
            true => None,
            false => {
                let waits = mine.gate_waits.load(Relaxed) + 1;
                mine.gate_waits.store(waits, Relaxed);
                Some(gate.wait(class, queue))
            }
        };
        if waiting.is_none() {
            exchange.confirm(peer, head, Trouble::None);
        }
        self.gate_proxies.borrow_mut().push(GateProxy {
            peer,
            head,
            class,
            waiting,
            is_gone: false,
        });
        // Whoever left in between may not have seen that it waits.
        self.advance_gate(exchange);
        self.note_waiters();
        Ok(())
    }

    /// Lets those in whose turn it is; true if there were some.
    pub(crate) fn advance_gate(&self, exchange: &mut Exchange) -> bool {
        let mut moved = false;
        while let Some(at) = self.next_at_gate() {
            moved = true;
            let mine = self.control.row(self.node.me);
            let waits = mine.gate_waits.load(Relaxed) - 1;
            mine.gate_waits.store(waits, Relaxed);
            let mut proxies = self.gate_proxies.borrow_mut();
            proxies[at].waiting = None;
            let is_gone = proxies[at].is_gone;
            if is_gone {
                let gone = proxies.swap_remove(at);
                self.leave_as_keeper(gone.class);
            } else {
                exchange.confirm(proxies[at].peer, proxies[at].head, Trouble::None);
            }
        }
        if moved && self.control.meeting().gate.has_waiters() {
            self.wake_at_gate();
        }
        moved
    }

    /// Has those give up who wait here for a member that has died inside; true if there were some.
    pub(super) fn give_up_at_gate(&self, process: &Process, exchange: &mut Exchange) -> bool {
        let is_waiting = |it: &GateProxy| it.waiting.is_some();
        if !self.gate_proxies.borrow().iter().any(is_waiting) {
            return false;
        }
        let is_lost_by = |dead| self.is_gate_lost_by(dead);
        if self.death_among(process, is_lost_by).is_none() {
            return false;
        }
        let mine = self.control.row(self.node.me);
        self.gate_proxies.borrow_mut().retain(|it| {
            if is_waiting(it) {
                mine.gate_waits
                    .store(mine.gate_waits.load(Relaxed) - 1, Relaxed);
                mine.in_gate.store(mine.in_gate.load(Relaxed) - 1, Release);
                exchange.confirm(it.peer, it.head, Trouble::Holder);
            }
            !is_waiting(it)
        });
        true
    }

    /// One that waited and is inside now.
    fn next_at_gate(&self) -> Option<usize> {
        let gate = &self.control.meeting().gate;
        let proxies = self.gate_proxies.borrow();
        let is_next = |it: &GateProxy| it.waiting.is_some_and(|waiting| gate.try_turn(waiting));
        proxies.iter().position(is_next)
    }

    fn leave_as_keeper(&self, class: Class) {
        let waits = self.control.meeting().gate.leave(class);
        let mine = self.control.row(self.node.me);
        mine.in_gate.store(mine.in_gate.load(Relaxed) - 1, Release);
        if waits {
            self.wake_at_gate();
        }
    }

    /// A member elsewhere leaves.
    pub(crate) fn leave_gate_for(
        &self,
        exchange: &mut Exchange,
        peer: Peer,
        head: Head,
    ) -> std::result::Result<(), Trouble> {
        let class = class(head);
        {
            let mut proxies = self.gate_proxies.borrow_mut();
            let is_it =
                |it: &GateProxy| it.peer == peer && it.class == class && it.waiting.is_none();
            let at = proxies.iter().position(is_it).ok_or(Trouble::Sense)?;
            proxies.swap_remove(at);
        }
        self.leave_as_keeper(class);
        self.advance_gate(exchange);
        Ok(())
    }

    /// A member elsewhere is gone, which has that rank: one that is inside never leaves, and those
    /// who wait for that give up.
    pub(super) fn lose_at_gate(&self, peer: Peer, dead: u32) {
        self.gate_proxies.borrow_mut().retain_mut(|it| {
            if it.peer != peer {
                return true;
            }
            it.is_gone = true;
            if it.waiting.is_none() {
                let lost = &self.control.meeting().gate_lost;
                lost.store(dead + 1, Release);
            }
            it.waiting.is_some()
        });
    }
}
