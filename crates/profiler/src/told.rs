//! Which messages a call has sent, received, or seen the end of, for `mpirun --trace`.

use std::ffi::c_int;
use std::sync::Arc;

use catena_abi::{Status, consts};
use catena_profile::layout::Class;
use catena_profile::record::{Kind, Message, NO_BYTES, NO_RANK, NO_TAG, arrow, mixed};
use catena_tool::call::MOST;
use catena_tool::mpi;

use crate::comms::{self, Comm, Pattern, Side};
use crate::entry::{Call, UnderWay};
use crate::posts::{LOOKED_AT, Posts};
use crate::requests::{Request, requests};
use crate::shape::Ends;
use crate::stream::{Stream, Wanted};
use crate::thread::Thread;

/// What is known of a call that has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It has done nothing.
    Refused,
    /// A message has come that was too long.
    Truncated,
    /// Nobody knows.
    Unknown,
}

fn fate(code: c_int) -> Fate {
    match mpi::class(code) {
        consts::ERR_TRUNCATE => Fate::Truncated,
        consts::ERR_BUFFER..=consts::ERR_ARG => Fate::Refused,
        _ => Fate::Unknown,
    }
}

/// A rank of the world that a rank of a communicator is.
fn world(comm: Option<&Comm>, rank: i64) -> u32 {
    comm.and_then(|it| it.world(rank)).unwrap_or(NO_RANK)
}

