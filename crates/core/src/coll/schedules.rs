//! The schedules that a communicator has made, kept for calls that are alike.

use std::cell::OnceCell;
use std::sync::Arc;

use catena_coll::inter::Root;
use catena_coll::{Args, Collective, Layout};
use catena_schedule::Schedule;
use catena_settings::changes;

/// All that the schedule of a call depends on, besides the communicator.
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
    /// What the choice of an algorithm goes by; see [`catena_coll::Shape`] and `inter`.
    pub bytes: usize,
    /// Layout of the send side.
    pub send: Layout<'a>,
    /// Layout of the receive side.
    pub recv: Layout<'a>,
}

impl<'a> Key<'a> {
    /// The call at rank `me` of an intracommunicator.
    pub fn args(&self, size: u32, me: u32) -> Args<'a> {
        Args {
            root: match self.root {
                Root::There(rank) => rank,
                Root::Here | Root::Near => 0,
            },
            in_place: self.in_place,
            elem: self.elem,
            commutative: self.commutative,
            send: self.send,
            recv: self.recv,
            ..Args::new(size, me)
        }
    }
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

/// A call, and the schedule of those that are like it, once one of them needs it.
#[derive(Debug)]
pub struct Recipe {
    /// Its layouts say nothing; see `send` and `recv`.
    key: Key<'static>,
    send: Owned,
    recv: Owned,
    schedule: OnceCell<Schedule>,
}

impl Recipe {
    fn new(key: &Key<'_>) -> Self {
        Recipe {
            key: Key {
                send: Layout::Even(0),
                recv: Layout::Even(0),
                ..*key
            },
            send: Owned::new(key.send),
            recv: Owned::new(key.recv),
            schedule: OnceCell::new(),
        }
    }

    /// What the schedule is for.
    #[inline]
    pub fn key(&self) -> Key<'_> {
        Key {
            send: self.send.layout(),
            recv: self.recv.layout(),
            ..self.key
        }
    }

    /// The schedule, made by `make` if it was not yet.
    #[inline]
    pub fn schedule(&self, make: impl FnOnce(&Key<'_>) -> Schedule) -> &Schedule {
        self.schedule.get_or_init(|| make(&self.key()))
    }

    /// Whether its schedule was made, and does nothing.
    pub fn is_idle(&self) -> bool {
        self.schedule.get().is_some_and(Schedule::is_empty)
    }
}

/// Recipes, each in the one place that its key has; a newer one takes it over.
/// Nothing is allocated before the first.
#[derive(Debug, Default)]
pub struct Schedules {
    places: Vec<Option<Arc<Recipe>>>,
    /// Changes of settings at which they were made.
    changes: u32,
}

/// Places: a power of two.
const PLACES: usize = 32;
/// A schedule of more steps takes longer to run than to make again, and much
/// memory.
const STEPS: usize = 512;

impl Schedules {
    /// That for `key`.
    #[inline]
    pub fn get(&mut self, key: &Key<'_>) -> Arc<Recipe> {
        if self.changes != changes() {
            self.forget();
        }
        let place = place(key);
        match self.places.get(place) {
            Some(Some(recipe)) if recipe.key() == *key => recipe.clone(),
            _ => self.keep(place, Recipe::new(key)),
        }
    }

    /// Other algorithms may be right now.
    #[cold]
    fn forget(&mut self) {
        self.places.clear();
        self.changes = changes();
    }

    #[cold]
    fn keep(&mut self, place: usize, recipe: Recipe) -> Arc<Recipe> {
        let recipe = Arc::new(recipe);
        self.places.resize_with(PLACES, || None);
        self.places[place] = Some(recipe.clone());
        recipe
    }

    /// The schedule for `key` was made: a long one is not kept for others.
    pub fn made(&mut self, key: &Key<'_>, schedule: &Schedule) {
        if schedule.steps().len() > STEPS
            && let Some(place) = self.places.get_mut(place(key))
        {
            *place = None;
        }
    }
}

/// Where the schedule of a call is kept.
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
    use catena_schedule::{Builder, Region};

    fn key(what: Collective, n: usize) -> Key<'static> {
        Key {
            what,
            neighbors: false,
            root: Root::Near,
            in_place: false,
            elem: 1,
            commutative: true,
            bytes: n,
            send: Layout::Even(n),
            recv: Layout::Even(n),
        }
    }

    /// The steps of the schedule for `key`, which has `n` if it is made now.
    fn steps(schedules: &mut Schedules, key: &Key<'_>, n: u32) -> usize {
        let recipe = schedules.get(key);
        let schedule = recipe.schedule(|key| {
            let mut b = Builder::new();
            (0..n).for_each(|to| _ = b.send(to, Region::input(0, 1)));
            let schedule = b.finish();
            schedules.made(key, &schedule);
            schedule
        });
        schedule.steps().len()
    }

    #[test]
    fn a_schedule_is_made_once_for_calls_that_are_alike() {
        let mut schedules = Schedules::default();
        let key = key(Collective::Allreduce, 8);
        assert_eq!(steps(&mut schedules, &key, 3), 3);
        assert_eq!(steps(&mut schedules, &key, 4), 3);
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
            assert_eq!(steps(&mut schedules, &other, 5), 5, "{other:?}");
        }
    }

    #[test]
    fn tables_are_compared_in_full() {
        let mut schedules = Schedules::default();
        let (counts, displs) = ([1, 2, 3], [0, 1, 3]);
        let table = |displs| Layout::Table {
            counts: &counts,
            displs,
        };
        let key = Key {
            send: table(&displs),
            ..key(Collective::Alltoallv, 0)
        };
        assert_eq!(steps(&mut schedules, &key, 1), 1);
        assert_eq!(steps(&mut schedules, &key, 3), 1);
        let moved = Key {
            send: table(&[0, 1, 4]),
            ..key
        };
        assert_eq!(steps(&mut schedules, &moved, 2), 2);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut schedules = Schedules::default();
        for n in 0..1000 {
            steps(&mut schedules, &key(Collective::Bcast, n), 1);
        }
        assert_eq!(schedules.places.len(), PLACES);
        let long = key(Collective::Alltoall, 1);
        assert_eq!(steps(&mut schedules, &long, STEPS as u32 + 1), STEPS + 1);
        assert_eq!(steps(&mut schedules, &long, 7), 7);
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
