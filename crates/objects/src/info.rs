//! Info objects (MPI-5, chapter 10): ordered lists of (key, value) pairs. Strings are bytes in
//! whatever encoding the program has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use catena_abi::{self as abi, consts};

use crate::error::Result;
use crate::fail;
use crate::table::{Guarded, ObjectKind};

/// Longest key, without the terminating NUL (`MPI_MAX_INFO_KEY` - 1).
pub const MAX_KEY: usize = 255;
/// Longest value, without the terminating NUL (`MPI_MAX_INFO_VAL` - 1).
pub const MAX_VALUE: usize = 1023;

/// A key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// Pairs in the order in which their keys first came. Any thread may use it at
/// any time.
///
/// # Examples
/// ```
/// use catena_objects::info::Info;
///
/// let info = Info::default();
/// info.set("host", "node7")?;
/// info.set("wdir", "/tmp")?;
/// info.set("host", "node8")?;
/// assert_eq!(info.hint("host").as_deref(), Some("node8"));
/// assert_eq!(info.nth_key(0)?, b"host");
/// # Ok::<(), catena_objects::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Info {
    pairs: Mutex<Pairs>,
}

/// Pairs in their order. Whatever is done with one costs little, however many there are.
#[derive(Debug, Default)]
struct Pairs {
    /// Those that were removed have left their places.
    places: Vec<Option<Pair>>,
    place_of: HashMap<Vec<u8>, usize>,
    /// How many there are in the places before and at each one, as a tree (Fenwick 1994): entry
    /// `i`, from 1 on, tells of as many places as its lowest bit is worth.
    counts: Vec<u32>,
}

impl Pairs {
    fn len(&self) -> usize {
        self.place_of.len()
    }

    fn get(&self, key: &[u8]) -> Option<&Pair> {
        self.places[*self.place_of.get(key)?].as_ref()
    }

    fn set(&mut self, key: &[u8], value: &[u8]) {
        let known = self
            .place_of
            .get(key)
            .and_then(|&at| self.places[at].as_mut());
        if let Some(pair) = known {
            pair.1 = value.to_vec();
            return;
        }
        let end = self.places.len() + 1;
        let (low, mut count) = (end & end.wrapping_neg(), 1);
        let mut part = 1;
        while part < low {
            count += self.counts[end - part - 1];
            part *= 2;
        }
        self.counts.push(count);
        self.place_of.insert(key.to_vec(), end - 1);
        self.places.push(Some((key.to_vec(), value.to_vec())));
    }

    /// Whether there was one of that key.
    fn remove(&mut self, key: &[u8]) -> bool {
        let Some(at) = self.place_of.remove(key) else {
            return false;
        };
        self.places[at] = None;
        let mut entry = at + 1;
        while entry <= self.counts.len() {
            self.counts[entry - 1] -= 1;
            entry += entry & entry.wrapping_neg();
        }
        if self.places.len() > 2 * self.len() + 16 {
            *self = std::mem::take(self).places.into_iter().flatten().collect();
        }
        true
    }

    fn nth(&self, n: usize) -> Option<&Pair> {
        let (mut before, mut left) = (0, n as u32);
        let mut step = (self.counts.len() + 1).next_power_of_two();
        while step > 0 {
            let entry = before + step;
            if entry <= self.counts.len() && self.counts[entry - 1] <= left {
                left -= self.counts[entry - 1];
                before = entry;
            }
            step /= 2;
        }
        self.places.get(before)?.as_ref()
    }
}

impl FromIterator<Pair> for Pairs {
    fn from_iter<I: IntoIterator<Item = Pair>>(pairs: I) -> Pairs {
        let mut all = Pairs::default();
        pairs
            .into_iter()
            .for_each(|(key, value)| all.set(&key, &value));
        all
    }
}

impl Info {
    /// An info object with these pairs.
    pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Arc<Self>
    where
        K: Into<Vec<u8>>,
        V: Into<Vec<u8>>,
    {
        let pairs = pairs.into_iter().map(|(k, v)| (k.into(), v.into()));
        Arc::new(Info {
            pairs: Mutex::new(pairs.collect()),
        })
    }

    /// A copy that shares nothing.
    pub fn duplicate(&self) -> Arc<Self> {
        Info::from_pairs(self.pairs())
    }

    fn locked(&self) -> MutexGuard<'_, Pairs> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a pair, or replaces its value.
    ///
    /// # Errors
    /// `InfoKey`, `InfoValue` if they are too long or the key is empty.
    pub fn set(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        check_key(key)?;
        if value.len() > MAX_VALUE {
            fail!(
                InfoValue,
                "the value of info key '{}' has {} bytes, at most {MAX_VALUE} are allowed",
                String::from_utf8_lossy(key),
                value.len()
            );
        }
        self.locked().set(key, value);
        Ok(())
    }

