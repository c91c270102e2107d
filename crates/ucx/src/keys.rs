//! Rights to memory, and who was told of them.
//!
//! What a peer needs to read a piece of memory is longer than a
//! [`RemoteKey`](catena_fabric::RemoteKey). So rights are numbered: a peer for which memory is
//! registered is told what the number stands for before it first hears the number; another asks
//! when it first uses it. Rights that are
//! alike have one number, as those of the same memory mostly are; numbers are
//! never used again, and those that are not in use are forgotten when there are
//! too many.

use std::ptr::null_mut;

use catena_fabric::{Access, Buf, Deliver, Header, Peer, Posted, RemoteKey, frame};
use catena_ucx_sys::Rkey;

use crate::inbox::Word;
use crate::init::Ucx;
use crate::objects::Region;
use crate::recv::WORD;
use crate::state::Right;

/// Room behind a packed right, so that one that is cut short is not read past
/// its end.
const MARGIN: usize = 256;

/// What a word about a right says: the kind in its header.
pub(crate) mod word_kind {
    /// What the number stands for.
    pub const TELL: u8 = 0;
    /// The number stands for nothing any more.
    pub const FORGET: u8 = 1;
    /// What does the number stand for?
    pub const ASK: u8 = 2;
    /// The number never stood for anything, or does so no more.
    pub const UNKNOWN: u8 = 3;
    /// It is none about a right, but one of those by which processes introduce themselves: see
    /// `added`.
    pub const INTRODUCTION: u8 = crate::inbox::INTRODUCTION;
}

impl Ucx {
    /// Registers memory so that `peer`, or every peer, can read it, and write it if it may.
    pub(crate) fn register_remote(
        &mut self,
        peer: Option<Peer>,
        buf: Buf,
        access: Access,
    ) -> Option<RemoteKey> {
        if !buf.kind.is_host() {
            return None;
        }
        let region = self.objects.register(buf.at, buf.len, access).ok()?;
        let number = self.keys.number(region.pack().ok()?);
        if let Some(peer) = peer {
            self.tell(peer, number)?;
        }
        self.forget_unused(number);
        let addr = buf.at as u64;
        self.keys.own.get_mut(&number)?.regions.push((addr, region));
        Some(RemoteKey { addr, key: number })
    }

    /// Ends what [`Ucx::register_remote`] began.
    pub(crate) fn end_registration(&mut self, remote: RemoteKey) {
        if let Some(own) = self.keys.own.get_mut(&remote.key) {
            let this = |&(addr, _): &(u64, Region)| addr == remote.addr;
            let at = own.regions.iter().position(this);
            at.map(|at| own.regions.swap_remove(at));
        }
    }

    /// Sees to it that a peer knows what a number stands for; `None` if there
    /// is no way to say it now.
    fn tell(&mut self, peer: Peer, number: u64) -> Option<()> {
        let own = &self.keys.own[&number];
        if own.told.contains(&peer) {
            return Some(());
        }
        let packed = own.packed.clone();
        if !self.say(word_kind::TELL, peer, number, &packed) {
            return None;
        }
        self.keys.own.get_mut(&number)?.told.insert(peer);
        Some(())
    }

    /// Sends a word about a right; whether it is on its way.
    fn say(&mut self, kind: u8, peer: Peer, number: u64, packed: &[u8]) -> bool {
        let header = Header {
            kind,
            len: number,
            ..Header::default()
        };
        let header = frame::of_one(header);
        let fits = packed.len() <= self.max_packet();
        fits && self.send_to(WORD, peer, header, packed) == Ok(Posted::Done)
    }

    /// Forgets a right that is not in use and not `but`, if there are too many.
    fn forget_unused(&mut self, but: u64) {
        if self.keys.own.len() <= self.most_keys {
            return;
        }
        let mut own = self.keys.own.iter();
        let unused = own.find(|(number, own)| **number != but && own.regions.is_empty());
        let Some((&number, own)) = unused else {
            return;
        };
        for peer in own.told.iter().copied().collect::<Vec<_>>() {
            let lost = self.endpoint.losses.get(peer).is_some();
            // Next time.
            if !lost && !self.say(word_kind::FORGET, peer, number, &[]) {
                return;
            }
            if let Some(own) = self.keys.own.get_mut(&number) {
                own.told.remove(&peer);
            }
        }
        if let Some(own) = self.keys.own.remove(&number) {
            self.keys.numbers.remove(&own.packed);
        }
    }