impl Call {
    /// Notes the requests that a call is given, of which it may see the end, and says where it is
    /// to tell of their messages.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    pub unsafe fn look_ahead(&self, thread: &mut Thread) -> Wanted {
        let Some(stream) = thread.stream.as_deref_mut() else {
            return Wanted::Nothing;
        };
        stream.handles.clear();
        let words = &self.words;
        let Some(ends) = &self.shape.ends else {
            return match self.shape.receives {
                true => Wanted::One,
                false => Wanted::Nothing,
            };
        };
        // SAFETY: the caller's promise: as many requests.
        unsafe {
            let all = words.word(ends.requests) as *const usize;
            let Some(count) = ends.count else {
                if !all.is_null() {
                    stream.handles.push(*all);
                }
                return Wanted::One;
            };
            let count = usize::try_from(words.int(count)).unwrap_or(0);
            // What MPI refuses is handed on as it is.
            let is_there = !all.is_null() && count <= LOOKED_AT;
            if is_there && stream.handles.try_reserve(count).is_ok() {
                stream.handles.extend((0..count).map(|i| *all.add(i)));
            }
            match ends.statuses {
                None => Wanted::One,
                Some(at) if words.word(at) == consts::STATUSES_IGNORE && is_there => {
                    stream.statuses.clear();
                    if stream.statuses.try_reserve(count).is_err() {
                        return Wanted::Nothing;
                    }
                    stream.statuses.resize(count, Status::empty());
                    Wanted::Many
                }
                Some(_) => Wanted::Nothing,
            }
        }
    }

    /// The arguments, with places for statuses.
    pub fn with_statuses(&self, thread: &mut Thread) -> [usize; MOST] {
        let mut all = self.words.all();
        let at = self.shape.ends.as_ref().and_then(|it| it.statuses);
        if let (Some(at), Some(stream)) = (at, thread.stream.as_deref_mut()) {
            all[usize::from(at)] = stream.statuses.as_mut_ptr().addr();
        }
        all
    }

    /// The communicator of the call.
    pub fn comm(&self, thread: &Thread, group: u32) -> Option<Arc<Comm>> {
        if let Some(members) = thread.groups.members(group) {
            return Some(members.comm.clone());
        }
        let (at, _) = self.shape.group.filter(|_| !self.shape.is_pointer)?;
        comms::get(self.words.word(at))
    }

    /// Notes that the thread is about to send and to receive, if calls are written one by one.
    pub fn post(&self, thread: &Thread, group: u32) -> Posts {
        let (shape, words) = (self.shape, &self.words);
        let is_message = shape.class == Class::Message && !shape.is_persistent;
        if thread.stream.is_none() || !is_message {
            return Posts::default();
        }
        let receives = shape
            .from
            .filter(|_| shape.receives || shape.request.is_some());
        if shape.to.is_none() && receives.is_none() {
            return Posts::default();
        }
        let Some(comm) = self.comm(thread, group) else {
            return Posts::default();
        };
        let own = (&raw const *thread).addr();
        let tag = |at: Option<u8>| at.map_or(NO_TAG, |at| words.int(at) as i32);
        let begin = |side, peer: i64, tag| {
            let rank = match peer == i64::from(consts::ANY_SOURCE) && side == Side::Receives {
                true => NO_RANK,
                false => match comm.world(peer) {
                    Some(rank) => rank,
                    None => return 0,
                },
            };
            comm.begin(Pattern { side, rank, tag }, own)
        };
        let send = shape.to.map_or(0, |at| {
            begin(Side::Sends, words.int(at), tag(shape.sent_tag))
        });
        let receive = receives.map_or(0, |at| {
            begin(Side::Receives, words.int(at), tag(shape.received_tag))
        });
        Posts {
            comm: Some(comm),
            send,
            receive,
        }
    }

    /// Writes the call, if calls are written one by one. `status` is that of its message.
    ///
    /// # Safety
    /// The arguments are as the standard wants them, and the call has returned with `code`.
    #[expect(clippy::too_many_arguments, reason = "all that is known of a call")]
    pub unsafe fn write(
        &self,
        thread: &mut Thread,
        it: &UnderWay,
        code: c_int,
        (from, took): (u64, u64),
        given: Option<u64>,
        status: &Status,
        posts: Posts,
    ) {
        let Some(mut stream) = thread.stream.take() else {
            return;
        };
        let seen = self.shape.polls.filter(|_| code == 0);
        // SAFETY: the caller's promise: where it tells that, there is a number.
        let seen = seen.and_then(|at| unsafe { self.words.at::<c_int>(at) });
        if seen.is_some_and(|it| it <= 0) {
            if let Some(comm) = &posts.comm {
                comm.cancel(posts.receive);
            }
            stream.poll(it.at, self.shape.what, (from, took));
            thread.stream = Some(stream);
            return;
        }
        if code == 0 {
            self.tell_aim(thread, it.group, given, &posts, &mut stream);
            self.tell_received(status, &posts, &mut stream);
            self.tell_joined(thread, it.group, &mut stream);
        } else {
            self.tell_failed(thread, it.group, code, given, &posts, &mut stream);
        }
        if let Some(ends) = &self.shape.ends {
            // SAFETY: the caller's promise.
            unsafe { self.tell_ends(ends, code, status, &mut stream) };
        }
        stream.write(it.at, self.shape.what, (from, took), given);
        thread.stream = Some(stream);
    }

    /// The pattern of what the call sends, or receives.
    fn pattern(&self, comm: &Comm, side: Side) -> Option<Pattern> {
        let (shape, words) = (self.shape, &self.words);
        let (peer, tag) = match side {
            Side::Sends => (shape.to?, shape.sent_tag),
            _ => (shape.from?, shape.received_tag),
        };
        Some(Pattern {
            side,
            rank: world(Some(comm), words.int(peer)),
            tag: tag.map_or(NO_TAG, |at| words.int(at) as i32),
        })
    }

    /// What is known of the messages of a call that has failed.
    fn tell_failed(
        &self,
        thread: &Thread,
        group: u32,
        code: c_int,
        given: Option<u64>,
        posts: &Posts,
        stream: &mut Stream,
    ) {
        if self.shape.is_logged
            && let Some(comm) = self.comm(thread, group)
        {
            comm.give_up_of(JOINS);
        }
        let Some(comm) = &posts.comm else {
            return;
        };
        let fate = fate(code);
        match fate {
            Fate::Refused => {
                comm.cancel(posts.send);
                comm.cancel(posts.receive);
            }
            Fate::Truncated => {
                let sent = self.pattern(comm, Side::Sends);
                if let Some(pattern) = sent.filter(|_| posts.send != 0) {
                    stream.add(Message {
                        kind: Kind::Sent,
                        arrow: comm.finish(posts.send, pattern),
                        bytes: given.unwrap_or(NO_BYTES),
                        rank: pattern.rank,
                        tag: pattern.tag,
                    });
                }
                let received = self.pattern(comm, Side::Receives);
                match received.filter(Pattern::is_exact) {
                    Some(pattern) if posts.receive != 0 => stream.add(Message {
                        kind: Kind::Received,
                        arrow: comm.finish(posts.receive, pattern),
                        bytes: NO_BYTES,
                        rank: pattern.rank,
                        tag: pattern.tag,
                    }),
                    _ => comm.fail(posts.receive),
                }
            }
            Fate::Unknown => {
                comm.fail(posts.send);
                comm.fail(posts.receive);
            }
        }
    }

    /// What the call has begun to send, or to receive, or moves by itself.
    fn tell_aim(
        &self,
        thread: &Thread,
        group: u32,
        given: Option<u64>,
        posts: &Posts,
        stream: &mut Stream,
    ) {
        let (shape, words) = (self.shape, &self.words);
        let tag = |at: Option<u8>| at.map_or(NO_TAG, |at| words.int(at) as i32);
        let is_message = shape.class == Class::Message;
        if is_message {
            let Some(comm) = posts.comm.as_deref() else {
                return;
            };
            if let (Some(pattern), Some(bytes)) = (self.pattern(comm, Side::Sends), given) {
                stream.add(Message {
                    kind: match shape.request {
                        Some(_) => Kind::Begun,
                        None => Kind::Sent,
                    },
                    arrow: comm.finish(posts.send, pattern),
                    bytes,
                    rank: pattern.rank,
                    tag: pattern.tag,
                });
            }
            if let (Some(from), true) = (shape.from, shape.request.is_some()) {
                stream.add(Message {
                    kind: Kind::Aimed,
                    arrow: 0,
                    bytes: NO_BYTES,
                    rank: world(Some(comm), words.int(from)),
                    tag: tag(shape.received_tag),
                });
            }
        } else if let (Some(to), Some(bytes)) = (shape.to, given) {
            stream.add(Message {
                kind: Kind::Aimed,
                arrow: 0,
                bytes,
                rank: thread
                    .groups
                    .members(group)
                    .and_then(|it| it.world(words.int(to)))
                    .unwrap_or(NO_RANK),
                tag: tag(shape.sent_tag),
            });
        }
    }

    /// What a call has received that waits for it, or was there.
    fn tell_received(&self, status: &Status, posts: &Posts, stream: &mut Stream) {
        let shape = self.shape;
        let Some(comm) = posts.comm.as_deref().filter(|_| shape.receives) else {
            return;
        };
        if status.source == consts::PROC_NULL {
            return comm.cancel(posts.receive);
        }
        let rank = world(Some(comm), status.source.into());
        let pattern = Pattern {
            side: Side::Receives,
            rank,
            tag: status.tag,
        };
        stream.add(Message {
            kind: Kind::Received,
            arrow: comm.finish(posts.receive, pattern),
            bytes: status.bytes(),
            rank,
            tag: status.tag,
        });
    }

    /// Which requests the call has seen the end of.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn tell_ends(&self, ends: &Ends, code: c_int, status: &Status, stream: &mut Stream) {
        let words = &self.words;
        // SAFETY: the caller's promise: these are addresses of numbers.
        let number = |at: Option<u8>| unsafe { at.and_then(|at| words.at::<c_int>(at)) };
        if number(ends.flag) == Some(0) {
            return;
        }
        // Where several may end, each has an error of its own.
        let is_of_each = ends.statuses.is_some();
        if code != 0 && (fate(code) == Fate::Refused || is_of_each != is_in_status(code)) {
            return;
        }
        let given = ends.statuses.map(|at| words.word(at));
        let given = given.filter(|&at| at != consts::STATUSES_IGNORE);
        let handles = std::mem::take(&mut stream.handles);
        let mut one = |nth: usize, at: usize| {
            let Some(&handle) = handles.get(at) else {
                return;
            };
            let status = match (ends.statuses.is_some(), given) {
                (false, _) => *status,
                // SAFETY: the caller's promise: there are as many.
                (true, Some(given)) => unsafe { *(given as *const Status).add(nth) },
                (true, None) => stream.statuses.get(nth).copied().unwrap_or(Status::empty()),
            };
            let code = match (code, is_of_each) {
                (0, _) => 0,
                (code, false) => code,
                (_, true) => status.error,
            };
            // It goes on.
            if code != 0 && mpi::class(code) == consts::ERR_PENDING {
                return;
            }
            if let Some(request) = requests(|it| it.end(handle)) {
                tell_end(&request, &status, code, stream);
            }
        };
        match (ends.index, ends.outcount.zip(ends.indices)) {
            (Some(index), _) => {
                let index = number(Some(index)).unwrap_or(consts::UNDEFINED);
                if let Ok(index) = usize::try_from(index) {
                    one(0, index);
                }
            }
            (None, Some((outcount, indices))) => {
                let count = number(Some(outcount)).unwrap_or(0);
                for nth in 0..usize::try_from(count).unwrap_or(0) {
                    // SAFETY: the caller's promise: as many were written.
                    let index = unsafe { words.entry(indices, nth) };
                    one(nth, usize::try_from(index).unwrap_or(usize::MAX));
                }
            }
            (None, None) => (0..handles.len()).for_each(|at| one(at, at)),
        }
        stream.handles = handles;
    }

    /// The other members of a collective.
    fn tell_joined(&self, thread: &Thread, group: u32, stream: &mut Stream) {
        if !self.shape.is_logged {
            return;
        }
        let members = thread.groups.members(group);
        // Ranks of another job have other numbers.
        let members = members.filter(|it| it.ranks.iter().all(|rank| *rank >= 0));
        let all = members.map_or(0, |it| it.len() + if it.is_inter { it.own } else { 0 });
        if let Some(members) = members.filter(|_| all > 1) {
            let arrow = members.comm.next(JOINS);
            if arrow != 0 {
                stream.add(Message {
                    kind: Kind::Joined,
                    arrow,
                    bytes: NO_BYTES,
                    rank: NO_RANK,
                    tag: NO_TAG,
                });
            }
        }
    }

    /// What tells calls apart that make something on this communicator; 0 if nobody knows.
    pub fn maker(&self, thread: &Thread, group: u32) -> u64 {
        let (shape, words) = (self.shape, &self.words);
        let apart = match shape.apart {
            Some((at, true)) => {
                let text = words.word(at) as *const std::ffi::c_char;
                // SAFETY: the call was content with that text.
                let text = (!text.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(text) });
                let bytes = text.map_or(&[][..], |it| it.to_bytes());
                bytes
                    .iter()
                    .fold(1, |sum, byte| mixed(&[sum, u64::from(*byte)]))
            }
            Some((at, false)) => words.int(at) as u64,
            None => 0,
        };
        let of = match shape.group {
            Some(_) if !shape.is_of_two => {
                match self.comm(thread, group).map_or(0, |it| it.identity()) {
                    0 => return 0,
                    identity => identity,
                }
            }
            _ => u64::from(shape.what),
        };
        mixed(&[of, apart]).max(1)
    }

    /// A communicator with the members of this one will be there when a request has ended.
    pub fn make_later(&self, thread: &Thread, group: u32) {
        let Some(comm) = self.comm(thread, group).filter(|_| thread.stream.is_some()) else {
            return;
        };
        let Some(members) = thread.groups.members(group) else {
            return;
        };
        let Some(request) = self.shape.request else {
            return;
        };
        // SAFETY: the call has returned well, and has written its request there.
        let Some(handle) = (unsafe { self.words.at::<usize>(request) }) else {
            return;
        };
        let by = match self.maker(thread, group) {
            0 => 0,
            by => mixed(&[by, members.kind.into(), members.hash]).max(1),
        };
        let made = self.words.word(request - 1);
        let request = Request {
            makes: Some((made, comms::next_identity(by))),
            comm: Some(comm),
            peer: consts::PROC_NULL,
            rank: NO_RANK,
            is_open: true,
            ..Request::default()
        };
        requests(|it| it.add(handle, request));
    }

    /// What is known of a request that the call has made, besides what it waits for.
    pub fn about(&self, thread: &Thread, request: Request, posts: &mut Posts) -> Request {
        if thread.stream.is_none() {
            return request;
        }
        let (shape, words) = (self.shape, &self.words);
        let receives = shape.from.is_some() || shape.is_partitioned_receive;
        let tag = if receives {
            shape.received_tag
        } else {
            shape.sent_tag
        };
        let comm = request.comm.clone();
        let comm = comm.as_deref();
        let mut request = Request {
            tag: tag.map_or(NO_TAG, |at| words.int(at) as i32),
            rank: world(comm, request.peer.into()),
            receives,
            is_open: !shape.is_persistent,
            is_persistent: shape.is_persistent,
            is_partitioned: shape.is_partitioned,
            ..request
        };
        if let Some(comm) = comm.filter(|_| shape.is_partitioned && request.rank != NO_RANK) {
            request.parts = comm.next(Pattern {
                side: if receives {
                    Side::PartsReceived
                } else {
                    Side::PartsSent
                },
                rank: request.rank,
                tag: request.tag,
            });
        }
        if let Some(comm) = posts.comm.as_deref().filter(|_| posts.receive != 0) {
            match comm.posted(posts.receive) {
                Some(arrow) => (request.arrow, request.is_told) = (arrow, true),
                None => request.nth = posts.receive,
            }
        }
        request
    }
}

