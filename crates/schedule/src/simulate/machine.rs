//! What messages and memory cost, in the terms of LogGP (Alexandrov et al.,
//! 1995), for ranks on domains of memory on nodes on a network.

/// What it costs to talk over a certain distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Time from the end of the sender's work to the arrival, seconds.
    pub latency: f64,
    /// Processor time for a message on either side, seconds.
    pub overhead: f64,
    /// Time for which a message keeps a port of a rank busy besides its bytes,
    /// seconds.
    pub gap: f64,
    /// Time per byte in a port, seconds.
    pub per_byte: f64,
    /// Messages longer than this many bytes are announced first, and leave
    /// when the receiver has answered.
    pub eager: usize,
}

/// What several ranks use in turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// Time that it is busy for a message besides its bytes, seconds.
    pub per_message: f64,
    /// Time that it is busy for a byte, seconds.
    pub per_byte: f64,
}

/// A machine. Each rank does one thing at a time; each of its ports, outgoing and
/// incoming, within the node and to the network, moves one message at a time. A
/// message that leaves a node is also moved by the network card of that node and of
/// the other; any other by the memory of the domain of its sender and, if that is
/// another, its receiver. All of them move it at once, as soon as its first byte
/// is there, and it has arrived when the slowest is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Between ranks of a domain.
    pub domain: Link,
    /// Between domains of a node.
    pub node: Link,
    /// Between nodes.
    pub network: Link,
    /// The memory of a domain, as messages use it. What a rank copies or
    /// combines is taken to be in its cache.
    pub memory: Shared,
    /// Either direction of the network card of a node.
    pub card: Shared,
    /// Time for one copy or reduction besides its bytes, seconds.
    pub step: f64,
    /// Time to combine a byte, seconds.
    pub reduce: f64,
    /// Time to copy a byte, seconds.
    pub copy: f64,
    /// Time that a round of messages takes besides that for which memory or cards
    /// are busy: where ranks share cores, which change hands whenever one waits.
    /// Estimates know it; a simulated rank has a core of its own. Seconds.
    pub handover: f64,
}

/// Where a rank runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPlace {
    /// Its node; from 0.
    pub node: u32,
    /// Its domain; from 0, numbered through all nodes.
    pub domain: u32,
}

impl Machine {
    /// What connects two places.
    #[inline]
    pub fn link(&self, a: RankPlace, b: RankPlace) -> &Link {
        if a.domain == b.domain {
            &self.domain
        } else if a.node == b.node {
            &self.node
        } else {
            &self.network
        }
    }
}
