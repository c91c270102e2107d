//! Reading a peer's memory.
//!
//! A read is cut into pieces, several of which are under way at once. It is
//! known by where its next byte goes to; what has arrived from its beginning is
//! told by the call that asks for it again.

use std::collections::VecDeque;

use catena_fabric::{Got, Peer, PeerLost, Remote};
use catena_ofi_sys::calls::{self, Read};
use catena_ofi_sys::consts;

use crate::init::Ofi;
use crate::objects::Region;

/// Pieces of one read that are under way at once, at most.
const AHEAD: usize = 4;

/// Keys tried for a registration before it is given up.
const KEYS: usize = 8;

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
    /// Registration of the local memory, if it needs one.
    _region: Option<Region>,
}

/// A read, from its first call to its end.
#[derive(Debug)]
pub(crate) struct Get {
    from: Peer,
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

    /// Whether it cannot go on and nothing writes to its memory any more.
    fn is_over(&self) -> bool {
        let quiet = |piece: &Piece| piece.state != State::UnderWay;
        self.failed && self.pieces.iter().all(quiet)
    }
}

impl Ofi {
    /// Registers memory so that others can read it; its key, and the address
    /// at which its first byte is found.
    pub(crate) fn show(&mut self, at: *const u8, len: usize) -> Option<Remote> {
        if !self.reads {
            return None;
        }
        let region = self.register_shown(at, len)?;
        let key = region.key();
        if key == consts::KEY_NOTAVAIL {
            return None;
        }
        self.exposed.entry(key).or_default().push(region);
        let virtual_addresses = self.objects.offer.needs(consts::MR_VIRT_ADDR);
        let addr = if virtual_addresses { at as u64 } else { 0 };
        Some(Remote { addr, key })
    }

    fn register_shown(&mut self, at: *const u8, len: usize) -> Option<Region> {
        if self.objects.offer.needs(consts::MR_PROV_KEY) {
            let region = self.objects.register(at, len, consts::REMOTE_READ, 0);
            return region.ok();
        }
        // Short keys come round; one that is in use is passed over.
        for _ in 0..KEYS {
            self.next_key = self.next_key.wrapping_add(1) & self.key_mask;
            if self.exposed.contains_key(&self.next_key) {
                continue;
            }
            let key = self.next_key;
            if let Ok(region) = self.objects.register(at, len, consts::REMOTE_READ, key) {
                return Some(region);
            }
        }
        None
    }

    /// Ends what [`Ofi::show`] began.
    pub(crate) fn hide(&mut self, remote: Remote) {
        if let Some(regions) = self.exposed.get_mut(&remote.key) {
            regions.pop();
            if regions.is_empty() {
                self.exposed.remove(&remote.key);
            }
        }
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
        if !self.reads {
            return Ok(Got::Unable);
        }
        let known = |get: &Get| get.from == peer && get.at == into as usize;
        let known = self.gets.iter().position(known);
        if let Some(lost) = &self.targets[peer.0 as usize].lost {
            let lost = PeerLost::clone(lost);
            known.map(|number| self.gets.swap_remove(number));
            return Err(lost);
        }
        if !self.targets[peer.0 as usize].is_known() {
            return Ok(Got::Full);
        }
        let number = known.unwrap_or_else(|| {
            self.gets.push(Get {
                from: peer,
                at: into as usize,
                pieces: VecDeque::new(),
                failed: false,
            });
            self.gets.len() - 1
        });
        // SAFETY: as promised.
        unsafe { self.post_pieces(number, remote, into, len) };
        let get = &mut self.gets[number];
        let got = get.advance(len);
        self.counters.read_bytes += got as u64;
        let over = get.is_over();
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
    /// `into` must be valid for `len` bytes until they have arrived.
    unsafe fn post_pieces(&mut self, number: usize, remote: Remote, into: *mut u8, len: usize) {
        let get = &mut self.gets[number];
        let mut at: usize = get.pieces.iter().map(|piece| piece.len).sum();
        while !get.failed && at < len && get.pieces.len() < AHEAD {
            let Some(operation) = self.free_reads.pop() else {
                return;
            };
            let piece = (len - at).min(self.read_max);
            let here = into.wrapping_add(at);
            let region = if self.objects.offer.needs(consts::MR_LOCAL) {
                let key = self.next_key.wrapping_add(1) & self.key_mask;
                self.next_key = key;
                let region = self.objects.register(here, piece, consts::READ, key);
                let Ok(region) = region else {
                    self.free_reads.push(operation);
                    get.failed = true;
                    return;
                };
                Some(region)
            } else {
                None
            };
            let read = Read {
                into: here,
                len: piece,
                desc: region.as_ref().map_or(std::ptr::null_mut(), Region::desc),
                from: self.targets[get.from.0 as usize].address,
                addr: remote.addr.wrapping_add(at as u64),
                key: remote.key,
            };
            // SAFETY: the memory is lent until the piece has arrived, the
            // context stays.
            let posted =
                unsafe { calls::read(self.objects.ep, &read, self.contexts.of(operation)) };
            if let Err(error) = posted {
                self.free_reads.push(operation);
                get.failed = error != consts::EAGAIN;
                return;
            }
            self.counters.reads += 1;
            get.pieces.push_back(Piece {
                operation,
                len: piece,
                state: State::UnderWay,
                _region: region,
            });
            at += piece;
        }
    }

    /// A piece has arrived, or has failed; whose memory it was, if that is known.
    pub(crate) fn read_done(&mut self, operation: usize, arrived: bool) -> Option<Peer> {
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
                return Some(get.from);
            }
        }
        // The peer was lost meanwhile.
        None
    }
}
