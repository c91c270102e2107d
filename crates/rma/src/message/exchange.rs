//! The streams of this process, and what it waits for. All of it is touched under the library's
//! lock.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use catena_base::PeerBytes;
use catena_core::buffer::RecvBuf;
use catena_core::kind_of_death;
use catena_fabric::{Peer, PeerLost, RmaError};
use catena_link::{Class, Sink};
use catena_objects::error::Error;

use super::job::{ANSWERS, Operation, Outgoing};
use super::record::{self, Head, Trouble, What};
use super::state::Answer;
use super::stream::Incoming;
use super::token::Token;
use crate::registry;

/// The class of windows among active messages.
pub(crate) const WINDOWS: Class = Class(1);

/// An operation that has no answer yet.
#[derive(Debug)]
pub(crate) struct Pending {
    pub peer: Peer,
    /// The number that this process has for the window.
    pub window: u32,
    pub rank: u32,
    /// Where the bytes of the answer go.
    pub sink: RecvBuf,
    /// How many are still to come.
    pub left: u64,
    pub token: Option<Arc<Token>>,
    /// Who waits for just this answer. It is no operation then, and nobody else waits for it.
    pub answer: Option<Arc<Answer>>,
    /// Whether a network answers, which tells the end also if the peer is lost.
    pub is_remote: bool,
    /// The counter of the target that counts up once it has ended well.
    pub notice: Option<u32>,
}

impl Pending {
    /// One whose answer has no bytes.
    pub fn new(peer: Peer, window: u32, rank: u32) -> Pending {
        Pending {
            peer,
            window,
            rank,
            sink: RecvBuf::EMPTY,
            left: 0,
            token: None,
            answer: None,
            is_remote: false,
            notice: None,
        }
    }
}

/// A peer.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    incoming: Incoming,
    pub out: Outgoing,
    /// Whether it is among those that have something to send.
    is_listed: bool,
    /// What went wrong in its operations, by window, and was not told yet.
    troubles: Vec<(u32, Trouble)>,
}

/// The peers.
#[derive(Debug)]
struct Lanes {
    all: HashMap<Peer, Lane>,
    /// Most bytes of answers of each at a time.
    most: u64,
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes {
            all: HashMap::new(),
            most: ANSWERS,
        }
    }
}

impl Lanes {
    fn of(&mut self, peer: Peer) -> &mut Lane {
        self.all.entry(peer).or_insert_with(|| Lane {
            out: Outgoing::asking_for(self.most),
            ..Lane::default()
        })
    }
}

/// The streams, and what waits for answers.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    lanes: Lanes,
    pending: Vec<Option<Pending>>,
    free: Vec<u32>,
    /// Peers to which something is to leave.
    pub listed: Vec<Peer>,
    /// Whether some answer was left where it lies.
    leaves_answers: bool,
}

/// A packet of a stream: its sender, place and bytes.
type Packet = (Peer, u64, Vec<u8>);

/// The end of an operation that a network has carried out: its id, and how it ended.
type End = (u32, Result<u64, RmaError>);

#[derive(Debug, Default)]
struct Shared {
    exchange: RefCell<Exchange>,
    /// What has come and was not looked at.
    packets: RefCell<Vec<Packet>>,
    /// Why nothing comes from a peer any more.
    losses: RefCell<HashMap<Peer, String>>,
    /// Peers that are gone; dealt with when the exchange is free.
    lost: RefCell<Vec<PeerLost>>,
    /// What networks have said of the ends of operations; likewise.
    ended: RefCell<Vec<End>>,
}

// SAFETY: whoever comes here holds the library's lock, or is the one thread that calls MPI.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

static SHARED: LazyLock<Shared> = LazyLock::new(Shared::default);

/// Lends the exchange to `use_it`, which neither progresses nor waits.
pub(crate) fn with<R>(use_it: impl FnOnce(&mut Exchange) -> R) -> R {
    use_it(&mut SHARED.exchange.borrow_mut())
}

/// As [`with`], unless it is lent already: to whoever asks this wait what it is for.
pub(crate) fn if_free(use_it: impl FnOnce(&mut Exchange)) -> bool {
    let lent = SHARED.exchange.try_borrow_mut();
    lent.map(|mut exchange| use_it(&mut exchange)).is_ok()
}

