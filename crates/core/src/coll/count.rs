//! How often which collective ran, and which way it went.

use std::cell::Cell;
use std::iter;

use catena_coll::{Collective, algorithms, inter};

/// The way of a collective that needs no messages.
pub const BOARD: u16 = 0;

/// Room for the ways of each collective.
const WAYS: usize = 16;
const KINDS: usize = Collective::ALL.len();

/// The ways that a collective can go, by number: the board, its algorithms,
/// and those between two groups.
pub fn ways(what: Collective) -> impl Iterator<Item = String> {
    let within = algorithms(what).iter().map(|a| a.name.to_owned());
    let between = inter::algorithms(what).iter();
    let between = between.map(|a| format!("between_{}", a.name));
    iter::once("board".to_owned()).chain(within).chain(between)
}

/// The number of an algorithm.
pub(super) fn way_within(what: Collective, name: &str) -> u16 {
    place(1, algorithms(what).iter().map(|a| a.name), name)
}

/// The number of an algorithm between two groups.
pub(super) fn way_between(what: Collective, name: &str) -> u16 {
    let first = 1 + algorithms(what).len();
    place(first, inter::algorithms(what).iter().map(|a| a.name), name)
}

fn place<'a>(first: usize, mut names: impl Iterator<Item = &'a str>, name: &str) -> u16 {
    let at = names
        .position(|n| n == name)
        .expect("it is in the registry");
    (first + at) as u16
}

/// Counts since `MPI_Init`, with those that the library itself called.
#[derive(Debug, Default)]
pub struct Counts {
    ways: [[Cell<u64>; WAYS]; KINDS],
    /// Among neighbours.
    pub neighbors: Cell<u64>,
    /// Those that no blocking call waited for.
    pub started: Cell<u64>,
    /// Looks of progress at started ones because a message of theirs was complete. Those in turn
    /// are not counted: they grow with the time that nothing moves.
    pub looks: Cell<u64>,
}

impl Counts {
    /// A collective goes a way; `None` is one among neighbours.
    #[inline(always)]
    pub(super) fn add(&self, what: Option<Collective>, way: u16) {
        let counter = match what {
            Some(what) => &self.ways[what as usize][usize::from(way) % WAYS],
            None => &self.neighbors,
        };
        counter.set(counter.get() + 1);
    }

    /// How often a collective went a way.
    pub fn of(&self, what: Collective, way: usize) -> u64 {
        self.ways[what as usize][way].get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_its_place() {
        for what in Collective::ALL {
            let ways: Vec<String> = ways(what).collect();
            assert!(ways.len() <= WAYS, "{what:?} has {} ways", ways.len());
            for (at, way) in ways.iter().enumerate().skip(1) {
                let number = match way.strip_prefix("between_") {
                    Some(name) => way_between(what, name),
                    None => way_within(what, way),
                };
                assert_eq!(usize::from(number), at, "{what:?} {way}");
            }
        }
    }
}
