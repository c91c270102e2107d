//! The receiving end.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use catena_abi::{self as abi, Status};
use catena_base::PeerBytes;
use catena_core::Process;
use catena_core::buffer::RecvBuf;
use catena_core::comm::free_tag;
use catena_core::request::{self, Done, NOWHERE_STATUS, RequestObject, State};
use catena_hang::{WaitsFor, What};
use catena_link::{Awaited, Plane, ReqId, Selector, Sink};
use catena_objects::error::{Error, Kind, Result, no_memory};
use catena_objects::error_place::ErrorPlace;

use super::channel::{Channel, DataPath, Shape};
use super::end::End;
use super::incoming::Incoming;
use super::pairing::{Pair, TagRow};
use super::threads::{RECEIVES, callers};
use super::words::{Answer, Offer};
use crate::heap;

/// What the sender has told.
#[derive(Clone, Copy, Debug)]
struct Sender {
    partitions: u32,
    bytes: u64,
    /// Whether it may come through a channel.
    has_channel: bool,
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
    /// What `MPI_Parrived` touches. In a box: threads find it without the lock.
    incoming: Box<Incoming>,
    handle: Cell<abi::Request>,
    sender: Cell<Option<Sender>>,
    /// The tags that it was given.
    tags: RefCell<Option<TagRow>>,
    /// Whether it is known that the round does not come as messages, or they are posted.
    is_posted: Cell<bool>,
    /// The messages of the sender's partitions, while it is active.
    parts: RefCell<Vec<ReqId>>,
    /// So many of the first ones are complete.
    done: Cell<usize>,
    /// Why they cannot be received.
    failed: RefCell<Option<Error>>,
    /// Where they go if a part does not begin and end with elements of the receiver.
    aside: RefCell<Vec<u8>>,
    /// Whether progress carries it on.
    is_carried: Cell<bool>,
    own: RefCell<Weak<PartRecv>>,
}

impl PartRecv {
    /// Makes one.
    pub fn init(process: &Process, end: End) -> abi::Request {
        let pair = end
            .peer
            .map(|peer| Pair::next(&end.comm, peer, end.tag, false));
        let incoming = Incoming::new(end.buf, (end.partitions, end.count), &end.ty);
        let recv = Arc::new(PartRecv {
            end,
            pair,
            incoming: Box::new(incoming),
            handle: Cell::new(abi::consts::REQUEST_NULL),
            sender: Cell::new(None),
            tags: RefCell::default(),
            is_posted: Cell::new(false),
            parts: RefCell::default(),
            done: Cell::new(0),
            failed: RefCell::default(),
            aside: RefCell::default(),
            is_carried: Cell::new(false),
            own: RefCell::default(),
        });
        *recv.own.borrow_mut() = Arc::downgrade(&recv);
        let request = request::add(process, recv.clone());
        recv.handle.set(request);
        // SAFETY: the box stays until `free` removes it, or for ever.
        unsafe { RECEIVES.insert(request, &raw const *recv.incoming) };
        request
    }

    /// An error of a call on the request.
    #[cold]
    pub(super) fn placed(&self, error: Error) -> Error {
        self.end.placed(error)
    }

    /// `MPI_Parrived`, under the lock: of an inactive request everything has arrived.
    pub(super) fn arrived(&self, process: &Process, partition: i32) -> Result<bool> {
        let at = self.end.check(partition)? as u64;
        if !self.incoming.is_active() || self.pair.is_none() {
            return Ok(true);
        }
        if let Some(arrived) = self.incoming.arrived(partition, callers()) {
            return Ok(arrived);
        }
        let Some(sender) = self.sender.get() else {
            return Ok(false);
        };
        let is_aside = !self.aside.borrow().is_empty();
        if is_aside || sender.bytes == 0 {
            // There are no parts to tell apart, or they are unpacked together.
            let parts = self.parts.borrow();
            let all = !parts.is_empty() && self.are_all_done(process, &parts);
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

    /// Why the round will never be complete, if that is known.
    pub(super) fn failure(&self, process: &Process) -> Option<Error> {
        let is_open = self.incoming.is_active() && self.pair.is_some();
        if !is_open || !self.is_over(process) {
            return None;
        }
        let error = self.failed.borrow().clone()?;
        Some(self.placed(error))
    }

    /// Whether all messages of the round are complete. Cost: those that became so since it was last
    /// asked.
    fn are_all_done(&self, process: &Process, parts: &[ReqId]) -> bool {
        let mut done = self.done.get();
        process.link(|link| {
            while done < parts.len() && link.is_done(parts[done]) {
                done += 1;
            }
        });
        self.done.set(done);
        done == parts.len()
    }

    fn are_done(&self, process: &Process, parts: &[ReqId]) -> bool {
        process.link(|link| parts.iter().all(|&id| link.is_done(id)))
    }

    /// Learns what the sender has, and answers it.
    fn learn(&self, process: &Process) {
        let comm = &self.end.comm;
        let Some(pair) = &self.pair else {
            return;
        };
        let Some(told) = pair.told(process, comm) else {
            return;
        };
        let Some(offer) = Offer::from_words(&told) else {
            let text = "the sender has told what no version of this library does";
            *self.failed.borrow_mut() = Some(Error::new(Kind::Intern, text));
            return;
        };
        let tags = TagRow::take(comm, offer.partitions);
        let shape = Shape::new(offer.partitions, offer.bytes);
        let channel = offer.channel.and_then(|card| {
            let bells = self.end.bells(process)?;
            Some((Channel::open(card, shape).ok()?, bells))
        });
        let has_channel = channel.is_some();
        if let Some((channel, bells)) = channel {
            self.incoming.settle(channel, bells);
        }
        let buffer = self.incoming.run(shape.total());
        let card = |at: *mut u8| heap::card(at, shape.total() as usize);
        let answer = Answer {
            tags: tags.as_ref().ok().map(|it| it.first),
            has_channel,
            buffer: buffer.map(|at| at.expose_provenance() as u64),
            card: buffer.filter(|_| shape.total() != 0).and_then(card),
        };
        self.sender.set(Some(Sender {
            partitions: offer.partitions,
            bytes: offer.bytes,
            has_channel,
        }));
        match tags {
            Ok(tags) => *self.tags.borrow_mut() = Some(tags),
            Err(error) if !has_channel => *self.failed.borrow_mut() = Some(error),
            Err(_) => {}
        }
        pair.tell(process, comm, &answer.words());
    }

    /// Makes room for every partition of the sender.
    fn post(&self, process: &Process, sender: Sender) -> Result<()> {
        let tags = self.tags.borrow();
        let Some(tags) = &*tags else {
            let text =
                "the partitions have no tags: free other partitioned receives of the communicator";
            return Err(Error::new(Kind::NoMem, text));
        };
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
        self.done.set(0);
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
                tag: free_tag(tags.first + at),
            };
            let plane = Plane::Collective;
            parts.push(process.link(|link| link.recv(end.comm.cid, plane, selector, room)));
        }
        Ok(())
    }

