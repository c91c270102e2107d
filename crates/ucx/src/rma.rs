//! Reading a peer's memory.
//!
//! A read is cut into pieces, several of which are under way at once. It is
//! known by where its next byte goes to; what has arrived from its beginning is
//! told by the call that asks for it again.

use std::collections::VecDeque;

use catena_fabric::{Got, Peer, PeerLost, Remote};
use catena_ucx_sys::{Rkey, consts};

use crate::init::Ucx;
use crate::send::call_back;

/// Pieces of one read that are under way at once, at most.
const AHEAD: usize = 4;

/// What became of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Arrived,
    Failed,
}

/// A piece of a read.
#[derive(Debug)]
struct Piece {
    operation: usize,
    len: usize,
    state: State,
}

/// A read, from its first call to its end.
#[derive(Debug)]
pub(crate) struct Get {
    from: Peer,
    key: u64,
    /// Where the next byte goes to that was not told yet.
    at: usize,
    /// Under way or not told yet, in order.
    pieces: VecDeque<Piece>,
    /// No piece follows those that are under way.
    failed: bool,
}

impl Get {
    /// Takes what has arrived from the beginning, at most `most` bytes; how
    /// many.
    fn advance(&mut self, most: usize) -> usize {
        let mut got = 0;
        while let Some(piece) = self.pieces.front()
            && piece.state == State::Arrived
            && got + piece.len <= most
        {
            got += piece.len;
            self.pieces.pop_front();
        }
        self.at += got;
        got
    }

    /// Whether nothing writes to its memory.
    fn is_quiet(&self) -> bool {
        let quiet = |piece: &Piece| piece.state != State::UnderWay;
        self.pieces.iter().all(quiet)
    }
}

impl Ucx {
    /// Whether a read is known that uses a right.
    pub(crate) fn is_read_with(&self, from: Peer, key: u64) -> bool {
        let uses = |get: &Get| get.from == from && get.key == key;
        self.gets.iter().any(uses)
    }

    /// Implements `Transport::try_get`.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn get(
        &mut self,
        peer: Peer,
        remote: Remote,
        into: *mut u8,
        len: usize,
    ) -> Result<Got, PeerLost> {
        let known = |get: &Get| get.from == peer && get.at == into as usize;
        let known = self.gets.iter().position(known);
        let target = &self.targets[peer.0 as usize];
        if let Some(lost) = &target.lost {
            let lost = PeerLost::clone(lost);
            if let Some(number) = known {
                if !self.gets[number].is_quiet() {
                    return Ok(Got::Full);
                }
                self.gets.swap_remove(number);
            }
            return Err(lost);
        }
        if target.ep.is_null() && !self.reach(peer)? {
            return Ok(Got::Full);
        }
        let rkey = match self.right(peer, remote.key) {
            Ok(rkey) if rkey.is_null() => return Ok(Got::Full),
            Ok(rkey) => rkey,
            Err(()) => return Ok(Got::Unable),
        };
        let number = known.unwrap_or_else(|| {
            self.gets.push(Get {
                from: peer,
                key: remote.key,
                at: into as usize,
                pieces: VecDeque::new(),
                failed: false,
            });
            self.gets.len() - 1
        });
        // SAFETY: as promised.
        unsafe { self.post_pieces(number, rkey, remote.addr, into, len) };
        let get = &mut self.gets[number];
        let got = get.advance(len);
        self.counters.read_bytes += got as u64;
        let over = get.failed && get.is_quiet();
        if over || get.pieces.is_empty() {
            self.gets.swap_remove(number);
        }
        Ok(match got {
            0 if over => Got::Unable,
            0 => Got::Full,
            got => Got::Bytes(got),
        })
    }

    /// Posts pieces of a read that are not under way yet.
    ///
    /// # Safety
    /// `into` must be valid for `len` bytes until they have arrived, `rkey` a
    /// right to as many at `addr` of the peer.
    unsafe fn post_pieces(
        &mut self,
        number: usize,
        rkey: *mut Rkey,
        addr: u64,
        into: *mut u8,
        len: usize,
    ) {
        let get = &mut self.gets[number];
        let ep = self.targets[get.from.0 as usize].ep;
        let mut at: usize = get.pieces.iter().map(|piece| piece.len).sum();
        while !get.failed && at < len && get.pieces.len() < AHEAD {
            let Some(operation) = self.free_reads.pop() else {
                return;
            };
            let len = (len - at).min(self.read_max);
            let param = call_back(self.operations.of(operation));
            // SAFETY: the memory is lent until the piece has arrived.
            let posted = unsafe {
                let (here, there) = (into.wrapping_add(at), addr.wrapping_add(at as u64));
                self.objects.library.get(ep, here, len, there, rkey, &param)
            };
            let state = match posted {
                Ok(request) if request.is_null() => State::Arrived,
                Ok(_) => State::UnderWay,
                Err(status) => {
                    self.free_reads.push(operation);
                    let later = [consts::ERR_NO_RESOURCE, consts::ERR_NO_MEMORY];
                    get.failed = !later.contains(&status);
                    return;
                }
            };
            if state == State::Arrived {
                self.free_reads.push(operation);
            }
            self.counters.reads += 1;
            get.pieces.push_back(Piece {
                operation,
                len,
                state,
            });
            at += len;
        }
    }

    /// A piece has arrived, or has failed.
    pub(crate) fn read_done(&mut self, operation: usize, arrived: bool) {
        self.free_reads.push(operation);
        let under_way =
            |piece: &Piece| piece.operation == operation && piece.state == State::UnderWay;
        for get in &mut self.gets {
            if let Some(at) = get.pieces.iter().position(under_way) {
                get.failed |= !arrived;
                get.pieces[at].state = if arrived {
                    State::Arrived
                } else {
                    State::Failed
                };
                return;
            }
        }
    }
}
