//! Slots with generations: stable indices, reuse without allocation.
//!
//! A slot's value stays in place when it is freed and is reused as it is, so
//! that taking a slot writes only what the new owner sets. A generation is odd
//! while the slot is taken and even while it is free.
//!
//! The first [`LOW`] slots stay. The memory of those behind them is given back from the end on, once
//! as many were freed as there are: the cost of looking for them is a constant for each. A slot that
//! comes again begins with a later generation than any that went.

pub(crate) const NIL: u32 = u32::MAX;

/// Most slots: handles name them with 27 bits, of which the last two values
/// mean something else.
const LIMIT: u32 = (1 << 27) - 2;

/// Slots that are never given back.
const LOW: u32 = 1 << 12;

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    next_free: u32,
    value: T,
}

#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    /// How often a slot behind the low ones was freed since somebody looked.
    freed_high: u32,
    /// Generation with which new slots begin, while they are free.
    first: u32,
}

impl<T: Default> Slab<T> {
    pub fn new() -> Self {
        Slab {
            slots: Vec::new(),
            free: NIL,
            freed_high: 0,
            first: 0,
        }
    }

    /// Takes a slot; returns its index. Its value is what the last owner left.
    #[inline]
    pub fn take_slot(&mut self) -> u32 {
        let index = self.free;
        if let Some(slot) = self.slots.get_mut(index as usize) {
            self.free = slot.next_free;
            slot.generation = slot.generation.wrapping_add(1);
            return index;
        }
        self.grow()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let index = self.slots.len() as u32;
        assert!(
            index < LIMIT,
            "more than {LIMIT} requests or messages are alive: the program does not complete them"
        );
        self.slots.push(Slot {
            generation: self.first.wrapping_add(1),
            next_free: NIL,
            value: T::default(),
        });
        index
    }

    /// Frees a taken slot.
    #[inline]
    pub fn free_slot(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        debug_assert!(slot.generation & 1 == 1, "freed twice");
        slot.generation = slot.generation.wrapping_add(1);
        slot.next_free = self.free;
        self.free = index;
        if index >= LOW {
            self.note_freed_high();
        }
    }

    #[cold]
    #[inline(never)]
    fn note_freed_high(&mut self) {
        self.freed_high += 1;
        if self.freed_high as usize >= self.slots.len() - LOW as usize {
            self.give_back();
        }
    }

    /// Gives back the free slots at the end, and has the low ones taken first from now on.
    fn give_back(&mut self) {
        self.freed_high = 0;
        let is_taken = |slot: &Slot<T>| slot.generation & 1 == 1;
        let used = self.slots.iter().rposition(is_taken);
        let kept = used.map_or(0, |at| at + 1).max(LOW as usize);
        // No name of a slot that goes may come to mean one that comes. A generation that has wrapped
        // is far ahead of all others.
        let gone = self.slots[kept..].iter().map(|slot| slot.generation);
        self.first = gone.fold(self.first, u32::max);
        self.slots.truncate(kept);
        self.slots.shrink_to(kept.next_power_of_two());
        self.free = NIL;
        for (index, slot) in self.slots.iter_mut().enumerate().rev() {
            if slot.generation & 1 == 0 {
                slot.next_free = self.free;
                self.free = index as u32;
            }
        }
    }

    /// Number of slots, taken or not.
    pub fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    #[inline]
    pub fn generation(&self, index: u32) -> u32 {
        self.slots[index as usize].generation
    }

    /// Whether the slot is taken, and by the owner of that generation.
    #[inline]
    pub fn holds(&self, index: u32, generation: u32) -> bool {
        generation & 1 == 1
            && self
                .slots
                .get(index as usize)
                .is_some_and(|slot| slot.generation == generation)
    }

    #[inline]
    pub fn get(&self, index: u32) -> &T {
        &self.slots[index as usize].value
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut T {
        &mut self.slots[index as usize].value
    }

    /// Indices of all taken slots.
    pub fn taken(&self) -> impl Iterator<Item = u32> + '_ {
        let taken = self
            .slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.generation & 1 == 1);
        taken.map(|(index, _)| index as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_slots_are_given_back_and_their_names_stay_dead() {
        let mut slab = Slab::<u8>::new();
        let (many, few) = (5 * LOW, LOW + 10);
        let mut dead = Vec::new();
        for _ in 0..3 {
            let all: Vec<u32> = (0..many).map(|_| slab.take_slot()).collect();
            assert_eq!(slab.capacity(), many);
            dead.extend(all.iter().map(|&at| (at, slab.generation(at))));
            // The order in which they are freed does not matter, but one stays.
            let stays = few - 1;
            all.iter()
                .filter(|&&at| at != stays)
                .for_each(|&at| slab.free_slot(at));
            assert_eq!(slab.capacity(), many, "not all are free");
            slab.free_slot(stays);
            assert_eq!(slab.capacity(), LOW);
            assert_eq!(slab.taken().count(), 0);
        }
        let again: Vec<u32> = (0..few).map(|_| slab.take_slot()).collect();
        assert!(again.is_sorted(), "low ones first");
        assert!(
            dead.iter()
                .all(|&(at, generation)| !slab.holds(at, generation))
        );
        // What is in use stays where it is.
        let top = slab.take_slot();
        *slab.get_mut(top) = 7;
        for _ in 0..2 * many {
            let at = slab.take_slot();
            slab.free_slot(at);
        }
        assert!(slab.holds(top, slab.generation(top)));
        assert_eq!(*slab.get(top), 7);
    }

    #[test]
    fn a_freed_slot_is_reused_under_another_generation() {
        let mut slab = Slab::<u8>::new();
        let a = slab.take_slot();
        let old = slab.generation(a);
        slab.free_slot(a);
        assert!(!slab.holds(a, old));
        let b = slab.take_slot();
        assert_eq!(a, b);
        assert!(!slab.holds(a, old));
        assert!(slab.holds(b, slab.generation(b)));
        assert!(!slab.holds(7, 1));
    }
}
