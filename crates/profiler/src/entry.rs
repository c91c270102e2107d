//! A call: what is done before it and after it.

use std::ffi::c_int;
use std::sync::Arc;

use catena_abi::{Status, consts};
use catena_base::clock::ticks;
use catena_profile::layout::{COLLECTIVE, NO_GROUP, size_class};
use catena_tool::next::Next;

use crate::comms::Comm;
use crate::groups;
use crate::life;
use crate::phase;
use crate::posts::{self, LOOKED_AT, Posts};
use crate::requests::{Request, Requests, requests};
use crate::shape::{Act, Shape};
use crate::site::Found;
use crate::stream::Wanted;
use crate::thread::Thread;
use crate::words::Words;

catena_tool::stand_before_mpi!(called, first);

/// A function was called: its number and who has called it, the arguments in registers and on the
/// stack, and the address that it returns to.
///
/// # Safety
/// `registers` and `stack` have the arguments of the function.
unsafe extern "C" fn called(
    number: u32,
    registers: *const usize,
    stack: *const usize,
    caller: usize,
) -> c_int {
    let (function, from) = catena_tool::from(number);
    let Some(next) = Next::of(function, from) else {
        return consts::ERR_UNSUPPORTED_OPERATION;
    };
    // SAFETY: the caller's promise.
    let words = unsafe { Words::new(function, registers, stack) };
    let top = stack.addr();
    if next.is_standard {
        if life::is_of_life(function) {
            return life::around(function, top, &words, || pass(next, &words));
        }
        if phase::is_going_on()
            && let Some(thread) = Thread::current(top)
        {
            let shape = Shape::of(function);
            thread.top = top;
            thread.caller = caller;
            let call = Call {
                shape,
                words,
                caller,
                top,
            };
            // SAFETY: the program calls with arguments as the standard wants them.
            let code = unsafe { call.count(thread, next) };
            thread.top = 0;
            return code;
        }
        if phase::is_streamed() && phase::is_going_on() {
            // SAFETY: as above.
            unsafe { posts::unseen(Shape::of(function), &words) };
        }
    }
    pass(next, &words)
}

/// Calls the function behind with what the program has given.
fn pass(next: Next, words: &Words) -> c_int {
    match words.call.args.len() <= 6 {
        true => next.call_few(&words.few()),
        false => next.call_with(&words.all()),
    }
}

/// Ranks that are kept without asking for memory.
const AWAITED: usize = 16;

/// Whom a call waits for.
struct Awaited {
    /// Ranks of the world.
    ranks: [u32; AWAITED],
    count: usize,
    /// Where there are more, all of them, some twice.
    many: Vec<u32>,
    /// The communicator of a message whose source is told when it has come.
    any: Option<Arc<Comm>>,
}

impl Awaited {
    const NOBODY: Awaited = Awaited {
        ranks: [0; AWAITED],
        count: 0,
        many: Vec::new(),
        any: None,
    };

    fn add(&mut self, rank: u32) {
        if self.many.is_empty() {
            if self.ranks[..self.count].contains(&rank) {
                return;
            }
            if self.count < AWAITED {
                self.ranks[self.count] = rank;
                self.count += 1;
                return;
            }
            self.many.extend(self.ranks);
        }
        self.many.push(rank);
    }

    /// Each of them once.
    fn all(&mut self) -> &[u32] {
        if self.many.is_empty() {
            return &self.ranks[..self.count];
        }
        self.many.sort_unstable();
        self.many.dedup();
        &self.many
    }
}

/// Where a call is counted.
pub struct UnderWay {
    /// Its communicator, window or file.
    pub group: u32,
    /// Its entry; `None` if there is no room.
    pub at: Option<usize>,
}

impl UnderWay {
    /// Notes that the call begins now: when that is.
    #[inline]
    fn begin(&self, thread: &mut Thread) -> u64 {
        let front = thread.front();
        front.awaits = 0;
        front.open = self.at.map_or(0, |at| at as u32 + 1);
        let from = ticks();
        front.since = from;
        from
    }
}

/// A call that is counted.
pub struct Call {
    pub shape: &'static Shape,
    pub words: Words,
    caller: usize,
    top: usize,
}

