//! The sending end.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use catena_abi as abi;
use catena_core::Process;
use catena_core::buffer::SendBuf;
use catena_core::comm::free_tag;
use catena_core::request::{self, Done, RequestObject, State};
use catena_hang::{WaitsFor, What};
use catena_link::{Awaited, Mode, Plane, ReqId, Sent};
use catena_objects::error::{Error, Kind, Result};
use catena_objects::error_place::ErrorPlace;
use catena_objects::fail;

use super::channel::{Channel, DataPath, Shape};
use super::end::End;
use super::outgoing::{Lane, Outgoing, To, ready_already};
use super::pairing::Pair;
use super::threads::{SENDS, callers};
use super::words::{Answer, Offer};
use crate::heap;

/// Longest message that goes through the channel although the receiver's buffer is mapped: two
/// copies of it take less than to learn that the receiver has started.
const SHORT: u64 = 4 << 10;

/// What the receiver says of partitions that are messages.
#[derive(Clone, Copy, Debug)]
enum Messages {
    /// The first of their tags.
    Tags(u32),
    /// It has no tags for them.
    Refused,
}

/// `MPI_Psend_init`.
#[derive(Debug)]
pub struct PartSend {
    end: End,
    pair: Option<Pair>,
    /// What `MPI_Pready` touches. In a box: threads find it without the lock.
    outgoing: Box<Outgoing>,
    /// Whether the receiver was told what there is.
    is_told: Cell<bool>,
    /// The channel that was offered to the receiver, until that has answered.
    offered: RefCell<Option<Channel>>,
    handle: Cell<abi::Request>,
    /// How partitions go that are messages, once it is known that they are.
    messages: Cell<Option<Messages>>,
    /// Those of the round that are under way.
    leaving: RefCell<Vec<ReqId>>,
    /// Why one of those that have left did not come there.
    error: RefCell<Option<Error>>,
    /// The object itself, for progress.
    own: RefCell<Weak<PartSend>>,
    /// Whether progress carries it on.
    is_carried: Cell<bool>,
}

impl PartSend {
    /// Makes one. The other end hears of it when it is first started.
    pub fn init(process: &Process, end: End) -> abi::Request {
        let pair = end
            .peer
            .map(|peer| Pair::next(&end.comm, peer, end.tag, true));
        let shape = Shape::new(end.partitions, end.bytes());
        let outgoing = Box::new(Outgoing::new(end.buf, end.count, &end.ty, shape));
        let send = Arc::new(PartSend {
            end,
            pair,
            outgoing,
            is_told: Cell::new(false),
            offered: RefCell::default(),
            handle: Cell::new(abi::consts::REQUEST_NULL),
            messages: Cell::new(None),
            leaving: RefCell::default(),
            error: RefCell::default(),
            own: RefCell::default(),
            is_carried: Cell::new(false),
        });
        *send.own.borrow_mut() = Arc::downgrade(&send);
        let request = request::add(process, send.clone());
        send.handle.set(request);
        // SAFETY: the box stays until `free` removes it, or for ever.
        unsafe { SENDS.insert(request, &raw const *send.outgoing) };
        request
    }

    /// Tells the receiver, once, what there is.
    fn offer(&self, process: &Process) {
        let Some(pair) = self.pair.as_ref().filter(|_| !self.is_told.replace(true)) else {
            return;
        };
        let end = &self.end;
        let shape = Shape::new(end.partitions, end.bytes());
        // Without memory for a channel partitions are messages.
        let shares = end.bells(process).is_some();
        let channel = shares.then(|| Channel::make(shape).ok()).flatten();
        let (channel, card) = channel.unzip();
        let offer = Offer {
            partitions: end.partitions,
            bytes: end.bytes(),
            channel: card,
        };
        *self.offered.borrow_mut() = channel;
        pair.tell(process, &end.comm, &offer.words());
    }

    /// An error of a call on the request.
    #[cold]
    pub(super) fn placed(&self, error: Error) -> Error {
        self.end.placed(error)
    }

    /// Checks that a partition can be said to be ready.
    pub(super) fn check(&self, partition: i32) -> Result<()> {
        let at = self.end.check(partition)?;
        if !self.outgoing.is_active() {
            fail!(
                Request,
                "the partitioned request is not active: call MPI_Start first"
            );
        }
        match self.outgoing.is_ready(at) {
            true => Err(ready_already(at as u32)),
            false => Ok(()),
        }
    }

    /// `MPI_Pready`, under the lock.
    pub(super) fn ready(&self, process: &Process, partition: i32) -> Result<()> {
        if let Some(done) = self.outgoing.ready(partition, callers()) {
            return done;
        }
        self.check(partition)?;
        self.outgoing.note_ready(partition as u32, callers())?;
        if self.pair.is_none() {
            // It goes nowhere, and that at once.
            self.outgoing.take_message(partition as usize, callers());
            return Ok(());
        }
        self.learn(process);
        if let Some(Messages::Tags(tags)) = self.messages.get() {
            self.leave(process, partition as usize, tags);
        }
        // Else progress carries it on.
        Ok(())
    }

    /// Has progress send what is ready as soon as the receiver has room.
    fn carry(&self, process: &Process) {
        if let Some(own) = self.own.borrow().upgrade()
            && !self.is_carried.replace(true)
        {
            request::carry_on(process, own);
        }
    }

