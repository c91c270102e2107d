//! The terms that costs of algorithms are made of.
//!
//! Ranks are taken to fill one node after the other, and the root to be rank 0.
//! Rounds of messages that follow each other cost what the slowest message of
//! each costs, or what the card or memory that they share is busy with all of
//! them, whichever is longer; see [`Rounds`].

use catena_plan::simulate::Link;

use crate::model::log2_ceil;
use crate::pipe::{Branch, Branches};
use crate::{Model, Shape};

/// A call on a machine. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub(crate) shape: Shape,
    pub(crate) model: &'a Model,
    /// Number of ranks.
    pub(crate) p: f64,
    /// Bytes; see [`Shape::bytes`].
    pub(crate) n: f64,
    /// Ranks on a node, and in a domain.
    per_node: u32,
    per_domain: u32,
    /// How many on each node do the same at once.
    crowd: f64,
}

/// What connects ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    Domain,
    Node,
    Network,
}

/// Rounds that follow each other. In each, the messages of all ranks take some
/// time whatever their length, move at once, and keep a memory or card busy that
/// they share. As ranks run one behind the other, a round does not cost more than
/// a message alone or that resource, whichever is longer; only once it costs the
/// rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    total: f64,
    stagger: f64,
}

impl Rounds {
    pub(crate) fn add(&mut self, fixed: f64, moving: f64, busy: f64) {
        let round = (fixed + moving).max(busy);
        self.total += round;
        self.stagger = self.stagger.max(fixed + moving.max(busy) - round);
    }

    pub(crate) fn time(&self) -> f64 {
        self.total + self.stagger
    }
}

/// Messages that a rank posts, or takes, one after the other, with some work for
/// each.
#[derive(Clone, Copy, Debug, Default)]
struct Posts {
    /// When the processor, and the port of each kind, are free.
    processor: f64,
    ports: [f64; 2],
}

impl Posts {
    /// Posts a message; gives the time when it is through.
    fn post(&mut self, t: &Terms, level: Level, bytes: f64, work: f64) -> f64 {
        let start = self.free(level);
        self.skip(t, level, 1.0, bytes, work);
        start + t.message(level, bytes) + work
    }

    /// When the next message could be posted.
    fn free(&self, level: Level) -> f64 {
        self.processor.max(self.ports[level.port()])
    }

    /// Posts so many.
    fn skip(&mut self, t: &Terms, level: Level, number: f64, bytes: f64, work: f64) {
        let port = &mut self.ports[level.port()];
        *port = port.max(self.processor) + number * t.port(level, bytes);
        self.processor += number * (t.link(level).overhead + work);
    }
}

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
    /// The same of its ports.
    ports: f64,
}

impl Level {
    fn port(self) -> usize {
        usize::from(self == Level::Network)
    }
}

impl<'a> Terms<'a> {
    /// Of a call.
    pub fn new(shape: &Shape, model: &'a Model) -> Self {
        Terms {
            shape: *shape,
            model,
            p: f64::from(shape.size),
            n: shape.bytes as f64,
            per_node: shape.placement.per_node,
            per_domain: shape.placement.per_domain,
            crowd: 1.0,
        }
    }

    /// The same if so many ranks of each node do it at once, with others.
    pub(crate) fn crowded(self, ranks: u32) -> Self {
        let crowd = f64::from(ranks);
        Terms { crowd, ..self }
    }

    /// The same with another number of bytes.
    pub(crate) fn with_bytes(&self, bytes: usize) -> Self {
        let shape = Shape {
            bytes,
            ..self.shape
        };
        Terms::new(&shape, self.model)
    }

    /// What connects ranks `distance` apart, if nodes and domains are aligned
    /// to it.
    pub(crate) fn level(&self, distance: u32) -> Level {
        if distance < self.per_domain {
            Level::Domain
        } else if distance < self.per_node {
            Level::Node
        } else {
            Level::Network
        }
    }

    /// The longest way there is.
    pub(crate) fn far(&self) -> Level {
        self.level(self.shape.size - 1)
    }

