//! Which ring is a thread's.
//!
//! While the library belongs to one thread at a time, there is one ring for all, whose address is
//! one load away. With several threads at once each claims a ring of its own when it first calls,
//! and gives it back at its end. What is called before the process has an area, or by more threads
//! than there are rings, goes to a ring of the library that nobody reads.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use crate::area::{Area, ENTRIES, Lines, Phase, RINGS, Ring, Who};
use crate::counts::Counts;
use crate::frames;

/// Where entries go that nobody reads.
static SPARE: Ring = Ring {
    written: AtomicU64::new(0),
    entries: Lines([const { [const { AtomicU64::new(0) }; 2] }; ENTRIES]),
};

/// The ring of all threads; null while each has one of its own.
static SHARED: AtomicPtr<Ring> = AtomicPtr::new(ptr::from_ref(&SPARE).cast_mut());

/// The area of this process, from [`begin`] on: the address of its memory.
static OWN: AtomicPtr<Area> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// The ring of this thread; null before it has claimed one.
    static MINE: Cell<*const Ring> = const { Cell::new(ptr::null()) };
    /// Gives it back.
    static CLAIM: Claim = const { Claim(Cell::new(None)) };
}

/// The area and the number of the ring that a thread has claimed.
#[derive(Debug)]
struct Claim(Cell<Option<(&'static Area, usize)>>);

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some((area, number)) = self.0.take() {
            // Another destructor of this thread may call MPI.
            _ = MINE.try_with(|mine| mine.set(&raw const SPARE));
            area.front().taken.fetch_and(!(1 << number), Release);
        }
    }
}

/// The ring that this thread writes to.
#[inline(always)]
pub(crate) fn ring() -> &'static Ring {
    let shared = SHARED.load(Relaxed);
    if shared.is_null() {
        return own();
    }
    // SAFETY: a ring of the area, which stays, or the spare one.
    unsafe { &*shared }
}

/// Whether this thread writes to a ring that another one has claimed.
pub(crate) fn uses_ring_of_another() -> bool {
    let shared = SHARED.load(Relaxed).cast_const();
    let is_claimed = !shared.is_null() && !ptr::eq(shared, &raw const SPARE);
    is_claimed && MINE.try_with(Cell::get).ok() != Some(shared)
}

/// The ring of this thread. Apart, or it would stand in each of the functions of MPI.
#[inline(never)]
fn own() -> &'static Ring {
    let mine = MINE.try_with(Cell::get).unwrap_or(&raw const SPARE);
    if mine.is_null() {
        return claim();
    }
    // SAFETY: as above.
    unsafe { &*mine }
}

/// Claims a ring for this thread.
#[cold]
#[inline(never)]
fn claim() -> &'static Ring {
    let claimed = area().and_then(|area| Some((area, claim_in(area)?)));
    let ring = match claimed {
        Some((area, number)) => area.ring(number),
        None => &SPARE,
    };
    MINE.set(ring);
    _ = CLAIM.try_with(|claim| claim.0.set(claimed));
    ring
}

fn claim_in(area: &'static Area) -> Option<usize> {
    let front = area.front();
    let all = (1 << RINGS) - 1;
    let mut taken = front.taken.load(Relaxed);
    loop {
        let number = (!taken & all).trailing_zeros() as usize;
        if number >= RINGS || !Area::provide(area.ring(number)) {
            return None;
        }
        match front
            .taken
            .compare_exchange_weak(taken, taken | 1 << number, AcqRel, Relaxed)
        {
            Ok(_) => {
                front.threads[number].store(thread(), Relaxed);
                return Some(number);
            }
            Err(now) => taken = now,
        }
    }
}

/// Nanoseconds of the monotonic clock, which all processes of a host have in common.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a clock that there is, and a place for what it says.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The calling thread, as the kernel counts.
pub fn thread() -> u32 {
    thread_local!(static NUMBER: Cell<u32> = const { Cell::new(0) });
    NUMBER
        .try_with(|known| {
            if known.get() == 0 {
                known.set(thread_now());
            }
            known.get()
        })
        .unwrap_or_else(|_| thread_now())
}

