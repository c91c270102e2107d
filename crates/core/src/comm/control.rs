//! Control messages, by which processes agree on a communicator that they do
//! not have yet.
//!
//! A control message travels on a context that exists, in a plane of its own, and
//! carries a key that says what it is about. Matching is by the whole key, so
//! that agreements under way at once, of several threads say, never mix;
//! control messages of one sender with one key are read in the order in which they were
//! sent.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use catena_link::{Cid, ReqId};

/// Tag of all control messages; those of collectives are not negative. Those above, up to
/// [`FREE_TAGS`], are free for messages of crates above this one.
pub(super) const CONTROL: i32 = i32::MIN;

/// How many tags of control messages are free for others.
pub const FREE_TAGS: u32 = (1 << 29) - 1;

/// The free tag of that number, which counts below [`FREE_TAGS`].
pub const fn free_tag(number: u32) -> i32 {
    CONTROL + 1 + (number % FREE_TAGS) as i32
}

/// What a control message is about: how the processes were brought together, and the tag
/// that tells this agreement from others of the kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(Arc<[u8]>);

/// How those who agree came together.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum AgreementScope {
    /// All members of a communicator; the tag counts these calls.
    Members = 1,
    /// `MPI_Comm_create_group`.
    Group,
    /// The leaders of `MPI_Intercomm_create`.
    Leaders,
    /// `MPI_Comm_create_from_group`.
    FromGroup,
    /// One group of `MPI_Intercomm_create_from_groups`.
    FromGroups,
    /// The leaders of those.
    LeadersFromGroups,
    /// Something of a crate above this one.
    Other,
}

impl Key {
    /// The key of the agreement with that tag.
    pub(crate) fn new(meeting: AgreementScope, tag: &[u8]) -> Self {
        Key([&[meeting as u8], tag].concat().into())
    }

    /// The key of that agreement of all members of a communicator.
    pub(super) fn members(number: u32) -> Self {
        Key::new(AgreementScope::Members, &number.to_ne_bytes())
    }

    /// What they agree about, in words: `of`, by which the communicator is told that has brought
    /// them together, or the one of `size` ranks that comes of it; and the tag of the program.
    pub(super) fn told(&self, of: String, size: u32) -> String {
        let (meeting, tag) = self.0.split_at(1);
        let is = |scopes: &[AgreementScope]| scopes.iter().any(|it| meeting == [*it as u8]);
        match <[u8; 4]>::try_from(tag) {
            Ok(tag) if is(&[AgreementScope::Group, AgreementScope::Leaders]) => {
                format!("{of} with tag {}", i32::from_ne_bytes(tag))
            }
            _ if is(&[AgreementScope::Members, AgreementScope::Other]) => of,
            _ => {
                let tag = String::from_utf8_lossy(tag);
                format!("a communicator of {size} ranks with the tag {tag:?}")
            }
        }
    }

    /// A number and the key, as words that are not empty behind the number.
    pub(crate) fn words(&self, number: u32) -> Vec<u32> {
        let key = self.0.iter().map(|byte| (*byte).into());
        std::iter::once(number).chain(key).collect()
    }

    /// The key of which [`Key::words`] has made words, those behind the number.
    pub(super) fn from_words(words: &[u32]) -> Self {
        Key(words.iter().map(|word| *word as u8).collect())
    }

    /// The key of what crates above this one tell each other, which all tell theirs apart by the
    /// tag.
    pub fn other(tag: &[u8]) -> Self {
        Key::new(AgreementScope::Other, tag)
    }
}

/// A control message of which not all may have arrived.
#[derive(Debug)]
pub(super) struct Coming {
    pub bytes: Box<[u8]>,
    pub id: ReqId,
}

/// The control messages from one rank of a context.
#[derive(Debug, Default)]
struct FromRank {
    /// In the order in which they were sent.
    coming: VecDeque<Coming>,
    filed: HashMap<Key, VecDeque<Vec<u32>>>,
}

impl FromRank {
    fn is_empty(&self) -> bool {
        self.coming.is_empty() && self.filed.is_empty()
    }
}

/// The control messages that came and were not read yet, by context and rank: whoever reads those
/// of one rank looks at nothing of another, and a context that is closed takes its own along.
#[derive(Debug, Default)]
pub struct ControlMessages {
    by_cid: RefCell<HashMap<Cid, HashMap<u32, FromRank>>>,
    /// Control messages of closed contexts that are still coming: `link` writes into their room
    /// until they are there.
    orphans: RefCell<Vec<Coming>>,
    /// How many are coming, but for those of closed contexts.
    coming: Cell<usize>,
    /// How many were put where they are read by [`ControlMessages::file`].
    put: Cell<u64>,
}

impl ControlMessages {
    /// Adds some that are coming, in their order, then files those that are there: `is_there` asks,
    /// and ends the transfer if so.
    pub(super) fn collect(
        &self,
        (cid, from): (Cid, u32),
        new: Vec<Coming>,
        mut is_there: impl FnMut(ReqId) -> bool,
    ) {
        self.orphans.borrow_mut().retain(|it| !is_there(it.id));
        let mut by_cid = self.by_cid.borrow_mut();
        let rank = match new.is_empty() {
            true => by_cid.get_mut(&cid).and_then(|ranks| ranks.get_mut(&from)),
            false => Some(by_cid.entry(cid).or_default().entry(from).or_default()),
        };
        let Some(rank) = rank else {
            return;
        };
        self.coming.set(self.coming.get() + new.len());
        rank.coming.extend(new);
        while let Some(first) = rank.coming.front()
            && is_there(first.id)
        {
            let message = rank.coming.pop_front();
            self.coming.set(self.coming.get() - 1);
            if let Some((key, words)) = message.and_then(|it| open(&it.bytes)) {
                rank.filed.entry(key).or_default().push_back(words);
            }
        }
    }

