//! The plans that a communicator has made, kept for calls that are alike.

use std::sync::Arc;

use catena_coll::inter::Root;
use catena_coll::{Collective, Layout};
use catena_plan::Plan;
use catena_settings::changes;

/// All that the plan of a call depends on, besides the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// The collective.
    pub what: Collective,
    /// Whether it is among neighbours: an allgather, or an alltoall of any form.
    pub neighbors: bool,
    /// Its root; `Near` if it has none.
    pub root: Root,
    /// The rest as in [`catena_coll::Args`].
    pub in_place: bool,
    /// Bytes of an element.
    pub elem: usize,
    /// Whether operands may change places.
    pub commutative: bool,
    /// Layout of the send side.
    pub send: Layout<'a>,
    /// Layout of the receive side.
    pub recv: Layout<'a>,
}

/// A layout that owns its table: counts, then displacements.
#[derive(Debug)]
enum Owned {
    Even(usize),
    Table(Box<[usize]>),
}

impl Owned {
    fn new(layout: Layout<'_>) -> Self {
        match layout {
            Layout::Even(n) => Owned::Even(n),
            Layout::Table { counts, displs } => Owned::Table([counts, displs].concat().into()),
        }
    }

    #[inline]
    fn layout(&self) -> Layout<'_> {
        match self {
            Owned::Even(n) => Layout::Even(*n),
            Owned::Table(table) => {
                let (counts, displs) = table.split_at(table.len() / 2);
                Layout::Table { counts, displs }
            }
        }
    }
}

#[derive(Debug)]
struct Entry {
    /// Its layouts say nothing; see `send` and `recv`.
    key: Key<'static>,
    send: Owned,
    recv: Owned,
    plan: Arc<Plan>,
}

impl Entry {
    fn key(&self) -> Key<'_> {
        Key {
            send: self.send.layout(),
            recv: self.recv.layout(),
            ..self.key
        }
    }
}

/// Plans, each in the one place that its key has; a newer one takes it over.
/// Nothing is allocated before the first.
#[derive(Debug, Default)]
pub struct Plans {
    places: Vec<Option<Entry>>,
    /// Changes of settings at which the plans were made.
    changes: u32,
}

/// Places: a power of two.
const PLACES: usize = 32;
/// A plan of more steps takes longer to run than to make again, and much
/// memory.
const STEPS: usize = 512;

impl Plans {
    /// The plan for `key`, made by `make` if it is not there.
    #[inline]
    pub fn get(&mut self, key: &Key<'_>, make: impl FnOnce() -> Plan) -> Arc<Plan> {
        if self.changes != changes() {
            self.forget();
        }
        let place = place(key);
        match self.places.get(place) {
            Some(Some(entry)) if entry.key() == *key => entry.plan.clone(),
            _ => self.keep(place, key, make()),
        }
    }

    /// Other algorithms may be right now.
    #[cold]
    fn forget(&mut self) {
        self.places.clear();
        self.changes = changes();
    }

    #[cold]
    fn keep(&mut self, place: usize, key: &Key<'_>, plan: Plan) -> Arc<Plan> {
        let plan = Arc::new(plan);
        if plan.steps().len() <= STEPS {
            self.places.resize_with(PLACES, || None);
            self.places[place] = Some(Entry {
                key: Key {
                    send: Layout::Even(0),
                    recv: Layout::Even(0),
                    ..*key
                },
                send: Owned::new(key.send),
                recv: Owned::new(key.recv),
                plan: plan.clone(),
            });
        }
        plan
    }
}

/// Where the plan of a call is kept.
#[inline]
fn place(key: &Key<'_>) -> usize {
    let ends = |layout: &Layout<'_>| match layout {
        Layout::Even(n) => *n,
        Layout::Table { counts, .. } => counts.first().copied().unwrap_or(0),
    };
    let root = match key.root {
        Root::There(rank) => rank as usize,
        Root::Here | Root::Near => 0,
    };
    let what = key.what as usize + if key.neighbors { 1 << 7 } else { 0 };
    let word = (what + 16 * root) ^ (ends(&key.send) ^ ends(&key.recv) << 20) << 8;
    // The golden ratio scatters what differs in few bits.
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - PLACES.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_plan::{Builder, Region};

    fn key(what: Collective, n: usize) -> Key<'static> {
        Key {
            what,
            neighbors: false,
            root: Root::Near,
            in_place: false,
            elem: 1,
            commutative: true,
            send: Layout::Even(n),
            recv: Layout::Even(n),
        }
    }

    fn of_steps(n: u32) -> Plan {
        let mut b = Builder::new();
        (0..n).for_each(|to| _ = b.send(to, Region::input(0, 1)));
        b.finish()
    }

    #[test]
    fn a_plan_is_made_once_for_calls_that_are_alike() {
        let mut plans = Plans::default();
        let key = key(Collective::Allreduce, 8);
        let first = plans.get(&key, || of_steps(3));
        let again = plans.get(&key, || unreachable!("it is there"));
        assert!(Arc::ptr_eq(&first, &again));
        for other in [
            Key {
                what: Collective::Scan,
                ..key
            },
            Key {
                neighbors: true,
                ..key
            },
            Key { elem: 8, ..key },
            Key {
                root: Root::There(0),
                ..key
            },
            Key {
                in_place: true,
                ..key
            },
            Key {
                commutative: false,
                ..key
            },
            Key {
                recv: Layout::Even(9),
                ..key
            },
        ] {
            let made = plans.get(&other, || of_steps(5));
            assert_eq!(made.steps().len(), 5, "{other:?}");
        }
    }

    #[test]
    fn tables_are_compared_in_full() {
        let mut plans = Plans::default();
        let (counts, displs) = ([1, 2, 3], [0, 1, 3]);
        let table = |displs| Layout::Table {
            counts: &counts,
            displs,
        };
        let key = Key {
            send: table(&displs),
            ..key(Collective::Alltoallv, 0)
        };
        plans.get(&key, || of_steps(1));
        plans.get(&key, || unreachable!("it is there"));
        let moved = Key {
            send: table(&[0, 1, 4]),
            ..key
        };
        assert_eq!(plans.get(&moved, || of_steps(2)).steps().len(), 2);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut plans = Plans::default();
        for n in 0..1000 {
            plans.get(&key(Collective::Bcast, n), || of_steps(1));
        }
        assert_eq!(plans.places.len(), PLACES);
        let long = key(Collective::Alltoall, 1);
        plans.get(&long, || of_steps(STEPS as u32 + 1));
        let made = plans.get(&long, || of_steps(7));
        assert_eq!(made.steps().len(), 7);
    }

    /// Powers of two, as programs use them, do not fall upon each other.
    #[test]
    fn common_lengths_have_places_of_their_own() {
        let calls = [
            Collective::Allreduce,
            Collective::Bcast,
            Collective::Alltoall,
        ];
        for what in calls {
            let places = (3..21).map(|k| place(&key(what, 1 << k)));
            let mut places: Vec<usize> = places.collect();
            places.sort_unstable();
            places.dedup();
            assert!(places.len() >= 12, "{what:?}: {} of 18", places.len());
        }
    }
}
