//! Polling the networks.

use std::time::Duration;

use catena_base::PeerBytes;
use catena_base::clock::{ticks, ticks_in};
use catena_fabric::{Deliver, Header, OpId, Peer, PeerLost, RmaError};

use super::receipts::Receipts;
use super::{Networks, Stage, with_host};
use crate::exchange::Exchange;
use crate::ways::{Via, Ways};

/// Polls of shared memory to one of a network that was silent at the last.
pub(super) const RATIO: u32 = 16;

/// Polls with more time between them are seldom: the program does something else, and asks now and
/// then.
const SELDOM: Duration = Duration::from_micros(4);

impl Networks {
    /// Polls the networks. If shared memory is polled, too (`shm`), which costs far
    /// less, networks that were silent are polled only now and then, as long as polls are not
    /// seldom.
    #[inline]
    pub fn poll_beside<D: Deliver>(&mut self, shm: bool, deliver: &mut D) -> usize {
        self.turn = self.turn.wrapping_add(1);
        let all = !shm || self.seldom || self.turn.is_multiple_of(RATIO);
        if !all && self.members.iter().all(|it| !it.lively) {
            return 0;
        }
        self.poll_some(all, deliver)
    }

    /// Polls all networks or the lively ones.
    #[inline(never)]
    fn poll_some<D: Deliver>(&mut self, all: bool, deliver: &mut D) -> usize {
        if all {
            let polls = if self.seldom { 1 } else { RATIO };
            self.seldom = ticks().wrapping_sub(self.polled) > ticks_in(polls * SELDOM);
        }
        if self.ways.wanted() > 0 {
            self.ask(deliver);
        }
        for lost in self.ended.drain(..) {
            deliver.ended(lost);
        }
        let mut moved = 0;
        let only = self.members.len() == 1;
        for (number, member) in self.members.iter_mut().enumerate() {
            if all || member.lively {
                let via = Via::Network(number as u8);
                let mut through = Through {
                    exchange: &*self.exchange,
                    ways: &mut self.ways,
                    leaving: self.stage != Stage::Active,
                    receipts: &mut self.receipts,
                    counted: member.counted,
                    via,
                    only,
                    completed: 0,
                    deliver,
                };
                let packets = member.rails.poll(&mut through);
                let count = packets + through.completed;
                member.lively = count > 0;
                moved += count;
            }
        }
        if self.receipts.has_answers_due() {
            self.answer();
        }
        if let Some(report) = self.report.as_mut().filter(|it| !it.is_complete()) {
            let (members, ways) = (&self.members, &self.ways);
            report.say(self.me, &*self.exchange, |peer| match ways.via(peer) {
                Via::Network(number) => members[number as usize].rails.way(peer),
                _ => None,
            });
        }
        if all {
            self.polled = ticks();
        }
        moved
    }
}

/// Takes what arrives over one network. The loss of a peer is told only if the peer
/// is reached over this network, and not once this process has parted from its job, where all close
/// their ends. That of one that has left is an end.
struct Through<'a, D> {
    exchange: &'a dyn Exchange,
    ways: &'a mut Ways,
    receipts: &'a mut Receipts,
    /// Whether this network does not tell what has arrived.
    counted: bool,
    via: Via,
    /// Whether there is no other network.
    only: bool,
    leaving: bool,
    /// Operations that were told to have ended.
    completed: usize,
    deliver: &'a mut D,
}

impl<D: Deliver> Through<'_, D> {
    /// A peer is gone, which has ended as its host says, or has not.
    #[cold]
    fn gone(&mut self, lost: PeerLost, has_ended: bool) {
        let via = self.ways.via(lost.peer);
        let unknown = matches!(via, Via::Unknown | Via::Wanted);
        if !(via == self.via || unknown && self.only) {
            return;
        }
        self.receipts.lose(lost.peer);
        if self.leaving {
            return;
        }
        // Who leaves may be left, too, by one whose word comes later than its end: if that was a
        // death, the launcher tells.
        let is_no_death = has_ended && self.exchange.judges_ends()
            || self.receipts.has_left(lost.peer)
            || self.receipts.is_leaving();
        let lost = with_host(self.exchange, lost);
        match is_no_death {
            true => self.deliver.ended(lost),
            false => self.deliver.lost(lost),
        }
    }
}

impl<D: Deliver> Deliver for Through<'_, D> {
    #[inline]
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        self.ways.want(from);
        if self.receipts.take(from, &header, self.counted) {
            self.deliver.deliver(from, header, payload);
        }
    }

    fn lost(&mut self, lost: PeerLost) {
        self.gone(lost, false);
    }

    fn ended(&mut self, lost: PeerLost) {
        self.gone(lost, true);
    }

    fn left(&mut self, end: PeerLost) {
        if self.ways.via(end.peer) == self.via {
            self.receipts.lose(end.peer);
            self.deliver.left(with_host(self.exchange, end));
        }
    }

    fn wanted(&mut self, by: Peer) {
        self.ways.want(by);
    }

    fn completed(&mut self, op: OpId, result: Result<u64, RmaError>) {
        self.completed += 1;
        self.deliver.completed(op, result);
    }
}
