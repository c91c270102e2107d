//! Control messages, by which processes agree on a communicator that they do
//! not have yet.
//!
//! A control message travels on a context that exists, in a plane of its own, and
//! carries a key that says what it is about. Matching is by the whole key, so
//! that agreements under way at once, of several threads say, never mix;
//! control messages of one sender with one key are read in the order in which they were
//! sent.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use catena_link::{Cid, ReqId};

/// Tag of all control messages; those of collectives are not negative. Those above, up to
/// [`PARTITIONS`], belong to parts of partitioned messages.
pub(super) const CONTROL: i32 = i32::MIN;

/// How many tags parts of partitioned messages have.
pub const PARTITIONS: u32 = (1 << 29) - 1;

/// The tag of a part of a partitioned message; its number counts below [`PARTITIONS`].
pub const fn partition_tag(number: u32) -> i32 {
    CONTROL + 1 + (number % PARTITIONS) as i32
}

/// What a control message is about: how the processes were brought together, and the tag
/// that tells this agreement from others of the kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(Arc<[u8]>);

/// How those who agree came together.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Meeting {
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
    /// The two ends of a partitioned message.
    Partitioned,
}

impl Key {
    /// The key of the agreement with that tag.
    pub(crate) fn new(meeting: Meeting, tag: &[u8]) -> Self {
        Key([&[meeting as u8], tag].concat().into())
    }

    /// The key of that agreement of all members of a communicator.
    pub(super) fn members(number: u32) -> Self {
        Key::new(Meeting::Members, &number.to_ne_bytes())
    }

    /// The key of what the two ends of a partitioned message tell each other.
    pub fn partitioned(tag: &[u8]) -> Self {
        Key::new(Meeting::Partitioned, tag)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub cid: Cid,
    pub from: u32,
    pub key: Key,
}

/// A control message of which not all may have arrived.
#[derive(Debug)]
pub(super) struct Coming {
    /// `None` once its context is closed.
    pub cid: Option<Cid>,
    pub from: u32,
    pub bytes: Box<[u8]>,
    pub id: ReqId,
}

/// The control messages that came and were not read yet.
#[derive(Debug, Default)]
pub struct ControlMessages {
    pub(super) coming: RefCell<VecDeque<Coming>>,
    pub(super) filed: RefCell<HashMap<Address, VecDeque<Vec<u32>>>>,
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

    #[test]
    fn odd_messages_are_refused() {
        let message = |len: u32, rest: &[u8]| [&len.to_ne_bytes(), rest].concat();
        let (key, words) = open(&message(2, b"\x01a\x07\0\0\0")).unwrap();
        assert_eq!(key, Key::new(Meeting::Members, b"a"));
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
