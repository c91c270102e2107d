//! Reading a peer's memory: it is asked for, and its bytes are received where
//! they belong.
//!
//! A read is known by where its next byte goes to. Bytes arrive in order, so
//! what has arrived is a number; the call that asks for the read again tells
//! it, and asks the peer for what it may have more.

use catena_fabric::{Got, Peer, PeerLost, Posted, Remote};

use crate::frame::{Ask, Head, What};
use crate::init::Tcp;

/// Bytes asked for at once, at least, unless less is left or under way.
const LEAST: usize = 128 << 10;

/// Memory that a peer may read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exposed {
    peer: Peer,
    at: *const u8,
    len: usize,
}

// SAFETY: the memory is that of the process, exposed until it is released.
unsafe impl Send for Exposed {}

/// A read, from its first call to its end.
#[derive(Debug)]
pub(crate) struct Get {
    pub number: u32,
    pub from: Peer,
    /// Where the next byte goes to that was not told yet.
    at: *mut u8,
    /// Bytes that have arrived and were not told yet.
    arrived: usize,
    /// Bytes that were asked for and have not arrived yet.
    pub awaited: usize,
    /// The peer does not let it be read.
    pub refused: bool,
}

// SAFETY: the memory is lent to the read until its end.
unsafe impl Send for Get {}

impl Get {
    /// Where the next bytes go to that arrive.
    pub fn next(&self) -> *mut u8 {
        self.at.wrapping_add(self.arrived)
    }

    /// Bytes have arrived there.
    pub fn add(&mut self, len: usize) {
        self.arrived += len;
        self.awaited -= len;
    }

    /// Tells what has arrived, at most `most` bytes.
    fn tell(&mut self, most: usize) -> usize {
        let told = self.arrived.min(most);
        self.arrived -= told;
        self.at = self.at.wrapping_add(told);
        told
    }

    /// How many bytes to ask for more, if `len` may be under way.
    fn wanted(&self, len: usize) -> usize {
        let more = len.saturating_sub(self.arrived + self.awaited);
        if self.refused || more < LEAST && self.awaited >= LEAST {
            0
        } else {
            more
        }
    }
}

impl Tcp {
    /// Lets a peer read memory.
    pub(crate) fn show(&mut self, peer: Peer, at: *const u8, len: usize) -> Remote {
        self.next_key += 1;
        let key = self.next_key;
        self.exposed.insert(key, Exposed { peer, at, len });
        let addr = 0;
        Remote { addr, key }
    }

    /// Ends what [`Tcp::show`] began.
    pub(crate) fn hide(&mut self, remote: Remote) {
        if self.exposed.remove(&remote.key).is_some() {
            for link in self.links.iter_mut().flatten() {
                link.out.forget(remote.key);
            }
        }
    }

    /// A peer asks for memory.
    pub(crate) fn asked(&mut self, at: usize, peer: Peer, read: u32, ask: Ask) {
        let exposed = self.exposed.get(&ask.remote.key);
        let found = exposed.filter(|it| {
            let end = ask.remote.addr.checked_add(ask.len);
            it.peer == peer && end.is_some_and(|end| end <= it.len as u64)
        });
        let link = self.links[at].as_mut().expect("it has just asked");
        match found {
            Some(it) => {
                let from = it.at.wrapping_add(ask.remote.addr as usize);
                link.out
                    .answer(read, ask.remote.key, from, ask.len as usize);
            }
            None => link.out.refuse(read),
        }
        self.wait(at);
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
        let known = |get: &Get| get.from == peer && get.at == into;
        let known = self.gets.iter().position(known);
        if let Some(lost) = &self.peers[peer.0 as usize].lost {
            let lost = PeerLost::clone(lost);
            known.map(|at| self.gets.swap_remove(at));
            return Err(lost);
        }
        let at = known.unwrap_or_else(|| {
            self.next_read = self.next_read.wrapping_add(1);
            self.gets.push(Get {
                number: self.next_read,
                from: peer,
                at: into,
                arrived: 0,
                awaited: 0,
                refused: false,
            });
            self.gets.len() - 1
        });
        let get = &mut self.gets[at];
        let told = get.tell(len);
        self.counters.read_bytes += told as u64;
        let wanted = get.wanted(len - told);
        if wanted > 0 {
            let ask = Ask {
                remote: Remote {
                    addr: remote.addr + (told + get.arrived + get.awaited) as u64,
                    key: remote.key,
                },
                len: wanted as u64,
            };
            let head = Head::about(What::Ask, get.number, Ask::LEN);
            if self.post_frame(peer, &head, &&ask.encode()[..])? == Posted::Done {
                self.gets[at].awaited += wanted;
                self.counters.reads += 1;
            }
        }
        let get = &self.gets[at];
        let over = get.refused && get.arrived == 0;
        if over || get.arrived + get.awaited == 0 {
            self.gets.swap_remove(at);
        }
        Ok(match told {
            0 if over => Got::Unable,
            0 => Got::Full,
            told => Got::Bytes(told),
        })
    }
}