    /// How many were put where they are read; `None` while one that has come is not all there.
    pub(super) fn put(&self) -> Option<u64> {
        (self.coming.get() == 0).then(|| self.put.get())
    }

    /// Whether none waits to be read, or is coming, also of closed contexts.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_cid.borrow().is_empty() && self.orphans.borrow().is_empty()
    }

    /// Puts a control message where it is read.
    pub(super) fn file(&self, (cid, from): (Cid, u32), key: Key, words: Vec<u32>) {
        self.put.set(self.put.get().wrapping_add(1));
        let mut by_cid = self.by_cid.borrow_mut();
        let rank = by_cid.entry(cid).or_default().entry(from).or_default();
        rank.filed.entry(key).or_default().push_back(words);
    }

    /// Takes the next one with that key.
    pub(super) fn next(&self, (cid, from): (Cid, u32), key: &Key) -> Option<Vec<u32>> {
        let mut by_cid = self.by_cid.borrow_mut();
        let ranks = by_cid.get_mut(&cid)?;
        let rank = ranks.get_mut(&from)?;
        let waiting = rank.filed.get_mut(key)?;
        let next = waiting.pop_front();
        if waiting.is_empty() {
            rank.filed.remove(key);
        }
        if rank.is_empty() {
            ranks.remove(&from);
            if ranks.is_empty() {
                by_cid.remove(&cid);
            }
        }
        next
    }

    /// Throws away what nobody will read: the context is closed.
    pub(super) fn forget(&self, cid: Cid) {
        let mut by_cid = self.by_cid.borrow_mut();
        if by_cid.is_empty() {
            return;
        }
        let gone = by_cid.remove(&cid);
        let coming = gone.into_iter().flat_map(HashMap::into_values);
        let coming = Vec::from_iter(coming.flat_map(|rank| rank.coming));
        self.coming.set(self.coming.get() - coming.len());
        self.orphans.borrow_mut().extend(coming);
    }
}

/// A control message.
pub(super) fn to_bytes(key: &Key, words: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + key.0.len() + 4 * words.len());
    bytes.extend((key.0.len() as u32).to_ne_bytes());
    bytes.extend_from_slice(&key.0);
    words
        .iter()
        .for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

/// The parts of a control message; `None` if it is none.
pub(super) fn open(bytes: &[u8]) -> Option<(Key, Vec<u32>)> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (key, words) = rest.split_at_checked(u32::from_ne_bytes(*len) as usize)?;
    let (words, []) = words.as_chunks::<4>() else {
        return None;
    };
    let words = words.iter().map(|w| u32::from_ne_bytes(*w)).collect();
    Some((Key(key.into()), words))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message that is coming under this number.
    fn coming(number: u32, key: &Key) -> Coming {
        let id = ReqId {
            index: number,
            generation: 1,
        };
        let bytes = to_bytes(key, &[number]).into();
        Coming { bytes, id }
    }

    #[test]
    fn one_that_is_late_holds_up_its_own_sender_only() {
        let control = ControlMessages::default();
        let (a, b) = (Key::members(1), Key::members(2));
        let (one, other) = ((Cid(7), 0), (Cid(8), 0));
        let late = |id: ReqId| id.index != 1;
        control.collect(one, vec![coming(1, &a), coming(2, &b)], late);
        control.collect(other, vec![coming(3, &a)], late);
        assert_eq!(control.next(other, &a), Some(vec![3]));
        assert_eq!(control.next(one, &b), None, "not before the first");
        control.collect(one, Vec::new(), |_| true);
        assert_eq!(control.next(one, &b), Some(vec![2]));
        assert_eq!(control.next(one, &b), None);
        assert_eq!(control.next(one, &a), Some(vec![1]));
        assert!(control.by_cid.borrow().is_empty());
    }

    #[test]
    fn a_closed_context_takes_its_messages_along() {
        let control = ControlMessages::default();
        let key = Key::members(1);
        let (closed, open) = ((Cid(7), 0), (Cid(8), 0));
        control.file(closed, key.clone(), vec![1]);
        control.file(open, key.clone(), vec![2]);
        control.collect(closed, vec![coming(3, &key)], |_| false);
        control.forget(closed.0);
        assert_eq!(control.orphans.borrow().len(), 1, "its room is written to");
        control.collect(open, Vec::new(), |_| true);
        assert!(control.orphans.borrow().is_empty());
        assert_eq!(control.next(closed, &key), None);
        assert_eq!(control.next(open, &key), Some(vec![2]));
    }

    #[test]
    fn odd_messages_are_refused() {
        let message = |len: u32, rest: &[u8]| [&len.to_ne_bytes(), rest].concat();
        let (key, words) = open(&message(2, b"\x01a\x07\0\0\0")).unwrap();
        assert_eq!(key, Key::new(AgreementScope::Members, b"a"));
        assert_eq!(words, [u32::from_ne_bytes(*b"\x07\0\0\0")]);
        assert_eq!(open(b"abc"), None);
        assert_eq!(open(&message(9, b"\x01a")), None);
        assert_eq!(open(&message(1, b"\x01a")), None);
    }
}

/// Targets for fuzzing: see [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub mod fuzz {
    use super::open;

    /// A message by which processes agree on a communicator.
    pub fn agreement(data: &[u8]) {
        if let Some((key, words)) = open(data) {
            assert_eq!(4 + key.0.len() + 4 * words.len(), data.len());
        }
    }
}