    pub(crate) fn link(&self, level: Level) -> &'a Link {
        match level {
            Level::Domain => &self.model.domain,
            Level::Node => &self.model.node,
            Level::Network => &self.model.network,
        }
    }

    /// Time that a message keeps the memory or card on its way busy.
    fn busy(&self, level: Level, bytes: f64) -> f64 {
        let (shared, crowd) = match level {
            Level::Domain | Level::Node => (&self.model.memory, 1.0),
            Level::Network => (&self.model.card, self.crowd),
        };
        crowd * (shared.per_message + shared.per_byte * bytes)
    }

    /// The same for a message of each of so many ranks of a node, or domain.
    fn busy_with(&self, level: Level, number: u32, bytes: f64) -> f64 {
        // Others pass that memory on their way in.
        let ways = if level == Level::Node { 2.0 } else { 1.0 };
        ways * f64::from(number) * self.busy(level, bytes)
    }

    /// The same for a message of each rank.
    fn busy_with_all(&self, level: Level, bytes: f64) -> f64 {
        let number = match level {
            Level::Domain | Level::Node => self.per_domain,
            Level::Network => self.per_node,
        };
        self.busy_with(level, number, bytes)
    }

    /// Time for one message of `bytes` from one rank to another.
    pub(crate) fn message(&self, level: Level, bytes: f64) -> f64 {
        self.fixed(level, bytes) + self.moving(level, bytes)
    }

    /// The part of it that does not depend on the bytes.
    fn fixed(&self, level: Level, bytes: f64) -> f64 {
        let link = self.link(level);
        // A long one is announced and answered first.
        let trips = if bytes > link.eager as f64 { 3.0 } else { 1.0 };
        2.0 * link.overhead + trips * link.latency
    }

    /// The part that does.
    fn moving(&self, level: Level, bytes: f64) -> f64 {
        (bytes * self.link(level).per_byte).max(self.busy(level, bytes))
    }

    /// Time from one of many messages of a rank to the next.
    pub(crate) fn spacing(&self, level: Level, bytes: f64) -> f64 {
        self.link(level).overhead.max(self.port(level, bytes))
    }

    /// Time for which a message keeps its port, memory or card busy.
    fn port(&self, level: Level, bytes: f64) -> f64 {
        let link = self.link(level);
        self.busy(level, bytes)
            .max(link.gap + bytes * link.per_byte)
    }

    /// What connects the two of an exchange at this distance, and how many of a
    /// node, or domain, exchange that far. Where ranks were folded, half of those
    /// in front stand aside, and those behind them are shifted, so that a pair of
    /// neighbours may be on two nodes.
    fn partners(&self, distance: u32) -> (Level, u32) {
        let (size, node) = (self.shape.size, self.per_node);
        let aside = size - self.folded();
        let shifted = !aside.is_multiple_of(node) && 2 * aside / node != (size - 1) / node;
        let level = match distance {
            _ if aside == 0 => self.level(distance),
            d if shifted && d < node => return (Level::Network, d),
            d if d < aside => self.level(2 * d),
            d => self.level(d + aside),
        };
        let number = match level {
            Level::Network => node,
            Level::Node | Level::Domain => self.per_domain,
        };
        (level, number)
    }

    /// Rounds in which everyone exchanges bytes with the one whose number differs
    /// in one bit, the distance, and then works for some time:
    /// `(distance, bytes, work)`.
    pub(crate) fn exchanges(&self, rounds: impl Iterator<Item = (u32, f64, f64)>) -> f64 {
        let mut all = Rounds::default();
        for (distance, bytes, work) in rounds {
            let (level, number) = self.partners(distance);
            let (fixed, moving) = (self.fixed(level, bytes) + work, self.moving(level, bytes));
            all.add(fixed, moving, self.busy_with(level, number, bytes));
        }
        all.time()
    }

    /// Rounds in which everyone sends `number` messages of `bytes` to those
    /// `distance` and multiples of it above, and then works for some time:
    /// `(distance, number, bytes, work)`.
    pub(crate) fn shifts(&self, rounds: impl Iterator<Item = (u32, u32, f64, f64)>) -> f64 {
        let mut all = Rounds::default();
        let mut detour: f64 = 0.0;
        for (distance, number, bytes, work) in rounds {
            let level = self.level(distance * number);
            let path = |level| self.burst(level, f64::from(number), bytes) + work;
            let busy = f64::from(number) * self.busy_with_all(level, bytes);
            let moving = self.moving(level, bytes);
            all.add(path(level) - moving, moving, busy);
            detour = detour.max(path(self.far()) - path(level));
        }
        // Rounds within a node, all together, lead to the next one at most; or
        // past it, if it is the last and has fewer ranks.
        let ragged = self.shape.placement.fewest < self.per_node;
        all.time() + if ragged { 2.0 } else { 1.0 } * detour
    }

    /// Rounds in which everyone sends `bytes` to the one 1, 2, 4, … above it, if
    /// there is one, and works on what it gets. What starts at rank 0 gets as far
    /// as the distances together.
    pub(crate) fn prefix(&self, ranks: u32, bytes: f64, work: f64) -> f64 {
        let nodes = self.shape.placement.nodes;
        let domains = self.per_node.div_ceil(self.per_domain);
        let hops = ranks.ilog2();
        let network = log2_ceil(nodes).min(hops);
        let node = log2_ceil(domains).min(hops - network);
        let mut rounds = Rounds::default();
        for round in 0..hops {
            let level = match hops - round {
                left if left <= network => Level::Network,
                left if left <= network + node => Level::Node,
                _ => Level::Domain,
            };
            let (fixed, moving) = (self.fixed(level, bytes) + work, self.moving(level, bytes));
            rounds.add(fixed, moving, self.busy_with_all(level, bytes));
        }
        rounds.time()
    }

    /// Everyone sends `number` messages that far, and receives as many.
    fn burst(&self, level: Level, number: f64, bytes: f64) -> f64 {
        let processor = 2.0 * number * self.link(level).overhead;
        let wire = (number - 1.0) * self.spacing(level, bytes) + self.message(level, bytes);
        processor.max(wire)
    }

    /// Everyone sends a message to everyone, and works for some time for each it
    /// receives.
    pub(crate) fn everyone(&self, bytes: f64, work: f64) -> f64 {
        let (mut sends, mut ports, mut memory, mut card) = (0.0, [0.0_f64; 2], 0.0, 0.0_f64);
        let mut crowd = 0.0;
        for (level, number) in self.peers() {
            if number == 0.0 {
                continue;
            }
            let link = self.link(level);
            sends += number * link.overhead;
            ports[level.port()] += number * self.port(level, bytes);
            let busy = number * self.busy_with_all(level, bytes);
            match level {
                Level::Network => card += busy,
                _ => memory += busy,
            }
            // Ranks that are close together send to one far away at the same
            // time, if they first wait for answers.
            if level == Level::Node && bytes > link.eager as f64 {
                ports[0] += f64::from(self.per_domain - 1) * self.port(level, bytes);
            }
            if level == Level::Network {
                crowd = f64::from(self.per_node - 1) * link.overhead;
            }
        }
        let far = self.far();
        let processor = 2.0 * sends + (self.p - 1.0) * work;
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

    /// Messages along the ways from the root of a tree to its leaves, or back:
    /// `bytes(ranks)` to a subtree, and some work for each message.
    pub(crate) fn tree<const RADIX: u32>(&self, bytes: impl Fn(f64) -> f64, work: f64) -> f64 {
        let size = self.shape.size;
        // Times of a subtree of `unit` ranks, and of the last one if it has less.
        let (mut full, mut last) = (0.0, 0.0);
        let mut unit: u32 = 1;
        while unit < size {
            // Time until a subtree of `number` ranks is through, each of whose
            // subtrees but the last has `unit` ranks.
            let through = |number: u32, last: f64| {
                let mut posts = Posts::default();
                let mut end: f64 = 0.0;
                for times in (1..number.div_ceil(unit)).rev() {
                    let ranks = unit.min(number - times * unit);
                    let rest = if ranks == unit { full } else { last };
                    let level = self.level(times * unit);
                    let bytes = bytes(f64::from(ranks));
                    // Other trees of a domain use its memory at the same time.
                    let others = match level {
                        Level::Network => 0,
                        _ => (self.per_domain / (unit * RADIX)).saturating_sub(1),
                    };
                    let wait = f64::from(others) * self.busy(level, bytes);
                    let slower = (wait - self.moving(level, bytes)).max(0.0);
                    end = end.max(posts.post(self, level, bytes, work) + slower + rest);
                }
                let free = posts.free(self.level(unit - 1));
                end.max(free + if number <= unit { last } else { full })
            };
            let next = unit.saturating_mul(RADIX);
            let rest = if size.is_multiple_of(next) {
                next.min(size)
            } else {
                size % next
            };
            let cut = through(
                rest,
                if size.is_multiple_of(unit) {
                    full
                } else {
                    last
                },
            );
            (full, last) = (through(next.min(size), full), cut);
            unit = next;
        }
        last
    }

    /// The root's messages of a binomial tree, of `bytes(ranks)` to a subtree, and
    /// the messages of those next to it: all that it has, through the same card.
    pub(crate) fn handing_out(&self, bytes: impl Fn(f64) -> f64) -> f64 {
        let mut posts = Posts::default();
        let mut waits: f64 = 0.0;
        for unit in powers(self.shape.size) {
            let ranks = f64::from(unit.min(self.shape.size - unit));
            let (level, bytes) = (self.level(unit), bytes(ranks));
            posts.skip(self, level, 1.0, bytes, 0.0);
            waits = waits.max(self.fixed(level, bytes) - self.fixed(level, 0.0));
        }
        let level = self.far();
        let others = if level == Level::Network && self.per_node > 1 {
            self.busy(level, bytes(self.p))
        } else {
            0.0
        };
        waits + posts.free(level) + others
    }

    /// A message from one rank to each other, or back, one behind the other, and
    /// some work for each.
    pub(crate) fn fan(&self, bytes: f64, work: f64) -> f64 {
        let mut posts = Posts::default();
        let mut end: f64 = 0.0;
        for (level, number) in self.peers() {
            if number > 0.0 {
                posts.skip(self, level, number - 1.0, bytes, work);
                end = end.max(posts.post(self, level, bytes, work));
            }
        }
        end
    }

    /// Number of ranks at each level from one.
    fn peers(&self) -> [(Level, f64); 3] {
        let (p, node, domain) = (self.p, f64::from(self.per_node), f64::from(self.per_domain));
        [
            (Level::Domain, domain - 1.0),
            (Level::Node, node - domain),
            (Level::Network, p - node),
        ]
    }

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
        let processor = 2.0 * link.overhead + work;
        let port = link.gap + bytes * link.per_byte;
        let busy = match level {
            Level::Network => self.busy(level, bytes),
            _ => f64::from(self.per_domain) * self.busy(level, bytes),
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
        slowest.max(lap * rounds / self.p)
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

    /// Segments along the leaders of the nodes and then the ranks of each node, or
    /// back; then each rank does some work for a segment from a child.
    pub(crate) fn pipe(&self, tree: Branches, segment: f64, work: f64) -> f64 {
        let (nodes, node) = (self.shape.placement.nodes, self.per_node);
        let network = self.stage(
            tree.across,
            nodes,
            [Level::Network; 2],
            nodes,
            segment,
            work,
        );
        let levels = [Level::Domain, self.level(node - 1)];
        let domains = node.div_ceil(self.per_domain);
        let local = self.stage(tree.within, node, levels, domains, segment, work);
        let leader = network.parent + network.children + local.children;
        let member = local.parent + local.children;
        let next = leader.max(member).max(network.ports).max(local.ports);
        let segments = (self.n / segment).max(1.0);
        // The last node may have fewer ranks.
        let few = self.shape.placement.fewest;
        let fewer = self.stage(tree.within, few, levels, domains.min(few), segment, work);
        let first = (network.first + fewer.first).max(network.before + local.first);
        let time = first + (segments - 1.0) * next;
        let memory = segments * f64::from(self.per_domain - 1) * self.busy(levels[1], segment);
        // A memory that is full lets little through to where the next one waits.
        let memory = match tree.within {
            Branch::Chain if domains > 1 => {
                let second = (node - self.per_domain).min(self.per_domain);
                memory * (1.0 + 0.7 * f64::from(second) / f64::from(self.per_domain))
            }
            Branch::Binary if work > 0.0 => memory + 0.7 * time,
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

    /// Ranks that are left when they are folded to a power of two.
    pub(crate) fn folded(&self) -> u32 {
        1 << self.shape.size.ilog2()
    }

    /// Their distances in recursive doubling.
    pub(crate) fn distances(&self) -> impl Iterator<Item = u32> + use<> {
        powers(self.folded())
    }

    /// Time for those who stand aside to hand over, or get back, `bytes`.
    pub(crate) fn folding(&self, bytes: f64, work: f64) -> f64 {
        if self.shape.size.is_power_of_two() {
            0.0
        } else {
            self.message(self.level(1), bytes) + work
        }
    }

    /// Time until the first byte of a message has crossed the farthest level.
    pub(crate) fn latency(&self) -> f64 {
        self.link(self.far()).latency
    }

    /// Time a rank spends on one message over that level.
    pub(crate) fn overhead(&self) -> f64 {
        self.link(self.far()).overhead
    }

    /// Time for one message of `bytes` from one rank to another.
    pub(crate) fn hop(&self, bytes: f64) -> f64 {
        self.message(self.far(), bytes)
    }

    /// Time for one rank to post `messages` of `bytes` each that are under way
    /// at once, without the latency: posting the next overlaps with moving the
    /// last.
    pub(crate) fn stream(&self, messages: f64, bytes: f64) -> f64 {
        messages * self.spacing(self.far(), bytes)
    }

    /// Time to combine `bytes`.
    pub(crate) fn combine(&self, bytes: f64) -> f64 {
        self.model.step + bytes * self.model.reduce
    }

    /// Time for `number` copies of `bytes` each.
    pub(crate) fn copies(&self, number: f64, bytes: f64) -> f64 {
        number * (self.model.step + bytes * self.model.copy)
    }
}

/// The powers of two below `size`.
pub(crate) fn powers(size: u32) -> impl Iterator<Item = u32> {
    (0..size.next_power_of_two().trailing_zeros()).map(|k| 1 << k)
}
