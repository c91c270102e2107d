//! Row 3: a network inside one process that misbehaves on purpose, and always in the
//! same way for the same [`Seed`]. It offers the worst that any transport may
//! do within the terms of [`Transport`](catena_fabric::Transport): routes that
//! are full, order that is lost, remote reads that stop half-way, peers that
//! die; and, by separate switches, what no transport may do: packets that come
//! twice, and packets that nobody sent.

mod faults;
mod network;
mod operation;
mod operations;
mod port;
mod rng;
mod wire;

use std::sync::{Arc, Mutex};

use faults::Faults;
pub use faults::Reads;
pub use network::Network;
pub use port::Port;
pub use rng::{Rng, Seed};

use wire::Wire;

/// A network to be built.
#[derive(Clone, Debug)]
pub struct Sim {
    seed: Seed,
    faults: Faults,
}

impl Sim {
    /// A network without faults: ordered, 64 slots per pair, packets of at most
    /// 1 KiB, messages eager up to 4 KiB, whole reads.
    pub fn new(seed: Seed) -> Self {
        let faults = Faults {
            ordered: true,
            slots: 64,
            max_packet: 1 << 10,
            eager_max: 4 << 10,
            full_one_in: 0,
            reads: Reads::Whole,
            local_keys: false,
            part: 0,
            streams_one_in: 0,
            lends_one_in: 0,
            duplicate_one_in: 0,
            garbage_one_in: 0,
        };
        Sim { seed, faults }
    }

    /// Packets overtake each other, also within a pair.
    pub fn unordered(mut self) -> Self {
        self.faults.ordered = false;
        self
    }

    /// Packets on their way from one process to another, at most.
    pub fn ring_slots(mut self, slots: usize) -> Self {
        assert!(slots > 0, "a route without room carries nothing");
        self.faults.slots = slots;
        self
    }

    /// Largest payload of a packet, bytes.
    pub fn max_packet(mut self, bytes: usize) -> Self {
        self.faults.max_packet = bytes;
        self
    }

    /// Largest eager message, bytes.
    pub fn eager_max(mut self, bytes: u64) -> Self {
        self.faults.eager_max = bytes;
        self
    }

    /// Routes are full without a reason, for several calls in a row.
    pub fn full_one_in(mut self, n: u32) -> Self {
        assert!(n != 1, "a route that is always full carries nothing");
        self.faults.full_one_in = n;
        self
    }

    /// How remote reads go.
    pub fn reads(mut self, reads: Reads) -> Self {
        self.faults.reads = reads;
        self
    }

    /// Operations want their own memory registered, as some networks do:
    /// [`register_local`](catena_fabric::Transport::register_local) gives keys.
    pub fn needs_local_keys(mut self) -> Self {
        self.faults.local_keys = true;
        self
    }

    /// Both ends copy long messages, in parts of so many bytes (0: they do not),
    /// and remote writes go like remote reads.
    pub fn shared_in_parts(mut self, bytes: u64) -> Self {
        self.faults.part = bytes;
        self
    }

    /// Announced messages that could be read are streamed.
    pub fn streams_one_in(mut self, n: u32) -> Self {
        self.faults.streams_one_in = n;
        self
    }

    /// Messages that could be sent ahead are lent.
    pub fn lends_one_in(mut self, n: u32) -> Self {
        self.faults.lends_one_in = n;
        self
    }

    /// Packets arrive twice, the second time at once or much later.
    pub fn duplicate_one_in(mut self, n: u32) -> Self {
        self.faults.duplicate_one_in = n;
        self
    }

    /// Packets arrive that nobody sent: noise, or old ones with a field changed.
    pub fn garbage_one_in(mut self, n: u32) -> Self {
        self.faults.garbage_one_in = n;
        self
    }

    /// The ends of processes 0 to `n - 1`.
    pub fn ports(self, n: u32) -> Vec<Port> {
        let wire = Arc::new(Mutex::new(Wire::new(self.seed, self.faults, n)));
        (0..n).map(|me| Port::new(me, Arc::clone(&wire))).collect()
    }

    /// The ends of processes 0 and 1.
    pub fn pair(self) -> (Port, Port) {
        let mut ports = self.ports(2);
        let second = ports.pop().expect("two were made");
        (ports.pop().expect("two were made"), second)
    }
}
