//! One connection: what waits to leave, and what has begun to arrive.
//!
//! What leaves is, in this order: the rest of a frame with the contents of
//! memory, if one has begun; packets and short frames that wait; the next piece
//! of memory that was asked for.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use catena_base::Room;
use catena_fabric::{Payload, Peer};

use crate::frame::{CHUNK, HEAD, Head, What};
use crate::socket::{Socket, Watch};

/// Pieces of memory handed over at once, at most.
const PIECES: usize = 4;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// We called; the kernel is at it.
    Calling,
    /// We called and have greeted.
    Greeted,
    /// Somebody called, and has not greeted yet.
    Guest,
    /// Both have greeted.
    Open,
}

/// Bytes of a read that are arriving.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub read: u32,
    /// Bytes that this frame still has.
    pub left: usize,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub socket: Socket,
    pub stage: Stage,
    /// Who called: this process, or the other.
    pub ours: bool,
    /// The other end; `None` before it has greeted.
    pub peer: Option<Peer>,
    /// When it began.
    pub since: Instant,
    pub out: Out,
    /// The beginning of a frame, or of a greeting.
    pub partial: Vec<u8>,
    pub arriving: Option<Arriving>,
    /// Another connection leads to the peer: this one ends when it is empty.
    pub retired: bool,
    /// Packets since the poll with number `turn`.
    pub row: u32,
    pub turn: u64,
    /// The kernel keeps packets of ours.
    pub held: bool,
    /// It is in the list of connections with something to send.
    pub waiting: bool,
    /// Sleepers are woken when it can be written.
    heeded: bool,
}

impl Link {
    pub fn new(socket: Socket, stage: Stage, peer: Option<Peer>) -> Link {
        Link {
            socket,
            stage,
            ours: stage == Stage::Calling,
            peer,
            since: Instant::now(),
            out: Out::default(),
            partial: Vec::new(),
            arriving: None,
            retired: false,
            row: 0,
            turn: 0,
            held: false,
            waiting: false,
            heeded: false,
        }
    }

    /// Whether sleepers are woken when connection `at`, this one, can be
    /// written.
    pub fn heed(&mut self, watch: &Watch, at: usize, write: bool) {
        if self.heeded != write {
            self.heeded = write;
            // A failure shows when the socket is next used.
            let _ = watch.change(self.socket.fd(), at as u64, write);
        }
    }

    /// Hands what waits to the kernel, as far as it takes it; whether it took
    /// something.
    pub fn flush(&mut self) -> io::Result<bool> {
        let mut moved = false;
        for _ in 0..PIECES {
            if self.out.begun.is_none() && self.out.short.is_empty() && !self.out.begin() {
                break;
            }
            while !self.out.short.is_empty() || self.out.begun.is_some() {
                match self.out.send(&self.socket) {
                    Ok(()) => moved = true,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(moved),
                    Err(error) => return Err(error),
                }
            }
        }
        if self.retired && self.out.is_empty() {
            self.socket.shut();
        }
        Ok(moved)
    }
}

/// Memory that was asked for and is to leave.
#[derive(Clone, Copy, Debug)]
struct Asked {
    read: u32,
    key: u64,
    at: *const u8,
    /// Bytes left; `None`: it cannot be read.
    left: Option<usize>,
}

/// A frame with the contents of memory of which some bytes may have left.
#[derive(Clone, Copy, Debug)]
struct Begun {
    key: u64,
    head: [u8; HEAD],
    at: *const u8,
    len: usize,
    /// Bytes that have left, of the head and the memory together.
    done: usize,
}

impl Begun {
    /// What is left of the head, and of the memory.
    fn rest(&self) -> (&[u8], *const u8, usize) {
        let head = self.done.min(HEAD);
        let memory = self.done - head;
        (
            &self.head[head..],
            self.at.wrapping_add(memory),
            self.len - memory,
        )
    }
}

