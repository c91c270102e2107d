//! Adding and removing processes of other jobs, and what is said to them: see `added`.

use std::time::Instant;

use catena_base::PeerBytes;
use catena_fabric::frame::{self, Front};
use catena_fabric::introduction::{self, Heard, Place, Word};
use catena_fabric::row::Framed;
use catena_fabric::{Deliver, Header, Peer, ProcessName};
use catena_ofi_sys::calls;

use crate::added::{Departing, Missed, PATIENCE, PAUSE, STRIDE, STUCK, Stuck, TRIES, WORD_TIME};
use crate::connections::{is_answered, knock};
use crate::init::Ofi;
use crate::send::is_lack;
use crate::state::Target;

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
        let numbers = self.endpoint.add(peer);
        self.targets.resize(numbers, Target::unknown());
        self.operations.grow(numbers);
        Ok(())
    }

    /// Adds a process that has called.
    ///
    /// # Errors
    /// As [`Ofi::add_peer`], or if it is not where it says.
    pub fn add_caller(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        let added = self.added.as_ref();
        let place = added.and_then(|it| it.introductions.caller(name));
        self.add_peer(peer, name)?;
        place.map_or(Ok(()), |place| self.connect_caller(peer, &place))
    }

    fn connect_caller(&mut self, peer: Peer, place: &Place) -> Result<(), String> {
        let at = place.get(1..1 + usize::from(place[0])).unwrap_or_default();
        self.connect(peer, at).map_err(|error| error.to_string())
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
            let now = Instant::now();
            let departing = Departing {
                until: now + PATIENCE,
                is_ended: false,
                again: now,
            };
            added.departing.insert(peer, departing);
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
        // The other end lives: its connection is not ended, as it may be used when both begin anew.
        if let Ok(lost) = self.endpoint.leave(peer, cause) {
            self.operations.lose(&lost);
            self.sends.lost += self.targets[peer.0 as usize].lost_buffers();
        }
    }

    /// Says what is owed to the processes that were added, and those that were.
    fn say_words(&mut self) {
        let Some(mut added) = self.added.take() else {
            return;
        };
        let now = Instant::now();
        let pauses = |to: &Peer| {
            let departing = added.departing.get(to).map(|it| it.again);
            let missed = added.missed.get(to).map(|it| it.again);
            departing.into_iter().chain(missed).any(|again| now < again)
        };
        let due = added.introductions.due().filter(|it| !pauses(&it.to));
        let due: Vec<Word> = due.collect();
        let (mut failed, mut stuck) = (Vec::new(), Vec::new());
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
                    added.stuck.remove(&word.to);
                    added.words[slot] = Some(word);
                    added.introductions.said(&word);
                }
                Err(error) if is_lack(error) => stuck.push(word.to),
                Err(error) => {
                    added.introductions.said(&word);
                    failed.push((word, error));
                }
            }
        }
        self.added = Some(added);
        for peer in stuck {
            self.look_after(peer);
        }
        for (word, error) in failed {
            let words = self.objects.offer.library.strerror(error as i32);
            self.word_failed(word, error as i32, words);
        }
    }

    /// Whether a word is sent again that did not arrive: the connection may be one of the time
    /// before both ends began anew, and the next one be sound.
    fn may_miss(&mut self, word: Word, error: i32) -> bool {
        let Some(added) = &mut self.added else {
            return false;
        };
        let now = Instant::now();
        let missed = added.missed.entry(word.to).or_insert(Missed {
            since: now,
            tries: 0,
            again: now,
        });
        missed.tries += 1;
        let is_there = error != libc::ECONNREFUSED;
        let again = missed.tries <= TRIES || is_there && now < missed.since + WORD_TIME;
        if is_there && missed.tries > 1 {
            missed.again = now + PAUSE;
        }
        if again {
            added.introductions.not_said(word);
            self.has_to_do = true;
        }
        again
    }

    /// The provider does not take words to a peer. It may try to reach one that is dead, for ever:
    /// so it is seen to whether anybody takes connections there.
    fn look_after(&mut self, peer: Peer) {
        let at = self.connections.of(peer);
        let Some(added) = &mut self.added else {
            return;
        };
        let now = Instant::now();
        let stuck = added.stuck.entry(peer).or_insert_with(|| Stuck {
            since: now,
            knock: None,
        });
        if now < stuck.since + STUCK {
            return;
        }
        let state = match (&stuck.knock, at) {
            (Some(knock), _) => is_answered(knock),
            (None, Some(at)) => knock(at).map(|it| {
                stuck.knock = Some(it);
                false
            }),
            (None, None) => Ok(false),
        };
        match state {
            // It lives, and is asked again after a while.
            Ok(true) => _ = added.stuck.remove(&peer),
            Ok(false) => {}
            Err(error) => {
                added.stuck.remove(&peer);
                added.introductions.lose(peer);
                let _ = self.lose(peer, format!("it cannot be reached: {error}"));
            }
        }
    }

    /// A word has left its buffer, if it was one.
    #[cold]
    pub(crate) fn word_arrived(&mut self, context: *mut std::ffi::c_void) {
        let word = self.word_ended(context);
        if let (Some(word), Some(added)) = (word, &mut self.added) {
            added.missed.remove(&word.to);
        }
    }

    /// A word has left its buffer, or will not; which, if it was one.
    #[cold]
    pub(crate) fn word_ended(&mut self, context: *mut std::ffi::c_void) -> Option<Word> {
        let added = self.added.as_mut()?;
        added.words[added.contexts.operation(context)?].take()
    }

    /// A word could not be sent: its peer is gone. One that was removed may be there, and have lost
    /// the connection.
    pub(crate) fn word_failed(&mut self, word: Word, error: i32, words: String) {
        let now = Instant::now();
        let departing = self
            .added
            .as_mut()
            .and_then(|it| Some((it.departing.get_mut(&word.to)?, &mut it.introductions)));
        match departing {
            Some((departing, introductions)) if now < departing.until + WORD_TIME => {
                departing.again = now + PAUSE;
                introductions.not_said(word);
            }
            Some((_, introductions)) => introductions.lose(word.to),
            None => {
                if !self.may_miss(word, error) {
                    self.lose(word.to, format!("sending to it failed: {words}"));
                }
            }
        }
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
                added.stuck.remove(&peer);
                added.missed.remove(&peer);
                self.targets[peer.0 as usize] = Target::unknown();
                self.connections.forget(peer);
                if let Some(address) = added.addresses.remove(&peer) {
                    // SAFETY: of this vector; nothing under way has it.
                    unsafe { calls::av_remove(self.objects.av, address) };
                }
            } else if let Some(it) = added.departing.get_mut(&peer)
                && it.until <= now
                && !it.is_ended
            {
                it.is_ended = true;
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
            // One that is not where it says calls in vain.
            Heard::Calls(peer, place) => _ = self.connect_caller(peer, &place),
        }
        count
    }
}
