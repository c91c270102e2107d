//! Slots with generations: stable indices, reuse without allocation.
//!
//! A slot's value stays in place when it is freed and is reused as it is, so
//! that taking a slot writes only what the new owner sets. A generation is odd
//! while the slot is taken and even while it is free.

pub(crate) const NIL: u32 = u32::MAX;

/// Most slots: handles name them with 27 bits, of which the last two values
/// mean something else.
const LIMIT: u32 = (1 << 27) - 2;

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
}

impl<T: Default> Slab<T> {
    pub fn new() -> Self {
        Slab {
            slots: Vec::new(),
            free: NIL,
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
            generation: 1,
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
