//! How the clocks of nodes relate to that of `mpirun`.
//!
//! A node is asked, and its answer has what its clock shows. That was between the moment when it
//! was asked and the one when it was heard: in the middle, give or take half of the time between.
//! Of the answers of each second the one counts that came soonest, and before anything is written
//! that of the first ones.

use std::collections::BTreeMap;

use super::event::NODE_CLOCK;
use super::message::{ClockSnapshot, ClockValue, TracePacket, append};

/// The clock of a trace: it goes on while a machine sleeps, and all others are told in it.
const TRACE_CLOCK: u32 = 6;

/// How long exchanges are compared before the best of them counts, nanoseconds.
const COMPARED: u64 = 1_000_000_000;

/// A question and its answer. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When it was asked, by the clock of `mpirun`.
    pub asked: u64,
    /// What the node's clock showed.
    pub there: u64,
    /// When it was heard, by the clock of `mpirun`.
    pub heard: u64,
}

impl Exchange {
    /// When the node's clock showed that, by the clock of `mpirun`.
    fn here(&self) -> u64 {
        self.asked + self.bound()
    }

    /// How far from that it may be.
    fn bound(&self) -> u64 {
        self.heard.saturating_sub(self.asked) / 2
    }

    /// The difference of both clocks.
    fn offset(&self) -> i64 {
        self.here().wrapping_sub(self.there) as i64
    }
}

/// How many exchanges are compared before anything is written.
const FIRST: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct Known {
    /// What was written last; `None` before.
    written: Option<Exchange>,
    /// The best one since.
    best: Option<Exchange>,
    since: u64,
    /// How many there were.
    count: u32,
}

/// What is known of the clocks of nodes.
#[derive(Debug, Default)]
pub struct Clocks {
    nodes: BTreeMap<u32, Known>,
    /// The node whose clock is that of `mpirun`.
    own: Option<u32>,
    bound: u64,
}

impl Clocks {
    /// `own` is the node of `mpirun`, if that has one.
    pub fn new(own: Option<u32>) -> Clocks {
        Clocks {
            own,
            ..Clocks::default()
        }
    }

    /// Takes in an exchange with a node. Gives what is to be written before its next packets, if
    /// anything is.
    pub fn add(&mut self, node: u32, exchange: Exchange) -> Option<Vec<u8>> {
        let known = self.nodes.entry(node).or_insert(Known {
            written: None,
            best: None,
            since: exchange.heard,
            count: 0,
        });
        known.count += 1;
        if self.own == Some(node) {
            let same = Exchange {
                asked: exchange.there,
                heard: exchange.there,
                ..exchange
            };
            let is_new = known.written.replace(same).is_none();
            return is_new.then(|| snapshot(node, &same));
        }
        if known
            .best
            .is_none_or(|best| exchange.bound() < best.bound())
        {
            known.best = Some(exchange);
        }
        let is_due = match known.written {
            None => known.count >= FIRST,
            Some(_) => exchange.heard.saturating_sub(known.since) >= COMPARED,
        };
        match is_due {
            true => self.settle(node, exchange.heard),
            false => None,
        }
    }

    /// Whether anything was written of the clock of a node.
    pub fn is_known(&self, node: u32) -> bool {
        let known = self.nodes.get(&node);
        known.is_some_and(|it| it.written.is_some())
    }

    /// Has the best exchange with a node count, whether or not it is time: what is to be written.
    pub fn settle(&mut self, node: u32, now: u64) -> Option<Vec<u8>> {
        let known = self.nodes.get_mut(&node)?;
        let best = known.best.take()?;
        // Clocks have gone apart meanwhile, which was not seen in between.
        let before = known.written;
        let apart = before.map_or(0, |it| best.offset().abs_diff(it.offset()));
        known.since = now;
        known.written = Some(best);
        self.bound = self.bound.max(best.bound()).max(apart);
        Some(snapshot(node, &best))
    }

    /// How far times of two nodes may be apart that are the same in the trace, nanoseconds; `None`
    /// if there is no other node than that of `mpirun`.
    pub fn bound(&self) -> Option<u64> {
        let others = self.nodes.keys().filter(|&&node| Some(node) != self.own);
        (others.count() > 0).then_some(self.bound)
    }

    /// Of how many nodes anything is known.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }
}

/// What is written of an exchange: what the clock of the node and that of the trace showed at once.
pub fn snapshot(node: u32, exchange: &Exchange) -> Vec<u8> {
    let clock = |id, timestamp| ClockValue {
        clock_id: Some(id),
        timestamp: Some(timestamp),
    };
    let packet = TracePacket {
        trusted_packet_sequence_id: Some(node.wrapping_add(1)),
        clock_snapshot: Some(ClockSnapshot {
            clocks: vec![
                clock(NODE_CLOCK, exchange.there),
                clock(TRACE_CLOCK, exchange.here()),
            ],
        }),
        ..TracePacket::default()
    };
    let mut bytes = Vec::new();
    append(&packet, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn exchange(asked: u64, took: u64, ahead: u64) -> Exchange {
        Exchange {
            asked,
            there: asked + took / 2 + ahead,
            heard: asked + took,
        }
    }

    #[test]
    fn the_soonest_answer_of_a_second_counts() {
        let mut clocks = Clocks::new(Some(0));
        assert!(clocks.add(0, exchange(0, 100, 0)).is_some());
        assert!(clocks.add(0, exchange(MS, 100, 0)).is_none());
        assert_eq!(clocks.bound(), None);
        for i in 1..FIRST.into() {
            assert_eq!(clocks.add(1, exchange(i * MS, 90_000, 5 * MS)), None);
        }
        assert!(!clocks.is_known(1));
        let first = exchange(20 * MS, 80_000, 5 * MS);
        assert_eq!(clocks.add(1, first), Some(snapshot(1, &first)));
        assert!(clocks.is_known(1));
        assert_eq!(clocks.bound(), Some(40_000));
        let best = exchange(100 * MS, 10_000, 5 * MS + 1000);
        assert_eq!(clocks.add(1, best), None);
        assert_eq!(clocks.add(1, exchange(200 * MS, 90_000, 5 * MS)), None);
        let last = exchange(1100 * MS, 90_000, 5 * MS);
        assert_eq!(clocks.add(1, last), Some(snapshot(1, &best)));
        assert_eq!((clocks.bound(), clocks.nodes()), (Some(40_000), 2));
    }

    #[test]
    fn clocks_that_go_apart_are_told() {
        let mut clocks = Clocks::new(None);
        clocks.add(1, exchange(0, 1000, 0));
        assert!(clocks.settle(1, 1000).is_some() && clocks.settle(1, 1000).is_none());
        clocks.add(1, exchange(1001 * MS, 1000, 50_000));
        assert_eq!(clocks.bound(), Some(50_000));
    }
}
