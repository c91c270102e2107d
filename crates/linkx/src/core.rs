//! An endpoint itself: the engine above its routes, the operations that are under way, the peers
//! by their addresses, and where completions go. Its owner holds a lock around all of it.

pub mod held;
mod leave;
mod peers;

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use catena_fabric::Peer;
use catena_link::{
    Cid, Completion, Endpoint, Failure, MessageId, Mode, Plane, ReqId, Sent, TagKey, TagSelector,
};
use catena_net::Routes;

use crate::counter::Counter;
use crate::host;
use crate::memory::Regions;
use crate::op::{AHEAD, Kind, Message, Op, Pool, Room, SEAL_AHEAD};
use crate::queue::{Entry, Fault, Queue, Waiting};
use crate::serve::{Request, What};
use crate::sys::{Addr, err, flag, num};
use crate::vector::Vector;

/// The spaces of messages.
pub const TAGGED: Cid = Cid(0);
pub const PLAIN: Cid = Cid(1);
pub const REQUESTS: Cid = Cid(2);
pub const DATA: Cid = Cid(3);

/// The engine above the routes.
pub type Link = Endpoint<Routes<Message, Room>, TagKey>;

/// Calls for progress to one look whether somebody has called who is not in the vector.
const CALLS_PER_CALLER: u32 = 64;
/// Calls for progress to one look whether it is time to look at peers.
const CALLS_PER_LOOK: u32 = 256;
/// Time between two such looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Where completions of one kind go.
#[derive(Clone, Copy, Default)]
pub struct Bound {
    /// Which of [`State::told`].
    pub to: Option<usize>,
    /// Only operations that ask for it have a completion.
    pub is_selective: bool,
}

/// What counts.
#[derive(Default)]
pub struct Counters {
    pub send: Option<Arc<Counter>>,
    pub recv: Option<Arc<Counter>>,
    pub read: Option<Arc<Counter>>,
    pub write: Option<Arc<Counter>>,
    pub remote_read: Option<Arc<Counter>>,
    pub remote_write: Option<Arc<Counter>>,
}

/// What is told of an endpoint when it closes.
#[derive(Default)]
pub struct Tally {
    pub sent: u64,
    pub received: u64,
    pub remote: u64,
    pub served: u64,
}

/// What is known of a peer.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// What completions tell of it.
    told: Addr,
    /// Whether something was sent to it, and something has come from it.
    is_sent_to: bool,
    is_heard: bool,
}

impl Known {
    const NOTHING: Known = Known {
        told: num::ADDR_NONE,
        is_sent_to: false,
        is_heard: false,
    };
}

/// All that calls change.
pub struct State {
    pub link: Link,
    /// Goes after the engine, which has some of its operations.
    pub pool: Pool,
    pub vector: Option<Arc<Vector>>,
    /// Changes of the vector that were carried out.
    seen: usize,
    /// By address: the peer, and what completions tell of it.
    peers: Vec<Option<(Peer, Addr)>>,
    /// By peer.
    known: Vec<Known>,
    pub tx: Bound,
    pub rx: Bound,
    /// Completions that nobody has taken, by queue.
    told: Vec<Waiting>,
    pub counters: Counters,
    pub regions: Arc<Regions>,
    pub caps: u64,
    /// Flags of operations whose calls have none.
    pub tx_flags: u64,
    pub rx_flags: u64,
    pub is_enabled: bool,
    /// Room below which a buffer for many messages is given back.
    pub least_room: usize,
    /// Receives of plain messages that wait for a buffer for many messages to be full, in order.
    behind: VecDeque<NonNull<Op>>,
    /// Buffers for many messages that are posted.
    filling: Vec<NonNull<Op>>,
    /// Messages that were claimed, by the context that claimed them, and what was told of them.
    pub claimed: HashMap<*mut c_void, (MessageId, Entry)>,
    /// Requests of peers that are being received, in the order in which they came.
    pub requests: VecDeque<NonNull<Op>>,
    /// Operations on peers' memory that wait for an answer, by their numbers.
    pub asked: HashMap<u64, NonNull<Op>>,
    pub next_number: u64,
    /// How many losses of peers were looked at.
    losses: usize,
    /// Whether peers may be there that are gone, and are nobody's.
    may_forget: bool,
    calls: u32,
    /// Calls for progress of the program's, not those of its thread.
    pub calls_of_program: u32,
    next_look: Instant,
    pub tally: Tally,
}

