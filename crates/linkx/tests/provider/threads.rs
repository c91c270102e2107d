//! Several threads at once, as `FI_THREAD_SAFE` allows.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::scope;

use super::*;

/// What several threads use.
struct Shared<T>(T);

// SAFETY: libfabric's objects may be used by several threads at once; that is what is tested.
unsafe impl<T> Sync for Shared<T> {}

/// Threads on each side.
const THREADS: usize = 4;
/// Messages of each.
const MESSAGES: usize = 500;

/// Every thread of one side sends to the thread of the other side that has its number, both ways;
/// all of a side share one endpoint and one queue, which any of them reads.
pub fn threads_share_an_endpoint() {
    let shared = Shared(Pair::open());
    let pair = &shared;
    // What has come for whom: sends and receives.
    let done: [[AtomicUsize; THREADS]; 2] = Default::default();
    let done = &done;
    let poll = move |side: usize| {
        if let Some(told) = pair.0.sides[side].poll() {
            let Ok((entry, _)) = told else {
                panic!("an error");
            };
            done[side][entry.op_context as usize].fetch_add(1, Release);
        }
    };
    scope(|scope| {
        for (side, done) in done.iter().enumerate() {
            for (thread, done) in done.iter().enumerate() {
                scope.spawn(move || {
                    let it = &pair.0.sides[side];
                    let there = pair.0.there[side];
                    let tag = thread as u64;
                    let mut room = vec![0u8; 4096];
                    for turn in 0..MESSAGES {
                        let len = 1 + (turn * 97 + thread) % 4096;
                        let message = vec![(turn + thread + side) as u8; len];
                        it.trecv(&mut room, there, (tag, 0), thread);
                        it.tsend(&message, there, tag, thread);
                        let began = Instant::now();
                        while done.load(Acquire) < 2 * (turn + 1) {
                            poll(side);
                            assert!(began.elapsed() < PATIENCE, "no completion");
                        }
                        let expected = (turn + thread + 1 - side) as u8;
                        assert!(room[..len].iter().all(|it| *it == expected));
                    }
                });
            }
        }
    });
    shared.0.close();
}

/// Pairs of endpoints of each thread, one after the other.
const PAIRS: usize = 20;

/// Every thread has endpoints of its own, in domains of their own: those that others close make
/// progress for them meanwhile.
pub fn threads_have_endpoints() {
    scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for turn in 0..PAIRS {
                    let pair = Pair::open();
                    for len in [1000, 40_000].repeat(MESSAGES / PAIRS) {
                        let message = vec![(turn + thread) as u8; len];
                        let mut room = vec![0; len];
                        pair.sides[1].trecv(&mut room, num::ADDR_NONE, (7, 0), 1);
                        pair.sides[0].tsend(&message, pair.there[0], 7, 2);
                        pair.good(1);
                        pair.good(0);
                        assert_eq!(room, message);
                    }
                    pair.close();
                }
            });
        }
    });
}

/// Threads of one side add to the same words of the other one, and write to places of their own.
pub fn writes_and_atomics_of_threads() {
    let shared = Shared(Pair::open());
    let mut memory = vec![0u64; 1 + THREADS];
    // SAFETY: the words of the vector.
    let bytes = unsafe {
        let at = memory.as_mut_ptr().cast::<u8>();
        std::slice::from_raw_parts_mut(at, 8 * (1 + THREADS))
    };
    let mr = inside::register(&shared.0.sides[1], bytes, 5, inside::BOTH);
    let (pair, done) = (&shared, &[const { AtomicUsize::new(0) }; THREADS]);
    let is_over = &AtomicBool::new(false);
    scope(|scope| {
        scope.spawn(move || {
            while !is_over.load(Relaxed) {
                assert!(
                    pair.0.sides[1].poll().is_none(),
                    "the target is told nothing"
                );
            }
        });
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let (it, to) = (&pair.0.sides[0], pair.0.there[0]);
                    for turn in 0..MESSAGES {
                        let (one, own) = (1u64, turn as u64 + 1);
                        let context = thread as *mut c_void;
                        // SAFETY: as the manual pages say.
                        unsafe {
                            let at = (&raw const one).cast();
                            let none = null_mut();
                            let ops = &*(*it.ep).atomic;
                            let done = (ops.write)(it.ep, at, 1, none, to, 0, 5, 7, 2, context);
                            assert_eq!(done, 0);
                            let (at, place) = ((&raw const own).cast(), 8 * (1 + thread as u64));
                            let ops = &*(*it.ep).rma;
                            let done = (ops.write)(it.ep, at, 8, none, to, place, 5, context);
                            assert_eq!(done, 0);
                        }
                        let began = Instant::now();
                        while done[thread].load(Acquire) < 2 * (turn + 1) {
                            assert!(began.elapsed() < PATIENCE, "no completion");
                            if let Some(told) = it.poll() {
                                let (entry, _) = told.ok().expect("a good completion");
                                done[entry.op_context as usize].fetch_add(1, Release);
                            }
                        }
                    }
                })
            })
            .collect();
        let ended: Vec<_> = threads.into_iter().map(|it| it.join()).collect();
        is_over.store(true, Relaxed);
        assert!(
            ended.into_iter().all(|it| it.is_ok()),
            "a thread has failed"
        );
    });
    assert_eq!(memory[0], (THREADS * MESSAGES) as u64);
    assert!(memory[1..].iter().all(|it| *it == MESSAGES as u64));
    inside::close(mr.cast());
    shared.0.close();
}
