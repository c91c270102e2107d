//! A board in the memory of one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use catena_coll::node::{Board, INLINE, Place};
use catena_plan::{Buf, Order, Region};

const LINES: u64 = 4;
const SLOTS: u64 = 2;

struct Line {
    stamp: AtomicU64,
    meta: AtomicU64,
    payload: [AtomicU8; INLINE],
}

/// What all members see.
pub struct Shared {
    capacity: usize,
    lines: Vec<Line>,
    slots: Vec<AtomicU8>,
    done: Vec<AtomicU64>,
}

impl Shared {
    pub fn new(ranks: u32, capacity: usize) -> Arc<Self> {
        let ranks = ranks as usize;
        let bytes = ranks * SLOTS as usize * capacity;
        Arc::new(Shared {
            capacity,
            lines: (0..ranks * LINES as usize)
                .map(|_| Line {
                    stamp: AtomicU64::new(0),
                    meta: AtomicU64::new(0),
                    payload: [const { AtomicU8::new(0) }; INLINE],
                })
                .collect(),
            slots: (0..bytes).map(|_| AtomicU8::new(0)).collect(),
            done: (0..ranks).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    fn line(&self, rank: u32, seq: u64) -> &Line {
        &self.lines[rank as usize * LINES as usize + (seq % LINES) as usize]
    }

    fn payload(&self, place: Place, rank: u32, seq: u64) -> &[AtomicU8] {
        match place {
            Place::Line => &self.line(rank, seq).payload,
            Place::Slot => {
                let slot = rank as usize * SLOTS as usize + (seq % SLOTS) as usize;
                &self.slots[slot * self.capacity..][..self.capacity]
            }
        }
    }
}

/// What one member sees.
pub struct Seat {
    pub shared: Arc<Shared>,
    pub rank: u32,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
    pub op: fn(&[u8], &mut [u8], Order),
}

impl Seat {
    fn bytes(&self, r: Region) -> &[u8] {
        match r.buf {
            Buf::Input => &self.input[r.offset..r.end()],
            Buf::Output => &self.output[r.offset..r.end()],
            Buf::Scratch => unreachable!("boards need no scratch memory"),
        }
    }

    fn read(&self, place: Place, rank: u32, seq: u64, at: usize, len: usize) -> Vec<u8> {
        let payload = &self.shared.payload(place, rank, seq)[at..at + len];
        payload.iter().map(|b| b.load(Ordering::Relaxed)).collect()
    }
}

impl Board for Seat {
    const LINES: u64 = LINES;
    const SLOTS: u64 = SLOTS;

    fn capacity(&self) -> usize {
        self.shared.capacity
    }

    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        self.shared.line(rank, seq).stamp.load(Ordering::Acquire)
    }

    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.shared.line(rank, seq).meta.load(Ordering::Relaxed)
    }

    fn put(&mut self, place: Place, seq: u64, at: usize, from: Region) {
        let payload = &self.shared.payload(place, self.rank, seq)[at..at + from.len];
        for (to, &byte) in payload.iter().zip(self.bytes(from)) {
            to.store(byte, Ordering::Relaxed);
        }
    }

    fn publish(&mut self, seq: u64, meta: u64) {
        let line = self.shared.line(self.rank, seq);
        line.meta.store(meta, Ordering::Relaxed);
        line.stamp.store(seq, Ordering::Release);
    }

    fn get(&mut self, place: Place, rank: u32, seq: u64, at: usize, into: Region) {
        let bytes = self.read(place, rank, seq, at, into.len);
        assert_eq!(into.buf, Buf::Output);
        self.output[into.offset..into.end()].copy_from_slice(&bytes);
    }

    fn combine(
        &mut self,
        place: Place,
        rank: u32,
        seq: u64,
        at: usize,
        into: Region,
        order: Order,
    ) {
        let bytes = self.read(place, rank, seq, at, into.len);
        assert_eq!(into.buf, Buf::Output);
        (self.op)(&bytes, &mut self.output[into.offset..into.end()], order);
    }

    fn copy(&mut self, from: Region, into: Region) {
        let bytes = self.bytes(from).to_vec();
        assert_eq!(into.buf, Buf::Output);
        self.output[into.offset..into.end()].copy_from_slice(&bytes);
    }

    fn set_done(&mut self, seq: u64) {
        self.shared.done[self.rank as usize].store(seq, Ordering::Release);
    }

    fn done(&self, rank: u32) -> u64 {
        self.shared.done[rank as usize].load(Ordering::Acquire)
    }
}
