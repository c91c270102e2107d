//! Adding and removing processes of other jobs, and what is said to them: see `added`.

use std::collections::BTreeSet;
use std::ptr::null_mut;
use std::time::Instant;

use catena_fabric::frame::{Front, Sign};
use catena_fabric::introduction::{self, Heard, Introductions, Word};
use catena_fabric::row::Framed;
use catena_fabric::{Deliver, Header, LocalPeer, Peer, ProcessName, Started};
use catena_proof::Secret;
use catena_ucx_sys::{Ep, consts};

use crate::added::{Departing, FAREWELL, KEPT, Kept, MOST_KEPT, PATIENCE};
use crate::inbox::{Inbox, Witness};
use crate::init::Ucx;
use crate::recv::PACKET;
use crate::send::call_back;
use crate::state::Target;

impl Ucx {
    /// From now on processes of other jobs can be [added](Ucx::add_peer), which prove that they
    /// know `secret`, as this one does. It is the only one of its job.
    ///
    /// # Panics
    /// If it is not.
    pub fn meet_others(&mut self, place: LocalPeer, secret: Secret) {
        assert_eq!(place.processes, 1, "a process of a job adds nobody");
        let (job, rank) = (place.job, place.me.0);
        let known = Introductions::new(secret, ProcessName { job, rank }, false);
        self.added = Some(Box::default());
        let inbox: *mut Inbox = self.inbox.at();
        // SAFETY: no call of UCX's is under way.
        unsafe {
            (*inbox).introductions = Some(known);
            (*inbox).processes = 0;
        }
    }

    /// What is known of how this process and others introduce themselves.
    fn known(&mut self) -> Option<&mut Introductions> {
        // SAFETY: no call of UCX's is under way, and the loan is over before one is.
        unsafe { (*self.inbox.at()).introductions.as_mut() }
    }

