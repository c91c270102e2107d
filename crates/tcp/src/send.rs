//! Sending.

use std::io;
use std::mem::MaybeUninit;

use catena_base::{PayloadRoom, clock};
use catena_fabric::{Header, Payload, Peer, PeerLost, Posted};

use crate::frame::{HEAD, Head};
use crate::init::Tcp;
use crate::link::Link;
use crate::settings::Config;
use crate::socket::is_lack;

/// Frames up to this are handed to the kernel in one piece, bytes.
const PIECE: usize = 512;

/// Bytes of a row that wait for the next poll, at most, about.
const HELD: usize = 16 << 10;

/// Payloads from this on are handed over in two halves, bytes: more than a part of a one-sided
/// operation with what is said of it.
const HALVED: usize = 33 << 10;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The kernel sends the packet.
    Left,
    /// The packet waits for the next poll, or the kernel may keep it while another one is
    /// under way.
    Held,
    /// The packet waits behind others, or in part.
    Waits,
    /// There is no room.
    Full,
}

impl Link {
    /// Sends a frame; `turn` is the number of the last poll.
    #[inline]
    pub fn post<P: Payload>(
        &mut self,
        head: &Head,
        payload: &P,
        turn: u64,
        config: &Config,
    ) -> io::Result<Sent> {
        if self.deaf.is_some() {
            return Ok(Sent::Left);
        }
        let len = HEAD + payload.len();
        let now = clock::ticks();
        let apart = self.row.is_apart(now, &config.pace);
        if self.holds && (apart || len > PIECE || self.out.bytes().len() > HELD) {
            if apart {
                self.row.end(&config.pace);
            }
            self.holds = false;
            self.flush()?;
        }
        self.row.follow(now);
        if !self.out.is_empty() {
            if self.out.bytes().len() + len > config.room {
                return Ok(Sent::Full);
            }
            self.keep(head, payload, 0);
            return Ok(Sent::Waits);
        }
        let gathers = self.row.add(turn, apart, &config.pace) && len <= PIECE;
        if gathers && self.row.is_trusted() {
            self.holds = true;
            self.keep(head, payload, 0);
            return Ok(Sent::Held);
        }
        self.gather(gathers);
        let done = if len <= PIECE {
            self.send_short(head, payload)
        } else {
            self.send_long(head, payload)
        };
        match done {
            Ok(n) if n == len => Ok(if gathers { Sent::Held } else { Sent::Left }),
            Ok(n) => {
                self.keep(head, payload, n);
                Ok(Sent::Waits)
            }
            // Long ones are copied once, when there is room.
            Err(error) if is_lack(&error) && len > PIECE => {
                self.full = true;
                Ok(Sent::Full)
            }
            Err(error) if is_lack(&error) => {
                self.keep(head, payload, 0);
                Ok(Sent::Waits)
            }
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn send_short<P: Payload>(&self, head: &Head, payload: &P) -> io::Result<usize> {
        let mut bytes = [MaybeUninit::<u8>::uninit(); PIECE];
        let (at, len): (*mut u8, _) = (bytes.as_mut_ptr().cast(), payload.len());
        // SAFETY: there is room for both, and both are written.
        let bytes = unsafe {
            at.cast::<[u8; HEAD]>().write(head.encode());
            payload.write(PayloadRoom::new(at.add(HEAD), len));
            std::slice::from_raw_parts(at, HEAD + len)
        };
        self.socket.send(bytes)
    }

    fn send_long<P: Payload>(&self, head: &Head, payload: &P) -> io::Result<usize> {
        match payload.contiguous() {
            // The other end takes the first half while the second is copied.
            Some(at) if payload.len() >= HALVED => {
                let (half, head) = (payload.len() / 2, head.encode());
                // SAFETY: the payload is there.
                let first = unsafe { self.socket.send_both(&head, at, half) }?;
                if first < HEAD + half {
                    return Ok(first);
                }
                // SAFETY: as above.
                let rest = unsafe {
                    let at = at.wrapping_add(half);
                    self.socket.send_both(&[], at, payload.len() - half)
                };
                match rest {
                    Ok(rest) => Ok(first + rest),
                    Err(error) if is_lack(&error) => Ok(first),
                    Err(error) => Err(error),
                }
            }
            // SAFETY: as above.
            Some(at) => unsafe { self.socket.send_both(&head.encode(), at, payload.len()) },
            None if let Some(runs) = payload.runs() => {
                let (head, [first, second, third]) = (head.encode(), runs);
                let runs = [&head, first, second, third].map(io::IoSlice::new);
                self.socket.send_runs(&runs)
            }
            None => {
                let mut whole = Vec::with_capacity(payload.len());
                // SAFETY: as much is reserved, and the payload writes all of it.
                unsafe {
                    payload.write(PayloadRoom::new(whole.as_mut_ptr(), payload.len()));
                    whole.set_len(payload.len());
                    self.socket
                        .send_both(&head.encode(), whole.as_ptr(), whole.len())
                }
            }
        }
    }

    /// Keeps a frame of which `done` bytes have left.
    fn keep<P: Payload>(&mut self, head: &Head, payload: &P, done: usize) {
        self.out.add(&head.encode()[done.min(HEAD)..]);
        self.out.add_payload(payload, done.saturating_sub(HEAD));
    }
}

impl Tcp {
    #[inline]
    pub(crate) fn post<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let len = payload.len();
        assert!(
            len <= self.config.packet,
            "a packet of {len} bytes is too long"
        );
        let posted = self.post_frame(peer, &Head { len, header }, &payload)?;
        if posted == Posted::Done {
            self.counters.sent += 1;
        }
        Ok(posted)
    }

    /// Sends a frame to a peer.
    #[inline]
    pub(crate) fn post_frame<P: Payload>(
        &mut self,
        peer: Peer,
        head: &Head,
        payload: &P,
    ) -> Result<Posted, PeerLost> {
        let Some(at) = self.peers[peer.0 as usize].link else {
            return self.call(peer);
        };
        let link = self.links[at].as_mut().expect("a peer's link is there");
        let sent = link.post(head, payload, self.turn, &self.config);
        if (link.gathers || link.holds) && !link.held {
            link.held = true;
            self.held.push(at);
        }
        match sent {
            Ok(Sent::Left) => {}
            Ok(Sent::Held) => {
                self.counters.held += 1;
                self.wait(at);
            }
            Ok(Sent::Waits) => {
                self.counters.waited += 1;
                self.wait(at);
            }
            Ok(Sent::Full) => {
                self.counters.full += 1;
                self.wait(at);
                return Ok(Posted::Full);
            }
            Err(error) => link.deafen(error),
        }
        Ok(Posted::Done)
    }

    /// A connection has something to send when the kernel takes it.
    pub(crate) fn wait(&mut self, at: usize) {
        let link = self.links[at].as_mut().expect("it was there just now");
        if !link.waiting {
            link.waiting = true;
            self.waiting.push(at);
        }
    }
}
