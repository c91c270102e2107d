//! What a process has counted, for those who look at it while it runs: messages by their ways, and
//! how long it has slept. It tells that where it waits and has looked at the clock anyway, so that
//! no message takes longer for it.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::changes::{Changes, are_whole};

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// How many.
    pub messages: u64,
    /// How many bytes in all.
    pub bytes: u64,
}

/// What a process has counted since MPI began in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// When it told that: nanoseconds of the monotonic clock of its host.
    pub at: u64,
    /// What it has sent through shared memory.
    pub shm: Moved,
    /// What it has sent over networks.
    pub network: Moved,
    /// What it has sent to itself.
    pub itself: Moved,
    /// What has come to it, by all ways.
    pub received: Moved,
    /// Messages that wait for a receive.
    pub unexpected: u64,
    /// How long it has slept while it waited in MPI, nanoseconds.
    pub asleep: u64,
    /// How often it has.
    pub sleeps: u64,
    /// The networks, in words; empty if there are none. At most [`Counts::LONGEST`] bytes.
    pub networks: String,
}

/// Numbers of a [`Counts`].
const NUMBERS: usize = 12;

impl Counts {
    /// Most bytes that the networks have in words.
    pub const LONGEST: usize = 64;

    fn numbers(&self) -> [u64; NUMBERS] {
        let of = |it: Moved| [it.messages, it.bytes];
        let [shm, network, itself, received] =
            [self.shm, self.network, self.itself, self.received].map(of);
        [
            self.at,
            shm[0],
            shm[1],
            network[0],
            network[1],
            itself[0],
            itself[1],
            received[0],
            received[1],
            self.unexpected,
            self.asleep,
            self.sleeps,
        ]
    }

    fn of(numbers: [u64; NUMBERS], networks: String) -> Counts {
        let moved = |at: usize| Moved {
            messages: numbers[at],
            bytes: numbers[at + 1],
        };
        Counts {
            at: numbers[0],
            shm: moved(1),
            network: moved(3),
            itself: moved(5),
            received: moved(7),
            unexpected: numbers[9],
            asleep: numbers[10],
            sleeps: numbers[11],
            networks,
        }
    }

    /// In bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.numbers().into_iter().flat_map(u64::to_le_bytes);
        let name = cut(&self.networks).bytes();
        numbers.chain(name).collect()
    }

    /// What bytes say; `None` if they are not those of [`Counts::to_bytes`].
    pub fn read(bytes: &[u8]) -> Option<Counts> {
        let (numbers, name) = bytes.split_at_checked(8 * NUMBERS)?;
        let mut words = [0; NUMBERS];
        for (word, bytes) in words.iter_mut().zip(numbers.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let is_short = name.len() <= Counts::LONGEST;
        is_short.then(|| Counts::of(words, in_words(name)))
    }
}

/// As much of a text as is told: all that is before a semicolon, or at least whole characters.
fn cut(text: &str) -> &str {
    let mut ends = (0..=text.len().min(Counts::LONGEST)).rev();
    let end = ends.find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    match text[..end].rfind(';') {
        Some(at) if end < text.len() => &text[..at],
        _ => &text[..end],
    }
}

/// A name as a user may see it.
fn in_words(name: &[u8]) -> String {
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).replace(char::is_control, "?")
}

/// The memory of that.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CountsMemory {
    /// Whether what follows is whole; 0 before it is told for the first time.
    changes: Changes,
    numbers: [AtomicU64; NUMBERS],
    name: [AtomicU64; Counts::LONGEST / 8],
}

/// Bytes of the memory.
pub(crate) const COUNTS: usize = size_of::<CountsMemory>();

impl CountsMemory {
    /// Nothing was told yet.
    pub fn clear(&self) {
        self.changes.clear();
    }

