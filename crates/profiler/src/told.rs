//! Which messages a call has sent, received, or seen the end of, for `mpirun --trace`.

use std::ffi::c_int;

use catena_abi::{Status, consts};
use catena_profile::layout::Class;
use catena_profile::record::{Kind, Message, NO_BYTES, NO_RANK, NO_TAG, arrow, key, mixed};
use catena_tool::call::MOST;

use crate::entry::{Call, LOOKED_AT, UnderWay};
use crate::requests::Request;
use crate::shape::Ends;
use crate::stream::{Stream, Wanted};
use crate::thread::Thread;
use crate::{numbers, phase};

/// On which side of a message this rank is: it may be on both, and counts on both.
#[derive(Clone, Copy)]
enum Side {
    Sends = 1,
    Receives = 2,
}

impl Thread {
    /// The arrow to the next message with that tag to another rank, or from it; 0 if it has none.
    fn next_arrow(&self, side: Side, group: u32, other: u32, tag: i32) -> u64 {
        let (Some(members), Some(me)) = (self.groups.members(group), phase::rank().0) else {
            return 0;
        };
        let (from, to) = match side {
            _ if other == NO_RANK => return 0,
            Side::Sends => (me, other),
            Side::Receives => (other, me),
        };
        let key = key(members.identity, from, to, tag);
        match numbers::next(mixed(&[key, side as u64])) {
            0 => 0,
            number => arrow(key, number),
        }
    }

    /// The rank of the world that a rank of a group is.
    fn world(&self, group: u32, rank: i64) -> u32 {
        let members = self.groups.members(group);
        members.and_then(|it| it.world(rank)).unwrap_or(NO_RANK)
    }
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
            let count = match ends.count {
                Some(count) => usize::try_from(words.int(count)).unwrap_or(0),
                None => 1,
            };
            if !all.is_null() {
                let all = (0..count.min(LOOKED_AT)).map(|i| *all.add(i));
                stream.handles.extend(all);
            }
            match ends.statuses {
                None => Wanted::One,
                Some(at) if words.word(at) == consts::STATUSES_IGNORE => {
                    stream.statuses.clear();
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

    /// Writes the call, if calls are written one by one. `status` is that of its message.
    ///
    /// # Safety
    /// The arguments are as the standard wants them, and the call has returned with `code`.
    pub unsafe fn write(
        &self,
        thread: &mut Thread,
        it: &UnderWay,
        code: c_int,
        (from, took): (u64, u64),
        given: Option<u64>,
        status: &Status,
    ) {
        let Some(mut stream) = thread.stream.take() else {
            return;
        };
        if code == 0 {
            self.tell_aim(thread, it.group, given, &mut stream);
            // SAFETY: the caller's promise.
            unsafe { self.tell_received(thread, it.group, status, &mut stream) };
            if let Some(ends) = &self.shape.ends {
                // SAFETY: the caller's promise.
                unsafe { self.tell_ends(thread, ends, status, &mut stream) };
            }
            self.tell_joined(thread, it.group, &mut stream);
        }
        stream.write(it.at, self.shape.what, (from, took), given);
        thread.stream = Some(stream);
    }

    /// What the call has begun to send, or to receive, or moves by itself.
    fn tell_aim(&self, thread: &Thread, group: u32, given: Option<u64>, stream: &mut Stream) {
        let (shape, words) = (self.shape, &self.words);
        let tag = |at: Option<u8>| at.map_or(NO_TAG, |at| words.int(at) as i32);
        let is_message = shape.class == Class::Message;
        if let (Some(to), Some(bytes), false) = (shape.to, given, shape.is_persistent) {
            let (rank, tag) = (thread.world(group, words.int(to)), tag(shape.sent_tag));
            let kind = if is_message { Kind::Sent } else { Kind::Aimed };
            stream.add(Message {
                kind,
                arrow: match is_message {
                    true => thread.next_arrow(Side::Sends, group, rank, tag),
                    false => 0,
                },
                bytes,
                rank,
                tag,
            });
        }
        if let (Some(from), true, true) = (shape.from, is_message, shape.request.is_some()) {
            stream.add(Message {
                kind: Kind::Aimed,
                arrow: 0,
                bytes: NO_BYTES,
                rank: thread.world(group, words.int(from)),
                tag: tag(shape.received_tag),
            });
        }
    }

    /// What a call has received that waits for it, or was there.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn tell_received(
        &self,
        thread: &Thread,
        group: u32,
        status: &Status,
        stream: &mut Stream,
    ) {
        let shape = self.shape;
        if !shape.receives || status.source == consts::PROC_NULL {
            return;
        }
        // SAFETY: the caller's promise.
        let flag = unsafe { shape.flag.and_then(|at| self.words.at::<c_int>(at)) };
        if flag == Some(0) {
            return;
        }
        let rank = thread.world(group, status.source.into());
        stream.add(Message {
            kind: Kind::Received,
            arrow: thread.next_arrow(Side::Receives, group, rank, status.tag),
            bytes: status.bytes(),
            rank,
            tag: status.tag,
        });
    }

    /// Which requests the call has seen the end of.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn tell_ends(
        &self,
        thread: &mut Thread,
        ends: &Ends,
        status: &Status,
        stream: &mut Stream,
    ) {
        let words = &self.words;
        // SAFETY: the caller's promise: these are addresses of numbers.
        let number = |at: Option<u8>| unsafe { at.and_then(|at| words.at::<c_int>(at)) };
        if number(ends.flag) == Some(0) {
            return;
        }
        let given = ends.statuses.map(|at| words.word(at));
        let given = given.filter(|&at| at != consts::STATUSES_IGNORE);
        let handles = std::mem::take(&mut stream.handles);
        let mut one = |nth: usize, at: usize| {
            let Some(request) = handles.get(at).and_then(|it| thread.requests.end(*it)) else {
                return;
            };
            let status = match (ends.statuses.is_some(), given) {
                (false, _) => *status,
                // SAFETY: the caller's promise: there are as many.
                (true, Some(given)) => unsafe { *(given as *const Status).add(nth) },
                (true, None) => stream.statuses.get(nth).copied().unwrap_or(Status::empty()),
            };
            thread.tell_end(&request, &status, stream);
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
        let members = thread.groups.members(group);
        if let Some(members) = members.filter(|it| self.shape.is_logged && it.len() > 1) {
            let key = mixed(&[members.identity, Kind::Joined as u64]);
            let number = numbers::next(key);
            if number > 0 {
                stream.add(Message {
                    kind: Kind::Joined,
                    arrow: arrow(key, number),
                    bytes: NO_BYTES,
                    rank: NO_RANK,
                    tag: NO_TAG,
                });
            }
        }
    }

    /// What is known of a request that the call has made, besides what it waits for.
    pub fn about(&self, thread: &Thread, group: u32, request: Request) -> Request {
        if thread.stream.is_none() {
            return request;
        }
        let (shape, words) = (self.shape, &self.words);
        let receives = shape.from.is_some() || shape.is_partitioned_receive;
        let peer = i64::from(request.peer);
        let tag = if receives {
            shape.received_tag
        } else {
            shape.sent_tag
        };
        let request = Request {
            tag: tag.map_or(NO_TAG, |at| words.int(at) as i32),
            rank: thread.world(group, peer),
            receives,
            is_open: !shape.is_persistent,
            ..request
        };
        Request {
            arrow: match request.is_open {
                true => thread.arrow_of(&request),
                false => 0,
            },
            ..request
        }
    }
}

impl Thread {
    /// The arrow to what a request receives that begins now, if its source and tag are known.
    fn arrow_of(&self, request: &Request) -> u64 {
        let is_known = request.receives && request.tag != consts::ANY_TAG;
        match is_known && request.rank != NO_RANK {
            true => self.next_arrow(Side::Receives, request.group, request.rank, request.tag),
            false => 0,
        }
    }

