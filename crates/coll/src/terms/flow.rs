//! What travels along a line of ranks: round a ring, or in segments.

use super::{Level, Terms};
use crate::pipe::{Branch, Branches};

/// One level of a tree along which segments travel.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    /// Time until the last rank, and the one before it, have the first segment.
    first: f64,
    before: f64,
    /// Processor time for the parent and for the children of a rank, for each
    /// segment.
    parent: f64,
    children: f64,
    /// Time of its ports for each segment.
    ports: f64,
}

impl Terms<'_> {
    /// Number of links of each level from rank 0 to the last, or also back.
    fn links(&self, back: bool) -> [(Level, f64); 3] {
        let nodes = self.shape.placement.nodes;
        let domains = nodes * self.per_node.div_ceil(self.per_domain);
        let (mut domain, mut node, mut network) =
            (self.shape.size - domains, domains - nodes, nodes - 1);
        if back {
            match self.far() {
                Level::Domain => domain += 1,
                Level::Node => node += 1,
                Level::Network => network += 1,
            }
        }
        [
            (Level::Domain, f64::from(domain)),
            (Level::Node, f64::from(node)),
            (Level::Network, f64::from(network)),
        ]
    }

    /// Time from one of many messages that pass a rank to the next, if all ranks
    /// pass some on: received, worked on, and sent.
    fn passing(&self, level: Level, bytes: f64, work: f64) -> f64 {
        let link = self.link(level);
        // Who sends farther receives from near, or the other way round.
        let near = match level {
            Level::Network if self.per_node > 1 => self.level(1),
            Level::Node if self.per_domain > 1 => Level::Domain,
            other => other,
        };
        let processor = link.overhead + self.link(near).overhead + work;
        let port = link.gap + bytes * link.per_byte;
        // One message leaves the domain, and one comes in.
        let edges = if self.per_domain < self.per_node {
            1
        } else {
            0
        };
        let busy = match level {
            Level::Network => self.busy(level, bytes),
            _ => f64::from(self.per_domain + edges) * self.busy(level, bytes),
        };
        processor.max(port).max(busy)
    }

    /// Rounds in which everyone sends `bytes` to the next rank, namely what it
    /// has received in the round before and worked on.
    pub(crate) fn ring(&self, rounds: f64, bytes: f64, work: f64) -> f64 {
        let mut lap = 0.0;
        let mut slowest: f64 = 0.0;
        for (level, number) in self.links(true) {
            if number > 0.0 {
                let message = self.message(level, bytes) + work;
                let passing = self.passing(level, bytes, work);
                lap += number * message;
                slowest = slowest.max((rounds - 1.0) * passing + message);
            }
        }
        let shared = self.sharing(rounds, rounds * self.p, bytes);
        slowest.max(lap * rounds / self.p).max(shared)
    }

    /// [`Terms::ring`] if ranks start one after the other, as a scatter lets them. Where they
    /// wait for memory, that of one domain rests while another's is full: a quarter of
    /// the time.
    pub(crate) fn late_ring(&self, rounds: f64, bytes: f64) -> f64 {
        let time = self.ring(rounds, bytes, 0.0);
        let memory = rounds * f64::from(self.per_domain + 1) * self.busy(Level::Domain, bytes);
        let full = self.far() == Level::Node && memory + self.hop(bytes) > time;
        time + if full { 0.25 * memory } else { 0.0 }
    }

    /// `bytes` in segments along all ranks, each of which works on them.
    pub(crate) fn chain(&self, bytes: f64, segment: f64, work: f64) -> f64 {
        let first = bytes.min(segment);
        let (mut line, mut passing): (f64, f64) = (0.0, 0.0);
        for (level, number) in self.links(false) {
            if number > 0.0 {
                line += number * (self.message(level, first) + work);
                passing = passing.max(self.passing(level, first, work));
            }
        }
        line + (bytes / segment - 1.0).max(0.0) * passing
    }

    /// Segments along the leaders of the nodes and then, of another length, along the
    /// ranks of each node, or back; each rank does some work for each byte from a
    /// child.
    pub(crate) fn pipe(
        &self,
        tree: Branches,
        [over, segment]: [f64; 2],
        work: impl Fn(f64) -> f64,
    ) -> f64 {
        let (nodes, node) = (self.shape.placement.nodes, self.per_node);
        let levels = [Level::Domain, self.level(node - 1)];
        let domains = node.div_ceil(self.per_domain);
        // The stages, and the time from one segment to the next.
        let stages = |over: f64, segment: f64| {
            let far = [Level::Network; 2];
            let network = self.stage(tree.across, nodes, far, nodes, over, work(over));
            let local = self.stage(tree.within, node, levels, domains, segment, work(segment));
            let share = segment / over;
            let leader = share * (network.parent + network.children) + local.children;
            let member = local.parent + local.children;
            let ports = (share * network.ports).max(local.ports);
            (network, local, leader.max(member).max(ports))
        };
        let (network, local, next) = stages(over, segment);
        let segments = (self.n / segment).max(1.0);
        // The last segment may be shorter.
        let rest = (segments - segments.floor()) * segment;
        let last = if rest > 0.0 {
            stages(over.min(rest), rest).2
        } else {
            0.0
        };
        let work = work(segment);
        // The last node may have fewer ranks.
        let few = self.shape.placement.fewest;
        let fewer = self.stage(tree.within, few, levels, domains.min(few), segment, work);
        let first = (network.first + fewer.first).max(network.before + local.first);
        let time = first + (segments.floor() - 1.0) * next + last;
        let memory = segments * f64::from(self.per_domain - 1) * self.busy(levels[1], segment);
        // A memory that is full lets little through to where the next one waits.
        let memory = match tree.within {
            Branch::Chain if domains > 1 => {
                let second = (node - self.per_domain).min(self.per_domain);
                let full = f64::from(second) / f64::from(self.per_domain);
                let times = match work {
                    0.0 => 1.0,
                    _ => f64::from(domains).log2(),
                };
                let late = memory * (1.0 + 0.7 * full * times);
                late.max(memory + first)
            }
            // Half of the work is done while that memory rests.
            Branch::Binary if work > 0.0 => memory + 0.5 * time,
            _ => memory + self.message(levels[1], segment),
        };
        time.max(memory)
    }

    /// One level of such a tree: of so many ranks in so many groups, within which
    /// they are near, and between which far.
    fn stage(
        &self,
        branch: Branch,
        ranks: u32,
        [near, far]: [Level; 2],
        groups: u32,
        segment: f64,
        work: f64,
    ) -> Stage {
        if ranks == 1 {
            return Stage::default();
        }
        // Few hops lead far, and one child at most.
        let few = f64::from(branch.depth(groups)) / f64::from(branch.depth(ranks));
        let mix = |of: &dyn Fn(Level) -> f64| of(near) + few * (of(far) - of(near));
        let hop = mix(&|level| self.message(level, segment)) + work;
        let later = mix(&|level| self.spacing(level, segment));
        let first = branch.time(ranks, hop, later);
        let children = f64::from(branch.children().min(ranks - 1));
        let overhead = self.link(far).overhead;
        Stage {
            first,
            before: match branch {
                Branch::Binary if ranks > 2 => first,
                _ => first - hop,
            },
            parent: if ranks > 2 { overhead } else { 0.0 },
            children: children * (overhead + work),
            ports: self.port(far, segment) + (children - 1.0) * self.port(near, segment),
        }
    }
}
