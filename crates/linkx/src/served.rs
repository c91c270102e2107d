//! What an endpoint does for its peers, and what their answers mean.

use std::ptr::{NonNull, null_mut};

use catena_fabric::Peer;
use catena_link::{Completion, Failure, Plane, TagSelector};

use crate::core::{DATA, REQUESTS, State};
use crate::op::{Kind, Op, Room};
use crate::queue::Entry;
use crate::serve::{self, Request, WRITES, What};
use crate::sys::flag;

impl State {
    /// Carries out what peers ask for; whether there was something.
    pub fn serve(&mut self) -> bool {
        let any = TagSelector {
            source: None,
            tag: 0,
            ignore: u64::MAX,
        };
        let mut moved = false;
        if !self.link.has_kept(REQUESTS, Plane::User) {
            return moved;
        }
        while let Some((message, envelope)) = self.link.mprobe(REQUESTS, Plane::User, any) {
            moved = true;
            let mut op = self.pool.take();
            // SAFETY: just taken.
            let it = unsafe { op.as_mut() };
            it.kind = Kind::Request;
            it.parts = 1;
            it.lend_own(envelope.len as usize);
            self.requests.push_back(op);
            let request = self.link.mrecv(message, Room(op));
            self.begin(op, request);
            self.hand_over();
        }
        moved
    }

    /// Carries out one request, or takes an answer.
    pub fn serve_one(&mut self, peer: Peer, bytes: &[u8]) {
        let Some((request, rest)) = Request::decode(bytes) else {
            return;
        };
        if request.what == What::Answer {
            let cause = "the process whose memory it is has refused: its key, its bounds and its \
                         access rights are to be looked at";
            // SAFETY: an operation that waits for an answer is there.
            let is_asked = |op: &NonNull<Op>| unsafe { op.as_ref() }.peer == peer.0;
            if self.asked.get(&request.number).is_some_and(is_asked) {
                self.answered(request.number, request.error, rest, cause);
            }
            return;
        }
        self.tally.served += 1;
        match request.what {
            What::WriteLong => self.begin_written(peer, &request),
            What::ReadLong => self.begin_read_out(peer, &request),
            _ => {
                let mut out = Vec::new();
                let done = serve::perform(&self.regions, &request, rest, &mut out);
                let error = done.err().unwrap_or(0);
                self.ask(peer, &request.answer(error), &[&out]);
                if error == 0 {
                    self.tell_served(peer, &request);
                }
            }
        }
    }

    /// A peer has done something with memory here: counters and remote CQ data tell.
    fn tell_served(&mut self, peer: Peer, request: &Request) {
        let reads = request.access() == flag::REMOTE_READ;
        let counter = match reads {
            true => &self.counters.remote_read,
            false => &self.counters.remote_write,
        };
        if let Some(counter) = counter {
            counter.count(true);
        }
        if !reads {
            self.regions.written(request.key);
        }
        if request.flags & serve::HAS_DATA != 0 {
            let source = self.addr(peer.0);
            let Some(told) = self.told(self.rx) else {
                return;
            };
            told.push(Entry {
                context: null_mut(),
                flags: flag::RMA | flag::REMOTE_WRITE | flag::REMOTE_CQ_DATA,
                len: request.len as usize,
                at: null_mut(),
                data: request.data,
                tag: 0,
                source,
                is_fault: false,
            });
        }
    }

    /// Data follow that a peer writes here.
    fn begin_written(&mut self, peer: Peer, request: &Request) {
        let found = self.regions.find(
            request.key,
            request.addr,
            request.len as usize,
            request.access(),
        );
        let mut op = self.pool.take();
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        it.kind = Kind::Written;
        it.peer = peer.0;
        request.encode(&mut it.store);
        match found {
            Ok((memory, hold)) => {
                it.lend(&memory);
                it.hold = Some(hold);
            }
            // What follows is thrown away.
            Err(error) => it.error = error,
        }
        let selector = TagSelector {
            source: Some(peer),
            tag: request.number | WRITES,
            ignore: 0,
        };
        self.post(op, DATA, selector);
    }

    pub fn end_written(&mut self, op: NonNull<Op>, completion: &Completion<u64>) {
        // SAFETY: it is there, and given back below.
        let it = unsafe { op.as_ref() };
        let request = Request::decode(&it.store).map(|it| it.0);
        let request = request.expect("it was encoded here");
        let (peer, is_short) = (Peer(it.peer), completion.len != request.len);
        let is_lost = matches!(completion.error.as_deref(), Some(Failure::Lost(_)));
        let error = match it.error {
            0 if completion.error.is_some() || is_short => libc::EIO,
            error => error,
        };
        // SAFETY: nobody has it any more.
        unsafe { self.pool.give(op) };
        if is_lost {
            return;
        }
        self.ask(peer, &request.answer(error), &[]);
        if error == 0 {
            self.tell_served(peer, &request);
        }
    }

    /// A peer reads memory here, as a message.
    fn begin_read_out(&mut self, peer: Peer, request: &Request) {
        let len = request.len as usize;
        match self
            .regions
            .find(request.key, request.addr, len, request.access())
        {
            Ok((memory, hold)) => {
                let mut op = self.pool.take();
                // SAFETY: just taken.
                let it = unsafe { op.as_mut() };
                it.kind = Kind::Sent;
                it.lend(&memory);
                it.hold = Some(hold);
                self.send_quietly(op, DATA, peer, request.number);
                self.tell_served(peer, request);
            }
            Err(error) => self.ask(peer, &request.answer(error), &[]),
        }
    }
}
