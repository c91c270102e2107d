//! Rounds in which all ranks send at once, to partners or to those below a limit.

use std::ops::Range;

use super::{Level, Terms, powers};
use crate::model::log2_ceil;

/// Rounds that follow each other. In each, the messages of all ranks take some
/// time whatever their length, move at once, and keep a memory or card busy that
/// they share. As ranks run one behind the other, a round does not cost more than
/// a message alone or that resource, whichever is longer; only once it costs the
/// rest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    total: f64,
    stagger: f64,
    /// The staggers of rounds in which that resource is about as busy as the ports:
    /// messages wait for the one or the other each time.
    waits: f64,
}

/// What the pairs of an exchange pass.
#[derive(Clone, Copy, Debug)]
struct Pairs {
    /// What connects most of a node, or domain.
    level: Level,
    /// Whether the two of some pair are on two nodes.
    detour: bool,
    /// Messages that a card, and the memory of a domain, moves at most.
    card: f64,
    memory: f64,
}

impl Rounds {
    pub(crate) fn add(&mut self, fixed: f64, moving: f64, busy: f64) {
        self.add_burst(fixed + moving, fixed, moving, busy);
    }

    /// Adds a round in which everyone sends several messages, which would be through after `path`
    /// if they were alone; the last of them takes `fixed` besides what all move.
    pub(super) fn add_burst(&mut self, path: f64, fixed: f64, moving: f64, busy: f64) {
        let round = path.max(busy);
        self.total += round;
        let stagger = fixed + moving.max(busy) - round;
        self.stagger = self.stagger.max(stagger);
        if busy < 2.0 * moving {
            self.waits += stagger;
        }
    }

    pub(crate) fn time(&self) -> f64 {
        self.total + self.stagger
    }

    /// What the rest of one round costs besides what all rounds do.
    pub(super) fn stagger(&self) -> f64 {
        self.stagger
    }
}