// SAFETY: all of it is used under one lock; what counts references inside is of this alone.
unsafe impl Send for State {}

/// Whether two receives may take the same message, one of which is a buffer for many.
fn overlap(one: NonNull<Op>, two: NonNull<Op>) -> bool {
    // SAFETY: receives that wait are there.
    let (one, two) = unsafe { (one.as_ref(), two.as_ref()) };
    let any = one.peer == u32::MAX || two.peer == u32::MAX;
    any || one.peer == two.peer
}

/// The error number of a failure, positive.
fn number_of(failure: &Failure<u64>) -> i32 {
    match failure {
        Failure::Truncated { .. } => -err::TRUNC,
        _ => -err::CONNABORTED,
    }
}

impl State {
    /// An endpoint that knows nobody.
    pub fn new(routes: Routes<Message, Room>, regions: Arc<Regions>) -> State {
        let mut link = Link::tagged(routes);
        link.seal_messages();
        for space in [PLAIN, REQUESTS, DATA] {
            link.open_space(space);
        }
        // Some of its peers may end while others go on.
        link.tolerate();
        State {
            link,
            pool: Pool::default(),
            vector: None,
            seen: 0,
            peers: Vec::new(),
            known: Vec::new(),
            tx: Bound::default(),
            rx: Bound::default(),
            told: Vec::new(),
            counters: Counters::default(),
            regions,
            caps: 0,
            tx_flags: 0,
            rx_flags: 0,
            is_enabled: false,
            least_room: 64,
            behind: VecDeque::new(),
            filling: Vec::new(),
            claimed: HashMap::new(),
            requests: VecDeque::new(),
            asked: HashMap::new(),
            next_number: 1,
            losses: 0,
            may_forget: false,
            calls: 0,
            calls_of_program: 0,
            next_look: Instant::now() + LOOK_EVERY,
            tally: Tally::default(),
        }
    }

    /// A queue from which completions of one kind are taken: which of [`State::told`] it is.
    pub fn bind(&mut self, queue: &Arc<Queue>) -> usize {
        let known = self.told.iter().position(|it| it.is_for(queue));
        known.unwrap_or_else(|| {
            self.told.push(Waiting::new(Arc::clone(queue)));
            self.told.len() - 1
        })
    }

    /// What waits of one kind, if that has a queue.
    #[inline]
    pub fn told(&mut self, of: Bound) -> Option<&mut Waiting> {
        self.told.get_mut(of.to?)
    }

    /// The program calls for progress.
    #[inline]
    fn called(&mut self) -> bool {
        self.calls_of_program = self.calls_of_program.wrapping_add(1);
        self.progress()
    }

    /// Moves messages, and hands over what has been completed; whether something has happened.
    pub fn progress(&mut self) -> bool {
        if !self.is_enabled {
            return false;
        }
        self.follow();
        let mut moved = self.link.progress();
        moved |= self.serve();
        moved |= self.hand_over();
        self.calls += 1;
        if self.calls.is_multiple_of(CALLS_PER_CALLER) {
            for peer in self.link.net().add_callers() {
                self.link.add_peer(peer);
                self.known_mut(peer);
                moved = true;
            }
        }
        if self.calls >= CALLS_PER_LOOK {
            self.calls = 0;
            self.look_at_peers();
        }
        moved
    }

    /// As [`State::progress`], from a thread that sleeps in between: it looks at peers each time.
    pub fn move_alone(&mut self) -> bool {
        if !self.is_enabled {
            return false;
        }
        self.calls = CALLS_PER_LOOK - 1;
        self.progress()
    }

