//! Processes of other jobs, which are added one by one, and removed: see
//! [`introduction`]. Until such a process has welcomed this one its route is full.
//!
//! A removed one keeps its number until the provider has given back all that it had for it. Where
//! that does not happen by itself, as a peer that does not answer has it, the connection is ended.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use catena_base::PeerBytes;
use catena_fabric::frame::{self, FRAME, Front};
use catena_fabric::introduction::{self, Heard, Introductions, WORD, Word};
use catena_fabric::row::Framed;
use catena_fabric::{Deliver, Header, Peer, ProcessName};
use catena_ofi_sys::calls;

use crate::contexts::Contexts;
use crate::init::Ofi;
use crate::send::is_lack;
use crate::state::Target;

/// Words under way at once.
pub(crate) const WORDS: usize = 16;
/// Bytes of one with its frame, in a buffer.
pub(crate) const STRIDE: usize = (FRAME + WORD).next_multiple_of(64);

/// How long what is under way to a removed peer may take, before its connection is ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// What an endpoint keeps of the processes that are added.
#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) introductions: Introductions,
    /// The address in the vector of each that is reached.
    addresses: HashMap<Peer, u64>,
    /// Those that were removed, when what is under way to them ends at the latest, and whether it
    /// was ended.
    departing: BTreeMap<Peer, (Instant, bool)>,
    /// Those that are there.
    there: BTreeSet<Peer>,
    /// To whom words are under way.
    words: [Option<Peer>; WORDS],
    contexts: Contexts,
    /// Where their buffers begin in the endpoint's memory.
    at: usize,
}

impl Added {
    /// None yet. The buffers of words begin `at` there in the endpoint's memory.
    pub(crate) fn new(introductions: Introductions, at: usize) -> Added {
        Added {
            introductions,
            addresses: HashMap::new(),
            departing: BTreeMap::new(),
            there: BTreeSet::new(),
            words: [None; WORDS],
            contexts: Contexts::new(WORDS),
            at,
        }
    }

    /// Whether there is something to do in each poll.
    fn has_to_do(&self) -> bool {
        self.introductions.has_to_do() || !self.departing.is_empty()
    }

    /// Whether those that were removed have been told so, as far as they can be.
    pub(crate) fn has_said_goodbye(&self) -> bool {
        self.departing
            .keys()
            .all(|peer| self.has_said_all_to(*peer))
    }

    fn has_said_all_to(&self, peer: Peer) -> bool {
        self.introductions.has_let_go(peer) && !self.words.contains(&Some(peer))
    }

    /// Whether a process is there.
    pub(crate) fn knows(&self, peer: Peer) -> bool {
        self.there.contains(&peer)
    }

    /// Whether something is to be said now.
    pub(crate) fn has_words(&self) -> bool {
        self.introductions.next().is_some()
    }

    /// Whether everything has ended that was under way to a process that was removed.
    pub(crate) fn has_let_go(&self, peer: Peer) -> bool {
        !self.departing.contains_key(&peer)
    }
}

