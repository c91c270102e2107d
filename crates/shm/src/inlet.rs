//! The ring from one peer.

use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use catena_base::ring::{Consumer, Packet, RawArea, Stop};
use catena_fabric::{Deliver, Header, Peer};

use crate::addr::{Block, RingHead};
use crate::tune::CopyMethod;

/// Packets taken from one ring before the next has its turn.
pub(crate) const BATCH: usize = 32;

/// The ring from one peer.
#[derive(Debug)]
pub(crate) struct Inlet {
    pub(crate) rx: Consumer<RawArea>,
    pub(crate) head: *const RingHead,
    /// The peer's.
    pub(crate) block: *const Block,
    /// What the sender knows to be free.
    pub(crate) told: u64,
    pub(crate) peer: Peer,
    pub(crate) number: u32,
}

/// A header as it was sent, but for the stamp.
#[inline(always)]
fn to_header(words: [u64; 3]) -> Header {
    // SAFETY: both are 24 plain bytes, and every bit pattern is a header.
    unsafe { ptr::from_ref(&words).cast::<Header>().read() }
}

impl Inlet {
    /// Whether a packet is there.
    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.rx.is_ready()
    }

    /// Takes up to a batch of packets; how many, and why it stopped if that
    /// needs attention.
    #[inline(always)]
    pub(crate) fn drain<D: Deliver>(&mut self, deliver: &mut D) -> (usize, Option<Stop>) {
        let peer = self.peer;
        let mut count = 0;
        let stop = loop {
            let popped = self.rx.pop(|packet| {
                let header = to_header(packet.words);
                if packet.flags == 0 {
                    deliver.deliver(peer, header, packet.bytes);
                } else {
                    deliver_large(deliver, peer, header, packet);
                }
            });
            match popped {
                Ok(true) => {
                    count += 1;
                    // Where a packet follows the other, the sender is ahead.
                    if count > 1 {
                        self.rx.fetch_ahead();
                    }
                }
                Ok(false) => break None,
                Err(stop) => break Some(stop),
            }
            if count == BATCH {
                break None;
            }
        };
        // Also after the last packet of a batch: perhaps nothing follows it, so nobody looks here
        // again, and the sender waits for the room of just those.
        self.rx.idle();
        if self.rx.given_back() != self.told {
            self.tell();
        }
        (count, stop)
    }

    /// Wakes a sender that waits for the room that was given back.
    #[inline(always)]
    fn tell(&mut self) {
        self.told = self.rx.given_back();
        // SAFETY: both in the mapping, which outlives the inlet; atomics only.
        let (head, block) = unsafe { (&*self.head, &*self.block) };
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        if head.tail.blocked.load(Relaxed) != 0 {
            block.bell.ring();
            block.presence.call();
        }
    }
}

/// Delivers a packet whose lines are to be taken, or that a string is to copy.
#[inline(never)]
fn deliver_large<D: Deliver>(deliver: &mut D, peer: Peer, header: Header, packet: Packet<'_>) {
    let len = packet.bytes.len();
    let bytes = match CopyMethod::from_flags(packet.flags) {
        // SAFETY: the ring's, and ours until the packet is given back. The sender may be mad and
        // write at the same time: then both spoil what nobody can use.
        Some(way) if way.is_taken(len) => unsafe { packet.bytes.to_be_taken() },
        Some(CopyMethod::String) => packet.bytes.by_string(),
        _ => packet.bytes,
    };
    deliver.deliver(peer, header, bytes);
}