    /// Hands over what has been completed.
    pub fn hand_over(&mut self) -> bool {
        let mut moved = false;
        while let Some(done) = self.link.next_completion() {
            moved = true;
            let op = NonNull::new(done.word() as *mut Op).expect("an operation's address");
            if let Some(completion) = done.take() {
                self.end(op, completion);
            }
        }
        moved
    }

    /// A receive or a send is under way as that request.
    #[inline]
    pub fn begin(&mut self, op: NonNull<Op>, request: ReqId) {
        self.link.set_word(request, op.as_ptr() as u64);
    }

    /// A receive is under way as that request.
    #[inline]
    fn enter(&mut self, mut op: NonNull<Op>, request: ReqId) {
        // SAFETY: it is there; the engine reads other fields of it.
        unsafe { op.as_mut() }.request = Some(request);
        self.begin(op, request);
    }

    /// Posts a receive of an operation, which ends as it does.
    #[inline]
    pub fn post(&mut self, op: NonNull<Op>, space: Cid, selector: TagSelector) {
        let request = self.link.recv(space, Plane::User, selector, Room(op));
        self.enter(op, request);
    }

    /// Posts a receive of a plain message, or lets it wait behind a buffer for many messages that
    /// takes messages of the same senders: messages fill one buffer, and then the next.
    pub fn post_plain(&mut self, op: NonNull<Op>) {
        let ahead = self.filling.iter().chain(&self.behind);
        let must_wait = ahead.copied().any(|it| overlap(it, op));
        match must_wait {
            true => self.behind.push_back(op),
            false => self.post_first(op),
        }
    }

    fn post_first(&mut self, op: NonNull<Op>) {
        // SAFETY: a receive that is to be posted is there.
        let it = unsafe { op.as_ref() };
        if it.kind == Kind::MultiRecv && !self.filling.contains(&op) {
            self.filling.push(op);
        }
        let source = (it.peer != u32::MAX).then_some(Peer(it.peer));
        let selector = TagSelector {
            source,
            tag: 0,
            ignore: u64::MAX,
        };
        self.post(op, PLAIN, selector);
    }

    /// A buffer for many messages is given back: what waited behind it is posted.
    fn filled(&mut self, op: NonNull<Op>) {
        self.filling.retain(|it| *it != op);
        for op in std::mem::take(&mut self.behind) {
            self.post_plain(op);
        }
    }

    /// Receives a message that was claimed.
    pub fn receive(&mut self, op: NonNull<Op>, message: MessageId) {
        let request = self.link.mrecv(message, Room(op));
        self.enter(op, request);
    }

    /// Takes back a receive with that context; whether there was one.
    pub fn cancel(&mut self, context: *mut c_void) -> bool {
        let is_it = |op: &NonNull<Op>| {
            // SAFETY: a receive that is under way is there.
            let op = unsafe { op.as_ref() };
            op.context == context && matches!(op.kind, Kind::Recv | Kind::MultiRecv)
        };
        let found = self.pool.receives().find(is_it);
        let is_there = match found {
            Some(op) => self.take_back(op),
            None => match self.behind.iter().position(is_it) {
                Some(at) => {
                    self.give_up(at, libc::ECANCELED);
                    true
                }
                None => false,
            },
        };
        // At once, so that the next call with the same context takes back another one.
        self.hand_over();
        is_there
    }

    /// Ends a receive that was not posted yet.
    fn give_up(&mut self, at: usize, error: i32) {
        let Some(mut op) = self.behind.remove(at) else {
            return;
        };
        // SAFETY: a receive that waits is there, and nobody else has it.
        unsafe { op.as_mut() }.error = error;
        let cancelled = Completion {
            source: -1,
            tag: 0,
            len: 0,
            cancelled: true,
            error: None,
        };
        self.end_recv(op, &cancelled);
    }

    fn take_back(&mut self, op: NonNull<Op>) -> bool {
        // SAFETY: it is there.
        let request = unsafe { op.as_ref() }.request;
        match request.filter(|it| self.link.valid(*it)) {
            Some(request) => {
                self.link.cancel(request);
                true
            }
            None => false,
        }
    }