    /// A persistent request is started.
    pub fn tell_start(&mut self, handle: usize, request: &Request) {
        if self.stream.is_none() {
            return;
        }
        let arrow = self.arrow_of(request);
        self.requests.open(handle, arrow);
        let Some(bytes) = request.sends else {
            return;
        };
        let message = Message {
            kind: Kind::Sent,
            arrow: self.next_arrow(Side::Sends, request.group, request.rank, request.tag),
            bytes,
            rank: request.rank,
            tag: request.tag,
        };
        if let Some(stream) = self.stream.as_deref_mut() {
            stream.add(message);
        }
    }

    /// A request has ended.
    fn tell_end(&self, request: &Request, status: &Status, stream: &mut Stream) {
        if let Some(bytes) = request.sends {
            stream.add(Message {
                kind: Kind::Ended,
                arrow: 0,
                bytes,
                rank: request.rank,
                tag: request.tag,
            });
        }
        if !request.receives || status.cancelled() || status.source == consts::PROC_NULL {
            return;
        }
        let source = self.world(request.group, status.source.into());
        let (rank, arrow) = match request.arrow {
            0 => (
                source,
                self.next_arrow(Side::Receives, request.group, source, status.tag),
            ),
            arrow => (request.rank, arrow),
        };
        stream.add(Message {
            kind: Kind::Received,
            arrow,
            bytes: status.bytes(),
            rank,
            tag: status.tag,
        });
    }
}
