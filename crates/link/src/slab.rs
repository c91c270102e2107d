//! Slots with generations: stable indices, reuse without allocation.
//!
//! A slot's value stays in place when it is freed and is reused as it is, so
//! that taking a slot writes only what the new owner sets. A generation is odd
//! while the slot is taken and even while it is free.
//!
//! The first [`LOW`] slots stay, and are taken first. The memory of those behind them is given
//! back, from the end on, when none of them is taken, and, after as many were freed as make up for
//! the search, when few are. A slot that comes again begins with a later generation than any that
//! went.

use catena_base::return_freed;

pub(crate) const NIL: u32 = u32::MAX;

/// Most slots: handles name them with 27 bits, of which the last two values
/// mean something else.
pub(crate) const LIMIT: u32 = (1 << 27) - 2;

/// Slots that are never given back.
const LOW: u32 = 1 << 14;

/// More slots than this at once are worth a look at what the allocator keeps of them.
const MANY: u32 = 1 << 16;

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    next_free: u32,
    value: T,
}

#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    /// The low ones.
    free: u32,
    /// The others.
    free_high: u32,
    /// Slots behind the low ones that are taken.
    high: usize,
    /// How many of them were freed since the end was last looked at, and how many slots were looked
    /// at then.
    freed: usize,
    vain: usize,
    /// Generation with which new slots begin, while they are free.
    first: u32,
}

impl<T: Default> Slab<T> {
    pub fn new() -> Self {
        Slab {
            slots: Vec::new(),
            free: NIL,
            free_high: NIL,
            high: 0,
            freed: 0,
            vain: 0,
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
        self.take_high()
    }

    /// No low slot is free.
    #[cold]
    #[inline(never)]
    fn take_high(&mut self) -> u32 {
        let index = self.free_high;
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return self.grow();
        };
        self.free_high = slot.next_free;
        slot.generation = slot.generation.wrapping_add(1);
        self.high += 1;
        index
    }

    fn grow(&mut self) -> u32 {
        let index = self.slots.len() as u32;
        assert!(
            index < LIMIT,
            "more than {LIMIT} requests or messages are alive: the program does not complete them"
        );
        self.high += usize::from(index >= LOW);
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
        if index < LOW {
            slot.next_free = self.free;
            self.free = index;
        } else {
            self.free_high(index);
        }
    }

    #[cold]
    #[inline(never)]
    fn free_high(&mut self, index: u32) {
        self.slots[index as usize].next_free = self.free_high;
        self.free_high = index;
        self.high -= 1;
        self.freed += 1;
        let all = self.slots.len();
        if self.high == 0 || (self.high < all / 8 && self.freed > self.vain) {
            self.give_back();
        }
    }

    /// Gives back the free slots at the end if they are many.
    #[inline(never)]
    fn give_back(&mut self) {
        self.freed = 0;
        let is_taken = |slot: &Slot<T>| slot.generation & 1 == 1;
        let used = match self.high {
            0 => None,
            _ => self.slots.iter().rposition(is_taken),
        };
        let kept = used.map_or(0, |at| at + 1).max(LOW as usize);
        self.vain = self.slots.len() - kept + 64;
        // Below that it is cheaper to keep them: a process may need a few more again and again.
        if kept + LOW as usize > self.slots.len() {
            return;
        }
        // No name of a slot that goes may come to mean one that comes. A generation that has
        // wrapped is far ahead of all others.
        let gone = self.slots[kept..].iter().map(|slot| slot.generation);
        self.first = gone.fold(self.first, u32::max);
        let many = self.slots.len() - kept > MANY as usize;
        self.slots.truncate(kept);
        self.slots.shrink_to(kept.next_power_of_two());
        if many {
            return_freed();
        }
        self.free_high = NIL;
        for (index, slot) in self.slots.iter_mut().enumerate().skip(LOW as usize).rev() {
            if slot.generation & 1 == 0 {
                slot.next_free = self.free_high;
                self.free_high = index as u32;
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
        let many = 5 * LOW;
        let mut dead = Vec::new();
        for stays in [LOW, 2 * LOW, many - 1] {
            let all: Vec<u32> = (0..many).map(|_| slab.take_slot()).collect();
            assert_eq!(slab.capacity(), many);
            dead.extend(all.iter().map(|&at| (at, slab.generation(at))));
            // The order in which they are freed does not matter; one stays.
            for &at in all.iter().filter(|&&at| at != stays) {
                slab.free_slot(at);
            }
            for _ in 0..10 {
                let at = slab.take_slot();
                slab.free_slot(at);
            }
            assert!(slab.capacity() > stays, "it is in use");
            slab.free_slot(stays);
            assert_eq!(slab.capacity(), LOW);
            assert_eq!(slab.taken().count(), 0);
        }
        let again: Vec<u32> = (0..LOW + 10).map(|_| slab.take_slot()).collect();
        assert!(again.iter().all(|&at| at < LOW + 10), "low ones first");
        assert!(
            dead.iter()
                .all(|&(at, generation)| !slab.holds(at, generation))
        );
    }

    #[test]
    fn what_is_in_use_stays_where_it_is() {
        let mut slab = Slab::<u8>::new();
        let all: Vec<u32> = (0..9 * LOW).map(|_| slab.take_slot()).collect();
        let stays = 3 * LOW;
        *slab.get_mut(stays) = 7;
        let generation = slab.generation(stays);
        for &at in all.iter().rev().filter(|&&at| at != stays) {
            slab.free_slot(at);
        }
        assert!(slab.capacity() < 5 * LOW, "{}", slab.capacity());
        assert!(slab.holds(stays, generation));
        assert_eq!(*slab.get(stays), 7);
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
