//! The terms that costs of algorithms are made of.
//!
//! Ranks are taken to fill one node after the other, and the root to be rank 0.
//! Rounds of messages that follow each other cost what the slowest message of
//! each costs, or what the card or memory that they share is busy with all of
//! them, whichever is longer; see `Rounds`.

mod flow;
mod rounds;
mod shifts;
mod tree;

use catena_schedule::simulate::Link;

use crate::algorithm::{Algorithm, Choose, Collective};
use crate::{Model, Shape};

/// A call on a machine. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub(crate) shape: Shape,
    pub(crate) model: &'a Model,
    /// Chooses the algorithms of its parts.
    choose: Choose,
    /// Number of ranks.
    pub(crate) p: f64,
    /// Bytes; see [`Shape::bytes`].
    pub(crate) n: f64,
    /// Ranks on a node, and in a domain.
    per_node: u32,
    per_domain: u32,
    /// How many on each node do the same at once.
    crowd: f64,
    /// Share of the ranks that move bytes.
    active: f64,
}

/// What connects ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    Domain,
    Node,
    Network,
}

impl Level {
    fn port(self) -> usize {
        usize::from(self == Level::Network)
    }
}

impl<'a> Terms<'a> {
    /// The terms of a call whose parts are served by the algorithms that `choose` names.
    pub(crate) fn choosing(shape: &Shape, model: &'a Model, choose: Choose) -> Self {
        Terms {
            shape: *shape,
            model,
            choose,
            p: f64::from(shape.size),
            n: shape.bytes as f64,
            per_node: shape.placement.per_node,
            per_domain: shape.placement.per_domain,
            crowd: 1.0,
            active: 1.0,
        }
    }

    /// These terms for another call, with all ranks active and no others beside them.
    pub(crate) fn of(&self, shape: &Shape) -> Self {
        Terms::choosing(shape, self.model, self.choose)
    }

    /// The algorithm that serves a part of the call with these terms, and what it costs.
    pub(crate) fn cheapest(&self, what: Collective) -> (&'static Algorithm, f64) {
        (self.choose)(what, self)
    }

    /// These terms if that many ranks of each node do it at once, with others.
    pub(crate) fn oversubscribed(self, ranks: u32) -> Self {
        let crowd = f64::from(ranks);
        Terms { crowd, ..self }
    }

    /// These terms if all bytes are those of such a share of the ranks.
    pub(crate) fn sparse(self, active: f64) -> Self {
        let bytes = (self.n / active) as usize;
        Terms {
            active,
            ..self.with_bytes(bytes)
        }
    }

    /// Whether some ranks have none of the bytes.
    pub(crate) fn is_sparse(&self) -> bool {
        self.active < 1.0
    }

    /// These terms with another number of bytes.
    pub(crate) fn with_bytes(&self, bytes: usize) -> Self {
        let shape = Shape {
            bytes,
            ..self.shape
        };
        self.of(&shape)
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
            Level::Domain | Level::Node => (&self.model.memory, self.active),
            Level::Network => (&self.model.card, self.crowd),
        };
        crowd * (shared.per_message + shared.per_byte * bytes)
    }

    /// Time that a message of each of `number` ranks of a node, or domain, keeps the memory or card
    /// busy.
    fn busy_with(&self, level: Level, number: u32, bytes: f64) -> f64 {
        // Others pass that memory on their way in.
        let ways = if level == Level::Node { 2.0 } else { 1.0 };
        ways * f64::from(number) * self.busy(level, bytes)
    }

    /// Time that a message of each rank keeps the memory or card busy.
    fn busy_with_all(&self, level: Level, bytes: f64) -> f64 {
        let number = match level {
            Level::Domain | Level::Node => self.per_domain,
            Level::Network => self.per_node,
        };
        self.busy_with(level, number, bytes)
    }

    /// Time for so many messages, in rounds that follow each other, where ranks
    /// share cores: these have all of them to move, and change hands in each round.
    fn sharing(&self, rounds: f64, messages: f64, bytes: f64) -> f64 {
        match self.model.handover {
            0.0 => 0.0,
            handover => rounds * handover + messages * self.busy(Level::Domain, bytes),
        }
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

    /// Number of ranks at each level from one.
    fn peers(&self) -> [(Level, f64); 3] {
        self.peers_of(self.per_node)
    }

    /// Number of ranks at each level from one, on a node of `node` ranks.
    fn peers_of(&self, node: u32) -> [(Level, f64); 3] {
        let domain = self.per_domain.min(node);
        [
            (Level::Domain, f64::from(domain - 1)),
            (Level::Node, f64::from(node - domain)),
            (Level::Network, f64::from(self.shape.size - node)),
        ]
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
pub(crate) fn powers(size: u32) -> impl DoubleEndedIterator<Item = u32> + Clone {
    (0..size.next_power_of_two().trailing_zeros()).map(|k| 1 << k)
}