    /// Adds a process of another job.
    ///
    /// # Errors
    /// If it is known already, its number is in use, or this process is in a job with others.
    pub fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        let added = self.added.as_ref();
        let has_let_go = added.is_some_and(|it| it.has_let_go(peer));
        let Some(known) = self.known() else {
            return Err("it joins the processes of one job only".to_string());
        };
        if !has_let_go {
            return Err("something is under way to another process of that number".to_string());
        }
        known.add(peer, name)?;
        if let Some(added) = &mut self.added {
            added.there.insert(peer, name);
        }
        let numbers = self.endpoint.add(peer);
        self.targets.resize_with(numbers, Target::unknown);
        self.rma.grow(numbers);
        Ok(())
    }

    /// It is known how a process is reached that was added; whether it was.
    pub(crate) fn reach_added(&mut self, peer: Peer, address: &[u8]) -> bool {
        let Some(added) = self.added.as_mut().filter(|it| it.knows(peer)) else {
            return false;
        };
        added.addresses.insert(peer, address.into());
        self.has_to_do = true;
        true
    }

    /// Removes a process that was added; see [`Rail::remove_peer`](catena_fabric::Rail).
    ///
    /// # Errors
    /// If it was not.
    pub fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        if !self.added.as_ref().is_some_and(|it| it.knows(peer)) {
            return Err("only a process that was added is removed".to_string());
        }
        // What was taken leaves in front of the farewell, as far as there is room.
        self.end_rows();
        let _ = self.endpoint.lose(peer, "it was removed".to_string());
        self.endpoint.losses.set_known(peer);
        let has_answered = self.known().is_some_and(|it| it.remove(peer));
        self.forget_rights(peer);
        let ep = std::mem::replace(&mut self.targets[peer.0 as usize].ep, null_mut());
        let Some(added) = &mut self.added else {
            return Ok(());
        };
        added.addresses.remove(&peer);
        let early = added.eps.remove(&peer);
        if let Some(name) = added.there.remove(&peer) {
            let departing = Departing {
                name,
                ep: early.unwrap_or(ep),
                until: Instant::now() + PATIENCE,
                is_flushed: false,
                is_kept: !has_answered,
                has_failed: false,
                goodbye: None,
            };
            added.departing.insert(peer, departing);
        }
        self.has_to_do = true;
        Ok(())
    }

    /// What is to be done in a poll besides packets.
    #[cold]
    #[inline(never)]
    pub(crate) fn do_chores<D: Deliver>(&mut self, deliver: &mut D) {
        if self.has_questions() {
            self.answer(deliver);
        }
        if self.added.is_some() {
            self.open_ways();
            self.say_words();
            self.let_go();
            let now = Instant::now();
            while let Some(peer) = self.known().and_then(|it| it.left(now)) {
                self.leave(peer);
            }
        }
        let says = self.known().is_some_and(|it| it.has_to_do());
        let added = self.added.as_ref();
        let others = added.is_some_and(|it| !(it.addresses.is_empty() && it.departing.is_empty()));
        self.has_to_do = self.has_questions() || says || others;
    }

    /// Whether something is to be said now.
    pub(crate) fn has_words(&mut self) -> bool {
        self.known().is_some_and(|it| it.next().is_some())
    }

    /// Opens the ways to those whose addresses are known. One that was removed and added again
    /// waits until the former way is closed.
    fn open_ways(&mut self) {
        let Some(mut added) = self.added.take() else {
            return;
        };
        let leaving: BTreeSet<ProcessName> = added.departing.values().map(|it| it.name).collect();
        let there = &added.there;
        let may = |peer: &Peer| there.get(peer).is_some_and(|name| !leaving.contains(name));
        let ready = added.addresses.extract_if(|peer, _| may(peer));
        let ready: Vec<(Peer, Box<[u8]>)> = ready.collect();
        let mut failed = Vec::new();
        for (peer, address) in ready {
            let kept = added
                .kept
                .iter()
                .position(|it| added.there.get(&peer) == Some(&it.name));
            let opened = match kept.map(|at| added.kept.swap_remove(at)) {
                Some(Kept { ep, witness, .. }) => Ok((ep, witness)),
                None => {
                    let witness = Witness::of(peer, &self.inbox);
                    let ep = self.objects.connect(&address, witness.given());
                    ep.map(|ep| (ep, witness))
                }
            };
            match opened {
                Ok((ep, mut witness)) => {
                    added.reached.insert(peer, address);
                    witness.peer = peer;
                    added.witnesses.insert(peer, witness);
                    added.eps.insert(peer, ep);
                    self.known().into_iter().for_each(|it| it.reach(peer));
                }
                Err(status) => failed.push((peer, status)),
            }
        }
        self.added = Some(added);
        for (peer, status) in failed {
            let words = self.objects.library.words(status);
            self.lose(peer, format!("UCX cannot connect to it: {words}"));
        }
    }

    /// The way to a peer that was added, or was and is leaving; null if there is none.
    fn way_to(&self, peer: Peer) -> *mut Ep {
        let Some(added) = &self.added else {
            return null_mut();
        };
        let departing = added.departing.get(&peer).map(|it| it.ep);
        let early = departing.or_else(|| added.eps.get(&peer).copied());
        early.unwrap_or(self.targets[peer.0 as usize].ep)
    }

    /// Says what is owed to the processes that were added, and those that were.
    fn say_words(&mut self) {
        let due: Vec<Word> = self.known().map_or_else(Vec::new, |it| it.due().collect());
        for word in due {
            let ep = self.way_to(word.to);
            if ep.is_null() {
                continue;
            }
            let Some(operation) = self.sends.free.pop() else {
                return;
            };
            let header = Header {
                kind: word.kind as u8,
                ..Header::default()
            };
            let front = Front::new(introduction::WORDS, header);
            let at = self.memory.at(operation * self.sends.stride);
            let mut param = call_back(self.operations.of(operation));
            param.op_attr_mask |= consts::OP_ATTR_FLAGS;
            param.flags = consts::AM_SEND_FLAG_EAGER;
            // SAFETY: a buffer that no operation uses, of at least that length; it stays as it is
            // until the callback.
            let sent = unsafe {
                let len = front.write(at, &&word.bytes[..]);
                self.objects.library.am_send(ep, PACKET, at, len, &param)
            };
            match sent {
                Ok(request) if request.is_null() => self.sends.free.push(operation),
                Ok(_) => {
                    self.targets[word.to.0 as usize].buffers += 1;
                    self.sends.to[operation] = word.to;
                }
                Err(status) => {
                    self.sends.free.push(operation);
                    if !matches!(status, consts::ERR_NO_RESOURCE | consts::ERR_NO_MEMORY) {
                        let words = self.objects.library.words(status);
                        self.lose(word.to, format!("nothing can be sent to it: {words}"));
                    }
                    continue;
                }
            }
            self.known().into_iter().for_each(|it| it.said(&word));
            let added = self.added.as_mut();
            let departing = added.and_then(|it| it.departing.get_mut(&word.to));
            departing.into_iter().for_each(|it| it.goodbye = Some(word));
        }
    }

    /// Looks which of those that were removed have nothing under way any more.
    fn let_go(&mut self) {
        let Some(added) = &self.added else {
            return;
        };
        let all: Vec<Peer> = added.departing.keys().copied().collect();
        for peer in all {
            self.go_on_leaving(peer);
        }
    }

    fn go_on_leaving(&mut self, peer: Peer) {
        let has_said = self.known().is_none_or(|it| it.has_let_go(peer));
        let departing = |ucx: &Ucx| {
            let it = ucx.added.as_ref()?.departing.get(&peer)?;
            Some((it.ep, it.until, it.is_flushed, it.is_kept))
        };
        let Some((ep, until, mut is_flushed, is_kept)) = departing(self) else {
            return;
        };
        if is_kept && !ep.is_null() {
            if has_said {
                self.keep_way(peer);
            }
            if until + FAREWELL <= Instant::now() {
                self.end_departing(peer);
            }
            return;
        }
        let mut is_over = until <= Instant::now();
        if !ep.is_null() && has_said && !is_flushed && !is_over {
            let step = self.start(None, peer, None, |ucx, _, param| {
                // SAFETY: the endpoint is open.
                unsafe { ucx.objects.library.flush(ep, &param) }
            });
            is_flushed = !matches!(step, Ok(Started::Full));
            is_over = step.is_err();
        }
        let is_idle = self.rma.is_idle(peer) && self.targets[peer.0 as usize].buffers == 0;
        let is_closed = ep.is_null() || is_over || is_flushed && is_idle;
        if is_closed && !ep.is_null() {
            // SAFETY: open, and nobody knows it any more.
            unsafe { self.objects.disconnect(ep) };
            if !is_idle || !has_said {
                return self.tell_later(peer);
            }
        }
        if is_closed && is_idle {
            self.discard_rights(peer);
            self.targets[peer.0 as usize] = Target::unknown();
        }
        let Some(added) = &mut self.added else {
            return;
        };
        if is_closed && is_idle {
            added.departing.remove(&peer);
            added.witnesses.remove(&peer);
            added.reached.remove(&peer);
        } else if let Some(it) = added.departing.get_mut(&peer) {
            it.is_flushed = is_flushed;
            it.ep = if is_closed { null_mut() } else { ep };
        }
    }

    /// The way to a peer that was removed is closed before that one could be told. If it lives it
    /// is told over another one, which is that of its next time, too.
    fn tell_later(&mut self, peer: Peer) {
        let witness = Witness::of(peer, &self.inbox);
        let Some(added) = &mut self.added else {
            return;
        };
        let Some(it) = added.departing.get_mut(&peer) else {
            return;
        };
        it.ep = null_mut();
        // UCX had taken it, and given up.
        let goodbye = it.goodbye.take();
        let address = added.reached.get(&peer).filter(|_| !it.has_failed);
        let opened = address.map(|it| self.objects.connect(it, witness.given()));
        match opened {
            Some(Ok(ep)) => {
                (it.ep, it.is_kept) = (ep, true);
                added.witnesses.insert(peer, witness);
                if let (Some(word), Some(known)) = (goodbye, self.known()) {
                    known.not_said(word);
                }
            }
            Some(Err(_)) | None => self.known().into_iter().for_each(|it| it.lose(peer)),
        }
    }

    /// Keeps the way to a process that was removed, once nothing is under way.
    fn keep_way(&mut self, peer: Peer) {
        if !self.rma.is_idle(peer) || self.targets[peer.0 as usize].buffers > 0 {
            return;
        }
        self.targets[peer.0 as usize] = Target::unknown();
        let Some(added) = &mut self.added else {
            return;
        };
        let witness = added.witnesses.remove(&peer);
        added.reached.remove(&peer);
        if let (Some(it), Some(mut witness)) = (added.departing.remove(&peer), witness) {
            let (name, ep) = (it.name, it.ep);
            added.last_kept = (added.last_kept + 1) % (1 << 20);
            witness.peer = Peer(KEPT.0 + added.last_kept);
            added.kept.push(Kept { name, ep, witness });
        }
        if added.kept.len() > MOST_KEPT {
            let oldest = added.kept.remove(0);
            // SAFETY: open, and nobody knows it any more.
            unsafe { self.objects.disconnect(oldest.ep) };
        }
    }

    /// A way has failed that was kept.
    pub(crate) fn end_kept(&mut self, number: Peer) {
        let kept = self.added.iter_mut().flat_map(|it| {
            let failed = it.kept.extract_if(.., |it| it.witness.peer == number);
            failed.collect::<Vec<_>>()
        });
        for Kept { ep, .. } in kept.collect::<Vec<_>>() {
            // SAFETY: open, and nobody knows it any more.
            unsafe { self.objects.disconnect(ep) };
        }
    }

    /// A peer has removed this process.
    fn leave(&mut self, peer: Peer) {
        let cause = "it has removed this process".to_string();
        if self.endpoint.leave(peer, cause).is_ok() {
            self.close_way(peer);
        }
    }

    /// Closes the way to a peer that is gone: what is under way to it ends.
    pub(crate) fn close_way(&mut self, peer: Peer) {
        let target = &mut self.targets[peer.0 as usize];
        let ep = std::mem::replace(&mut target.ep, null_mut());
        let early = self.added.as_mut().and_then(|it| {
            it.addresses.remove(&peer);
            it.eps.remove(&peer)
        });
        let ep = early.unwrap_or(ep);
        if !ep.is_null() {
            // SAFETY: open, and nobody knows it any more.
            unsafe { self.objects.disconnect(ep) };
        }
        self.known().into_iter().for_each(|it| it.lose(peer));
    }

    /// The way to a peer has failed that was removed.
    pub(crate) fn end_departing(&mut self, peer: Peer) {
        let departing = self
            .added
            .as_mut()
            .and_then(|it| it.departing.get_mut(&peer));
        if let Some(it) = departing {
            (it.until, it.is_kept, it.has_failed) = (Instant::now(), false, true);
            self.has_to_do = true;
        }
    }

    /// A word of another process about who it is has come.
    pub(crate) fn hear_word(&mut self, kind: u64, word: &[u8]) {
        self.has_to_do = true;
        let heard = self.known().map(|it| it.hear(kind as u8, word));
        match heard {
            // Where ends of UCX are, words have no room for.
            None | Some(Heard::Nothing | Heard::Calls(..)) => {}
            Some(Heard::Open(peer, sign)) => self.welcomed(peer, sign),
            Some(Heard::Left(peer)) => self.leave(peer),
        }
    }

    fn welcomed(&mut self, peer: Peer, sign: Sign) {
        if let Some(ep) = self.added.as_mut().and_then(|it| it.eps.remove(&peer)) {
            let target = &mut self.targets[peer.0 as usize];
            (target.ep, target.sign) = (ep, sign);
        }
    }
}
