//! What a thread counts, and what it knows for that.
//!
//! A thread that ends leaves its table and all that it knows to the next one that begins to call.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use catena_base::clock::ticks;
use catena_profile::layout::{self, Entry, Front, LOG_AT, LOG_TIME, NO_GROUP, PEERS, state};

use crate::groups::Groups;
use crate::site::Sites;
use crate::stream::Stream;
use crate::{memory, phase};
use catena_tool::stack;

thread_local! {
    static THREAD: Cell<*mut Thread> = const { Cell::new(ptr::null_mut()) };
    static LEAVE: RefCell<Option<Leave>> = const { RefCell::new(None) };
}

/// Threads that have ended, for those that come.
static LEFT: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// How many threads have called.
static THREADS: AtomicU32 = AtomicU32::new(0);

/// Leaves what a thread has when that ends.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        let thread = THREAD.replace(ptr::null_mut());
        if !thread.is_null() {
            // SAFETY: it stays, and this thread still has it. One that ends within a call has left
            // that.
            let it = unsafe { &mut *thread };
            it.top = 0;
            it.front().open = 0;
            if let Some(stream) = it.stream.as_deref_mut() {
                stream.end_polls();
            }
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.push(thread.addr());
        }
    }
}

/// Most entries that are looked at for a free one.
const PROBES: usize = 64;

/// A thread.
pub struct Thread {
    table: *mut u8,
    /// Where the caller's part of the stack begins, of the call that is under way; 0 outside.
    pub top: usize,
    /// The address that this call returns to.
    pub caller: usize,
    pub sites: Sites,
    pub groups: Groups,
    /// Where calls are written one by one, if they are.
    pub stream: Option<Box<Stream>>,
    /// How many times of collectives are kept.
    log: u32,
}

impl Thread {
    /// The calling thread; `None` if it has no memory, or is in a call already: the caller's part
    /// of the stack begins at `top`. A call that was left without a return is over then.
    #[inline]
    pub fn current<'a>(top: usize) -> Option<&'a mut Thread> {
        let thread = THREAD.try_with(Cell::get).ok()?;
        let thread = match thread.is_null() {
            true => Thread::begin()?,
            false => thread,
        };
        // SAFETY: it stays, and this thread alone has it; calls within a call get none.
        let thread = unsafe { &mut *thread };
        let is_free = thread.top == 0
            || top >= thread.top
            || stack::is_left(thread.top, top, &stack::own(), || {
                // SAFETY: a call of this thread, on its stack.
                unsafe { stack::is_intact(thread.top, thread.caller) }
            });
        is_free.then_some(thread)
    }

    /// A thread that calls for the first time.
    #[cold]
    fn begin() -> Option<*mut Thread> {
        // One that ends, and has left its table, takes none again: nobody would give that back.
        if !phase::is_going_on() || LEAVE.try_with(|_| ()).is_err() {
            return None;
        }
        let left = LEFT.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let thread = match left {
            Some(left) => {
                let left = left as *mut Thread;
                // SAFETY: it stays, and was left to this thread alone.
                let front = unsafe { (*left).front() };
                // The time between was that of no thread.
                front.begin += ticks().saturating_sub(front.last);
                front.last = ticks();
                left
            }
            None => Thread::new()?,
        };
        THREAD.set(thread);
        _ = LEAVE.try_with(|it| *it.borrow_mut() = Some(Leave));
        Some(thread)
    }

    fn new() -> Option<*mut Thread> {
        // Where there is no memory, it is not asked for again and again.
        static LACKS: AtomicU32 = AtomicU32::new(0);
        const PATIENCE: u32 = 4;
        if LACKS.load(Relaxed) >= PATIENCE {
            return None;
        }
        let Some(memory) = memory::take() else {
            LACKS.fetch_add(1, Relaxed);
            return None;
        };
        let (rank, ranks) = phase::rank();
        let number = THREADS.fetch_add(1, Relaxed);
        let thread = Box::leak(Box::new(Thread {
            table: memory.table,
            top: 0,
            caller: 0,
            sites: Sites::default(),
            groups: Groups::default(),
            stream: memory.stream.map(|it| Box::new(Stream::new(it))),
            log: layout::log_of(ranks) as u32,
        }));
        let is_streamed = thread.stream.is_some();
        let front = thread.front();
        front.is_streamed = is_streamed.into();
        front.rank = rank.unwrap_or_default();
        front.has_rank = rank.is_some().into();
        front.ranks = ranks;
        front.pid = std::process::id();
        front.thread = number;
        front.state = state::RUNNING;
        if number > 0 {
            front.begin = ticks();
            front.last = front.begin;
        }
        front.mark = layout::MARK;
        thread.write_maps();
        Some(thread)
    }