/// As [`thread`], without what other threads or its own destructors may have.
pub fn thread_now() -> u32 {
    // The function of that name came with glibc 2.30.
    // SAFETY: without arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// The area of this process.
pub(crate) fn area() -> Option<&'static Area> {
    // SAFETY: null, or what `begin` leaked.
    unsafe { OWN.load(Acquire).as_ref() }
}

/// Writes into this area from now on, as that process. The calling thread goes on with what it has
/// called before.
pub fn begin(area: Area, who: Who) {
    let area: &'static Area = Box::leak(Box::new(area));
    area.begin(who);
    frames::begin();
    let ring = match claim_in(area) {
        Some(number) => {
            _ = CLAIM.try_with(|claim| claim.0.set(Some((area, number))));
            area.ring(number)
        }
        None => &SPARE,
    };
    if !ptr::eq(ring, &raw const SPARE) {
        for (to, from) in ring.entries.0.iter().zip(&SPARE.entries.0) {
            for (to, from) in to.iter().zip(from) {
                to.store(from.load(Relaxed), Relaxed);
            }
        }
        ring.written.store(SPARE.written.load(Relaxed), Release);
    }
    MINE.set(ring);
    OWN.store(ptr::from_ref(area).cast_mut(), Release);
    SHARED.store(ptr::from_ref(ring).cast_mut(), Relaxed);
}

/// The threads of this process, as the kernel counts them.
pub fn threads() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task");
    let number = |task: std::fs::DirEntry| task.file_name().to_str()?.parse().ok();
    let tasks = tasks.into_iter().flatten().flatten();
    tasks.filter_map(number).collect()
}

/// Notes the threads that there are now and were not `before`, when MPI began in this process: they
/// are of libraries that it stands upon, and call MPI never.
pub fn note_helpers(before: &[u32]) {
    let Some(area) = area() else {
        return;
    };
    let own = thread();
    let new = threads()
        .into_iter()
        .filter(|it| !before.contains(it) && *it != own);
    for (place, helper) in area.front().helpers.iter().zip(new) {
        place.store(helper, Relaxed);
    }
}

/// Whether several threads may be in the library at once. Until that is said, they may not.
pub fn set_threaded(threaded: bool) {
    if let Some(area) = area() {
        area.front().threaded.store(threaded.into(), Relaxed);
    }
    let ring = match area() {
        // The one that `begin` has claimed.
        Some(area) if !threaded => area.ring(0),
        Some(_) => ptr::null(),
        None => return,
    };
    SHARED.store(ring.cast_mut(), Relaxed);
}

/// Calls a function of the program: while that runs, nothing is believed of what this thread waits
/// for.
pub fn in_program<R>(call: impl FnOnce() -> R) -> R {
    let Some(area) = area() else {
        return call();
    };
    area.front().in_program.fetch_add(1, Relaxed);
    let result = call();
    area.front().in_program.fetch_sub(1, Relaxed);
    result
}

/// Says how far this process has come.
pub fn set_phase(phase: Phase) {
    if let Some(area) = area() {
        area.set_phase(phase);
    }
}

/// Tells what this process has counted, instead of what was told before. One thread at a time does,
/// as for all of the library. Cost: some ten nanoseconds.
pub fn tell_counts(counts: &Counts) {
    if let Some(area) = area() {
        area.front().counts.write(counts);
    }
}

/// Writes nothing more into the area: this process is a copy of the one whose area it is. Safe in a
/// handler that runs in the child of `fork`.
pub extern "C" fn end() {
    SHARED.store((&raw const SPARE).cast_mut(), Relaxed);
    OWN.store(ptr::null_mut(), Relaxed);
}
