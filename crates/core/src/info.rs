//! Info objects (MPI-5, chapter 10): ordered lists of (key, value) pairs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::fail;

/// Longest key, without the terminating NUL (`MPI_MAX_INFO_KEY` - 1).
pub const MAX_KEY: usize = 255;
/// Longest value, without the terminating NUL (`MPI_MAX_INFO_VAL` - 1).
pub const MAX_VALUE: usize = 1023;

/// A key and its value.
type Pair = (String, String);

/// Pairs in the order in which their keys first came. Any thread may use it at
/// any time.
#[derive(Debug, Default)]
pub struct Info {
    pairs: Mutex<Vec<Pair>>,
}

impl Info {
    /// An info object with these pairs.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Arc<Self> {
        Arc::new(Info {
            pairs: Mutex::new(pairs.into_iter().collect()),
        })
    }

    /// A copy that shares nothing.
    pub fn duplicate(&self) -> Arc<Self> {
        Info::from_pairs(self.pairs())
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a pair, or replaces its value.
    ///
    /// # Errors
    /// `InfoKey`, `InfoValue` if they are too long or the key is empty.
    pub fn set(&self, key: &str, value: &str) -> Result<()> {
        check_key(key)?;
        if value.len() > MAX_VALUE {
            fail!(
                InfoValue,
                "the value of info key '{key}' has {} bytes, at most {MAX_VALUE} are \
                allowed",
                value.len()
            );
        }
        let mut pairs = self.locked();
        match pairs.iter_mut().find(|(k, _)| k == key) {
            Some(pair) => value.clone_into(&mut pair.1),
            None => pairs.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<String> {
        self.locked()
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.clone())
    }

    /// Removes a pair.
    ///
    /// # Errors
    /// `InfoNoKey` if there is none of that key.
    pub fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        let mut pairs = self.locked();
        match pairs.iter().position(|(k, _)| k == key) {
            Some(at) => {
                pairs.remove(at);
                Ok(())
            }
            None => fail!(InfoNoKey, "the info object has no key '{key}'"),
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
    pub fn nth_key(&self, n: i32) -> Result<String> {
        let pairs = self.locked();
        match usize::try_from(n).ok().and_then(|n| pairs.get(n)) {
            Some((key, _)) => Ok(key.clone()),
            None => fail!(
                Arg,
                "n is {n}, but the info object has {} keys",
                pairs.len()
            ),
        }
    }

    /// All pairs.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.locked().clone()
    }
}

/// Checks the length of a key.
///
/// # Errors
/// `InfoKey` if it is empty or too long.
pub fn check_key(key: &str) -> Result<()> {
    if key.is_empty() || key.len() > MAX_KEY {
        fail!(
            InfoKey,
            "an info key has 1 to {MAX_KEY} bytes, this one has {}",
            key.len()
        );
    }
    Ok(())
}
