//! Rounds in which every rank sends some distances up, round the ring of ranks, and
//! those in which it sends to all others.

use super::rounds::Rounds;
use super::{Level, Terms};
use crate::acc::arrivals;

/// With more ranks than this, a last node that has fewer is taken to be like the others.
/// Among many rounds, the message that a chain may leave its node by because of that
/// costs little, while to follow the chains to all ranks would make the choice slow.
const MANY: u32 = 256;

/// The longest chains of messages, one of each round, that end at each rank; or at each
/// rank of a node, where all nodes are alike.
struct Chains {
    size: u32,
    per_node: u32,
    per_domain: u32,
    times: Vec<f64>,
}

impl Chains {
    fn new(t: &Terms) -> Self {
        let (size, per_node, per_domain) = (t.shape.size, t.per_node, t.per_domain);
        let different = if per_domain == size {
            1
        } else if t.shape.placement.fewest == per_node || size > MANY {
            per_node
        } else {
            size
        };
        Chains {
            size,
            per_node,
            per_domain,
            times: vec![0.0; different as usize],
        }
    }

    /// Adds a round in which everyone sends `messages` messages, to those `distance` and
    /// its multiples above it. Each takes one of these times: within a domain, within a
    /// node, or between nodes.
    fn extend(&mut self, distance: u32, messages: u32, [domain, node, network]: [f64; 3]) {
        let place = |rank: u32| (rank / self.per_node, rank % self.per_node / self.per_domain);
        let different = self.times.len();
        let mut ends = vec![0.0_f64; different];
        for (from, time) in (0..).zip(&self.times) {
            let here = place(from);
            for k in 1..=messages {
                let to = (from + k * distance) % self.size;
                let there = place(to);
                let hop = if here == there {
                    domain
                } else if here.0 == there.0 {
                    node
                } else {
                    network
                };
                let end = &mut ends[to as usize % different];
                *end = end.max(time + hop);
            }
        }
        self.times = ends;
    }

    fn longest(&self) -> f64 {
        self.times.iter().copied().fold(0.0, f64::max)
    }
}

