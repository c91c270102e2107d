//! Slots with generations, as those of a [`Slab`](crate::slab::Slab), for what may be very many for
//! a while. To find one costs a little more, and no slot that stays taken keeps the memory of
//! others.
//!
//! The first [`LOW`] slots are one array, stay, and are taken first. Those behind them lie in
//! chunks, whose memory is given back when none of their slots is taken, but for one chunk that is
//! spare. Slots that come again begin with a later generation than any that went.

use catena_base::Pages;

use crate::slab::{LIMIT, NIL};

/// Slots that are never given back.
const LOW: u32 = 1 << 12;
/// Slots of a chunk.
const CHUNK: u32 = 1 << 10;

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    next_free: u32,
    value: T,
}

#[derive(Debug)]
struct Chunk<T> {
    /// None if it was given back.
    slots: Pages<Slot<T>>,
    /// Index of its first free slot, counted from its beginning.
    free: u32,
    taken: u32,
    /// Generation with which its slots begin when they come again.
    first: u32,
    /// Whether it is listed as one with free slots.
    listed: bool,
}

#[derive(Debug)]
pub(crate) struct Chunks<T> {
    low: Vec<Slot<T>>,
    free: u32,
    high: Vec<Chunk<T>>,
    /// Chunks with free slots, and some that had them when they were listed.
    open: Vec<u32>,
    /// Chunks that were given back.
    gone: Vec<u32>,
    /// A chunk of which no slot is taken, or `NIL`: it may have been taken from since.
    spare: u32,
}

/// The chunk of a high slot, and the slot in it.
fn place(index: u32) -> (usize, usize) {
    let at = index.wrapping_sub(LOW);
    ((at / CHUNK) as usize, (at % CHUNK) as usize)
}

impl<T: Default> Chunks<T> {
    pub fn new() -> Self {
        Chunks {
            low: Vec::new(),
            free: NIL,
            high: Vec::new(),
            open: Vec::new(),
            gone: Vec::new(),
            spare: NIL,
        }
    }

    /// Takes a slot; returns its index. Its value is what the last owner left.
    #[inline]
    pub fn take_slot(&mut self) -> u32 {
        let index = self.free;
        if let Some(slot) = self.low.get_mut(index as usize) {
            self.free = slot.next_free;
            slot.generation = slot.generation.wrapping_add(1);
            return index;
        }
        self.grow()
    }

