//! The receiving end.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use catena_abi::{self as abi, Status};
use catena_base::PeerBytes;
use catena_core::Process;
use catena_core::buffer::RecvBuf;
use catena_core::comm::partition_tag;
use catena_core::request::{Done, NOWHERE_STATUS, RequestObject, State};
use catena_link::{Awaited, Plane, ReqId, Selector, Sink};
use catena_objects::error::{Error, Kind, Result, no_memory};
use catena_objects::error_place::ErrorPlace;

use super::end::End;
use super::pairing::{Pair, take_tags};

/// What the sender has told, and the tags that it was given.
#[derive(Clone, Copy, Debug)]
struct Sender {
    partitions: u32,
    bytes: u64,
    tags: u32,
}

impl Sender {
    fn total(&self) -> u64 {
        self.bytes.saturating_mul(self.partitions.into())
    }
}

/// `MPI_Precv_init`.
#[derive(Debug)]
pub struct PartRecv {
    end: End,
    pair: Option<Pair>,
    sender: Cell<Option<Sender>>,
    is_active: Cell<bool>,
    /// The messages of the sender's partitions, while it is active and the sender is known.
    parts: RefCell<Vec<ReqId>>,
    /// Why they cannot be received.
    failed: RefCell<Option<Error>>,
    /// Where they go if a part does not begin and end with elements of the receiver.
    aside: RefCell<Vec<u8>>,
    own: RefCell<std::sync::Weak<PartRecv>>,
}

impl PartRecv {
    /// Makes one.
    pub fn init(process: &Process, end: End) -> abi::Request {
        let pair = end
            .peer
            .map(|peer| Pair::next(&end.comm, peer, end.tag, false));
        let recv = Arc::new(PartRecv {
            end,
            pair,
            sender: Cell::new(None),
            is_active: Cell::new(false),
            parts: RefCell::default(),
            failed: RefCell::default(),
            aside: RefCell::default(),
            own: RefCell::default(),
        });
        *recv.own.borrow_mut() = Arc::downgrade(&recv);
        process.add_request(recv)
    }

    /// `MPI_Parrived`: of an inactive request everything has arrived.
    pub(super) fn arrived(&self, process: &Process, partition: i32) -> Result<bool> {
        let at = self.end.check(partition)? as u64;
        if !self.is_active.get() || self.pair.is_none() {
            return Ok(true);
        }
        let Some(sender) = self.sender.get() else {
            return Ok(false);
        };
        let is_aside = !self.aside.borrow().is_empty();
        if is_aside || sender.bytes == 0 {
            // There are no parts to tell apart, or they are unpacked together.
            let parts = self.parts.borrow();
            let all = !parts.is_empty() && self.are_done(process, &parts);
            if all && is_aside {
                self.place_aside();
            }
            return Ok(all);
        }
        let (from, end) = (at * self.end.bytes(), (at + 1) * self.end.bytes());
        let first = (from / sender.bytes) as usize;
        let last = end.div_ceil(sender.bytes) as usize;
        let parts = self.parts.borrow();
        let some = parts.get(first..last.min(parts.len())).unwrap_or(&[]);
        Ok(!parts.is_empty() && self.are_done(process, some))
    }

    fn are_done(&self, process: &Process, parts: &[ReqId]) -> bool {
        process.link(|link| parts.iter().all(|&id| link.is_done(id)))
    }

    /// Learns what the sender is, and answers it.
    fn learn(&self, process: &Process) {
        let Some(pair) = &self.pair else {
            return;
        };
        let told = pair.told(process, &self.end.comm);
        if let Some([partitions, low, high]) = told.as_deref() {
            let tags = take_tags(&self.end.comm, *partitions);
            pair.tell(process, &self.end.comm, &[tags]);
            self.sender.set(Some(Sender {
                partitions: *partitions,
                bytes: u64::from(*high) << 32 | u64::from(*low),
                tags,
            }));
        }
    }

    /// Makes room for every partition of the sender.
    fn post(&self, process: &Process, sender: Sender) -> Result<()> {
        let (end, total) = (&self.end, sender.total());
        let size = end.ty.size();
        let in_place = end.ty.is_contiguous() || size != 0 && sender.bytes.is_multiple_of(size);
        let mut aside = self.aside.borrow_mut();
        if !in_place && total != 0 {
            let len = total as usize;
            aside.try_reserve_exact(len).map_err(|_| no_memory(len))?;
            aside.resize(len, 0);
        }
        let mut parts = self.parts.borrow_mut();
        for at in 0..sender.partitions {
            let from = u64::from(at) * sender.bytes;
            // What the receiver has no room for is cut, and told so.
            let fits = sender.bytes.min(end.total().saturating_sub(from));
            let room = if !in_place {
                RecvBuf::Bytes(aside.as_mut_ptr().wrapping_add(from as usize), sender.bytes)
            } else if let Some(elements) = from.checked_div(size) {
                let elements = elements as isize;
                let rest = end.ty.is_contiguous().then_some((from % size) as isize);
                let shift = elements * end.ty.extent() as isize + rest.unwrap_or(0);
                let buf = end.buf.wrapping_offset(shift);
                match fits.is_multiple_of(size) {
                    true => RecvBuf::new(buf, fits / size, &end.ty),
                    false => RecvBuf::Bytes(buf, fits),
                }
            } else {
                RecvBuf::EMPTY
            };
            let selector = Selector {
                source: end.peer.map_or(0, |peer| peer as i32),
                tag: partition_tag(sender.tags + at),
            };
            let plane = Plane::Collective;
            parts.push(process.link(|link| link.recv(end.comm.cid, plane, selector, room)));
        }
        Ok(())
    }