impl Terms<'_> {
    /// Rounds in which everyone sends `number` messages of `bytes` to those
    /// `distance` and multiples of it above, round the ring, and works for some time
    /// on each that it gets: `(distance, number, bytes, work)`. A fraction of a message
    /// is one with fewer bytes.
    ///
    /// No rank starts a round before it has what it gets in the round before. So the
    /// last rank is done at the end of the longest chain of messages, one of each
    /// round, and each of those costs what connects its two ranks. Distances are not
    /// aligned to nodes: of the messages of one round some stay on a node and others
    /// leave it, and where a chain is on its node decides which it meets next. So the
    /// chains are followed from round to round.
    ///
    /// The rounds may start from either end: a chain read backwards is one
    /// of the mirrored ranks.
    pub(crate) fn shifts(&self, rounds: impl Iterator<Item = (u32, f64, f64, f64)>) -> f64 {
        let mut all = Rounds::default();
        let mut chains = Chains::new(self);
        for (distance, number, bytes, work) in rounds {
            let messages = number.ceil() as u32;
            let level = match self.level(distance * messages) {
                Level::Domain if self.per_domain < self.per_node.min(2 * distance) => Level::Node,
                level => level,
            };
            let path = |level| self.burst(level, number, bytes, work);
            let (mut memory, mut card) = (0.0, 0.0);
            for k in 0..messages {
                let part = (number - f64::from(k)).min(1.0);
                let (inside, near, away) = self.crossing((k + 1) * distance);
                memory += part * (inside + 2.0 * near);
                card += part * away;
            }
            let memory = memory * self.busy(Level::Domain, bytes);
            let card = card * self.busy(Level::Network, bytes);
            let fixed = self.fixed(level, bytes) + work;
            let moving = number * self.moving(level, bytes);
            let busy = self.model.handover + memory.max(card);
            all.add_burst(path(level), fixed, moving, busy);
            let hops = [Level::Domain, Level::Node, Level::Network].map(|l| path(l).max(busy));
            chains.extend(distance, messages, hops);
        }
        // What the ranks of one round are late by comes on top.
        chains.longest() + all.stagger()
    }

    /// If everyone sends a message that far up, round the ring: how many those of a
    /// domain send within it and to others of their node, and those of a node to other
    /// nodes.
    fn crossing(&self, distance: u32) -> (f64, f64, f64) {
        let back = self.shape.size - distance;
        let within = |ranks: u32| ranks.saturating_sub(distance) + ranks.saturating_sub(back);
        let (domain, node) = (self.per_domain, self.per_node);
        let inside = f64::from(within(domain));
        let stay = f64::from(within(node) * domain) / f64::from(node);
        (
            inside,
            (stay - inside).max(0.0),
            f64::from(node - within(node)),
        )
    }

    /// Everyone sends `number` messages that far, and works for some time on each of as
    /// many that it receives.
    fn burst(&self, level: Level, number: f64, bytes: f64, work: f64) -> f64 {
        let overhead = self.link(level).overhead;
        let message = self.message(level, bytes);
        let overheads = number.ceil() * overhead;
        let wire = (number - 1.0) * self.spacing(level, bytes) + message + work;
        wire.max(overheads.max(message - overhead) + overheads + number * work)
    }

    /// Everyone sends a message to everyone, and takes what arrives before it sends
    /// more: as many as leave until the first arrives, and at last those that are left,
    /// whose answers it waits for.
    pub(crate) fn everyone_taking(&self, bytes: f64) -> f64 {
        let sends = self.sends(self.shape.placement.fewest);
        let overhead = self.overhead();
        let turn = (self.hop(bytes) / overhead - 1.0).ceil() * overhead;
        let turns = (sends / turn).ceil();
        let wait = match turns * turn - sends {
            _ if turns == 1.0 => 0.0,
            // Ranks that are near and far from others are out of step.
            wait if self.far() != self.level(1) => wait.min(0.5 * self.latency()),
            wait => wait,
        };
        // In each turn, all at once.
        let busy = turns * f64::from(self.per_domain) * self.busy(Level::Domain, bytes);
        self.everyone(bytes, 0.0).max(2.0 * sends + wait + busy)
    }

    /// Time for a rank to post a message to everyone, on a node of so many.
    fn sends(&self, node: u32) -> f64 {
        let numbers = self.peers_of(node).into_iter();
        numbers
            .map(|(level, number)| number * self.link(level).overhead)
            .sum()
    }

    /// Everyone sends a message to everyone, and works for some time for each it
    /// receives.
    pub(crate) fn everyone(&self, bytes: f64, work: f64) -> f64 {
        let sends = self.sends(self.shape.placement.fewest);
        let (mut ports, mut memory, mut card) = ([0.0_f64; 2], 0.0, 0.0_f64);
        let mut crowd = 0.0;
        for (level, number) in self.peers() {
            if number == 0.0 {
                continue;
            }
            let link = self.link(level);
            ports[level.port()] += number * self.port(level, bytes);
            let busy = number * self.busy_with_all(level, bytes);
            match level {
                Level::Network => card += busy,
                _ => memory += busy,
            }
            // Ranks that are close together send to one far away at the same
            // time, if they first wait for answers; not if few are answered at once.
            let at_once = work == 0.0 || self.p - 1.0 <= arrivals(bytes as usize) as f64;
            if level == Level::Node && bytes > link.eager as f64 && at_once {
                ports[0] += f64::from(self.per_domain - 1) * self.port(level, bytes);
            }
            if level == Level::Network {
                // They come one behind the other anyway if the card takes longer.
                let late = (link.overhead - self.busy(level, bytes)).max(0.0);
                crowd = f64::from(self.per_node - 1) * late;
            }
        }
        let far = self.far();
        // Nothing is taken before the neighbour's arrives.
        let near = self.level(1);
        let arrives = self.message(near, bytes) - self.link(near).overhead;
        let processor = sends.max(arrives) + sends + (self.p - 1.0) * work;
        let last = self.fixed(far, bytes) + crowd + work;
        let first = self.link(far).overhead;
        let wire = (sends - first)
            .max(ports[0])
            .max(ports[1])
            .max(memory)
            .max(card)
            + last;
        processor.max(wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Placement, Shape, TYPICAL};

    fn chains(size: u32, per_node: u32) -> Chains {
        let nodes = size.div_ceil(per_node);
        let shape = Shape {
            size,
            bytes: 8,
            elem: 8,
            commutative: true,
            placement: Placement {
                nodes,
                per_node,
                fewest: size - (nodes - 1) * per_node,
                per_domain: per_node,
                consecutive: true,
            },
        };
        Chains::new(&Terms::new(&shape, &TYPICAL))
    }

    /// How many messages of the longest chain leave their nodes.
    fn leave(size: u32, per_node: u32, rounds: &[(u32, u32)]) -> f64 {
        let mut chains = chains(size, per_node);
        for &(distance, messages) in rounds {
            chains.extend(distance, messages, [0.0, 0.0, 1.0]);
        }
        chains.longest()
    }

    #[test]
    fn a_chain_leaves_its_node_where_distances_take_it_there() {
        // Aligned: once by the short distances, and by each long one.
        assert_eq!(leave(16, 4, &[(8, 1), (4, 1), (2, 1), (1, 1)]), 3.0);
        // Rank 1 of a node gets to the next by 3, and from its last rank by 1 or 2.
        assert_eq!(leave(12, 4, &[(6, 1), (3, 1), (1, 2)]), 3.0);
        // A round within a node leaves it once, however few ranks the last node has.
        assert_eq!(leave(13, 4, &[(4, 3), (1, 3)]), 2.0);
        assert_eq!(leave(9, 9, &[(4, 2), (1, 3)]), 0.0);
    }

    #[test]
    fn ranks_of_like_nodes_have_like_chains() {
        for (size, per_node) in [(12, 4), (24, 4), (48, 16), (64, 8), (60, 6)] {
            let mut short = chains(size, per_node);
            let mut whole = chains(size, per_node);
            whole.times = vec![0.0; size as usize];
            assert_eq!(short.times.len(), per_node as usize);
            let mut distance = size.div_ceil(2);
            while distance > 1 {
                for chains in [&mut short, &mut whole] {
                    chains.extend(distance, 1, [1.0, 2.0, 7.0]);
                }
                assert_eq!(short.times, whole.times[..per_node as usize]);
                distance = distance.div_ceil(2);
            }
        }
    }
}