    /// No low slot is free.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let index = self.low.len() as u32;
        if index == LOW {
            return self.take_high();
        }
        self.low.push(Slot {
            generation: 1,
            next_free: NIL,
            value: T::default(),
        });
        index
    }

    fn take_high(&mut self) -> u32 {
        loop {
            let at = match self.open.last() {
                Some(&at) => at,
                None => self.open_chunk(),
            };
            let chunk = &mut self.high[at as usize];
            let index = chunk.free;
            let Some(slot) = chunk.slots.get_mut(index as usize) else {
                chunk.listed = false;
                self.open.pop();
                continue;
            };
            chunk.free = slot.next_free;
            chunk.taken += 1;
            slot.generation = slot.generation.wrapping_add(1);
            return LOW + at * CHUNK + index;
        }
    }

    /// Provides a chunk, and lists it.
    fn open_chunk(&mut self) -> u32 {
        let at = self.gone.pop().unwrap_or_else(|| {
            let at = self.high.len() as u32;
            assert!(
                LOW + (at + 1) * CHUNK < LIMIT,
                "more than {LIMIT} requests or messages are alive: the program does not complete \
                 them"
            );
            self.high.push(Chunk {
                slots: Pages::default(),
                free: NIL,
                taken: 0,
                first: 0,
                listed: false,
            });
            at
        });
        let chunk = &mut self.high[at as usize];
        let slot = |index| Slot {
            generation: chunk.first,
            next_free: match index as u32 + 1 {
                CHUNK => NIL,
                next => next,
            },
            value: T::default(),
        };
        chunk.slots = Pages::from_fn(CHUNK as usize, slot);
        (chunk.free, chunk.listed) = (0, true);
        self.open.push(at);
        at
    }

    /// Frees a taken slot.
    #[inline]
    pub fn free_slot(&mut self, index: u32) {
        let Some(slot) = self.low.get_mut(index as usize) else {
            return self.free_high(index);
        };
        debug_assert!(slot.generation & 1 == 1, "freed twice");
        slot.generation = slot.generation.wrapping_add(1);
        slot.next_free = self.free;
        self.free = index;
    }

    #[cold]
    #[inline(never)]
    fn free_high(&mut self, index: u32) {
        let (at, index) = place(index);
        let chunk = &mut self.high[at];
        let slot = &mut chunk.slots[index];
        debug_assert!(slot.generation & 1 == 1, "freed twice");
        slot.generation = slot.generation.wrapping_add(1);
        slot.next_free = chunk.free;
        chunk.free = index as u32;
        chunk.taken -= 1;
        if !chunk.listed {
            chunk.listed = true;
            self.open.push(at as u32);
        }
        if chunk.taken == 0 {
            self.spare(at as u32);
        }
    }

    /// No slot of that chunk is taken: it is the spare one, unless another one is.
    fn spare(&mut self, at: u32) {
        let other = self.high.get(self.spare as usize);
        let has_other = other.is_some_and(|it| it.taken == 0 && !it.slots.is_empty());
        if self.spare == at || !has_other {
            self.spare = at;
            return;
        }
        let chunk = &mut self.high[at as usize];
        // No name of a slot that goes may come to mean one that comes. A generation that has
        // wrapped is far ahead of all others.
        let gone = chunk.slots.iter().map(|slot| slot.generation);
        chunk.first = gone.fold(chunk.first, u32::max);
        (chunk.slots, chunk.free) = (Pages::default(), NIL);
        self.gone.push(at);
        // It is not taken from: what is listed and has nothing free is passed by.
    }

    /// Indices of all slots, taken or not, are below that.
    pub fn capacity(&self) -> u32 {
        self.low.len() as u32 + self.high.len() as u32 * CHUNK
    }

    /// The slot, if its memory is there.
    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        match self.low.get(index as usize) {
            Some(slot) => Some(slot),
            None => self.high_slot(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn high_slot(&self, index: u32) -> Option<&Slot<T>> {
        let (at, index) = place(index);
        self.high.get(at)?.slots.get(index)
    }

    #[cold]
    #[inline(never)]
    fn high_slot_mut(&mut self, index: u32) -> &mut Slot<T> {
        let (at, index) = place(index);
        &mut self.high[at].slots[index]
    }

    /// Its generation; an even one, of which nothing has the name, if its memory was given back.
    #[inline]
    pub fn generation(&self, index: u32) -> u32 {
        self.slot(index).map_or(0, |slot| slot.generation)
    }

    /// Whether the slot is taken, and by the owner of that generation.
    #[inline]
    pub fn holds(&self, index: u32, generation: u32) -> bool {
        generation & 1 == 1
            && self
                .slot(index)
                .is_some_and(|slot| slot.generation == generation)
    }

    #[inline]
    pub fn get(&self, index: u32) -> &T {
        let slot = self.slot(index);
        &slot.expect("no such slot").value
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut T {
        // Asked twice: a borrow that is returned in one case would hold in the other.
        if (index as usize) < self.low.len() {
            return &mut self.low[index as usize].value;
        }
        &mut self.high_slot_mut(index).value
    }

    /// Indices of all taken slots.
    pub fn taken(&self) -> impl Iterator<Item = u32> + '_ {
        let is_taken = |slot: &Slot<T>| slot.generation & 1 == 1;
        let low = (0..).zip(&self.low);
        let high = self.high.iter().enumerate().flat_map(|(at, chunk)| {
            let first = LOW + at as u32 * CHUNK;
            (first..).zip(&*chunk.slots)
        });
        let taken = low.chain(high).filter(move |(_, slot)| is_taken(slot));
        taken.map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks whose memory is there.
    fn chunks(slab: &Chunks<u8>) -> usize {
        let there = slab.high.iter().filter(|chunk| !chunk.slots.is_empty());
        there.count()
    }

    #[test]
    fn many_slots_are_given_back_and_their_names_stay_dead() {
        let mut slab = Chunks::<u8>::new();
        let many = LOW + 5 * CHUNK;
        let mut dead = Vec::new();
        for stays in [LOW, LOW + 2 * CHUNK, many - 1] {
            let all: Vec<u32> = (0..many).map(|_| slab.take_slot()).collect();
            assert_eq!((slab.capacity(), chunks(&slab)), (many, 5));
            assert_eq!(slab.taken().count(), many as usize);
            *slab.get_mut(stays) = 7;
            let generation = slab.generation(stays);
            dead.extend(all.iter().map(|&at| (at, slab.generation(at))));
            for &at in all.iter().filter(|&&at| at != stays) {
                slab.free_slot(at);
            }
            assert_eq!(chunks(&slab), 2, "the one in use, and the spare one");
            assert!(slab.holds(stays, generation));
            assert_eq!(*slab.get(stays), 7);
            assert!(slab.taken().eq([stays]));
            slab.free_slot(stays);
            assert_eq!(chunks(&slab), 1);
            assert_eq!(slab.taken().count(), 0);
            assert!(dead.iter().all(|&(at, it)| !slab.holds(at, it)));
        }
        let again: Vec<u32> = (0..LOW).map(|_| slab.take_slot()).collect();
        assert!(again.iter().all(|&at| at < LOW), "low ones first");
        (0..many - LOW).for_each(|_| _ = slab.take_slot());
        assert!(dead.iter().all(|&(at, it)| !slab.holds(at, it)));
        assert_eq!(slab.taken().count(), many as usize);
    }

    #[test]
    fn one_slot_more_or_less_costs_no_chunk() {
        let mut slab = Chunks::<u8>::new();
        (0..LOW + CHUNK).for_each(|_| _ = slab.take_slot());
        for _ in 0..10 {
            let at = slab.take_slot();
            assert_eq!(chunks(&slab), 2);
            slab.free_slot(at);
            assert_eq!(chunks(&slab), 2);
        }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_a_set(steps in proptest::collection::vec((0u32..3000, proptest::bool::ANY),
            1..40)) {
            let mut slab = Chunks::<u32>::new();
            let mut model = std::collections::BTreeMap::new();
            let mut stamp = 0;
            for (count, from_front) in steps {
                if from_front || model.len() < LOW as usize {
                    for _ in 0..2 * count {
                        let at = slab.take_slot();
                        stamp += 1;
                        *slab.get_mut(at) = stamp;
                        proptest::prop_assert_eq!(model.insert(at, (slab.generation(at), stamp)),
                            None);
                    }
                }
                for n in 0..count {
                    let at = match (from_front, n % 2) {
                        (true, 0) => model.pop_first(),
                        _ => model.pop_last(),
                    };
                    let Some((at, (generation, _))) = at else { break };
                    slab.free_slot(at);
                    proptest::prop_assert!(!slab.holds(at, generation));
                }
            }
            for (&at, &(generation, stamp)) in &model {
                proptest::prop_assert!(slab.holds(at, generation));
                proptest::prop_assert_eq!(*slab.get(at), stamp);
            }
            proptest::prop_assert!(slab.taken().eq(model.into_keys()));
        }
    }
}