    /// Has the calling thread count no more.
    pub fn forget() {
        _ = THREAD.try_with(|it| it.set(ptr::null_mut()));
    }

    /// A part of the table.
    fn part<T>(&self, at: usize) -> *mut T {
        debug_assert!(at + size_of::<T>() <= layout::TABLE);
        // SAFETY: within the table, which is as long.
        unsafe { self.table.add(at).cast() }
    }

    /// The head of its table.
    #[inline]
    pub fn front(&mut self) -> &mut Front {
        // SAFETY: this thread alone writes it; who reads does so by system calls. All zeros are
        // good values.
        unsafe { &mut *self.part(0) }
    }

    /// An entry.
    #[inline]
    pub fn entry(&mut self, at: usize) -> &mut Entry {
        debug_assert!(at < layout::ENTRIES);
        // SAFETY: as in `front`.
        unsafe { &mut *self.part(layout::ENTRIES_AT + at * size_of::<Entry>()) }
    }

    /// What passed between this rank and another one of the world.
    #[inline]
    pub fn peer(&mut self, rank: u32) -> &mut layout::Peer {
        let at = (rank as usize).min(PEERS - 1);
        // SAFETY: as in `front`.
        unsafe { &mut *self.part(layout::PEERS_AT + at * size_of::<layout::Peer>()) }
    }

    /// A communicator, window or file.
    pub fn group(&mut self, at: usize) -> &mut layout::Group {
        debug_assert!(at < layout::GROUPS);
        // SAFETY: as in `front`.
        unsafe { &mut *self.part(layout::GROUPS_AT + at * size_of::<layout::Group>()) }
    }

    /// Notes the time of a collective.
    #[inline]
    pub fn note(&mut self, group: u32, time: u64) {
        let logged = self.front().logged;
        if logged < self.log && group != NO_GROUP {
            let item = self.part::<u64>(LOG_AT + 8 * logged as usize);
            let time = time.min((1 << LOG_TIME) - 1);
            // SAFETY: within the log, of this thread alone.
            unsafe { *item = time | u64::from(group) << LOG_TIME };
            self.front().logged = logged + 1;
        }
    }

    /// The entry of calls from one place, which `site` tells apart; `None` if there is no room.
    /// `what` is the function and the group. The flag says that it is new.
    #[inline]
    pub fn find(&mut self, site: u64, what: u32) -> Option<(usize, bool)> {
        let mixed = (site ^ u64::from(what) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (mixed >> 54) as usize;
        for _ in 0..PROBES {
            let entry = self.entry(at);
            if entry.what == what && entry.site == site {
                return Some((at, false));
            }
            if entry.what == 0 {
                return Some((at, true));
            }
            at = (at + 1) % layout::ENTRIES;
        }
        None
    }

    /// Notes a place of the program, and gives its number; none if there is no room.
    pub fn add_place(&mut self, addresses: &[u64], python: &str) -> Option<u32> {
        let number = self.front().places;
        if number as usize >= layout::PLACES {
            return None;
        }
        if self.sites.is_unknown_code(addresses) {
            self.write_maps();
        }
        let at = layout::PLACES_AT + number as usize * size_of::<layout::Place>();
        // SAFETY: as in `front`.
        let place = unsafe { &mut *self.part::<layout::Place>(at) };
        let count = addresses.len().min(place.addresses.len());
        place.addresses[..count].copy_from_slice(&addresses[..count]);
        place.frames = count as u32;
        let python = python.as_bytes();
        let len = python.len().min(place.python.len());
        place.python[..len].copy_from_slice(&python[..len]);
        place.python_len = len as u32;
        self.front().places = number + 1;
        Some(number)
    }

    /// Writes what the library has counted.
    pub fn write_counters(&mut self, text: &str) {
        let len = text.len().min(layout::COUNTERS);
        // SAFETY: within the table, of this thread alone.
        unsafe {
            let to = self.part::<u8>(layout::COUNTERS_AT);
            ptr::copy_nonoverlapping(text.as_ptr(), to, len);
        }
        self.front().counters = len as u32;
    }

    /// Writes which code lies where, for who looks for lines later.
    fn write_maps(&mut self) {
        let text = self.sites.read_maps();
        let len = text.len().min(layout::MAPS);
        // SAFETY: within the table, of this thread alone. Where memory is short, this page is
        // missing, which is asked for before.
        unsafe {
            let to = self.part::<u8>(layout::MAPS_AT);
            let advice = libc::MADV_POPULATE_WRITE;
            let done = libc::madvise(to.cast(), len.next_multiple_of(4096), advice);
            // Kernels before 5.14 do not know how.
            let is_old = || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL);
            if done != 0 && !is_old() {
                return;
            }
            ptr::copy_nonoverlapping(text.as_ptr(), to, len);
        }
        self.front().maps = len as u32;
    }
}