impl Call {
    /// Calls the function behind, and counts that.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    #[inline]
    unsafe fn count(&self, thread: &mut Thread, next: Next) -> c_int {
        let (shape, words) = (self.shape, &self.words);
        let group = match shape.group {
            Some((at, kind)) => {
                let handle = match shape.is_pointer {
                    false => words.word(at),
                    // SAFETY: the caller's promise.
                    true => unsafe { words.at::<usize>(at) }.unwrap_or(0),
                };
                match thread.group_of(kind, handle) {
                    Some(group) => group,
                    // SAFETY: the caller's promise.
                    None => return unsafe { self.count_first(thread, next, kind, handle) },
                }
            }
            None => NO_GROUP,
        };
        let at = self.find_entry(thread, group);
        if shape.is_quick
            && let Some(at) = at
        {
            return self.count_quick(thread, next, at);
        }
        // SAFETY: the caller's promise.
        unsafe {
            let under_way = UnderWay { group, at };
            if let (Some(seen), true) = (shape.polls, thread.stream.is_some()) {
                return self.count_poll(thread, next, under_way, seen);
            }
            let is_plain = match shape.act {
                Act::Plain => true,
                Act::Tests => true,
                Act::MakesLater | Act::GivesRequest => thread.stream.is_none(),
                _ => false,
            };
            match is_plain {
                true => self.count_plain(thread, next, under_way),
                false => self.count_other(thread, next, under_way),
            }
        }
    }

    /// The entry of the call on a communicator, window or file; `None` if there is no room.
    #[inline]
    fn find_entry(&self, thread: &mut Thread, group: u32) -> Option<usize> {
        let what = self.shape.what | group << 16;
        let found = thread.sites.find(self.caller, self.top);
        match thread.find(found.site, what)? {
            (at, false) => Some(at),
            (_, true) => self.make_entry(thread, found, what),
        }
    }

    /// The first call of a thread on a communicator or window: which one that is, is asked for when
    /// the call has shown that the handle is good.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    #[cold]
    unsafe fn count_first(
        &self,
        thread: &mut Thread,
        next: Next,
        kind: u32,
        handle: usize,
    ) -> c_int {
        let shape = self.shape;
        let of_none = UnderWay {
            group: NO_GROUP,
            at: self.find_entry(thread, NO_GROUP),
        };
        let mut status = Status::empty();
        let mut posts = self.post(thread, NO_GROUP);
        let from = of_none.begin(thread);
        let wants_status = matches!(shape.act, Act::Waits | Act::Tests);
        let code = match wants_status && shape.status.is_some() {
            true => next.call_with(&self.with_status(&mut status)),
            false => self.pass(next),
        };
        let time = ticks().wrapping_sub(from);
        let mut it = of_none;
        if code == 0 && !shape.is_pointer {
            let group = thread.look(kind, handle);
            let at = self.find_entry(thread, group);
            it = UnderWay { group, at };
        }
        let mut awaited = Awaited::NOBODY;
        // SAFETY: the caller's promise.
        unsafe {
            let given = self.end(thread, &it, code, time, from);
            if shape.act == Act::Waits {
                self.before(thread, it.group, &mut awaited);
            }
            if wants_status {
                status = self.status_of(status);
            }
            self.after(thread, &it, code, handle, given, &mut posts);
            self.write(thread, &it, code, (from, time), given, &status, posts);
        }
        self.count_waiting(thread, awaited, &status, time);
        code
    }

    /// A function that takes less time than two looks at the clock: one call of several is timed,
    /// and counts for all of them.
    #[inline]
    fn count_quick(&self, thread: &mut Thread, next: Next, at: usize) -> c_int {
        const TIMED: u64 = 16;
        let entry = thread.entry(at);
        entry.calls += 1;
        if entry.calls > TIMED && !entry.calls.is_multiple_of(TIMED) {
            return self.pass(next);
        }
        let weight = if entry.calls > TIMED { TIMED } else { 1 };
        let from = ticks();
        let code = self.pass(next);
        let time = ticks().wrapping_sub(from);
        let entry = thread.entry(at);
        entry.ticks += weight * time;
        entry.longest = entry.longest.max(time);
        thread.front().last = from.wrapping_add(time);
        if let Some(stream) = thread.stream.as_deref_mut() {
            stream.write(Some(at), self.shape.what, (from, time), None);
        }
        code
    }

    /// A function around which nothing more is done.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    #[inline]
    unsafe fn count_plain(&self, thread: &mut Thread, next: Next, it: UnderWay) -> c_int {
        let from = it.begin(thread);
        let code = self.pass(next);
        let time = ticks().wrapping_sub(from);
        // SAFETY: the caller's promise.
        unsafe {
            let given = self.end(thread, &it, code, time, from);
            let posts = Posts::default();
            self.write(
                thread,
                &it,
                code,
                (from, time),
                given,
                &Status::empty(),
                posts,
            );
        }
        code
    }