    /// Which way the partitions come, once that is known.
    fn way(&self) -> Option<DataPath> {
        match self.sender.get()?.has_channel {
            true => self.incoming.way(),
            false => Some(DataPath::Messages),
        }
    }

    /// Receives, if it is known how.
    fn receive(&self, process: &Process) -> bool {
        if self.sender.get().is_none() {
            self.learn(process);
        }
        match (self.way(), self.sender.get()) {
            (Some(DataPath::Messages), Some(sender)) => {
                if let Err(error) = self.post(process, sender) {
                    *self.failed.borrow_mut() = Some(error);
                }
            }
            (Some(_), _) => {}
            (None, _) => return self.failed.borrow().is_some(),
        }
        self.is_posted.set(true);
        true
    }

    /// Receives as soon as it is known how; whether it does, or the round is over. While that is
    /// not so, progress asks now and then, and whoever waits for the request each time.
    fn goes_on(&self, process: &Process) -> bool {
        !self.is_carried.get()
            || self.is_posted.get()
            || self.receive(process)
            || self.is_over(process)
    }

    fn is_over(&self, process: &Process) -> bool {
        if self.pair.is_none() || self.failed.borrow().is_some() {
            return true;
        }
        match self.way() {
            Some(DataPath::Messages) => {
                return self.is_posted.get() && self.are_all_done(process, &self.parts.borrow());
            }
            Some(_) if self.incoming.take_all(callers()) => return true,
            _ => {}
        }
        if self.incoming.has_failed() {
            let text = "the sender could not copy a partition, and says why";
            *self.failed.borrow_mut() = Some(Error::new(Kind::Other, text));
            return true;
        }
        // A sender that has died will neither tell nor copy anything.
        *self.failed.borrow_mut() = self.end.trouble(process);
        self.failed.borrow().is_some()
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

    /// The bytes of the partitions that were messages, and their error.
    fn take_messages(&self, process: &Process) -> (u64, Option<Error>) {
        let (mut bytes, mut error) = (0, None);
        for id in self.parts.take() {
            let completion = process.link(|link| link.take(id));
            bytes += completion.len;
            error = error.or(Done::from(completion).error);
        }
        self.place_aside();
        (bytes, error)
    }
}

impl RequestObject<Process> for PartRecv {
    fn state(&self, process: &Process) -> Result<State> {
        Ok(match self.incoming.is_active() {
            false => State::Inactive,
            true if self.goes_on(process) && self.is_over(process) => State::Complete,
            true => State::Pending,
        })
    }

    fn complete(&self, process: &Process) -> Done {
        let Some(peer) = self.end.peer else {
            self.incoming.finish();
            return Done {
                status: NOWHERE_STATUS,
                error: None,
            };
        };
        let mut error = self.failed.take();
        let total = self.sender.get().map_or(0, |it| it.total());
        let bytes = match self.way() {
            Some(DataPath::Staged | DataPath::Straight) => total.min(self.end.total()),
            _ => {
                let (bytes, failed) = self.take_messages(process);
                error = error.or(failed);
                bytes
            }
        };
        self.incoming.finish();
        self.is_posted.set(false);
        if total > self.end.total() && error.is_none() {
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
        let status = match (self.incoming.is_active(), self.end.peer, self.sender.get()) {
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
        if !self.incoming.start() {
            return Err(Error::new(
                Kind::Request,
                "the partitioned request is active already: complete it first",
            ));
        }
        if self.pair.is_some()
            && !self.receive(process)
            && let Some(own) = self.own.borrow().upgrade()
            && !self.is_carried.replace(true)
        {
            request::carry_on(process, own);
        }
        Ok(())
    }

    fn check_free(&self) -> Result<()> {
        self.end.check_free(self.incoming.is_active())
    }

    fn free(&self, _: &Process) -> Result<()> {
        RECEIVES.remove(self.handle.get());
        Ok(())
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.end.comm.handle.get().into())
    }

    fn awaits(&self, _process: &Process, awaited: &mut Awaited) {
        // The messages say it themselves.
        if self.way() != Some(DataPath::Messages) {
            self.end.awaits(awaited);
        }
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        let parts = (What::Part, self.end.process(), 0);
        self.end.describe(process, waits, parts);
    }

    fn waits_for_control(&self) -> bool {
        self.sender.get().is_none()
    }

    fn advance(&self, process: &Process) -> bool {
        let over = !self.incoming.is_active() || self.goes_on(process);
        self.is_carried.set(!over);
        over
    }
}
