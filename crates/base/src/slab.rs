//! Numbered things with stable addresses and stale-key checks.
//!
//! A [`Key`] is a slot number and the slot's generation. The generation
//! changes when the slot is freed, so a key that outlived its value is
//! noticed, never confused with the slot's next tenant (short of 2³² reuses).
//! The slot freed last is used first: it is still in the cache. Growth adds a
//! chunk and moves nothing.

/// Slots per chunk; a power of two.
const CHUNK: usize = 256;
/// End of the free list.
const NONE: u32 = u32::MAX;

/// Names one value of a [`Slab`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Number of the slot, dense from 0.
    pub index: u32,
    /// Tenant of the slot, from 1.
    pub generation: u32,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    next_free: u32,
    value: Option<T>,
}

/// A growing table of `T`. Insert, look up and remove are O(1); insert
/// allocates once every 256 slots of growth.
#[derive(Debug)]
pub struct Slab<T> {
    chunks: Vec<Box<[Slot<T>]>>,
    free: u32,
    len: usize,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Slab<T> {
    /// An empty slab; allocates nothing.
    pub const fn new() -> Self {
        Slab {
            chunks: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    /// How many values there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let index = index as usize;
        self.chunks
            .get(index / CHUNK)
            .map(|chunk| &chunk[index % CHUNK])
    }

    #[inline]
    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<T>> {
        let index = index as usize;
        self.chunks
            .get_mut(index / CHUNK)
            .map(|chunk| &mut chunk[index % CHUNK])
    }

    /// Adds a value.
    ///
    /// # Panics
    /// If there are 2³² − 256 values already.
    #[inline]
    pub fn insert(&mut self, value: T) -> Key {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let at = index as usize;
        let slot = &mut self.chunks[at / CHUNK][at % CHUNK];
        slot.value = Some(value);
        let generation = slot.generation;
        self.free = slot.next_free;
        self.len += 1;
        Key { index, generation }
    }

    /// The value of `key`, unless it was removed.
    #[inline]
    pub fn get(&self, key: Key) -> Option<&T> {
        match self.slot(key.index) {
            Some(slot) if slot.generation == key.generation => slot.value.as_ref(),
            _ => None,
        }
    }

    /// The value of `key`, unless it was removed.
    #[inline]
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        match self.slot_mut(key.index) {
            Some(slot) if slot.generation == key.generation => slot.value.as_mut(),
            _ => None,
        }
    }

    /// Whether `key` still names a value.
    #[inline]
    pub fn contains(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Takes the value of `key` out; `None` if it was removed before.
    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let free = self.free;
        let slot = self.slot_mut(key.index)?;
        if slot.generation != key.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1).max(1);
        slot.next_free = free;
        self.free = key.index;
        self.len -= 1;
        Some(value)
    }

    /// The key of the value that lives in slot `index` now.
    pub fn key_at(&self, index: u32) -> Option<Key> {
        let slot = self.slot(index)?;
        slot.value.is_some().then_some(Key {
            index,
            generation: slot.generation,
        })
    }

    /// All values, in the order of their slots. Cost: all slots ever used.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.chunks
            .iter()
            .flatten()
            .zip(0..)
            .filter_map(|(slot, index)| {
                let key = Key {
                    index,
                    generation: slot.generation,
                };
                slot.value.as_ref().map(|value| (key, value))
            })
    }

    /// All values, in the order of their slots. Cost: all slots ever used.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        self.chunks
            .iter_mut()
            .flatten()
            .zip(0..)
            .filter_map(|(slot, index)| {
                let key = Key {
                    index,
                    generation: slot.generation,
                };
                slot.value.as_mut().map(|value| (key, value))
            })
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let first = self.chunks.len() * CHUNK;
        assert!(
            first + CHUNK < NONE as usize,
            "a slab holds fewer than 2^32 values"
        );
        let chunk = (first..first + CHUNK).map(|index| Slot {
            generation: 1,
            next_free: if index + 1 < first + CHUNK {
                index as u32 + 1
            } else {
                NONE
            },
            value: None,
        });
        self.chunks.push(chunk.collect());
        self.free = first as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_stale_key_finds_nothing() {
        let mut slab = Slab::new();
        let old = slab.insert("old");
        assert_eq!(slab.remove(old), Some("old"));
        let new = slab.insert("new");
        assert_eq!(new.index, old.index, "last freed, first used");
        assert_eq!(slab.get(old), None);
        assert_eq!(slab.remove(old), None);
        assert_eq!(slab.get(new), Some(&"new"));
        let never = Key {
            index: 1 << 20,
            generation: 1,
        };
        assert!(slab.get(never).is_none() && slab.get_mut(never).is_none());
        let unused = Key {
            index: new.index + 1,
            generation: 1,
        };
        assert!(slab.get(unused).is_none() && slab.remove(unused).is_none());
    }

    #[test]
    fn growing_moves_nothing() {
        let mut slab = Slab::new();
        let key = slab.insert(7u64);
        let address: *const u64 = slab.get(key).unwrap();
        for i in 0..10_000 {
            slab.insert(i);
        }
        assert_eq!(address, slab.get(key).unwrap() as *const u64);
        assert_eq!(slab.len(), 10_001);
        assert_eq!(slab.iter().count(), 10_001);
    }

    #[test]
    fn generation_zero_never_names_anything() {
        let mut slab = Slab::new();
        let key = slab.insert(());
        slab.chunks[0][0].generation = u32::MAX;
        assert!(
            slab.remove(Key {
                generation: u32::MAX,
                ..key
            })
            .is_some()
        );
        assert_eq!(slab.insert(()).generation, 1);
    }

    proptest! {
        #[test]
        fn behaves_like_a_map(ops in prop::collection::vec((any::<bool>(), any::<u16>()), 0..600)) {
            let (mut slab, mut map, mut keys) = (Slab::new(), HashMap::new(), Vec::new());
            for (insert, x) in ops {
                if insert || keys.is_empty() {
                    let key = slab.insert(x);
                    prop_assert_eq!(map.insert(key, x), None);
                    keys.push(key);
                } else {
                    let key = keys[x as usize % keys.len()];
                    prop_assert_eq!(slab.remove(key), map.remove(&key));
                }
                prop_assert_eq!(slab.len(), map.len());
            }
            for key in keys {
                prop_assert_eq!(slab.get(key), map.get(&key));
                prop_assert_eq!(slab.key_at(key.index) == Some(key), map.contains_key(&key));
            }
        }
    }
}
