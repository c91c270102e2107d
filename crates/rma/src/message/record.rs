//! What origins and targets tell each other: records of a head and a body, in the byte order of the
//! machine.
//!
//! | record     | from   | body                            | answer                          |
//! |------------|--------|---------------------------------|---------------------------------|
//! | `Put`      | origin | [`TargetAddress`], bytes                | none                            |
//! | `Combine`  | origin | [`TargetAddress`], bytes                | none                            |
//! | `Get`      | origin | offset, length, [`TargetAddress`]       | `Bytes` from that offset on     |
//! | `Fetch`    | origin | offset, length, [`TargetAddress`], bytes | `Bytes`, the former ones       |
//! | `Swap`     | origin | offset, length, [`TargetAddress`], what is compared, new bytes | `Bytes`, the former ones |
//! | `Flush`    | origin | –                               | `Done`, with what went wrong since the last one |
//! | `Lock`     | origin | –                               | `Done` when it holds the lock   |
//! | `Unlock`   | origin | –                               | `Done`, as of `Flush`           |
//! | `Who`      | origin | whether the lock is meant, or the gate | `Holders`                |
//! | `Holders`  | target | that, and the ranks that have it | none                           |
//! | `Enter`    | member | –                               | `Done` when it is inside of the gate |
//! | `Leave`    | member | –                               | none                            |
//! | `Post`     | target | –                               | none                            |
//! | `Complete` | origin | –                               | none                            |
//! | `Meet`     | member | –                               | none                            |
//! | `Where`    | origin | an address of a dynamic window  | `Here`, when it can be told     |
//! | `Here`     | target | address and length of what is attached there, and its keys; nothing if nothing is | none |
//! | `Forget`   | target | the address of what is detached | `Done`                          |
//! | `Notify`   | origin | –                               | none                            |
//! | `Count`    | origin | –                               | `Bytes`, how many counters of notifications there are |

/// Bytes of a head.
pub(crate) const HEAD: usize = 16;
/// Longest body: bytes of [`CHUNK`], with runs of one byte each.
pub(crate) const LONGEST: usize = 4 << 20;
/// Bytes of an operation that a record moves at most: the target takes one while the next one is
/// under way.
pub(crate) const CHUNK: usize = 32 << 10;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum What {
    Put = 1,
    Combine,
    Get,
    Fetch,
    Swap,
    Flush,
    Lock,
    Unlock,
    Post,
    Complete,
    Meet,
    Enter,
    Leave,
    Bytes,
    Done,
    Where,
    Here,
    Forget,
    Notify,
    Count,
    Who,
    Holders,
}

impl What {
    fn read(byte: u8) -> Option<What> {
        use What::*;
        let all = [
            Put, Combine, Get, Fetch, Swap, Flush, Lock, Unlock, Post, Complete, Meet, Enter,
            Leave, Bytes, Done, Where, Here, Forget, Notify, Count, Who, Holders,
        ];
        all.into_iter().find(|it| *it as u8 == byte)
    }
}

/// The head of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// A [`What`].
    pub what: u8,
    /// Operation, kind of lock, class at the gate, what is [held](super::state::Held), round, or
    /// [`Trouble`].
    pub a: u8,
    /// Kind of elements, or of queue.
    pub b: u8,
    /// Whether there are several runs, or somebody has failed.
    pub c: u8,
    /// The number that the receiver has for the window; that of the question in an answer.
    pub window: u32,
    /// Which operation of the origin wants an answer.
    pub id: u32,
    /// Bytes of the body.
    pub len: u32,
}

impl Head {
    pub fn new(what: What, window: u32) -> Head {
        Head {
            what: what as u8,
            window,
            ..Head::default()
        }
    }

    /// What it is; `None` if there is no such record.
    pub fn what(&self) -> Option<What> {
        What::read(self.what)
    }

    #[cfg(test)]
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes());
    }

    fn bytes(self) -> [u8; HEAD] {
        let mut bytes = [
            self.what, self.a, self.b, self.c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        bytes[4..8].copy_from_slice(&self.window.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.id.to_ne_bytes());
        bytes[12..].copy_from_slice(&self.len.to_ne_bytes());
        bytes
    }

    /// Reads a head; `None` if there are not enough bytes.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let bytes: &[u8; HEAD] = bytes.first_chunk()?;
        let word = |at: usize| u32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        Some(Head {
            what: bytes[0],
            a: bytes[1],
            b: bytes[2],
            c: bytes[3],
            window: word(4),
            id: word(8),
            len: word(12),
        })
    }
}

/// Writes a whole record: `body` appends its body, and may still change the head.
pub(crate) fn write(out: &mut Vec<u8>, mut head: Head, body: impl FnOnce(&mut Head, &mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; HEAD]);
    body(&mut head, out);
    head.len = (out.len() - at - HEAD) as u32;
    out[at..at + HEAD].copy_from_slice(&head.bytes());
}

/// Writes the front of a record, whose body has `more` bytes behind those that `body` appends.
pub(crate) fn write_front(
    out: &mut Vec<u8>,
    mut head: Head,
    more: usize,
    body: impl FnOnce(&mut Head, &mut Vec<u8>),
) {
    let at = out.len();
    write(out, head, |changed, out| {
        body(changed, out);
        head = *changed;
    });
    head.len = (out.len() - at - HEAD + more) as u32;
    out[at..at + HEAD].copy_from_slice(&head.bytes());
}

/// Takes a number off the front.
pub(crate) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_ne_bytes(*number))
}

/// What went wrong at a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Trouble {
    None,
    /// Not all bytes belong to the window.
    Range,
    /// The record makes no sense there, or there is no such window.
    Sense,
    /// A member has died in the middle of an accumulate to this target.
    Lost,
    /// There is no such counter of notifications.
    Counter,
    /// A member has died that held the lock which is waited for, or was inside of the gate.
    Holder,
}

impl Trouble {
    pub fn read(byte: u8) -> Trouble {
        match byte {
            0 => Trouble::None,
            1 => Trouble::Range,
            3 => Trouble::Lost,
            4 => Trouble::Counter,
            5 => Trouble::Holder,
            _ => Trouble::Sense,
        }
    }
}