impl Ofi {
    /// Adds a process of another job.
    ///
    /// # Errors
    /// If it is known already, its number is in use, or this process is in a job with others.
    pub fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        let Some(added) = &mut self.added else {
            return Err("it joins the processes of one job only".to_string());
        };
        if !added.has_let_go(peer) {
            return Err("something is under way to another process of that number".to_string());
        }
        added.introductions.add(peer, name)?;
        added.there.insert(peer);
        let numbers = self.targets.len().max(peer.0 as usize + 1);
        self.targets.resize(numbers, Target::unknown());
        self.endpoint.rows.grow(numbers);
        self.endpoint.losses.grow(numbers);
        self.endpoint.losses.forget(peer);
        self.operations.grow(numbers);
        Ok(())
    }

    /// It is known how a process is reached that was added; whether it was.
    pub(crate) fn reach_added(&mut self, peer: Peer, address: u64) -> bool {
        let Some(added) = self.added.as_mut().filter(|it| it.knows(peer)) else {
            return false;
        };
        added.addresses.insert(peer, address);
        added.introductions.reach(peer);
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
        if let Ok(lost) = self.endpoint.lose(peer, "it was removed".to_string()) {
            self.operations.lose(&lost);
            self.sends.lost += self.targets[peer.0 as usize].lost_buffers();
        }
        self.endpoint.losses.set_known(peer);
        if let Some(added) = &mut self.added {
            added.introductions.remove(peer);
            added.there.remove(&peer);
            let end = (Instant::now() + PATIENCE, false);
            added.departing.insert(peer, end);
        }
        self.has_to_do = true;
        Ok(())
    }

    /// What is to be done in a poll besides packets.
    #[cold]
    #[inline(never)]
    pub(crate) fn do_chores(&mut self) {
        self.connections.end_due();
        self.say_words();
        self.let_go();
        let now = Instant::now();
        while let Some(peer) = self.next_left(now) {
            self.leave(peer);
        }
        let added = self.added.as_ref().is_some_and(|it| it.has_to_do());
        self.has_to_do = self.connections.are_ending() || added;
    }

    fn next_left(&mut self, now: Instant) -> Option<Peer> {
        self.added.as_mut()?.introductions.left(now)
    }

    /// A peer has removed this process.
    fn leave(&mut self, peer: Peer) {
        let cause = "it has removed this process".to_string();
        if let Ok(lost) = self.endpoint.leave(peer, cause) {
            self.give_up(&lost);
        }
    }

    /// Says what is owed to the processes that were added, and those that were.
    fn say_words(&mut self) {
        let Some(mut added) = self.added.take() else {
            return;
        };
        let due: Vec<Word> = added.introductions.due().collect();
        let mut failed = Vec::new();
        for word in due {
            let Some(slot) = added.words.iter().position(Option::is_none) else {
                break;
            };
            let Some(&address) = added.addresses.get(&word.to) else {
                continue;
            };
            let header = Header {
                kind: word.kind as u8,
                ..Header::default()
            };
            let front = Front::new(introduction::WORDS, header);
            let at = self.memory.at(added.at + slot * STRIDE);
            let context = added.contexts.of(slot);
            // SAFETY: a buffer that no word uses, of that length; it and the context stay until
            // the completion.
            let sent = unsafe {
                let len = front.write(at, &&word.bytes[..]);
                calls::send(self.objects.ep, at, len, self.desc(), address, context)
            };
            match sent {
                Ok(()) => {
                    added.words[slot] = Some(word.to);
                    added.introductions.said(&word);
                }
                Err(error) if is_lack(error) => {}
                Err(error) => failed.push((word.to, error)),
            }
        }
        self.added = Some(added);
        for (peer, error) in failed {
            let words = self.objects.offer.library.strerror(error as i32);
            self.lose(peer, format!("nothing can be sent to it: {words}"));
        }
    }

    /// A word has left its buffer, or will not; to whom it was, if it was one.
    #[cold]
    pub(crate) fn word_ended(&mut self, context: *mut std::ffi::c_void) -> Option<Peer> {
        let added = self.added.as_mut()?;
        added.words[added.contexts.operation(context)?].take()
    }

    /// Looks which of those that were removed have nothing under way any more.
    fn let_go(&mut self) {
        let Some(mut added) = self.added.take() else {
            return;
        };
        let now = Instant::now();
        let all: Vec<Peer> = added.departing.keys().copied().collect();
        for peer in all {
            let target = &self.targets[peer.0 as usize];
            let is_idle = target.lost_buffers() == 0 && self.operations.is_idle(peer);
            if is_idle && added.has_said_all_to(peer) {
                added.departing.remove(&peer);
                self.targets[peer.0 as usize] = Target::unknown();
                self.connections.forget(peer);
                if let Some(address) = added.addresses.remove(&peer) {
                    // SAFETY: of this vector; nothing under way has it.
                    unsafe { calls::av_remove(self.objects.av, address) };
                }
            } else if let Some((until, is_ended)) = added.departing.get_mut(&peer)
                && *until <= now
                && !*is_ended
            {
                *is_ended = true;
                added.introductions.lose(peer);
                self.connections.lose(peer);
            }
        }
        self.added = Some(added);
    }

    /// Takes a frame that is none of this job's; how many packets were delivered.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_of_added<D: Deliver>(
        &mut self,
        bytes: PeerBytes<'_>,
        deliver: &mut D,
    ) -> usize {
        let (mut count, mut is_sound, mut heard) = (0, false, Heard::Nothing);
        if let (Some(added), Some(sign)) = (&mut self.added, frame::sign(bytes)) {
            let known = &mut added.introductions;
            if sign == introduction::WORDS {
                is_sound = frame::open_signed(
                    bytes,
                    |_| Some(Peer(0)),
                    |_, header, word| heard = known.hear(header.kind, &word.to_vec()),
                );
                self.has_to_do = true;
            } else if let Some(peer) = known.sender(sign) {
                known.heard_from(peer);
                is_sound = frame::open_signed(
                    bytes,
                    |_| Some(peer),
                    |from, header, payload| {
                        deliver.deliver(from, header, payload);
                        count += 1;
                    },
                );
            }
        }
        let counters = &mut self.endpoint.counters;
        counters.received += count as u64;
        counters.strays += u64::from(!is_sound);
        match heard {
            Heard::Nothing => {}
            Heard::Open(peer, sign) => {
                let added = self.added.as_ref();
                if let Some(&address) = added.and_then(|it| it.addresses.get(&peer)) {
                    self.targets[peer.0 as usize] = Target::at(address, sign);
                }
            }
            Heard::Left(peer) => self.leave(peer),
        }
        count
    }
}
