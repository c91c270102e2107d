//! Packets that are dealt with where they lie, before they are copied: one long record of bytes for
//! a run of memory, or of bytes that this process has asked for. That needs no lock, and nothing
//! that waits for progress. Short records behind it in the packet, such as a notification, wait
//! their turn.
//!
//! It is so only if nothing of the same peer waits that came before. All else, and what is wrong
//! with such a record, is left to the careful way.

use catena_base::PeerBytes;
use catena_fabric::Peer;

use super::exchange;
use super::record::{HEAD, Head, What, number};
use super::target::own_host_bytes;
use crate::registry;

/// Shortest packet for which it is worth it.
const LEAST: usize = 1 << 10;
/// Bytes in front of those of a put into one run.
const PUT: usize = HEAD + 8;
/// Bytes in front of those of an answer.
const ANSWER: usize = HEAD + 16;

/// Deals with a packet of a stream and its place there, if it can be so.
pub(super) fn take(from: Peer, at: u64, packet: PeerBytes<'_>) -> bool {
    if packet.len() < LEAST {
        return false;
    }
    let mut front = [0; ANSWER];
    packet.read(&mut front);
    let Some(head) = Head::read(&front) else {
        return false;
    };
    let len = HEAD + head.len as usize;
    if len < LEAST || len > packet.len() {
        return false;
    }
    let record = packet.part(0, len);
    let is_done = match head.what() {
        Some(What::Put) if head.c == 0 => put(from, at, record, (head, &front)),
        Some(What::Bytes) if head.a == 0 => answer(from, at, record, (head, &front)),
        _ => false,
    };
    if is_done && len < packet.len() {
        let rest = packet.part(len, packet.len() - len);
        exchange::note_packet((from, at + len as u64, rest.to_vec()));
    }
    is_done
}

fn put(from: Peer, at: u64, packet: PeerBytes<'_>, (head, front): (Head, &[u8])) -> bool {
    let bytes = packet.part(PUT, packet.len() - PUT);
    let addr = number(&mut &front[HEAD..]);
    let window = registry::numbered(head.window);
    let to = window
        .zip(addr)
        .and_then(|(window, addr)| own_host_bytes(window, addr, bytes.len() as u64));
    let Some(to) = to else {
        return false;
    };
    let passes = exchange::before_others(|exchange| exchange.pass(from, at, packet.len()));
    if passes != Some(true) {
        return false;
    }
    // SAFETY: the window's bytes, which are not the packet's.
    unsafe { bytes.copy_to(to) };
    true
}

fn answer(from: Peer, at: u64, packet: PeerBytes<'_>, (head, front): (Head, &[u8])) -> bool {
    let bytes = packet.part(ANSWER, packet.len() - ANSWER);
    let mut words = &front[HEAD..];
    let (Some(offset), Some(len)) = (number(&mut words), number(&mut words)) else {
        return false;
    };
    let taken = exchange::before_others(|exchange| {
        let passes = exchange.pass(from, at, packet.len());
        if passes {
            exchange.answered(from, head, (offset, len), bytes);
        }
        passes
    });
    taken == Some(true)
}