    /// A peer says something about a right to its memory.
    pub(crate) fn learn(&mut self, word: Word) {
        let key = (word.from, word.number);
        let mut packed = word.packed;
        match word.kind {
            word_kind::ASK => {
                self.has_to_do = true;
                return self.keys.questions.push_back(key);
            }
            word_kind::INTRODUCTION => return self.hear_word(word.number, &packed),
            word_kind::FORGET => {
                if self.rma.is_idle(word.from)
                    && let Some(right) = self.keys.theirs.remove(&key)
                {
                    self.discard(right);
                }
                return;
            }
            word_kind::TELL if !packed.is_empty() => packed.resize(packed.len() + MARGIN, 0),
            word_kind::UNKNOWN => packed.clear(),
            _ => return,
        }
        self.keys.asked.remove(&key);
        // One that is in use stays: what a number stands for never changes.
        let known = self.keys.theirs.get(&key);
        if known.is_none_or(|right| right.packed.is_empty()) {
            let rkey = null_mut();
            self.keys.theirs.insert(key, Right { packed, rkey });
        }
    }

    /// Answers the peers that have asked what a number stands for, as far as the routes take it.
    pub(crate) fn answer<D: Deliver>(&mut self, deliver: &mut D) {
        for _ in 0..self.keys.questions.len() {
            let Some((peer, number)) = self.keys.questions.pop_front() else {
                return;
            };
            if self.targets[peer.0 as usize].address.is_empty() {
                deliver.wanted(peer);
            }
            let is_said = match self.keys.own.contains_key(&number) {
                true => self.tell(peer, number).is_some(),
                false => self.say(word_kind::UNKNOWN, peer, number, &[]),
            };
            if !is_said && self.endpoint.losses.get(peer).is_none() {
                self.keys.questions.push_back((peer, number));
            }
        }
    }

    /// Whether peers wait for an answer.
    pub(crate) fn has_questions(&self) -> bool {
        !self.keys.questions.is_empty()
    }

    /// A right to a peer's memory, ready for use; null if it is not known yet, and then the peer is
    /// asked.
    ///
    /// # Errors
    /// There is none, or it is of no use here.
    pub(crate) fn right(&mut self, peer: Peer, number: u64) -> Result<*mut Rkey, ()> {
        let key = (peer, number);
        let Some(right) = self.keys.theirs.get_mut(&key) else {
            if !self.keys.asked.contains(&key) && self.say(word_kind::ASK, peer, number, &[]) {
                self.keys.asked.insert(key);
            }
            return Ok(null_mut());
        };
        if right.packed.is_empty() {
            return Err(());
        }
        if right.rkey.is_null() {
            let ep = self.targets[peer.0 as usize].ep;
            // SAFETY: an open endpoint to the peer that made the right.
            let rkey = unsafe { self.objects.library.rkey_unpack(ep, &right.packed) };
            right.rkey = rkey.map_err(drop)?;
        }
        Ok(right.rkey)
    }

    fn discard(&self, right: Right) {
        if !right.rkey.is_null() {
            // SAFETY: no read uses it, and none will.
            unsafe { self.objects.library.rkey_destroy(right.rkey) };
        }
    }

    /// A peer was removed: it is told nothing, and asked for nothing any more.
    pub(crate) fn forget_rights(&mut self, peer: Peer) {
        self.keys.asked.retain(|it| it.0 != peer);
        self.keys.questions.retain(|it| it.0 != peer);
        for own in self.keys.own.values_mut() {
            own.told.remove(&peer);
        }
    }

    /// Gives up the rights to the memory of a peer that was removed, which no operation uses.
    pub(crate) fn discard_rights(&mut self, peer: Peer) {
        let of_it = self.keys.theirs.extract_if(|it, _| it.0 == peer);
        for (_, right) in of_it.collect::<Vec<_>>() {
            self.discard(right);
        }
    }

    /// Gives up all rights, before the worker is closed.
    pub(crate) fn discard_all(&mut self) {
        for (_, right) in std::mem::take(&mut self.keys.theirs) {
            self.discard(right);
        }
    }
}