/// Peers that were lost since the last call.
pub(crate) fn take_lost() -> Vec<PeerLost> {
    SHARED.lost.take()
}

/// Keeps a packet until there is time for it.
pub(crate) fn note_packet(packet: Packet) {
    SHARED.packets.borrow_mut().push(packet);
}

/// Calls `take` with the exchange if a packet can be dealt with before it is kept: the exchange is
/// free, and no packet waits.
pub(crate) fn before_others<R>(take: impl FnOnce(&mut Exchange) -> R) -> Option<R> {
    if !SHARED.packets.borrow().is_empty() {
        return None;
    }
    Some(take(&mut *SHARED.exchange.try_borrow_mut().ok()?))
}

/// What has come since the last call.
pub(crate) fn take_packets() -> Vec<Packet> {
    SHARED.packets.take()
}

/// Keeps the end of an operation until there is time for it.
pub(crate) fn note_end(end: End) {
    SHARED.ended.borrow_mut().push(end);
}

/// What has ended since the last call.
pub(crate) fn take_ends() -> Vec<End> {
    SHARED.ended.take()
}

/// Whether nothing can come from some peers any more.
pub(crate) fn knows_losses() -> bool {
    !SHARED.losses.borrow().is_empty()
}

/// The error of whatever waits for a peer from which nothing can come any more.
pub(crate) fn loss(peer: Peer) -> Option<Error> {
    let losses = SHARED.losses.borrow();
    let cause = losses.get(&peer)?;
    let text = format!("process {} is gone: {cause}", peer.0);
    Some(Error::new(kind_of_death(), text))
}

/// A peer is gone, which is dealt with when the exchange is free.
pub(crate) fn note_lost(lost: &PeerLost) {
    SHARED.lost.borrow_mut().push(lost.clone());
}

/// Some peers are other processes from now on, and no window has any of them as a member.
pub(crate) fn forget(peers: &Range<u32>) {
    let is_gone = |peer: Peer| peers.contains(&peer.0);
    SHARED.losses.borrow_mut().retain(|peer, _| !is_gone(*peer));
    SHARED.lost.borrow_mut().retain(|it| !is_gone(it.peer));
    SHARED.packets.borrow_mut().retain(|it| !is_gone(it.0));
    with(|exchange| {
        for end in take_ends() {
            exchange.end(end);
        }
        exchange.forget(peers);
    });
}

/// Carries out a record that is no answer.
pub(crate) type Serve<'a> = dyn Fn(&mut Exchange, Peer, Head, &[u8]) + 'a;

impl Exchange {
    /// One that asks each peer for at most `most` bytes at a time.
    #[cfg(test)]
    pub fn asking_for(most: u64) -> Exchange {
        Exchange {
            lanes: Lanes {
                most,
                ..Lanes::default()
            },
            ..Exchange::default()
        }
    }

    /// What belongs to a peer.
    pub fn lane(&mut self, peer: Peer) -> &mut Lane {
        self.lanes.of(peer)
    }

    /// What belongs to a peer that has something to send.
    fn sending(&mut self, peer: Peer) -> &mut Lane {
        let lane = self.lanes.of(peer);
        if !lane.is_listed {
            lane.is_listed = true;
            self.listed.push(peer);
        }
        lane
    }

    /// Bytes that have not left to a peer.
    pub fn ready(&self, peer: Peer) -> usize {
        self.lanes.all.get(&peer).map_or(0, |lane| lane.out.ready())
    }

