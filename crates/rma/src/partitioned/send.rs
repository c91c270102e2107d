//! The sending end.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use catena_abi as abi;
use catena_core::Process;
use catena_core::buffer::SendBuf;
use catena_core::comm::partition_tag;
use catena_core::request::{Done, RequestObject, State};
use catena_link::{Awaited, Mode, Plane, ReqId, Sent};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::channel::{Channel, Shape, Way};
use super::end::End;
use super::outgoing::{Lane, Outgoing, To};
use super::pairing::Pair;
use super::threads::{SENDS, callers};
use super::words::{Answer, Offer};
use crate::heap;

/// Longest message that goes through the channel although the receiver's buffer is mapped: two copies of it take
/// less than to learn that the receiver has started.
const SHORT: u64 = 4 << 10;

/// How a partition stands that is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// It is not ready, or nobody knows yet where it goes.
    Here,
    /// It is under way.
    Leaving(ReqId),
    /// It has left.
    Left,
}

/// `MPI_Psend_init`.
#[derive(Debug)]
pub struct PartSend {
    end: End,
    pair: Option<Pair>,
    /// What `MPI_Pready` touches. In a box: threads find it without the lock.
    outgoing: Box<Outgoing>,
    /// The channel that was offered to the receiver, until that has answered.
    offered: RefCell<Option<Channel>>,
    handle: Cell<abi::Request>,
    /// The first of the receiver's tags, once it is known that partitions are messages.
    tags: Cell<Option<u32>>,
    /// Of those.
    parts: RefCell<Box<[Part]>>,
    /// Partitions that have not begun to leave.
    missing: Cell<u32>,
    /// The object itself, for progress.
    own: RefCell<Weak<PartSend>>,
    /// Whether progress carries it on.
    is_carried: Cell<bool>,
}

impl PartSend {
    /// Makes one and tells the other end.
    pub fn init(process: &Process, end: End) -> abi::Request {
        let pair = end
            .peer
            .map(|peer| Pair::next(&end.comm, peer, end.tag, true));
        let shape = Shape::new(end.partitions, end.bytes());
        let shares = pair.is_some() && end.bells(process).is_some();
        // Without memory for a channel partitions are messages.
        let channel = shares.then(|| Channel::make(shape).ok()).flatten();
        let (channel, card) = channel.unzip();
        if let Some(pair) = &pair {
            let offer = Offer {
                partitions: end.partitions,
                bytes: end.bytes(),
                channel: card,
            };
            pair.tell(process, &end.comm, &offer.words());
        }
        let outgoing = Box::new(Outgoing::new(end.buf, end.count, &end.ty, shape));
        let parts = vec![Part::Here; end.partitions as usize];
        let send = Arc::new(PartSend {
            end,
            pair,
            outgoing,
            offered: RefCell::new(channel),
            handle: Cell::new(abi::consts::REQUEST_NULL),
            tags: Cell::new(None),
            parts: RefCell::new(parts.into()),
            missing: Cell::new(0),
            own: RefCell::default(),
            is_carried: Cell::new(false),
        });
        *send.own.borrow_mut() = Arc::downgrade(&send);
        let request = process.add_request(send.clone());
        send.handle.set(request);
        // SAFETY: the box stays until `free` removes it, or for ever.
        unsafe { SENDS.insert(request, &raw const *send.outgoing) };
        request
    }

    /// `MPI_Pready`, under the lock.
    pub(super) fn ready(&self, process: &Process, partition: i32) -> Result<()> {
        let at = self.end.check(partition)?;
        if let Some(done) = self.outgoing.ready(partition, callers()) {
            return done;
        }
        if !self.outgoing.is_active() {
            fail!(
                Request,
                "the partitioned request is not active: call MPI_Start first"
            );
        }
        self.outgoing.note_ready(partition as u32, callers())?;
        if self.pair.is_some() {
            self.learn(process);
            if let Some(tags) = self.tags.get() {
                self.leave(process, at, tags);
            }
            // Else progress carries it on.
        }
        Ok(())
    }

    /// Has progress send what is ready as soon as the receiver has room.
    fn carry(&self, process: &Process) {
        if let Some(own) = self.own.borrow().upgrade()
            && !self.is_carried.replace(true)
        {
            process.carry_on(own);
        }
    }

    /// Whether it is known where the partitions go.
    fn is_settled(&self) -> bool {
        self.outgoing.lane().is_some() || self.tags.get().is_some()
    }

    /// Learns where the partitions go, if the receiver has told.
    fn learn(&self, process: &Process) {
        let Some(pair) = self.pair.as_ref().filter(|_| !self.is_settled()) else {
            return;
        };
        let Some(told) = pair.told(process, &self.end.comm) else {
            return;
        };
        let Some(answer) = Answer::from_words(&told) else {
            let text = "the receiver has answered what no version of this library does";
            self.outgoing.fail(Error::new(Kind::Intern, text));
            return;
        };
        let Some(channel) = self.offered.take() else {
            self.tags.set(Some(answer.tags));
            return;
        };
        if !answer.has_channel {
            channel.retract();
            self.tags.set(Some(answer.tags));
            return;
        }
        let to = self.choose(process, &channel, &answer);
        match (to, self.end.bells(process)) {
            (Some(to), Some((bell, own_bell))) => self.outgoing.settle(Lane {
                channel,
                to,
                bell,
                own_bell,
            }),
            _ => {
                channel.choose(Way::Messages);
                self.tags.set(Some(answer.tags));
            }
        }
    }