    /// Receives, if the sender is known.
    fn receive(&self, process: &Process) -> bool {
        if self.sender.get().is_none() {
            self.learn(process);
        }
        let Some(sender) = self.sender.get() else {
            return false;
        };
        if let Err(error) = self.post(process, sender) {
            *self.failed.borrow_mut() = Some(error);
        }
        true
    }

    fn is_over(&self, process: &Process) -> bool {
        if self.pair.is_none() || self.failed.borrow().is_some() {
            return true;
        }
        if self.sender.get().is_none() {
            // A sender that has died will not tell what it is.
            *self.failed.borrow_mut() = self.end.death(process);
            return self.failed.borrow().is_some();
        }
        self.are_done(process, &self.parts.borrow())
    }

    /// Unpacks what came aside.
    fn place_aside(&self) {
        let aside = std::mem::take(&mut *self.aside.borrow_mut());
        if !aside.is_empty() {
            let end = &self.end;
            let count = end.count * u64::from(end.partitions);
            RecvBuf::new(end.buf, count, &end.ty).place(0, PeerBytes::from(&*aside));
        }
    }
}

impl RequestObject for PartRecv {
    fn state(&self, process: &Process) -> Result<State> {
        Ok(match self.is_active.get() {
            false => State::Inactive,
            true if self.is_over(process) => State::Complete,
            true => State::Pending,
        })
    }

    fn complete(&self, process: &Process) -> Done {
        self.is_active.set(false);
        let Some(peer) = self.end.peer else {
            return Done {
                status: NOWHERE_STATUS,
                error: None,
            };
        };
        let mut error = self.failed.take();
        let mut bytes = 0;
        for id in self.parts.take() {
            let completion = process.link(|link| link.take(id));
            bytes += completion.len;
            error = error.or(Done::from(completion).error);
        }
        self.place_aside();
        let too_much = self
            .sender
            .get()
            .is_some_and(|it| it.total() > self.end.total());
        if too_much && error.is_none() {
            let text = format!(
                "the sender's partitions have more than the {} bytes of the receiver's",
                self.end.total()
            );
            error = Some(Error::new(Kind::Truncate, text));
        }
        Done {
            status: Status::new(peer as i32, self.end.tag, bytes),
            error,
        }
    }

    fn peek(&self, _process: &Process) -> Result<Done> {
        let status = match (self.is_active.get(), self.end.peer, self.sender.get()) {
            (true, Some(peer), Some(sender)) => {
                Status::new(peer as i32, self.end.tag, sender.total())
            }
            (true, None, _) => NOWHERE_STATUS,
            _ => Status::empty(),
        };
        Ok(Done {
            status,
            error: None,
        })
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn start(&self, process: &Process) -> Result<()> {
        if self.is_active.replace(true) {
            return Err(Error::new(
                Kind::Request,
                "the partitioned request is active already: complete it first",
            ));
        }
        if self.pair.is_some()
            && !self.receive(process)
            && let Some(own) = self.own.borrow().upgrade()
        {
            process.carry_on(own);
        }
        Ok(())
    }

    fn free(&self, process: &Process) -> Result<()> {
        // What comes aside needs its memory until it has come.
        if self.aside.borrow().is_empty() {
            for id in self.parts.take() {
                process.link(|link| link.detach(id));
            }
        } else if let Some(own) = self.own.borrow().upgrade() {
            process.carry_on(own);
        }
        Ok(())
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.end.comm.handle.get().into())
    }

    fn awaits(&self, _process: &Process, awaited: &mut Awaited) {
        if let (None, Some(rank)) = (self.sender.get(), self.end.peer) {
            let comm = &self.end.comm;
            let group = comm.remote.as_ref().map_or(&comm.group, |it| &it.group);
            awaited.named.insert(group.member(rank as usize));
        }
    }

    fn advance(&self, process: &Process) -> bool {
        if !self.parts.borrow().is_empty() {
            // Freed while parts came aside.
            return self.is_over(process);
        }
        self.receive(process) || self.is_over(process)
    }
}
