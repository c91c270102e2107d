//! What the tests of this folder share.
#![allow(dead_code)]

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Header, OpId, Peer, PeerLost, Posted, RmaError, Transport};
use catena_shm::Shm;

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Inbox {
    pub packets: Vec<(Peer, Header, Vec<u8>)>,
    pub lost: Vec<PeerLost>,
}

impl Deliver for Inbox {
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        let header = Header { stamp: 0, ..header };
        self.packets.push((from, header, payload.to_vec()));
    }

    fn lost(&mut self, lost: PeerLost) {
        self.lost.push(lost);
    }

    fn completed(&mut self, _: OpId, _: Result<u64, RmaError>) {}
}

/// A header in which every field depends on `seed`.
pub fn header(seed: u64) -> Header {
    let x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Header {
        stamp: 0,
        kind: x as u8,
        seq: (x >> 8) as u16,
        context: (x >> 16) as u32,
        source: (x >> 24) as u32,
        tag: (x >> 32) as i32,
        len: !x,
    }
}

/// `len` bytes that depend on `seed`.
pub fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A length between 0 and `max` that depends on `seed`; short ones are common.
pub fn length(seed: u64, max: usize) -> usize {
    let x = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20;
    let max = if seed.is_multiple_of(3) {
        max
    } else {
        max.min(40)
    };
    x as usize % (max + 1)
}

/// Posts packet number `seed`.
pub fn try_send(shm: &mut Shm, to: Peer, seed: u64, len: usize) -> bool {
    let bytes = pattern(seed, len);
    shm.try_send(to, header(seed), bytes.as_slice()).unwrap() == Posted::Done
}

/// Why a test of single copies is skipped.
pub const FORBIDDEN: &str = "the kernel does not allow process_vm_readv and process_vm_writev";

/// Whether the kernel lets this process read and write memory by process_vm_readv(2)
/// and process_vm_writev(2), which security modules and containers may forbid.
pub fn kernel_copies() -> bool {
    let (from, mut into) = (7u64, 0u64);
    let part = |addr| libc::iovec {
        iov_base: addr,
        iov_len: 8,
    };
    let here = part((&raw mut into).cast());
    let there = part((&raw const from).cast_mut().cast());
    // SAFETY: both have eight bytes, and only `into` is written.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &here, 1, &there, 1, 0) };
    // SAFETY: as above: `into` is what is written to.
    let written = unsafe { libc::process_vm_writev(libc::getpid(), &there, 1, &here, 1, 0) };
    (read, written, into) == (8, 8, 7)
}

/// Whether the kernel also lets it do so with processes that it has forked.
pub fn kernel_copies_of_children() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let scope = scope.map_or(0, |text| text.trim().parse().expect("a number"));
    kernel_copies() && scope < 2
}