    /// Sends the message of an operation that nobody asks for.
    pub fn send_quietly(&mut self, op: NonNull<Op>, space: Cid, peer: Peer, tag: u64) {
        self.sends_to(peer);
        let message = Message::Op(op);
        let sent = self
            .link
            .send(space, Plane::User, peer.0, tag, Mode::Standard, message);
        match sent {
            Sent::Done => self.sent_quietly(op, None),
            Sent::Pending(request) => self.begin(op, request),
        }
    }

    /// Sends a request or an answer, with bytes that follow.
    pub fn ask(&mut self, peer: Peer, request: &Request, parts: &[&[u8]]) {
        let mut op = self.pool.take();
        // SAFETY: just taken.
        let it = unsafe { op.as_mut() };
        it.kind = Kind::Sent;
        if request.what != What::Answer {
            (it.kind, it.number) = (Kind::Ask, request.number);
        }
        request.encode(&mut it.head);
        parts
            .iter()
            .for_each(|part| it.head.extend_from_slice(part));
        it.len = it.head.len();
        self.send_quietly(op, REQUESTS, peer, 0);
    }

    /// What was sent quietly has left, or has not. A request, and what follows one, belong to an
    /// operation.
    fn sent_quietly(&mut self, op: NonNull<Op>, failed: Option<&Failure<u64>>) {
        // SAFETY: it is there.
        let (kind, number) = unsafe { (op.as_ref().kind, op.as_ref().number) };
        // SAFETY: the engine has it no more.
        unsafe { self.pool.give(op) };
        let error = failed.map_or(0, number_of);
        if kind == Kind::Ask && error != 0 {
            self.answered(number, error, &[], "its process is gone");
        } else if kind == Kind::Sent && number != 0 {
            self.part_done(number, error, "what was written did not leave");
        }
    }

    /// One of the parts of an operation on a peer's memory is over.
    pub fn part_done(&mut self, number: u64, error: i32, cause: &str) {
        let Some(&(mut op)) = self.asked.get(&number) else {
            return;
        };
        // SAFETY: an operation that waits for an answer is there.
        let it = unsafe { op.as_mut() };
        it.parts -= 1;
        if error != 0 {
            it.error = error;
        }
        if it.parts == 0 {
            self.asked.remove(&number);
            self.end_remote(op, cause);
        }
    }

    /// An answer has come: the operation is done, or not.
    pub fn answered(&mut self, number: u64, error: i32, bytes: &[u8], cause: &str) {
        let Some(&(mut op)) = self.asked.get(&number) else {
            return;
        };
        // SAFETY: as above.
        let it = unsafe { op.as_mut() };
        if std::mem::replace(&mut it.is_answered, true) {
            return;
        }
        if it.kind == Kind::Read && it.space == DATA.0 {
            // Its data come by themselves, or never.
            if error != 0 {
                it.error = error;
                self.take_back(op);
            }
            return;
        }
        let is_short = it.kind == Kind::Read && bytes.len() != it.len;
        let error = match error {
            0 if is_short => libc::EIO,
            error => error,
        };
        if error == 0 {
            let mut bytes = bytes;
            for run in &it.runs {
                let n = run.iov_len.min(bytes.len());
                // SAFETY: memory that the program lends to the operation until its end.
                unsafe {
                    let to = run.iov_base.cast::<u8>();
                    to.copy_from_nonoverlapping(bytes.as_ptr(), n);
                }
                bytes = &bytes[n..];
            }
        }
        self.part_done(number, error, cause);
    }