    /// The value of `key`.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        self.locked().get(key.as_ref()).map(|(_, v)| v.clone())
    }

    /// The value of a key that the library understands; what is not UTF-8 is replaced.
    pub fn hint(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    /// Removes a pair.
    ///
    /// # Errors
    /// `InfoNoKey` if there is none of that key.
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        check_key(key)?;
        match self.locked().remove(key) {
            true => Ok(()),
            false => fail!(
                InfoNoKey,
                "the info object has no key '{}'",
                String::from_utf8_lossy(key)
            ),
        }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.locked().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `n`-th key.
    ///
    /// # Errors
    /// `Arg` if there are not that many.
    pub fn nth_key(&self, n: i32) -> Result<Vec<u8>> {
        let pairs = self.locked();
        match usize::try_from(n).ok().and_then(|n| pairs.nth(n)) {
            Some((key, _)) => Ok(key.clone()),
            None => fail!(
                Arg,
                "n is {n}, but the info object has {} keys",
                pairs.len()
            ),
        }
    }

    /// All pairs.
    pub fn pairs(&self) -> Vec<Pair> {
        self.locked().places.iter().flatten().cloned().collect()
    }
}

/// Checks the length of a key.
///
/// # Errors
/// `InfoKey` if it is empty or too long.
pub fn check_key(key: &[u8]) -> Result<()> {
    if key.is_empty() || key.len() > MAX_KEY {
        fail!(
            InfoKey,
            "an info key has 1 to {MAX_KEY} bytes, this one has {}",
            key.len()
        );
    }
    Ok(())
}

/// How many of the first bytes of a string to keep, at most `most`: no part of a character,
/// if it is UTF-8.
pub fn fitting(s: &[u8], most: usize) -> usize {
    let mut end = s.len().min(most);
    if let Ok(s) = str::from_utf8(s) {
        while !s.is_char_boundary(end) {
            end -= 1;
        }
    }
    end
}

/// The info objects of a process.
#[derive(Debug)]
pub struct Infos {
    /// All but `MPI_INFO_ENV`.
    pub table: Guarded<Arc<Info>>,
    env: fn() -> Arc<Info>,
}

impl Infos {
    /// No info object but `MPI_INFO_ENV`, which `env` makes.
    pub fn new(env: fn() -> Arc<Info>) -> Self {
        Infos {
            table: Guarded::new(ObjectKind::Info),
            env,
        }
    }

    /// The info object behind a handle; `None` for `MPI_INFO_NULL`.
    ///
    /// # Errors
    /// `Info` for freed and made-up handles.
    pub fn find(&self, h: abi::Info) -> Result<Option<Arc<Info>>> {
        match h {
            consts::INFO_NULL => Ok(None),
            consts::INFO_ENV => Ok(Some((self.env)())),
            _ => match self.table.get(h.0) {
                Some(info) => Ok(Some(info)),
                None => fail!(Info, "{:#x} is not an info object, or was freed", h.0),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As a list of pairs does it, which costs more.
        #[test]
        fn pairs_keep_their_order(steps in prop::collection::vec((0u8..3, 0u8..40), 0..300)) {
            let (pairs, mut model) = (Info::default(), Vec::<Pair>::new());
            for (step, (what, key)) in (0..=u8::MAX).cycle().zip(steps) {
                let key = vec![b'k', key];
                let at = model.iter().position(|(k, _)| *k == key);
                match (what, at) {
                    (0, Some(at)) => {
                        model.remove(at);
                        prop_assert!(pairs.delete(&key).is_ok());
                    }
                    (0, None) => prop_assert!(pairs.delete(&key).is_err()),
                    (_, at) => {
                        pairs.set(&key, [step]).unwrap();
                        match at {
                            Some(at) => model[at].1 = vec![step],
                            None => model.push((key, vec![step])),
                        }
                    }
                }
                prop_assert_eq!(pairs.len(), model.len());
            }
            prop_assert_eq!(&pairs.pairs(), &model);
            for (n, (key, value)) in (0..).zip(&model) {
                prop_assert_eq!(&pairs.nth_key(n).unwrap(), key);
                prop_assert_eq!(pairs.get(key), Some(value.clone()));
            }
            prop_assert!(pairs.nth_key(model.len() as i32).is_err());
        }
    }
}