    /// A function that waits for others, or makes or gives back something that is known.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn count_other(&self, thread: &mut Thread, next: Next, it: UnderWay) -> c_int {
        let mut awaited = Awaited::NOBODY;
        // SAFETY: the caller's promise.
        let handle = unsafe { self.before(thread, it.group, &mut awaited) };
        let mut status = Status::empty();
        // SAFETY: the caller's promise.
        let wanted = unsafe { self.look_ahead(thread) };
        let wants_status = awaited.any.is_some() || wanted == Wanted::One;
        let mut posts = self.post(thread, it.group);
        let from = it.begin(thread);
        if awaited.count == 1 && awaited.any.is_none() {
            thread.front().awaits = awaited.ranks[0] + 1;
        }
        let code = match wants_status {
            true => self.pass_with_status(next, &mut status),
            false if wanted == Wanted::Many => next.call_with(&self.with_statuses(thread)),
            false => self.pass(next),
        };
        let time = ticks().wrapping_sub(from);
        // SAFETY: the caller's promise.
        let given = unsafe { self.end(thread, &it, code, time, from) };
        // SAFETY: the caller's promise.
        unsafe {
            if wants_status {
                status = self.status_of(status);
            }
            self.after(thread, &it, code, handle, given, &mut posts);
            self.write(thread, &it, code, (from, time), given, &status, posts);
        }
        self.count_waiting(thread, awaited, &status, time);
        code
    }

    /// A function that may be called again and again until it has seen something, which it tells at
    /// `seen`, where calls are written one by one. One that has seen nothing is counted, and that
    /// is all: with others it becomes a slice later.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn count_poll(&self, thread: &mut Thread, next: Next, it: UnderWay, seen: u8) -> c_int {
        let mut status = Status::empty();
        // SAFETY: the caller's promise.
        let wanted = unsafe { self.look_ahead(thread) };
        let mut posts = self.post(thread, it.group);
        let from = it.begin(thread);
        let code = match wanted {
            Wanted::Nothing => self.pass(next),
            Wanted::One => self.pass_with_status(next, &mut status),
            Wanted::Many => next.call_with(&self.with_statuses(thread)),
        };
        let time = ticks().wrapping_sub(from);
        // SAFETY: the caller's promise: where it tells that, there is a number.
        let seen = unsafe { self.words.at::<c_int>(seen) };
        if code == 0 && seen.is_some_and(|it| it <= 0) {
            self.count_time(thread, &it, time, from);
            if let Some(comm) = &posts.comm {
                comm.cancel(posts.receive);
            }
            if let Some(stream) = thread.stream.as_deref_mut() {
                stream.poll(it.at, self.shape.what, (from, time));
            }
            return code;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let given = self.end(thread, &it, code, time, from);
            if wanted == Wanted::One {
                status = self.status_of(status);
            }
            self.after(thread, &it, code, 0, given, &mut posts);
            self.write(thread, &it, code, (from, time), given, &status, posts);
        }
        code
    }

    /// Calls the function behind with what the program has given, and a place for a status if it
    /// has none.
    fn pass_with_status(&self, next: Next, status: &mut Status) -> c_int {
        let Some(at) = self.shape.status.filter(|_| self.shape.is_few) else {
            return next.call_with(&self.with_status(status));
        };
        let mut few = self.words.few();
        let word = &mut few[usize::from(at)];
        if *word == consts::STATUS_IGNORE {
            *word = (&raw mut *status).addr();
        }
        next.call_few(&few)
    }

    /// Calls the function behind with what the program has given.
    #[inline]
    fn pass(&self, next: Next) -> c_int {
        match self.shape.is_few {
            true => next.call_few(&self.words.few()),
            false => next.call_with(&self.words.all()),
        }
    }

    /// Counts a call that has begun at `from`, taken that time, and returned with `code`: the bytes
    /// that it has moved.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    #[inline]
    unsafe fn end(
        &self,
        thread: &mut Thread,
        it: &UnderWay,
        code: c_int,
        time: u64,
        from: u64,
    ) -> Option<u64> {
        let shape = self.shape;
        // Only what the call was content with may be asked about.
        let given = match code {
            // SAFETY: the caller's promise.
            0 => unsafe { thread.amount(shape, &self.words, it.group) },
            _ => None,
        };
        self.count_time(thread, it, time, from);
        if let (Some(at), Some(bytes)) = (it.at, given.filter(|_| !shape.is_persistent)) {
            let entry = thread.entry(at);
            entry.bytes += bytes;
            entry.sizes[size_class(bytes)] += 1;
        }
        if shape.is_logged {
            thread.note(it.group, time);
        }
        if let (Some(to), Some(bytes)) = (shape.to, given) {
            self.count_message(thread, it.group, to, bytes);
        }
        given
    }

    /// Counts a call that has begun at `from` and taken that time.
    #[inline]
    fn count_time(&self, thread: &mut Thread, it: &UnderWay, time: u64, from: u64) {
        let front = thread.front();
        front.open = 0;
        front.last = from.wrapping_add(time);
        match it.at {
            Some(at) => {
                let entry = thread.entry(at);
                entry.calls += 1;
                entry.ticks += time;
                entry.longest = entry.longest.max(time);
            }
            None => {
                front.lost_calls += 1;
                front.lost += time;
            }
        }
    }

    /// A new entry; `None` if there is no room.
    #[cold]
    fn make_entry(&self, thread: &mut Thread, found: Found, what: u32) -> Option<usize> {
        let (site, place) = thread.place(found, self.caller, self.top);
        let (at, is_new) = thread.find(site, what)?;
        if is_new {
            let entry = thread.entry(at);
            entry.site = site;
            entry.place = place;
            let is_collective = match self.shape.is_logged {
                true => COLLECTIVE,
                false => 0,
            };
            entry.class = self.shape.class as u32 | is_collective;
            entry.what = what;
        }
        Some(at)
    }

    /// The status that the program wants, or else that of [`with_status`](Call::with_status).
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn status_of(&self, own: Status) -> Status {
        // SAFETY: the caller's promise.
        unsafe { self.shape.status.and_then(|at| self.words.at(at)) }.unwrap_or(own)
    }

    /// The arguments, with a place for a status if the program has none.
    fn with_status(&self, status: &mut Status) -> [usize; catena_tool::call::MOST] {
        let mut all = self.words.all();
        if let Some(at) = self.shape.status {
            let word = &mut all[usize::from(at)];
            if *word == consts::STATUS_IGNORE {
                *word = (&raw mut *status).addr();
            }
        }
        all
    }

    /// Finds out whom the call will wait for, and counts the messages that it starts. Gives the
    /// handle that it will give back.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    unsafe fn before(&self, thread: &mut Thread, group: u32, awaited: &mut Awaited) -> usize {
        let words = &self.words;
        let mut one = |requests: &Requests, handle: usize| {
            let Some(request) = requests.look(handle) else {
                return;
            };
            match request.peer {
                consts::ANY_SOURCE => awaited.any = request.comm.clone(),
                peer => {
                    let comm = request.comm.as_deref();
                    let rank = comm.and_then(|it| it.world(peer.into()));
                    rank.into_iter().for_each(|rank| awaited.add(rank));
                }
            }
        };
        // SAFETY: the caller's promise: where a handle is expected there is one.
        unsafe {
            match self.shape.act {
                Act::Wait => {
                    let handle = words.at::<usize>(0).unwrap_or(0);
                    requests(|it| one(it, handle));
                }
                Act::WaitMany => {
                    let count = usize::try_from(words.int(0)).unwrap_or(0);
                    let all = words.word(1) as *const usize;
                    if !all.is_null() {
                        requests(|it| {
                            (0..count.min(LOOKED_AT)).for_each(|i| one(it, *all.add(i)));
                        });
                    }
                    // Of several nobody knows whose status is told.
                    awaited.any = None;
                }
                Act::Waits => {
                    let from = self.shape.from.or(self.shape.to);
                    let peer = from.map_or(i64::from(consts::PROC_NULL), |at| words.int(at));
                    match peer == i64::from(consts::ANY_SOURCE) && self.shape.status.is_some() {
                        true => {
                            awaited.any = thread.groups.members(group).map(|it| it.comm.clone())
                        }
                        false => {
                            let rank = thread.groups.members(group).and_then(|it| it.world(peer));
                            rank.into_iter().for_each(|rank| awaited.add(rank));
                        }
                    }
                }
                Act::Gives(_) | Act::GivesType | Act::GivesRequest => {
                    return words.at::<usize>(0).unwrap_or(0);
                }
                Act::Plain
                | Act::Tests
                | Act::Begins
                | Act::Start
                | Act::StartAll
                | Act::Opens
                | Act::Makes(..)
                | Act::MakesLater
                | Act::Names => {}
            }
        }
        0
    }

    /// Notes what the call has made, started, or given back.
    ///
    /// # Safety
    /// The arguments are as the standard wants them, and the call has returned with `code`.
    unsafe fn after(
        &self,
        thread: &mut Thread,
        it: &UnderWay,
        code: c_int,
        handle: usize,
        given: Option<u64>,
        posts: &mut Posts,
    ) {
        let (shape, words) = (self.shape, &self.words);
        if code != 0 {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match shape.act {
                Act::Begins => {
                    let made = shape.request.and_then(|at| words.at::<usize>(at));
                    let peer = shape.from.or(shape.to);
                    if let (Some(handle), Some(peer)) = (made, peer) {
                        let request = Request {
                            peer: words.int(peer) as i32,
                            comm: self.comm(thread, it.group),
                            sends: shape.to.and(given),
                            ..Request::default()
                        };
                        let request = self.about(thread, request, posts);
                        requests(|it| it.add(handle, request));
                    }
                }
                Act::Start => {
                    let handle = words.at::<usize>(0).unwrap_or(0);
                    count_start(thread, handle, it.at);
                }
                Act::StartAll => {
                    let count = usize::try_from(words.int(0)).unwrap_or(0);
                    let all = words.word(1) as *const usize;
                    (0..count).for_each(|i| count_start(thread, *all.add(i), it.at));
                }
                Act::Gives(_) => thread.groups.give_back(handle),
                Act::GivesType => groups::type_given_back(),
                Act::GivesRequest => thread.tell_given_back(handle),
                Act::MakesLater => self.make_later(thread, it.group),
                Act::Opens => {
                    let name = words.word(1) as *const std::ffi::c_char;
                    let file = words.at::<usize>(4);
                    if let (false, Some(file)) = (name.is_null(), file) {
                        thread.open_file(file, std::ffi::CStr::from_ptr(name));
                    }
                }
                Act::Makes(at, kind) => {
                    if let Some(made) = words.at::<usize>(at).filter(|&it| groups::is_object(it)) {
                        let by = self.maker(thread, it.group);
                        thread.look_made(kind, made, Some(by));
                    }
                }
                Act::Names => {
                    let name = words.word(1) as *const std::ffi::c_char;
                    if !name.is_null() {
                        thread.rename(it.group, std::ffi::CStr::from_ptr(name));
                    }
                }
                Act::Plain | Act::Tests | Act::Waits | Act::Wait | Act::WaitMany => {}
            }
        }
    }

    /// Counts bytes to another rank, or from it.
    #[inline]
    fn count_message(&self, thread: &mut Thread, group: u32, to: u8, bytes: u64) {
        let rank = self.words.int(to);
        let rank = thread.groups.members(group).and_then(|it| it.world(rank));
        let Some(rank) = rank.filter(|_| !self.shape.is_persistent) else {
            return;
        };
        let peer = thread.peer(rank);
        match self.shape.is_get {
            true => peer.got += bytes,
            false => {
                peer.bytes += bytes;
                peer.messages += 1;
            }
        }
    }

    /// Counts the time of the call as waiting for the other ranks, an equal part for each.
    fn count_waiting(&self, thread: &mut Thread, mut awaited: Awaited, status: &Status, time: u64) {
        if let Some(comm) = awaited.any.take() {
            let rank = comm.world(status.source.into());
            rank.into_iter().for_each(|rank| awaited.add(rank));
        }
        let ranks = awaited.all();
        for &rank in ranks {
            thread.peer(rank).waits += time / ranks.len() as u64;
        }
    }
}

/// Counts the message that a persistent request sends when it is started.
fn count_start(thread: &mut Thread, handle: usize, at: Option<usize>) {
    let Some(request) = requests(|it| it.get(handle)) else {
        return;
    };
    thread.tell_start(handle, &request);
    let Some(bytes) = request.sends else {
        return;
    };
    if let Some(rank) = request.comm.and_then(|it| it.world(request.peer.into())) {
        let peer = thread.peer(rank);
        peer.bytes += bytes;
        peer.messages += 1;
    }
    if let Some(at) = at {
        let entry = thread.entry(at);
        entry.bytes += bytes;
        entry.sizes[size_class(bytes)] += 1;
    }
}