    /// An operation on a peer's memory is over.
    fn end_remote(&mut self, op: NonNull<Op>, cause: &str) {
        // SAFETY: it is there, and given back below.
        let it = unsafe { op.as_ref() };
        let counter = match it.kind {
            Kind::Read => &self.counters.read,
            _ => &self.counters.write,
        };
        if let Some(counter) = counter {
            counter.count(it.error == 0);
        }
        let entry = self.entry(it, it.len, 0);
        if let Some(told) = self.told(self.tx) {
            if it.error != 0 {
                let fault = Fault {
                    error: it.error,
                    left: 0,
                    cause: cause.to_owned(),
                };
                told.push_fault(entry, fault);
            } else if it.tells {
                told.push(entry);
            }
        }
        // SAFETY: nobody has it any more.
        unsafe { self.pool.give(op) };
    }

    fn entry(&self, op: &Op, len: usize, tag: u64) -> Entry {
        Entry {
            context: op.context,
            flags: op.flags,
            len,
            at: null_mut(),
            data: 0,
            tag,
            source: num::ADDR_NONE,
            is_fault: false,
        }
    }

    /// A request of the engine's is complete.
    fn end(&mut self, op: NonNull<Op>, completion: Completion<u64>) {
        // SAFETY: the engine had it, and has it no more.
        let it = unsafe { &mut *op.as_ptr() };
        match it.kind {
            Kind::Send => self.end_send(op, &completion),
            Kind::Recv | Kind::MultiRecv => {
                it.request = None;
                self.hears(completion.source as u32);
                self.end_recv(op, &completion);
            }
            Kind::Ask | Kind::Sent => self.sent_quietly(op, completion.error.as_deref()),
            Kind::Request => {
                it.peer = completion.source as u32;
                it.len = (completion.len as usize).min(it.store.len());
                it.error = completion.error.as_deref().map_or(0, number_of);
                it.parts = 0;
                self.serve_those_here();
            }
            Kind::Read => {
                it.request = None;
                let is_short = completion.len != it.len as u64 || completion.cancelled;
                let error = match &completion.error {
                    Some(failure) => number_of(failure),
                    None if is_short && it.error == 0 => libc::EIO,
                    None => 0,
                };
                self.part_done(it.number, error, "what was read did not come");
            }
            Kind::Written => {
                it.request = None;
                self.end_written(op, &completion);
            }
            Kind::Write => {}
        }
    }

    /// Carries out the requests that have come whole, in the order in which they came.
    fn serve_those_here(&mut self) {
        // SAFETY: requests that were not carried out are there.
        let is_here = |op: &NonNull<Op>| unsafe { op.as_ref() }.parts == 0;
        while self.requests.front().is_some_and(is_here) {
            let Some(op) = self.requests.pop_front() else {
                return;
            };
            // SAFETY: as above; the engine has it no more.
            let (peer, error, store) = unsafe {
                let it = &mut *op.as_ptr();
                let mut store = std::mem::take(&mut it.store);
                store.truncate(it.len);
                let said = (it.peer, it.error, store);
                self.pool.give(op);
                said
            };
            if error == 0 {
                self.hears(peer);
                self.serve_one(Peer(peer), &store);
            }
        }
    }

    /// A send is complete.
    pub fn end_send(&mut self, op: NonNull<Op>, completion: &Completion<u64>) {
        // SAFETY: it is there, and given back below.
        let it = unsafe { op.as_ref() };
        let is_good = completion.error.is_none() && !completion.cancelled;
        if let Some(counter) = &self.counters.send {
            counter.count(is_good);
        }
        let entry = Entry {
            source: self.addr(it.peer),
            ..self.entry(it, it.len, 0)
        };
        if let Some(told) = self.told(self.tx) {
            match &completion.error {
                Some(failure) => {
                    let cause = failure.to_string();
                    host::warn(host::EP, &format!("a send failed: {cause}"));
                    let error = number_of(failure);
                    told.push_fault(
                        entry,
                        Fault {
                            error,
                            left: 0,
                            cause,
                        },
                    );
                }
                None if it.tells => told.push(entry),
                None => {}
            }
        }
        // SAFETY: nobody has it any more.
        unsafe { self.pool.give(op) };
    }

