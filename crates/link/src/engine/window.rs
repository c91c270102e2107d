//! How far a sender may be ahead of a receiver that does not get its packets in order.
//!
//! Packets to one rank of a communicator are numbered, and the numbers wrap. On a route that keeps
//! order that confuses nothing: each packet comes when its number is next. On one that does not, a
//! packet may be late by any number of others. There the first number of each quarter is a
//! **mark**, and the sender lets a mark out only when the one before was answered; what it sends
//! behind it waits meanwhile, apart from everything else for that process.
//!
//! The receiver answers a mark when all sequenced packets before it were handled and no packet of
//! their messages is missing. So what is under way at any time are packets of less than half of all
//! numbers, and they cannot be confused whatever the width ([`Net::SEQUENCE_BITS`]). A mark costs
//! two packets in 16,384.
//!
//! [`Net::SEQUENCE_BITS`]: crate::net::Net::SEQUENCE_BITS

use catena_fabric::{Header, Peer};

use super::Engine;
use super::assemblies::First;
use crate::key::MatchKey;
use crate::net::Net;
use crate::peer_state::{Mark, Seqs};
use crate::send_queue::Item;
use crate::types::{Cid, Plane};
use crate::wire::{Note, kind};

impl<N: Net, K: MatchKey> Engine<N, K> {
    /// The numbers of sequenced packets.
    pub const SEQS: Seqs = Seqs::of(N::SEQUENCE_BITS);

    /// Queues a mark for a rank.
    pub fn mark(&mut self, cid: Cid, dest: u32) {
        let comm = &mut self.comms[cid.index()];
        let peer_state = &mut comm.peer_states[dest as usize];
        let header = Header {
            kind: kind::MARK,
            seq: peer_state.send_seq,
            ..K::header(peer_state.remote, comm.me, K::Tag::default())
        };
        peer_state.send_seq = Self::SEQS.after(peer_state.send_seq);
        self.send_queues
            .push_mark(peer_state.peer, (cid, dest), header);
        self.work = true;
    }

    /// Queues a sequenced packet, whose number was taken, for a rank.
    pub fn push_sequenced(&mut self, cid: Cid, dest: u32, peer: Peer, item: Item) {
        self.send_queues.push_sequenced(peer, (cid, dest), item);
        self.work = true;
    }

    /// A sender wants to know when everything before its mark was handled, which was just done.
    pub fn on_mark(&mut self, from: Peer, header: &Header) {
        let mark = Mark {
            from,
            cid: K::context_of(header).cid(),
            source: K::source_of(header, from),
            seq: header.seq,
        };
        match self.assemblies.are_missing(mark.cid, mark.source) {
            true => self.marks.push(mark),
            false => self.answer_mark(mark),
        }
    }

    fn answer_mark(&mut self, mark: Mark) {
        let Some(comm) = self.comm(mark.cid) else {
            return;
        };
        let Some(peer_state) = comm.peer_states.get(mark.source as usize) else {
            return;
        };
        let header = Header {
            kind: kind::MARKED,
            seq: mark.seq,
            ..K::header(peer_state.remote, comm.me, K::Tag::default())
        };
        let note = Note::Empty;
        self.control(mark.from, Item::Control { header, note });
    }

    /// A receiver has handled everything before the mark.
    pub fn on_marked(&mut self, from: Peer, header: &Header) -> bool {
        let (context, source) = (K::context_of(header), K::source_of(header, from));
        let known = self
            .peer_state(context, source)
            .is_some_and(|it| it.peer == from);
        let place = (context.cid(), source);
        if !known || context.plane() != Plane::User {
            return false;
        }
        self.work = true;
        self.send_queues.marked(place, header.seq)
    }

    /// Ends the assembly of a message, and answers what waited for it.
    pub fn end_assembly(&mut self, first: First) {
        self.assemblies.end(first);
        if !self.marks.is_empty() {
            self.answer_marks();
        }
    }

    #[cold]
    #[inline(never)]
    fn answer_marks(&mut self) {
        for mark in std::mem::take(&mut self.marks) {
            match self.assemblies.are_missing(mark.cid, mark.source) {
                true => self.marks.push(mark),
                false => self.answer_mark(mark),
            }
        }
    }
}