impl Terms<'_> {
    /// What the pairs of an exchange at this distance pass, those of some ranks.
    fn pairs(&self, distance: u32, ranks: &Range<u32>) -> Pairs {
        let (size, node, domain) = (self.shape.size, self.per_node, self.per_domain);
        let aside = size - self.folded();
        // The first folded rank that is not below one.
        let folded = |rank: u32| match rank {
            r if r < 2 * aside => r.div_ceil(2),
            r => r - aside,
        };
        let mut pairs = Pairs {
            level: Level::Domain,
            detour: false,
            card: 0.0,
            memory: 0.0,
        };
        let (first, last) = (ranks.start / node, (ranks.end - 1) / node);
        // Others are like these.
        for at in [first, last.saturating_sub(1).max(first), last] {
            let (from, to) = (at * node, size.min((at + 1) * node));
            let number = folded(to) - folded(from);
            let away = apart(folded(from), folded(to), distance);
            pairs.card = pairs.card.max(f64::from(away));
            pairs.detour |= away > 0;
            // The few of a last node wait for others, but not one for the other.
            if away > 0 && 2 * away >= number && 4 * number >= node {
                pairs.level = Level::Network;
            }
            let stay = 1.0 - f64::from(away) / f64::from(number.max(1));
            let domains =
                [from.max(ranks.start), to.min(ranks.end) - 1].map(|r| (r - from) / domain);
            for at in domains {
                let first = from + at * domain;
                // Those behind do not wait for those in front.
                let to = to.min(first + domain).min(ranks.end);
                let (from, to) = (folded(first), folded(to));
                let others = f64::from(apart(from, to, distance));
                let all = f64::from(to - from);
                // Others pass that memory on their way in.
                let here = all - others + 2.0 * others * stay;
                pairs.memory = pairs.memory.max(here);
                if pairs.level == Level::Domain && others > 0.0 && 2.0 * others * stay >= all {
                    pairs.level = Level::Node;
                }
            }
        }
        pairs
    }

    /// Rounds in which everyone exchanges bytes with the one whose number differs
    /// in one bit, the distance, and then works for some time:
    /// `(distance, bytes, work)`. Where ranks are folded, half of those in front
    /// stand aside after some time `before`, and those behind them are shifted.
    pub(crate) fn exchanges(
        &self,
        before: f64,
        rounds: impl Iterator<Item = (u32, f64, f64)> + Clone,
    ) -> f64 {
        let size = self.shape.size;
        let aside = size - self.folded();
        let behind = self.exchanges_of(&(2 * aside..size), rounds.clone());
        if aside == 0 {
            return before + behind;
        }
        let front = self.exchanges_of(&(0..2 * aside), rounds.clone());
        // If the two halves meet first, so many of those behind wait for others to
        // let their cards work both ways.
        let waiting = match rounds.clone().next() {
            Some((distance, ..))
                if 2 * distance == self.folded() && self.far() == Level::Network =>
            {
                (f64::from(aside) / f64::from(self.folded() - aside)).min(1.0)
            }
            _ => 0.0,
        };
        (before + front).max(waiting * before + behind)
    }

    /// [`Terms::exchanges`] between folding, which takes some time `before`, and handing back,
    /// which takes some `after`. Those in front find what those behind have sent
    /// long ago, so they are done first.
    pub(crate) fn folded_exchanges(
        &self,
        [before, after]: [f64; 2],
        rounds: impl Iterator<Item = (u32, f64, f64)> + Clone,
    ) -> f64 {
        let aside = self.shape.size - self.folded();
        let behind = rounds.clone().filter(|&(distance, ..)| distance >= aside);
        let ahead = behind.map(|(distance, ..)| self.link(self.level(distance)).latency);
        let ahead = ahead.sum::<f64>().min(before);
        self.exchanges(before, rounds) + (after - ahead).max(0.0)
    }

    fn exchanges_of(
        &self,
        ranks: &Range<u32>,
        rounds: impl Iterator<Item = (u32, f64, f64)>,
    ) -> f64 {
        let mut all = Rounds::default();
        let (mut detour, mut detours): (f64, f64) = (0.0, 0.0);
        // Who has met everyone, if only through others, is in step with all.
        let (all_ranks, everyone) = (0..self.shape.size, self.folded() - 1);
        let mut met = 0;
        for (distance, bytes, work) in rounds {
            let in_step = if met == everyone { &all_ranks } else { ranks };
            let pairs = self.pairs(distance, in_step);
            met |= distance;
            let (fixed, moving) = (
                self.fixed(pairs.level, bytes) + work,
                Terms {
                    crowd: 1.0,
                    ..*self
                }
                .moving(pairs.level, bytes),
            );
            let memory = pairs.memory * self.busy(Level::Domain, bytes);
            let card = pairs.card * self.busy(Level::Network, bytes);
            all.add(fixed, moving, self.model.handover + memory.max(card));
            if pairs.detour {
                let longer = self.message(Level::Network, bytes) + work - fixed - moving;
                detour = detour.max(longer);
                detours += longer;
            }
        }
        // A domain that waits makes the others wait.
        if self.far() == Level::Node {
            all.stagger = all.stagger.max(all.waits);
        }
        // There, and back.
        all.time() + detours.min(2.0 * detour)
    }

    /// Rounds in which everyone sends `bytes` to the one 1, 2, 4, … above it, if
    /// there is one, and works on what it gets. What starts at rank 0 gets as far
    /// as the distances together.
    pub(crate) fn prefix(&self, ranks: u32, bytes: f64, work: f64) -> f64 {
        let hops = ranks.ilog2();
        let (network, node) = self.prefix_hops(hops);
        let mut rounds = Rounds::default();
        // How much more than those hops it is to the last rank.
        let rest = f64::from(ranks) / f64::from(1 << hops) - 1.0;
        let mut more = 0.0;
        for round in 0..hops {
            let level = match hops - round {
                left if left <= network => Level::Network,
                left if left <= network + node => Level::Node,
                _ => Level::Domain,
            };
            let (fixed, moving) = (self.fixed(level, bytes) + work, self.moving(level, bytes));
            let number = match level {
                Level::Network => self.per_node,
                _ => self.per_domain,
            };
            let busy = self.busy_with(level, number.min(ranks - (1 << round)), bytes);
            rounds.add(fixed, moving, self.model.handover + busy);
            more = work + rest * moving;
        }
        rounds.time() + if rest > 0.0 { more } else { 0.0 }
    }

    /// How many of so many hops lead to another node, and domain.
    fn prefix_hops(&self, hops: u32) -> (u32, u32) {
        let domains = self.per_node.div_ceil(self.per_domain);
        let network = log2_ceil(self.shape.placement.nodes).min(hops);
        (network, log2_ceil(domains).min(hops - network))
    }

    /// Time of a prefix that is computed behind a message from every rank to the next.
    pub(crate) fn shifted_prefix(&self, bytes: f64, work: f64) -> f64 {
        let others = (self.shape.size - 1).max(1);
        let (network, _) = self.prefix_hops(others.ilog2());
        // The whole way leads to every node once.
        let level = if network + 1 < self.shape.placement.nodes {
            Level::Network
        } else {
            self.level(1)
        };
        let busy = self.busy_with(level, others.min(self.per_domain), bytes);
        let first = self.fixed(level, bytes) + self.moving(level, bytes).max(busy);
        first + self.prefix(others, bytes, work)
    }

    /// Ranks that are left when they are folded to a power of two.
    pub(crate) fn folded(&self) -> u32 {
        1 << self.shape.size.ilog2()
    }

    /// Their distances in recursive doubling.
    pub(crate) fn distances(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + use<> {
        powers(self.folded())
    }

    /// Time for those who stand aside to hand over, or get back, `bytes`.
    pub(crate) fn folding(&self, bytes: f64, work: f64) -> f64 {
        let aside = self.shape.size - self.folded();
        if aside == 0 {
            return 0.0;
        }
        let level = match self.shape.placement {
            p if p.nodes > 1 && p.per_node % 2 == 1 => Level::Network,
            p if p.per_domain % 2 == 1 && p.per_domain < p.per_node => Level::Node,
            _ => Level::Domain,
        };
        let number = aside.min(self.per_domain.div_ceil(2));
        let busy = f64::from(number) * self.busy(level, bytes);
        self.fixed(level, bytes) + self.moving(level, bytes).max(busy) + work
    }
}

/// How many of the ranks from `from` to before `to` have a partner at this distance
/// that is not one of them. It is a power of two.
fn apart(from: u32, to: u32, distance: u32) -> u32 {
    let block = 2 * distance;
    // The same within one block of partners.
    let alone = |from: u32, to: u32| {
        let end = to.min(distance).min(to.saturating_sub(distance));
        let start = from.max(from.max(distance) - distance);
        to - from - 2 * end.saturating_sub(start)
    };
    if from / block == to / block {
        alone(from % block, to % block)
    } else {
        alone(from % block, block) + alone(0, to % block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_apart_are_counted() {
        for distance in [1, 2, 4, 8, 16] {
            for from in 0..40 {
                for to in from..70 {
                    let away = |r: &u32| !(from..to).contains(&(r ^ distance));
                    let count = (from..to).filter(away).count();
                    assert_eq!(apart(from, to, distance) as usize, count, "{from}..{to}");
                }
            }
        }
    }
}