    /// A receive is complete.
    #[inline]
    fn end_recv(&mut self, op: NonNull<Op>, completion: &Completion<u64>) {
        // SAFETY: it is there; given back or posted again below.
        let it = unsafe { op.as_ref() };
        let ahead = if it.seal.get() == SEAL_AHEAD {
            AHEAD
        } else {
            0
        };
        let is_good = completion.error.is_none() && !completion.cancelled;
        let sent = (completion.len as usize).saturating_sub(ahead);
        if !is_good || sent > it.len || it.kind != Kind::Recv {
            return self.end_recv_in_full(op, completion);
        }
        if let Some(counter) = &self.counters.recv {
            counter.count(true);
        }
        self.tally.received += 1;
        if it.tells {
            let entry = self.received(it, sent, completion);
            if let Some(told) = self.told(self.rx) {
                told.push(entry);
            }
        }
        // SAFETY: nobody has it any more.
        unsafe { self.pool.give(op) };
    }

    /// What is told of a receive of that many bytes.
    #[inline]
    fn received(&self, it: &Op, len: usize, completion: &Completion<u64>) -> Entry {
        let (data, is_tagged) = (it.data(), it.flags & flag::TAGGED != 0);
        Entry {
            flags: it.flags | data.map_or(0, |_| flag::REMOTE_CQ_DATA),
            at: it.at,
            data: data.unwrap_or(0),
            source: self.addr(completion.source as u32),
            ..self.entry(it, len, if is_tagged { completion.tag } else { 0 })
        }
    }

    /// A receive is complete that has failed, or goes on.
    #[inline(never)]
    fn end_recv_in_full(&mut self, op: NonNull<Op>, completion: &Completion<u64>) {
        // SAFETY: as above.
        let it = unsafe { &mut *op.as_ptr() };
        let ahead = if it.seal.get() == SEAL_AHEAD {
            AHEAD
        } else {
            0
        };
        let sent = match completion.error.as_deref() {
            Some(Failure::Truncated { sent, .. }) => *sent,
            _ => completion.len,
        } as usize;
        let sent = sent.saturating_sub(ahead);
        let len = sent.min(it.len);
        let mut entry = self.received(it, len, completion);
        let fault = match &completion.error {
            Some(failure) if !matches!(**failure, Failure::Truncated { .. }) => Some(Fault {
                error: number_of(failure),
                left: 0,
                cause: failure.to_string(),
            }),
            None if completion.cancelled => Some(match it.error {
                0 => Fault {
                    error: libc::ECANCELED,
                    left: 0,
                    cause: "it was taken back".to_owned(),
                },
                error => Fault {
                    error,
                    left: 0,
                    cause: "the address that it named was removed".to_owned(),
                },
            }),
            _ if sent > it.len => Some(Fault {
                error: -err::TRUNC,
                left: sent - it.len,
                cause: format!(
                    "a message of {sent} bytes does not fit into a buffer of {} bytes",
                    it.len
                ),
            }),
            _ => None,
        };
        if let Some(counter) = &self.counters.recv {
            counter.count(fault.is_none());
        }
        self.tally.received += u64::from(fault.is_none());
        let mut goes_on = false;
        if it.kind == Kind::MultiRecv {
            let is_over = matches!(&fault, Some(it) if it.error != -err::TRUNC);
            let run = &mut it.runs[0];
            run.iov_base = run.iov_base.wrapping_byte_add(len);
            run.iov_len -= len;
            (it.at, it.len) = (run.iov_base, run.iov_len);
            goes_on = !is_over && it.len >= self.least_room.max(1);
            if !goes_on {
                entry.flags |= flag::MULTI_RECV;
            }
        }
        let tells = it.tells || entry.flags & flag::MULTI_RECV != 0;
        if let Some(told) = self.told(self.rx) {
            match fault {
                Some(fault) => told.push_fault(entry, fault),
                None if tells => told.push(entry),
                None => {}
            }
        }
        if goes_on {
            it.seal.set(0);
            self.post_first(op);
            return;
        }
        if it.kind == Kind::MultiRecv {
            self.filled(op);
        }
        // SAFETY: nobody has it any more.
        unsafe { self.pool.give(op) };
    }
}