    pub fn write(&self, counts: &Counts) {
        self.changes.make(|| {
            for (to, number) in self.numbers.iter().zip(counts.numbers()) {
                to.store(number, Relaxed);
            }
            let name = cut(&counts.networks).as_bytes();
            for (at, to) in self.name.iter().enumerate() {
                let mut word = [0; 8];
                let part = name.get(8 * at..).unwrap_or_default();
                let part = &part[..part.len().min(8)];
                word[..part.len()].copy_from_slice(part);
                to.store(u64::from_ne_bytes(word), Relaxed);
            }
        });
    }
}

/// What two looks at the memory show; `None` if nothing was told, or is being told just now.
pub(crate) fn read(before: &[u8; COUNTS], after: &[u8; COUNTS]) -> Option<Counts> {
    let changes = |of: &[u8; COUNTS]| of[..4].try_into().map_or(0, u32::from_ne_bytes);
    let is_told = changes(before) != 0 && are_whole(changes(before), changes(after));
    if before != after || !is_told {
        return None;
    }
    let numbers = std::array::from_fn(|number| {
        let at = offset_of!(CountsMemory, numbers) + 8 * number;
        let bytes = before[at..at + 8].try_into();
        bytes.map_or(0, u64::from_ne_bytes)
    });
    let name = &before[offset_of!(CountsMemory, name)..];
    Some(Counts::of(numbers, in_words(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(networks: &str) -> Counts {
        Counts::of(std::array::from_fn(|at| 7 + at as u64), networks.into())
    }

    fn memory() -> CountsMemory {
        CountsMemory {
            changes: Changes::default(),
            numbers: [const { AtomicU64::new(0) }; NUMBERS],
            name: [const { AtomicU64::new(0) }; Counts::LONGEST / 8],
        }
    }

    fn bytes(memory: &CountsMemory) -> [u8; COUNTS] {
        let changes = memory.changes.as_ref().load(Relaxed).to_ne_bytes();
        let words = memory.numbers.iter().chain(&memory.name);
        let words = words.flat_map(|it| it.load(Relaxed).to_ne_bytes());
        // Up to the numbers nothing follows.
        let bytes = changes.into_iter().chain([0; 4]).chain(words);
        bytes.collect::<Vec<_>>().try_into().unwrap()
    }

    #[test]
    fn what_is_told_is_seen_as_a_whole_or_not_at_all() {
        let memory = memory();
        let empty = bytes(&memory);
        assert_eq!(read(&empty, &empty), None);
        memory.write(&some("tcp on eth0"));
        let first = bytes(&memory);
        assert_eq!(read(&first, &first), Some(some("tcp on eth0")));
        memory.write(&some("ucx"));
        let second = bytes(&memory);
        assert_eq!(read(&first, &second), None);
        assert_eq!(read(&second, &second), Some(some("ucx")));
        memory.changes.as_ref().store(5, Relaxed);
        let torn = bytes(&memory);
        assert_eq!(read(&torn, &torn), None);
        memory.write(&some(""));
        let whole = bytes(&memory);
        assert_eq!(read(&whole, &whole), Some(some("")));
    }

    #[test]
    fn what_is_written_is_read() {
        for name in ["", "tcp", &"x".repeat(Counts::LONGEST)] {
            assert_eq!(Counts::read(&some(name).to_bytes()), Some(some(name)));
        }
        let long = some(&"ä".repeat(Counts::LONGEST)).to_bytes();
        let read = Counts::read(&long).expect("it is cut");
        assert_eq!(read.networks, "ä".repeat(Counts::LONGEST / 2));
        let words = "tcp through eth0; passed over: lo";
        let all = some(&format!("{words}, which leads nowhere else than here")).to_bytes();
        let read = Counts::read(&all).expect("it is cut");
        assert_eq!(read.networks, "tcp through eth0");
        let all = some(words).to_bytes();
        assert_eq!(Counts::read(&all).unwrap().networks, words);
        assert_eq!(Counts::read(&long[..8 * NUMBERS - 1]), None);
        assert_eq!(Counts::read(&[&long[..], b"x"].concat()), None);
        assert_eq!(
            Counts::read(&some("a\nb").to_bytes()).unwrap().networks,
            "a?b"
        );
    }
}