    /// Whether all has left.
    pub fn is_quiet(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether all has left to some peers.
    pub fn is_quiet_to(&self, some: impl Fn(Peer) -> bool) -> bool {
        !self.listed.iter().any(|&peer| some(peer))
    }

    /// Adds a record without a body that is no answer.
    pub fn tell(&mut self, peer: Peer, head: Head) {
        self.request(peer, head, |_| {});
    }

    /// Adds a record that is no answer, whose body `body` appends.
    pub fn request(&mut self, peer: Peer, head: Head, body: impl FnOnce(&mut Vec<u8>)) {
        self.sending(peer).out.add(|out| {
            record::write(out, head, |_, out| body(out));
            0
        });
    }

    /// Has a counter of a peer's count up when it has carried out what was told so far.
    pub fn notify(&mut self, peer: Peer, window: u32, index: u32) {
        let head = Head {
            id: index,
            ..Head::new(What::Notify, window)
        };
        self.tell(peer, head);
    }

    /// Adds an operation; true if its buffer is not needed any more.
    pub fn start(&mut self, peer: Peer, mut operation: Operation, is_long: bool) -> bool {
        let lane = self.sending(peer);
        if is_long {
            lane.out.add_long(operation);
            return false;
        }
        lane.out.add(|out| operation.write_next(out));
        debug_assert!(operation.is_over());
        true
    }

    /// The peer is to be pumped no more for now.
    pub fn unlist(&mut self, peer: Peer) {
        self.listed.retain(|it| *it != peer);
        if let Some(lane) = self.lanes.all.get_mut(&peer) {
            lane.is_listed = false;
        }
    }

    /// Has an operation wait for an answer; its id.
    pub fn expect(&mut self, pending: Pending) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.pending[id as usize] = Some(pending);
                id
            }
            None => {
                self.pending.push(Some(pending));
                self.pending.len() as u32 - 1
            }
        }
    }

    /// Whom it waits for.
    pub fn awaited(&self) -> impl Iterator<Item = Peer> + '_ {
        self.pending.iter().flatten().map(|it| it.peer)
    }

    /// Takes a packet of a stream; `serve` carries out the records that are no answers.
    pub fn take(&mut self, from: Peer, at: u64, bytes: &[u8], serve: &Serve<'_>) {
        let mut incoming = std::mem::take(&mut self.lane(from).incoming);
        let taken = incoming.take(at, bytes, &mut |head, body| match head.what() {
            Some(What::Bytes) => self.answer(from, head, body),
            Some(What::Done) => self.done(from, head),
            _ => serve(self, from, head, body),
        });
        self.lane(from).incoming = incoming;
        if taken.is_err() {
            self.lose(from, "it sent what is no part of a stream of operations");
        }
    }

    /// Takes a packet that is whole records, none of which came in part, away from a stream if it
    /// is the next one there.
    pub fn pass(&mut self, from: Peer, at: u64, len: usize) -> bool {
        self.lane(from).incoming.pass(at, len)
    }

    fn pending_of(&mut self, from: Peer, id: u32) -> Option<&mut Pending> {
        let pending = self.pending.get_mut(id as usize)?.as_mut()?;
        (pending.peer == from).then_some(pending)
    }

    /// Bytes for an operation have come.
    fn answer(&mut self, from: Peer, head: Head, mut body: &[u8]) {
        let (Some(at), Some(len)) = (record::number(&mut body), record::number(&mut body)) else {
            return;
        };
        self.answered(from, head, (at, len), PeerBytes::from(body));
    }

    /// The `len` bytes at `at` of what an operation brings have come, or why not.
    pub fn answered(
        &mut self,
        from: Peer,
        head: Head,
        (at, len): (u64, u64),
        bytes: PeerBytes<'_>,
    ) {
        let Some(pending) = self.pending_of(from, head.id) else {
            return;
        };
        if head.a == 0 {
            pending.sink.place(at, bytes);
        }
        pending.left = pending.left.saturating_sub(len);
        let is_whole = pending.left == 0;
        self.lane(from).out.answered(len);
        let trouble = Trouble::read(head.a);
        if is_whole {
            self.settle(head.id, trouble);
        } else if trouble != Trouble::None {
            self.blame(head.id, trouble);
        }
    }

    /// An operation without bytes is done.
    fn done(&mut self, from: Peer, head: Head) {
        if self.pending_of(from, head.id).is_some() {
            self.settle(head.id, Trouble::read(head.a));
        }
    }

    /// Has the window of an operation know that something went wrong.
    fn blame(&mut self, id: u32, trouble: Trouble) {
        if let Some(pending) = &self.pending[id as usize]
            // Whoever waits for it says so itself.
            && !(trouble == Trouble::Holder && pending.answer.is_some())
            && let Some(window) = registry::numbered(pending.window)
        {
            window.troubles.borrow_mut().push((pending.rank, trouble));
        }
    }

    /// A network has carried out an operation, or says why not.
    pub fn end(&mut self, (id, result): End) {
        let pending = self.pending.get(id as usize).and_then(Option::as_ref);
        let Some(Pending {
            is_remote: true,
            window,
            rank,
            ..
        }) = pending
        else {
            return;
        };
        match &result {
            // The loss itself is told as well.
            Ok(_) | Err(RmaError::Lost(_)) => {}
            Err(error) => {
                if let Some(window) = registry::numbered(*window) {
                    window.note_failure(*rank, error);
                }
            }
        }
        self.settle_remote(id, result.is_ok());
    }

    /// An operation that a network carries out has ended, well or not.
    pub fn settle_remote(&mut self, id: u32, well: bool) {
        let pending = self.pending[id as usize].as_ref();
        let due = pending.and_then(|it| Some((it.notice?, it.peer, it.window, it.rank)));
        if let Some((index, peer, window, rank)) = due.filter(|_| well)
            && let Some(window) = registry::numbered(window)
        {
            window.far(rank).dirty.set(true);
            self.notify(peer, window.number_at(rank), index);
        }
        self.settle(id, Trouble::None);
    }

    /// An operation has ended.
    pub fn settle(&mut self, id: u32, trouble: Trouble) {
        if trouble != Trouble::None {
            self.blame(id, trouble);
        }
        let Some(pending) = self.pending[id as usize].take() else {
            return;
        };
        self.free.push(id);
        if pending.is_remote
            && let Some(window) = registry::numbered(pending.window)
        {
            let far = window.far(pending.rank);
            far.remote.set(far.remote.get().saturating_sub(1));
        }
        if let Some(answer) = pending.answer {
            answer.come(trouble);
        } else if let Some(window) = registry::numbered(pending.window) {
            let far = window.far(pending.rank);
            far.outstanding.set(far.outstanding.get().saturating_sub(1));
        }
        if let Some(token) = pending.token {
            token.part_done();
        }
    }

    /// Notes what went wrong in an operation of a peer, which is told with the next answer.
    pub fn note(&mut self, peer: Peer, window: u32, trouble: Trouble) {
        self.lane(peer).troubles.push((window, trouble));
    }

    /// What was noted for a peer and window.
    pub fn take_note(&mut self, peer: Peer, window: u32) -> Trouble {
        let troubles = &mut self.lane(peer).troubles;
        let first = troubles.iter().find(|(of, _)| *of == window);
        let first = first.map_or(Trouble::None, |(_, trouble)| *trouble);
        troubles.retain(|(of, _)| *of != window);
        first
    }

    /// A peer is gone: whatever waits for it ends, also what was begun since that was known.
    pub fn lose(&mut self, peer: Peer, cause: &str) {
        let mut losses = SHARED.losses.borrow_mut();
        losses.entry(peer).or_insert_with(|| cause.to_owned());
        drop(losses);
        self.give_up(peer);
        self.settle_all(|it| it.peer == peer && !it.is_remote);
    }

    /// Nothing leaves to a peer any more.
    fn give_up(&mut self, peer: Peer) {
        let given_up = self.lane(peer).out.give_up();
        self.unlist(peer);
        given_up.iter().for_each(ended);
    }

    /// Ends those of the operations that have not.
    fn settle_all(&mut self, of: impl Fn(&Pending) -> bool) {
        for id in 0..self.pending.len() {
            if self.pending[id].as_ref().is_some_and(&of) {
                self.settle(id as u32, Trouble::None);
            }
        }
    }

    /// Forgets the streams to and from some peers: the next bytes of each are the first ones.
    pub fn forget(&mut self, peers: &Range<u32>) {
        let is_gone = |peer: Peer| peers.contains(&peer.0);
        let known = self.lanes.all.keys().copied();
        let gone: Vec<Peer> = known.filter(|peer| is_gone(*peer)).collect();
        for peer in gone {
            self.give_up(peer);
            self.lanes.all.remove(&peer);
        }
        self.settle_all(|it| is_gone(it.peer));
    }
}