/// What waits to leave over a connection.
#[derive(Debug, Default)]
pub(crate) struct Out {
    begun: Option<Begun>,
    /// Packets and short frames, one behind the other; the first may have left
    /// in part.
    short: Vec<u8>,
    /// Bytes of them that have left.
    left: usize,
    asked: VecDeque<Asked>,
}

// SAFETY: the memory is that of the process, exposed until it is released.
unsafe impl Send for Out {}

impl Out {
    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.short.is_empty() && self.begun.is_none() && self.asked.is_empty()
    }

    /// Bytes of packets and short frames.
    pub fn len(&self) -> usize {
        self.short.len() - self.left
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.short.extend_from_slice(bytes);
    }

    /// Adds the bytes of a payload.
    pub fn add_payload<P: Payload>(&mut self, payload: &P) {
        let (at, len) = (self.short.len(), payload.len());
        self.short.reserve(len);
        // SAFETY: as much was reserved, and the payload writes all of it.
        unsafe {
            payload.write(Room::new(self.short.as_mut_ptr().add(at), len));
            self.short.set_len(at + len);
        }
    }

    /// Adds bytes of memory.
    ///
    /// # Safety
    /// `len` bytes at `at` must be readable.
    pub unsafe fn add_memory(&mut self, at: *const u8, len: usize) {
        let end = self.short.len();
        self.short.reserve(len);
        // SAFETY: as promised; as much was reserved.
        unsafe {
            at.copy_to_nonoverlapping(self.short.as_mut_ptr().add(end), len);
            self.short.set_len(end + len);
        }
    }

    /// Has memory leave that a peer may read with this key.
    pub fn answer(&mut self, read: u32, key: u64, at: *const u8, len: usize) {
        let left = Some(len);
        self.asked.push_back(Asked {
            read,
            key,
            at,
            left,
        });
    }

    /// Says that memory cannot be read, after what was asked for before.
    pub fn refuse(&mut self, read: u32) {
        self.asked.push_back(Asked {
            read,
            key: 0,
            at: std::ptr::null(),
            left: None,
        });
    }

    /// Begins the next piece of memory; `false` if none is asked for.
    fn begin(&mut self) -> bool {
        let Some(next) = self.asked.front_mut() else {
            return false;
        };
        let Some(left) = next.left else {
            let head = Head::about(What::Refuse, next.read, 0);
            self.asked.pop_front();
            self.add(&head.encode());
            return true;
        };
        let len = left.min(CHUNK);
        self.begun = Some(Begun {
            key: next.key,
            head: Head::about(What::Bytes, next.read, len).encode(),
            at: next.at,
            len,
            done: 0,
        });
        if len == left {
            self.asked.pop_front();
        } else {
            (next.at, next.left) = (next.at.wrapping_add(len), Some(left - len));
        }
        true
    }

    /// Hands some bytes to the kernel; there are some.
    fn send(&mut self, socket: &Socket) -> io::Result<()> {
        if let Some(begun) = &mut self.begun {
            let (head, at, len) = begun.rest();
            // SAFETY: exposed, and not released (`forget`).
            begun.done += unsafe { socket.send_both(head, at, len) }?;
            if begun.done == HEAD + begun.len {
                self.begun = None;
            }
            return Ok(());
        }
        self.left += socket.send(&self.short[self.left..], false)?;
        if self.left == self.short.len() {
            self.short.clear();
            self.left = 0;
        }
        Ok(())
    }

    /// The memory of a key may be used no more: what has begun to leave is
    /// copied, the rest does not leave.
    pub fn forget(&mut self, key: u64) {
        self.asked
            .retain(|asked| asked.key != key || asked.left.is_none());
        if let Some(begun) = self.begun.take_if(|begun| begun.key == key) {
            if begun.done == 0 {
                return;
            }
            let behind = self.short.split_off(self.left);
            let (head, at, len) = begun.rest();
            (self.left, self.short) = (0, head.to_vec());
            // SAFETY: exposed until now.
            unsafe { self.add_memory(at, len) };
            self.add(&behind);
        }
    }
}
