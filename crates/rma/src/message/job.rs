//! What is to leave to a peer, in order: records that are ready, and long operations, of which one part
//! at a time becomes a record, so that their bytes stay where they are until there is room.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use catena_base::Room;
use catena_core::buffer::SendBuf;
use catena_datatype::TypeRef;
use catena_fabric::{Payload, PeerLost, Posted};
use catena_link::Source;

use super::record::{self, CHUNK, Head, What};
use super::runs;
use super::token::Token;

/// Bytes of answers of one peer that are under way at a time.
const ANSWERS: u64 = 1 << 20;
/// Bytes of records that share one piece of memory.
const SHARE: usize = 256 << 10;
/// Bytes of records that leave with the last part of a long operation before them.
const BEHIND: usize = 512;

/// Elements of a target, as records name them.
#[derive(Clone)]
pub(crate) struct Spot {
    /// The address of the first element there.
    pub addr: u64,
    /// How many of which type; `None` for one run of bytes.
    pub layout: Option<(TypeRef, u64)>,
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}, {}", self.addr, self.layout.is_some())
    }
}

impl Spot {
    /// Writes where packed bytes `[at, at + len)` are.
    fn write(&self, (at, len): (u64, usize), head: &mut Head, out: &mut Vec<u8>) {
        let Some((ty, count)) = &self.layout else {
            out.extend_from_slice(&self.addr.wrapping_add(at).to_ne_bytes());
            return;
        };
        head.c = 1;
        out.extend_from_slice(&self.addr.to_ne_bytes());
        let before = out.len();
        out.extend_from_slice(&[0; 4]);
        runs::write(ty, *count, (at, len), out);
        let bytes = (out.len() - before - 4) as u32;
        out[before..before + 4].copy_from_slice(&bytes.to_ne_bytes());
    }
}

/// An operation on its way.
#[derive(Debug)]
pub(crate) struct Operation {
    pub head: Head,
    pub spot: Spot,
    /// What goes there.
    pub source: SendBuf,
    /// Packed bytes at the target.
    pub len: u64,
    /// Whether the former bytes come back.
    pub is_answered: bool,
    /// Bytes of an element, which is not cut.
    pub unit: usize,
    /// The rank of the target.
    pub rank: u32,
    /// Its request.
    pub token: Option<Arc<Token>>,
    /// Bytes of which records have been made.
    pub at: u64,
}

impl Operation {
    /// Makes a record of the next part; how many bytes come back for it.
    pub fn write_next(&mut self, out: &mut Vec<u8>) -> u64 {
        let most = CHUNK / self.unit * self.unit;
        let len = (self.len - self.at).min(most as u64) as usize;
        let at = self.at;
        record::write(out, self.head, |head, out| {
            if self.is_answered {
                out.extend_from_slice(&at.to_ne_bytes());
                out.extend_from_slice(&(len as u64).to_ne_bytes());
            }
            self.spot.write((at, len), head, out);
            if self.source.len() != 0 {
                // What is compared and swapped is in one part: both elements.
                let len = match self.head.what() {
                    Some(What::Swap) => self.source.len() as usize,
                    _ => len,
                };
                let from = out.len();
                out.reserve(len);
                // SAFETY: room for as many bytes, all of which are written.
                unsafe {
                    let room = Room::new(out.as_mut_ptr().add(from), len);
                    self.source.part(at, len).write(room);
                    out.set_len(from + len);
                }
            }
        });
        self.at += len as u64;
        if self.is_answered { len as u64 } else { 0 }
    }

    /// Whether there is a record of every part.
    pub fn is_over(&self) -> bool {
        self.at == self.len
    }
}

#[derive(Debug)]
enum Job {
    Ready { bytes: Vec<u8>, from: usize },
    Long(Box<Operation>),
}

/// The sending end of a stream.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    jobs: VecDeque<Job>,
    /// Bytes that have left.
    sent: u64,
    /// Bytes of records that have not.
    ready: usize,
    /// Bytes of answers that are to come.
    answers: u64,
    /// Memory for the next records.
    spare: Vec<u8>,
}

impl Outgoing {
    /// Whether nothing is to leave.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Bytes of records that have not left.
    pub fn ready(&self) -> usize {
        self.ready
    }

    /// An answer of as many bytes has come.
    pub fn answered(&mut self, bytes: u64) {
        self.answers = self.answers.saturating_sub(bytes);
    }

    /// Adds a record: `write` appends it, and says how many bytes will come back.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> u64) {
        let shares =
            matches!(self.jobs.back(), Some(Job::Ready { bytes, .. }) if bytes.len() < SHARE);
        if !shares {
            let bytes = std::mem::take(&mut self.spare);
            self.jobs.push_back(Job::Ready { bytes, from: 0 });
        }
        if let Some(Job::Ready { bytes, .. }) = self.jobs.back_mut() {
            let before = bytes.len();
            self.answers += write(bytes);
            self.ready += bytes.len() - before;
        }
    }

    /// Adds a long operation.
    pub fn add_long(&mut self, operation: Operation) {
        self.jobs.push_back(Job::Long(Box::new(operation)));
    }

    /// Nothing leaves any more: the operations that have not as a whole.
    pub fn give_up(&mut self) -> Vec<Operation> {
        (self.ready, self.answers) = (0, 0);
        let jobs = self.jobs.drain(..).filter_map(|job| match job {
            Job::Long(operation) => Some(*operation),
            Job::Ready { .. } => None,
        });
        jobs.collect()
    }

    /// Has a few records that come next leave with those of `packet`, if one packet has room for both.
    fn take_along(&mut self, most: usize, packet: &mut Vec<u8>) {
        if let Some(Job::Ready { bytes, from: 0 }) = self.jobs.front()
            && bytes.len() <= BEHIND.min(most.saturating_sub(packet.len()))
        {
            packet.extend_from_slice(bytes);
            self.jobs.pop_front();
        }
    }

    /// Posts packets of at most `most` bytes while there is room; true if any left. `ended` is told of long
    /// operations whose buffers are not needed any more.
    pub fn pump(
        &mut self,
        most: usize,
        mut post: impl FnMut(u64, &[u8]) -> Result<Posted, PeerLost>,
        mut ended: impl FnMut(Operation),
    ) -> Result<bool, PeerLost> {
        let mut moved = false;
        loop {
            match self.jobs.front_mut() {
                None => return Ok(moved),
                Some(Job::Ready { bytes, from }) => {
                    let len = most.min(bytes.len() - *from);
                    if post(self.sent, &bytes[*from..*from + len])? == Posted::Full {
                        return Ok(moved);
                    }
                    moved = true;
                    *from += len;
                    self.sent += len as u64;
                    self.ready -= len;
                    if *from == bytes.len() {
                        let mut bytes = std::mem::take(bytes);
                        bytes.clear();
                        self.spare = bytes;
                        self.jobs.pop_front();
                    }
                }
                Some(Job::Long(long)) if long.is_answered && self.answers >= ANSWERS => {
                    return Ok(moved);
                }
                Some(Job::Long(_)) => {
                    let Some(Job::Long(mut long)) = self.jobs.pop_front() else {
                        unreachable!("it was just there");
                    };
                    let mut bytes = std::mem::take(&mut self.spare);
                    self.answers += long.write_next(&mut bytes);
                    self.ready += bytes.len();
                    if long.is_over() {
                        ended(*long);
                        self.take_along(most, &mut bytes);
                    } else {
                        self.jobs.push_front(Job::Long(long));
                    }
                    self.jobs.push_front(Job::Ready { bytes, from: 0 });
                }
            }
        }
    }
}
