//! Running a plan: the executor over `link` and the program's memory.

use std::ptr;
use std::sync::Arc;

use catena_fabric::PeerLost;
use catena_link::{Failure, Mode, Plane, ReqId, Selector, Sent};
use catena_plan::{Buf, Exec, Order, Plan, Region, Run};

use crate::buffer::{RecvBuf, SendBuf};
use crate::coll::side::{Loaded, Side};
use crate::comm::Comm;
use crate::error::{Error, Kind, Result};
use crate::op::Reducer;
use crate::p2p;
use crate::world::World;

/// A message of a plan under way.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    id: ReqId,
    /// Bytes that must arrive; `None` for a send.
    expect: Option<u64>,
}

/// One execution of a plan on a communicator.
#[derive(Debug)]
pub struct CollRun {
    comm: Arc<Comm>,
    plan: Arc<Plan>,
    run: Run<Posted>,
    memory: Memory,
    sides: Sides,
    done: bool,
    error: Option<Error>,
}

/// The program's buffers, as far as they had to be packed.
#[derive(Debug)]
pub struct Sides {
    /// What the plan reads.
    pub input: Loaded,
    /// What the plan writes.
    pub output: Loaded,
    /// Where it goes afterwards.
    pub store: Option<Side>,
}

/// The three buffers of a plan and what combines them.
#[derive(Debug)]
pub struct Memory {
    /// Tag of all messages of this execution.
    pub tag: i32,
    /// Send buffer.
    pub input: *const u8,
    /// Receive buffer.
    pub output: *mut u8,
    /// Scratch memory, 64-byte aligned.
    pub scratch: Scratch,
    /// Combines elements, if the plan reduces.
    pub reducer: Option<Reducer>,
}

/// Scratch memory aligned to cache lines.
#[derive(Debug, Default)]
pub struct Scratch(Vec<Line>);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

impl Scratch {
    /// Zeroed memory of at least `len` bytes.
    pub fn new(len: usize) -> Self {
        Scratch(vec![Line([0; 64]); len.div_ceil(64)])
    }

    /// Its address.
    pub fn base(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Memory {
    pub(super) fn address(&mut self, r: Region) -> *mut u8 {
        match r.buf {
            Buf::Input => self.input.cast_mut().wrapping_add(r.offset),
            Buf::Output => self.output.wrapping_add(r.offset),
            Buf::Scratch => self.scratch.base().wrapping_add(r.offset),
        }
    }
}

struct Executor<'a> {
    world: &'a World,
    comm: &'a Comm,
    memory: &'a mut Memory,
}

impl Executor<'_> {
    fn settle(&self, p: Posted) -> Result<()> {
        let done = self.world.link().take(p.id);
        if let Some(f) = done.error {
            return Err(self.explain(&f));
        }
        match p.expect {
            Some(expect) if done.len != expect => Err(Error::new(
                Kind::Truncate,
                format!(
                    "the collective's arguments differ: rank {} sent {} bytes where rank {} \
                     expects {expect}",
                    done.source, done.len, self.comm.rank
                ),
            )),
            _ => Ok(()),
        }
    }

    #[cold]
    fn explain(&self, f: &Failure) -> Error {
        match f {
            Failure::Truncated {
                source, sent, room, ..
            } => Error::new(
                Kind::Truncate,
                format!(
                    "the collective's arguments differ: rank {source} sent {sent} bytes where \
                     rank {} expects {room}",
                    self.comm.rank
                ),
            ),
            Failure::Lost(PeerLost { .. }) => p2p::failure(f),
        }
    }
}

impl Exec for Executor<'_> {
    type Handle = Posted;
    type Error = Error;

    fn send(&mut self, peer: u32, from: Region) -> Result<Option<Posted>> {
        let buf = SendBuf::Bytes(self.memory.address(from), from.len as u64);
        let (dest, tag) = (peer, self.memory.tag);
        let link = self.world.link();
        match link.send(
            self.comm.cid,
            Plane::Collective,
            dest,
            tag,
            Mode::Standard,
            buf,
        ) {
            Sent::Done => Ok(None),
            Sent::Pending(id) => Ok(Some(Posted { id, expect: None })),
        }
    }

    fn recv(&mut self, peer: u32, into: Region) -> Result<Option<Posted>> {
        let buf = RecvBuf::Bytes(self.memory.address(into), into.len as u64);
        let sel = Selector {
            source: peer as i32,
            tag: self.memory.tag,
        };
        let id = self
            .world
            .link()
            .recv(self.comm.cid, Plane::Collective, sel, buf);
        let posted = Posted {
            id,
            expect: Some(into.len as u64),
        };
        if self.world.link().is_done(id) {
            self.settle(posted)?;
            return Ok(None);
        }
        Ok(Some(posted))
    }

    fn done(&mut self, handle: Posted) -> Result<bool> {
        if !self.world.link().is_done(handle.id) {
            return Ok(false);
        }
        self.settle(handle)?;
        Ok(true)
    }

    fn reduce(&mut self, from: Region, into: Region, order: Order) {
        let (a, b) = (self.memory.address(from), self.memory.address(into));
        let Some(reducer) = &self.memory.reducer else {
            unreachable!("a plan that reduces is run with an operation");
        };
        // SAFETY: the plan's regions are within its buffers, whose sizes the
        // caller of the collective vouches for, and do not overlap.
        unsafe {
            match order {
                Order::FromLeft => reducer.apply(a, b, into.len),
                Order::FromRight => reducer.apply_right(a, b, into.len),
            }
        }
    }

    fn copy(&mut self, from: Region, into: Region) {
        let (a, b) = (self.memory.address(from), self.memory.address(into));
        // SAFETY: as in `reduce`; user buffers that alias against the rules
        // are still moved byte by byte.
        unsafe { ptr::copy(a, b, from.len) }
    }
}

impl CollRun {
    /// Starts an execution.
    pub fn new(comm: Arc<Comm>, plan: Arc<Plan>, memory: Memory, sides: Sides) -> Self {
        let mut run = Run::new();
        run.start(&plan);
        CollRun {
            comm,
            plan,
            run,
            memory,
            sides,
            done: false,
            error: None,
        }
    }

    /// Whether it is complete, well or not.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// What went wrong.
    pub fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Does what can be done now; true if it is complete.
    pub fn advance(&mut self, world: &World) -> bool {
        if self.done {
            return true;
        }
        let mut exec = Executor {
            world,
            comm: &self.comm,
            memory: &mut self.memory,
        };
        match self.run.advance(&self.plan, &mut exec) {
            Ok(false) => return false,
            Ok(true) => {
                if let Some(side) = &self.sides.store {
                    side.store(&self.sides.output);
                }
            }
            Err(e) => {
                let mut left = false;
                for p in self.run.abandon() {
                    left = true;
                    world.link().cancel(p.id);
                    world.link().detach(p.id);
                }
                if left {
                    // Not every message can be cancelled, and the peers' part
                    // of one may still come.
                    std::mem::forget(std::mem::take(&mut self.memory.scratch));
                    self.sides.input.leak();
                    self.sides.output.leak();
                }
                self.error = Some(e.on(self.comm.handle.get()));
            }
        }
        self.done = true;
        true
    }
}
