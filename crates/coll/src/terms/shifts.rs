//! Rounds in which every rank sends some distances up, round the ring of ranks, and
//! those in which it sends to all others.

use super::rounds::Rounds;
use super::{Level, Terms};
use crate::acc::arrivals;

impl Terms<'_> {
    /// Rounds in which everyone sends `number` messages of `bytes` to those
    /// `distance` and multiples of it above, round the ring, and works for some time
    /// on each that it gets: `(distance, number, bytes, work)`. A fraction of a message
    /// is one with fewer bytes.
    pub(crate) fn shifts(&self, rounds: impl Iterator<Item = (u32, f64, f64, f64)>) -> f64 {
        let mut all = Rounds::default();
        let mut detour: f64 = 0.0;
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
            detour = detour.max(path(self.far()) - path(level));
        }
        // Rounds within a node, all together, lead to the next one at most; or
        // past it, if it is the last and has fewer ranks.
        let ragged = self.shape.placement.fewest < self.per_node;
        all.time() + if ragged { 2.0 } else { 1.0 } * detour
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