    /// Whether it is known where the partitions go.
    fn is_settled(&self) -> bool {
        self.outgoing.lane().is_some() || self.messages.get().is_some()
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
        let messages = match answer.tags {
            Some(tags) => Messages::Tags(tags),
            None => Messages::Refused,
        };
        let Some(channel) = self.offered.take() else {
            self.messages.set(Some(messages));
            return;
        };
        if !answer.has_channel {
            channel.retract();
            self.messages.set(Some(messages));
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
                channel.choose(DataPath::Messages);
                self.messages.set(Some(messages));
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

    /// Sends a partition that is ready and has not left in this round.
    fn leave(&self, process: &Process, at: usize, tags: u32) {
        let end = &self.end;
        let Some(peer) = end.peer else {
            return;
        };
        if !self.outgoing.take_message(at, callers()) {
            return;
        }
        let before = end.ty.extent() as isize * end.count as isize * at as isize;
        let buf = end.buf.wrapping_offset(before);
        let message = SendBuf::new(buf, end.count, &end.ty);
        let tag = free_tag(tags + at as u32);
        let sent = process.link(|link| {
            let (cid, plane) = (end.comm.cid, Plane::Collective);
            link.send(cid, plane, peer, tag, Mode::Standard, message)
        });
        if let Sent::Pending(id) = sent {
            self.leaving.borrow_mut().push(id);
        }
    }

    /// Whether all messages that have left are complete; takes their results. Cost: those that are,
    /// and one.
    fn have_gone(&self, process: &Process) -> bool {
        let Ok(mut leaving) = self.leaving.try_borrow_mut() else {
            return false;
        };
        while let Some(&id) = leaving.last() {
            if !process.link(|link| link.is_done(id)) {
                return false;
            }
            leaving.pop();
            let done = Done::from(process.link(|link| link.take(id)));
            let mut error = self.error.borrow_mut();
            *error = error.take().or(done.error);
        }
        true
    }

    /// Has leave what can; whether each partition leaves from now on when it is said to be ready,
    /// or the round is over. While that is not so, progress asks now and then, and whoever waits
    /// for the request each time.
    fn goes_on(&self, process: &Process) -> bool {
        if !self.is_carried.get() {
            return true;
        }
        self.learn(process);
        match (self.outgoing.lane(), self.messages.get()) {
            (Some(lane), _) => self.outgoing.leave_ready(lane, callers()) || self.is_over(process),
            (None, Some(Messages::Tags(tags))) => {
                for at in 0..self.end.partitions {
                    self.leave(process, at as usize, tags);
                }
                true
            }
            (None, _) => self.is_over(process),
        }
    }

    /// Whether every partition has left.
    fn is_over(&self, process: &Process) -> bool {
        if self.pair.is_none() || self.outgoing.has_failed() {
            return self.outgoing.has_left();
        }
        match self.messages.get() {
            Some(Messages::Tags(_)) => {
                return self.outgoing.has_left() && self.have_gone(process);
            }
            Some(Messages::Refused) => {
                let text = "the receiver has no tags for the partitions, and says why";
                self.outgoing.fail(Error::new(Kind::NoMem, text));
            }
            None => {}
        }
        // A receiver that has died will neither tell nor take anything.
        if let Some(error) = self.end.trouble(process) {
            self.outgoing.fail(error);
        }
        self.outgoing.has_left() && self.outgoing.lane().is_some() || self.outgoing.has_failed()
    }
}

impl RequestObject<Process> for PartSend {
    fn state(&self, process: &Process) -> Result<State> {
        Ok(match self.outgoing.is_active() {
            false => State::Inactive,
            true if self.goes_on(process) && self.is_over(process) => State::Complete,
            true => State::Pending,
        })
    }

    fn complete(&self, _: &Process) -> Done {
        let mut done = Done::EMPTY;
        done.error = self.outgoing.finish().or(self.error.take());
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
        self.offer(process);
        match self.outgoing.lane() {
            Some(lane) if self.outgoing.is_open(lane) => {}
            None if self.messages.get().is_some() || self.pair.is_none() => {}
            _ => self.carry(process),
        }
        Ok(())
    }

    fn check_free(&self) -> Result<()> {
        self.end.check_free(self.outgoing.is_active())
    }

    fn free(&self, _: &Process) -> Result<()> {
        SENDS.remove(self.handle.get());
        Ok(())
    }

    fn place(&self) -> Option<ErrorPlace> {
        Some(self.end.comm.handle.get().into())
    }

    fn awaits(&self, _process: &Process, awaited: &mut Awaited) {
        if self.messages.get().is_none() {
            self.end.awaits(awaited);
        }
    }

    fn describe(&self, process: &Process, waits: &mut WaitsFor) {
        let end = &self.end;
        let own = || Some(end.comm.group.member(end.comm.group.rank()? as usize));
        let missing = (0..end.partitions as usize).filter(|&it| !self.outgoing.is_ready(it));
        let need = match missing.count() {
            0 => (What::Receive, end.process(), end.total()),
            // The program itself, which waits.
            missing => (What::Part, own(), missing as u64),
        };
        end.describe(process, waits, need);
    }

    fn waits_for_control(&self) -> bool {
        !self.is_settled()
    }

    fn advance(&self, process: &Process) -> bool {
        let over = !self.outgoing.is_active() || self.goes_on(process);
        self.is_carried.set(!over);
        over
    }
}