/// The calls in which all members of a communicator take part.
const JOINS: Pattern = Pattern {
    side: Side::Joins,
    rank: NO_RANK,
    tag: NO_TAG,
};

fn is_in_status(code: c_int) -> bool {
    code != 0 && mpi::class(code) == consts::ERR_IN_STATUS
}

impl Thread {
    /// A persistent request is started.
    pub fn tell_start(&mut self, handle: usize, request: &Request) {
        let own = (&raw const *self).addr();
        let Some(stream) = self.stream.as_deref_mut() else {
            return;
        };
        let Some(comm) = request.comm.as_deref() else {
            return;
        };
        let is_any = request.peer == consts::ANY_SOURCE;
        let side = if request.receives {
            Side::Receives
        } else {
            Side::Sends
        };
        let pattern = Pattern {
            side,
            rank: request.rank,
            tag: request.tag,
        };
        let (mut nth, mut arrow_of) = (0, 0);
        let mut is_told = request.is_partitioned;
        if request.is_partitioned {
            if request.parts != 0 {
                arrow_of = arrow(request.parts, request.starts + 1);
            }
        } else if request.rank != NO_RANK || is_any && request.receives {
            nth = comm.begin(pattern, own);
            if request.receives {
                if let Some(arrow) = comm.posted(nth) {
                    (arrow_of, is_told, nth) = (arrow, true, 0);
                }
            } else {
                arrow_of = comm.finish(nth, pattern);
            }
        }
        let received = if request.receives { arrow_of } else { 0 };
        requests(|it| it.open(handle, received, nth, is_told));
        let Some(bytes) = request.sends else {
            return;
        };
        stream.add(Message {
            kind: Kind::Begun,
            arrow: arrow_of,
            bytes,
            rank: request.rank,
            tag: request.tag,
        });
    }

