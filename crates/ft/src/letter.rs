//! What processes of a group tell each other about failures: letters, in as many active messages
//! as the way to the receiver needs, whose order nobody promises.
//!
//! | part of the header | bits     | what                                       |
//! |--------------------|----------|--------------------------------------------|
//! | context            | all      | the receiver's number for the context      |
//! | what               | 24 to 30 | the [`Kind`]                               |
//! | what               | 0 to 23  | length of the letter, bytes                |
//! | argument           | 32 to 63 | the sender's number for the context        |
//! | argument           | 8 to 31  | where the part begins                      |
//! | argument           | 0 to 7   | which of the sender's letters it is of     |
//!
//! Both numbers name the context: a letter that was sent before one of them came to mean another
//! context is not taken for one of that.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex, PoisonError};

use catena_base::PeerBytes;
use catena_core::Process;
use catena_core::hooks::Alarm;
use catena_fabric::{Peer, PeerLost};
use catena_link::{ActiveHeader, Cid, Class, Handler};

/// The class of these active messages.
pub(crate) const CLASS: Class = Class(7);

/// Longest letter, bytes.
const LONGEST: usize = (1 << 24) - 1;

/// What a letter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The context was revoked; nothing more is said.
    Revoked = 1,
    /// Words of an agreement.
    Agreement = 2,
    /// A question: whether the receiver takes part in the agreement on a communicator that has this
    /// number.
    Part = 3,
    /// The answer that it does not. There is no other one, as what comes from those that do is an
    /// answer.
    NoPart = 4,
}

/// A letter that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub from: Peer,
    pub kind: Kind,
    /// The receiver's number for the context, and the sender's.
    pub ours: Cid,
    pub theirs: Cid,
    pub words: Vec<u32>,
}

/// The parts of a letter, each with its header.
pub(crate) fn parts(
    kind: Kind,
    (ours, theirs): (Cid, Cid),
    serial: u8,
    words: &[u32],
    longest: usize,
) -> Vec<(ActiveHeader, Vec<u8>)> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(
        bytes.len() <= LONGEST,
        "a group of more processes than there are"
    );
    let header = |at: usize| ActiveHeader {
        class: CLASS,
        context: theirs.0,
        what: (kind as i32) << 24 | bytes.len() as i32,
        argument: u64::from(ours.0) << 32 | (at as u64) << 8 | u64::from(serial),
    };
    if bytes.is_empty() {
        return vec![(header(0), Vec::new())];
    }
    let chunks = bytes.chunks(longest.max(1)).enumerate();
    chunks
        .map(|(n, chunk)| (header(n * longest.max(1)), chunk.to_vec()))
        .collect()
}

/// A letter of which parts are missing.
#[derive(Debug)]
struct Coming {
    bytes: Vec<u8>,
    have: usize,
}

/// By sender, context of the receiver, and serial number.
type Address = (Peer, u32, u8);

#[derive(Debug, Default)]
struct Letters {
    coming: HashMap<Address, Coming>,
    whole: Vec<Letter>,
}

/// Where letters wait until their process looks.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    some: AtomicBool,
    letters: Mutex<Letters>,
}

impl Inbox {
    /// The letters that have come since this was last called. Cost if none has: one load.
    #[inline]
    pub fn take(&self) -> Vec<Letter> {
        if !self.some.load(Acquire) {
            return Vec::new();
        }
        self.some.store(false, Release);
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut letters.whole)
    }

    /// Whether no letter has come since it was last emptied.
    pub fn is_empty(&self) -> bool {
        !self.some.load(Acquire)
    }

    /// Forgets what has come from some peers.
    fn forget(&self, peers: &Range<u32>) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters
            .coming
            .retain(|address, _| !peers.contains(&address.0.0));
        letters.whole.retain(|it| !peers.contains(&it.from.0));
    }

    /// Takes a part of a letter; what makes no sense is dropped.
    fn put(&self, from: Peer, header: ActiveHeader, part: &[u8]) {
        let kind = match header.what >> 24 {
            1 => Kind::Revoked,
            2 => Kind::Agreement,
            3 => Kind::Part,
            4 => Kind::NoPart,
            _ => return,
        };
        let length = header.what as usize & LONGEST;
        let at = (header.argument >> 8) as usize & LONGEST;
        if !length.is_multiple_of(4) || at + part.len() > length {
            return;
        }
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = if part.len() == length {
            part.to_vec()
        } else {
            let address = (from, header.context, header.argument as u8);
            let coming = letters.coming.entry(address).or_insert_with(|| Coming {
                bytes: vec![0; length],
                have: 0,
            });
            if coming.bytes.len() != length {
                return;
            }
            coming.bytes[at..at + part.len()].copy_from_slice(part);
            coming.have += part.len();
            if coming.have < length {
                return;
            }
            let whole = letters.coming.remove(&address);
            whole.map(|it| it.bytes).unwrap_or_default()
        };
        let (words, _) = bytes.as_chunks::<4>();
        letters.whole.push(Letter {
            from,
            kind,
            ours: Cid(header.context),
            theirs: Cid((header.argument >> 32) as u32),
            words: words.iter().map(|it| u32::from_le_bytes(*it)).collect(),
        });
        self.some.store(true, Release);
    }
}

/// Puts what comes into the inbox, and says so.
#[derive(Debug)]
pub(crate) struct InboxHandler {
    pub inbox: Arc<Inbox>,
    pub alarm: Alarm<Process>,
}

impl Handler for InboxHandler {
    fn deliver(&mut self, from: Peer, header: ActiveHeader, payload: PeerBytes<'_>) {
        self.inbox.put(from, header, &payload.to_vec());
        self.alarm.raise();
    }

    fn lost(&mut self, lost: &PeerLost) {
        self.alarm.raise();
        let letters = self.inbox.letters.lock();
        let mut letters = letters.unwrap_or_else(PoisonError::into_inner);
        letters.coming.retain(|address, _| address.0 != lost.peer);
    }

    fn forget(&mut self, peers: &Range<u32>) {
        self.inbox.forget(peers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_whole_whatever_the_order_of_their_parts() {
        let words: Vec<u32> = (0..100).collect();
        for longest in [1, 16, 399, 400, 8192] {
            let inbox = Inbox::default();
            let mut all = parts(Kind::Agreement, (Cid(5), Cid(9)), 3, &words, longest);
            all.reverse();
            for (header, part) in all {
                assert!(inbox.take().is_empty());
                inbox.put(Peer(7), header, &part);
            }
            let letter = Letter {
                from: Peer(7),
                kind: Kind::Agreement,
                ours: Cid(9),
                theirs: Cid(5),
                words: words.clone(),
            };
            assert_eq!(inbox.take(), [letter], "{longest}");
        }
    }

    #[test]
    fn nonsense_is_dropped() {
        let inbox = Inbox::default();
        let header = |what, argument| ActiveHeader {
            class: CLASS,
            context: 0,
            what,
            argument,
        };
        inbox.put(Peer(0), header(9 << 24, 0), &[]);
        inbox.put(Peer(0), header(2 << 24 | 3, 0), &[0; 3]);
        inbox.put(Peer(0), header(2 << 24 | 4, 4 << 8), &[0; 4]);
        assert!(inbox.take().is_empty());
    }
}