/// The buffer of a long operation is not needed any more.
pub(crate) fn ended(operation: &Operation) {
    if let Some(window) = registry::numbered(operation.window) {
        let far = window.far(operation.rank);
        far.lent.set(far.lent.get().saturating_sub(1));
    }
    if let Some(token) = &operation.token {
        token.part_done();
    }
}

impl Exchange {
    /// Adds an answer, whose body `body` appends. It waits for no record that is none.
    pub fn reply(&mut self, to: Peer, head: Head, body: impl FnOnce(&mut Head, &mut Vec<u8>)) {
        let out = &mut self.sending(to).out;
        out.add_answer(|out| record::write(out, head, body));
    }

    /// Adds an answer, the front of whose body `body` appends, and whose other bytes are those at
    /// `from`.
    ///
    /// # Safety
    /// As for [`Outgoing::add_answer_from`].
    pub unsafe fn reply_from(
        &mut self,
        to: Peer,
        head: Head,
        body: impl FnOnce(&mut Vec<u8>),
        from: (*const u8, usize),
    ) {
        self.leaves_answers = true;
        let front = |out: &mut Vec<u8>| record::write_front(out, head, from.1, |_, out| body(out));
        let out = &mut self.sending(to).out;
        // SAFETY: the caller's promise.
        unsafe { out.add_answer_from(front, from) };
    }