    /// A request was given back that may not have ended.
    pub fn tell_given_back(&mut self, handle: usize) {
        let Some(stream) = self.stream.as_deref_mut() else {
            return;
        };
        let Some(request) = requests(|it| it.end(handle)) else {
            return;
        };
        tell_sent(&request, stream);
        if let Some(comm) = request.comm.filter(|_| request.receives) {
            comm.fail(request.nth);
        }
    }
}

/// The end of what a request sends.
fn tell_sent(request: &Request, stream: &mut Stream) {
    if let Some(bytes) = request.sends {
        stream.add(Message {
            kind: Kind::Ended,
            arrow: 0,
            bytes,
            rank: request.rank,
            tag: request.tag,
        });
    }
}

/// A request has ended, with an error if `code` is not 0.
fn tell_end(request: &Request, status: &Status, code: c_int, stream: &mut Stream) {
    if let Some((at, identity)) = request.makes
        && code == 0
        && let Some(comm) = &request.comm
    {
        // SAFETY: the program has lent the place of the handle until its request has ended.
        let handle = unsafe { *(at as *const usize) };
        comms::made(handle, || identity, comm.ranks());
    }
    tell_sent(request, stream);
    let Some(comm) = request.comm.as_deref().filter(|_| request.receives) else {
        return;
    };
    let exact = Pattern {
        side: Side::Receives,
        rank: request.rank,
        tag: request.tag,
    };
    let is_known = request.is_told || exact.is_exact();
    let fate = match code {
        0 => None,
        code => Some(fate(code)),
    };
    let is_lost = status.cancelled() && fate.is_none()
        || fate.is_some_and(|fate| fate != Fate::Truncated || !is_known);
    if is_lost {
        // Its number may be that of another message now.
        match request.is_told {
            true => comm.give_up_of(exact),
            false if fate.is_none() => comm.cancel(request.nth),
            false => comm.fail(request.nth),
        }
        return;
    }
    if fate.is_none() && status.source == consts::PROC_NULL {
        return comm.cancel(request.nth);
    }
    let pattern = match fate {
        None if !request.is_partitioned => Pattern {
            side: Side::Receives,
            rank: world(Some(comm), status.source.into()),
            tag: status.tag,
        },
        _ => exact,
    };
    stream.add(Message {
        kind: Kind::Received,
        arrow: match request.is_told {
            true => request.arrow,
            false => comm.finish(request.nth, pattern),
        },
        bytes: match fate {
            None => status.bytes(),
            Some(_) => NO_BYTES,
        },
        rank: pattern.rank,
        tag: pattern.tag,
    });
}