    /// Where the partitions go, if not as messages.
    fn choose(&self, process: &Process, channel: &Channel, answer: &Answer) -> Option<To> {
        let shape = channel.shape();
        let total = shape.total();
        if total <= SHORT {
            return Some(To::Channel);
        }
        let map = |card| -> std::io::Result<To> {
            let mapping = heap::map_peer(card)?;
            let at = mapping.at(card, total as usize)?;
            Ok(To::Mapped { at, _keep: mapping })
        };
        if let Some(Ok(to)) = answer.card.map(map) {
            return Some(to);
        }
        if shape.has_room {
            return Some(To::Channel);
        }
        let (at, peer) = (answer.buffer?, self.end.process()?);
        let of = process.link(|link| link.net().shm_mut()?.neighbour(peer))?;
        Some(To::Kernel { of, at })
    }

    /// Sends a partition.
    fn leave(&self, process: &Process, at: usize, tags: u32) {
        let end = &self.end;
        let Some(peer) = end.peer else {
            return;
        };
        let before = end.ty.extent() as isize * end.count as isize * at as isize;
        let buf = end.buf.wrapping_offset(before);
        let message = SendBuf::new(buf, end.count, &end.ty);
        let tag = partition_tag(tags + at as u32);
        let sent = process.link(|link| {
            let (cid, plane) = (end.comm.cid, Plane::Collective);
            link.send(cid, plane, peer, tag, Mode::Standard, message)
        });
        self.parts.borrow_mut()[at] = match sent {
            Sent::Done => Part::Left,
            Sent::Pending(id) => Part::Leaving(id),
        };
        self.missing.set(self.missing.get() - 1);
    }

    /// Sends what is ready and still here.
    fn leave_ready(&self, process: &Process, tags: u32) {
        for at in 0..self.end.partitions {
            let is_here = self.parts.borrow()[at as usize] == Part::Here;
            if is_here && self.outgoing.is_ready(at) {
                self.leave(process, at as usize, tags);
            }
        }
    }

    /// Whether every partition has left.
    fn is_over(&self, process: &Process) -> bool {
        if self.pair.is_none() || self.outgoing.has_failed() {
            return true;
        }
        if self.tags.get().is_some() {
            let is_done = |part: &Part| match part {
                Part::Leaving(id) => process.link(|link| link.is_done(*id)),
                part => *part == Part::Left,
            };
            return self.missing.get() == 0 && self.parts.borrow().iter().all(is_done);
        }
        if self.outgoing.lane().is_some() && self.outgoing.has_left() {
            return true;
        }
        // A receiver that has died will neither tell nor take anything.
        if let Some(error) = self.end.trouble(process) {
            self.outgoing.fail(error);
        }
        self.outgoing.has_failed()
    }
}

impl RequestObject for PartSend {
    fn state(&self, process: &Process) -> Result<State> {
        Ok(match self.outgoing.is_active() {
            false => State::Inactive,
            true if self.is_over(process) => State::Complete,
            true => State::Pending,
        })
    }

    fn complete(&self, process: &Process) -> Done {
        let mut done = Done::EMPTY;
        done.error = self.outgoing.finish();
        if self.tags.get().is_some() {
            for part in &mut *self.parts.borrow_mut() {
                if let Part::Leaving(id) = *part {
                    let error = Done::from(process.link(|link| link.take(id))).error;
                    done.error = done.error.or(error);
                }
                *part = Part::Here;
            }
        }
        done
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn start(&self, process: &Process) -> Result<()> {
        if !self.outgoing.start() {
            return Err(Error::new(
                Kind::Request,
                "the partitioned request is active already: complete it first",
            ));
        }
        self.missing.set(self.end.partitions);
        match self.outgoing.lane() {
            Some(lane) if self.outgoing.is_open(lane) => {}
            None if self.tags.get().is_some() || self.pair.is_none() => {}
            _ => self.carry(process),
        }
        Ok(())
    }

    fn free(&self, process: &Process) -> Result<()> {
        SENDS.remove(self.handle.get());
        for part in &mut *self.parts.borrow_mut() {
            if let Part::Leaving(id) = *part {
                process.link(|link| link.detach(id));
                *part = Part::Left;
            }
        }
        Ok(())
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.end.comm.handle.get().into())
    }

    fn awaits(&self, _process: &Process, awaited: &mut Awaited) {
        if self.tags.get().is_none() {
            self.end.awaits(awaited);
        }
    }

    fn advance(&self, process: &Process) -> bool {
        self.learn(process);
        let over = if let Some(lane) = self.outgoing.lane() {
            self.outgoing.leave_ready(lane, callers()) || self.is_over(process)
        } else if let Some(tags) = self.tags.get() {
            self.leave_ready(process, tags);
            true
        } else {
            self.is_over(process)
        };
        self.is_carried.set(!over);
        over
    }
}