    /// Reads what answers to a peer are to bring, before one of its operations changes it: what a
    /// process does at one place happens in the order in which it asks for it.
    pub fn read_answers(&mut self, to: Peer) {
        if self.leaves_answers
            && let Some(lane) = self.lanes.all.get_mut(&to)
        {
            lane.out.read_answers();
        }
    }

    /// Answers a record without bytes.
    pub fn confirm(&mut self, to: Peer, head: Head, trouble: Trouble) {
        let done = Head {
            id: head.id,
            a: trouble as u8,
            ..Head::new(What::Done, head.window)
        };
        self.reply(to, done, |_, _| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `MPI_Win_complete` does not wait for the flush that a long put has asked for early. Windows
    /// are numbered in a circle of 2^27, so none has that number again while the answer is on its
    /// way (see `numbers`).
    #[test]
    fn an_answer_that_comes_after_its_window_is_gone_ends_what_it_answers_alone() {
        let mut exchange = Exchange::default();
        let (target, window) = (Peer(3), 77);
        assert!(registry::numbered(window).is_none());
        let flush = Arc::new(Answer::default());
        let asked = |answer: &Arc<Answer>| Pending {
            answer: Some(answer.clone()),
            ..Pending::new(target, window, 0)
        };
        let id = exchange.expect(asked(&flush));
        let head = Head {
            a: Trouble::Range as u8,
            id,
            ..Head::new(What::Done, window)
        };
        exchange.done(target, head);
        assert!(flush.has_come() && exchange.awaited().next().is_none());
        // What waits under that number next is another peer's, or has not been answered.
        let next = Arc::new(Answer::default());
        assert_eq!(exchange.expect(asked(&next)), id);
        exchange.done(Peer(4), head);
        assert!(!next.has_come());
    }

    #[test]
    fn the_streams_of_a_peer_that_is_forgotten_begin_anew() {
        let mut exchange = Exchange::default();
        let (gone, stays) = (Peer(3), Peer(5));
        let answers = [gone, stays].map(|peer| {
            let answer = Arc::new(Answer::default());
            let id = exchange.expect(Pending {
                answer: Some(answer.clone()),
                ..Pending::new(peer, 0, 0)
            });
            let head = Head {
                id,
                ..Head::new(What::Flush, 0)
            };
            exchange.tell(peer, head);
            assert!(exchange.pass(peer, 0, 100) && !exchange.pass(peer, 0, 100));
            answer
        });
        exchange.forget(&(3..5));
        assert_eq!(answers.map(|it| it.has_come()), [true, false]);
        assert_eq!(exchange.listed, [stays]);
        assert_eq!(exchange.awaited().collect::<Vec<_>>(), [stays]);
        assert!(exchange.pass(gone, 0, 100), "from another process");
        assert!(exchange.pass(stays, 100, 100), "it goes on");
    }
}
