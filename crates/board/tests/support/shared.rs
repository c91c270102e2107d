//! A board in the memory of one process. Payloads are plain memory, so that a
//! thread sanitizer sees what the order of the other words does not protect.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use catena_board::{
    Board, INLINE, LEFT, Limits, LongOp, Payload, PayloadPlace, Refused, Trouble, add_lack,
};
use catena_schedule::{Buf, Order, Region};

struct Line {
    stamp: AtomicU64,
    meta: AtomicU64,
    at: AtomicU64,
    payload: [UnsafeCell<u8>; INLINE],
}

/// The buffers of one member.
#[derive(Default)]
pub struct Buffers {
    pub input: Vec<u8>,
    pub output: Vec<u8>,
    scratch: Vec<u8>,
}

impl Buffers {
    fn buf(&mut self, buf: Buf) -> &mut Vec<u8> {
        match buf {
            Buf::Input => &mut self.input,
            Buf::Output => &mut self.output,
            Buf::Scratch => &mut self.scratch,
        }
    }

    fn part(&mut self, r: Region) -> &mut [u8] {
        &mut self.buf(r.buf)[r.offset..r.end()]
    }
}

/// What all members see.
pub struct Shared {
    pub limits: Limits,
    lines: Vec<Line>,
    rings: Vec<UnsafeCell<u8>>,
    done: Vec<AtomicU64>,
    lacks: Vec<AtomicU64>,
    /// How often members were asked what they prefer.
    pub asked: AtomicU64,
    /// The only member that prefers the ring, if there is one that always does.
    pub prefers_ring: Option<u32>,
    pub buffers: Vec<Mutex<Buffers>>,
    /// How often each member gets the memory that it needs besides its buffers.
    pub rooms: Vec<AtomicU64>,
}

// SAFETY: a payload is read when it was published, and written when all who read
// what was there have said so: that is what is tested.
unsafe impl Sync for Shared {}

impl Shared {
    pub fn new(ranks: u32, limits: Limits) -> Arc<Self> {
        Arc::new(Shared::with(ranks, limits, None))
    }

    pub fn with(ranks: u32, limits: Limits, prefers_ring: Option<u32>) -> Self {
        let ranks = ranks as usize;
        let line = |_| Line {
            stamp: AtomicU64::new(0),
            meta: AtomicU64::new(0),
            at: AtomicU64::new(0),
            payload: [const { UnsafeCell::new(0) }; INLINE],
        };
        let bytes = ranks * (limits.ring + limits.long);
        Shared {
            limits,
            lines: (0..ranks * limits.lines as usize).map(line).collect(),
            rings: (0..bytes).map(|_| UnsafeCell::new(0)).collect(),
            done: (0..ranks).map(|_| AtomicU64::new(0)).collect(),
            lacks: (0..ranks).map(|_| AtomicU64::new(0)).collect(),
            asked: AtomicU64::new(0),
            prefers_ring,
            buffers: (0..ranks).map(|_| Mutex::default()).collect(),
            rooms: (0..ranks).map(|_| AtomicU64::new(u64::MAX)).collect(),
        }
    }

    fn line(&self, rank: u32, seq: u64) -> &Line {
        let lines = self.limits.lines;
        &self.lines[(u64::from(rank) * lines + seq % lines) as usize]
    }

    /// Bytes from `at` on of a payload that is not direct.
    fn bytes(&self, p: &Payload, at: usize, len: usize) -> &[UnsafeCell<u8>] {
        match p.place {
            PayloadPlace::Line => &self.line(p.rank, p.seq).payload[at..at + len],
            PayloadPlace::Ring => {
                let (begin, end) = p.ring_place(&self.limits);
                assert!(begin + at + len <= end, "beyond the ring");
                let rings = p.ring_of() as usize * (self.limits.ring + self.limits.long);
                &self.rings[rings + begin + at..][..len]
            }
            PayloadPlace::Direct => panic!("a direct payload is not on the board"),
        }
    }
}

/// What one member sees.
pub struct Seat {
    pub shared: Arc<Shared>,
    pub rank: u32,
    pub op: fn(&[u8], &mut [u8], Order),
}

/// Addresses tell the buffer and the offset.
const SHIFT: u32 = 32;

fn buffer_at(address: u64) -> (Buf, usize) {
    let bufs = [Buf::Input, Buf::Output, Buf::Scratch];
    (bufs[(address >> SHIFT) as usize], address as u32 as usize)
}

impl Seat {
    fn with<T>(&self, rank: u32, f: impl FnOnce(&mut Buffers) -> T) -> T {
        f(&mut self.shared.buffers[rank as usize].lock().unwrap())
    }

    /// Whether there is memory once more.
    fn room(&self) -> Result<(), Trouble> {
        let room = &self.shared.rooms[self.rank as usize];
        let left = room.load(Ordering::Relaxed);
        room.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 {
            return Err(Trouble::NoMemory(1));
        }
        Ok(())
    }

    fn own(&self, r: Region) -> Vec<u8> {
        self.with(self.rank, |b| b.part(r).to_vec())
    }

    fn write(&self, into: Region, bytes: &[u8]) {
        assert_ne!(into.buf, Buf::Input);
        self.with(self.rank, |b| b.part(into).copy_from_slice(bytes));
    }

    fn read(&self, p: &Payload, at: usize, len: usize) -> Vec<u8> {
        if p.place == PayloadPlace::Direct {
            let (buf, offset) = buffer_at(p.at);
            let from = Region::new(buf, offset + at, len);
            return self.with(p.rank, |b| b.part(from).to_vec());
        }
        let bytes = self.shared.bytes(p, at, len);
        // SAFETY: nobody writes what is published before all have read it.
        bytes.iter().map(|b| unsafe { *b.get() }).collect()
    }

    fn store(&self, to: &Payload, at: usize, bytes: &[u8]) {
        assert_eq!(to.rank, self.rank);
        let places = self.shared.bytes(to, at, bytes.len());
        for (place, &byte) in places.iter().zip(bytes) {
            // SAFETY: its owner alone writes it, when nobody reads it any more.
            unsafe { *place.get() = byte };
        }
    }
}

impl Board for Seat {
    fn leaves(&mut self) -> bool {
        self.shared.asked.load(Ordering::Relaxed) % 3 == 1
    }

    /// Members prefer now this way, now that, mostly all the same one.
    fn prefers_ring(&mut self, _: LongOp) -> bool {
        if let Some(rank) = self.shared.prefers_ring {
            return self.rank == rank;
        }
        let members = self.shared.buffers.len() as u64;
        let asked = self.shared.asked.fetch_add(1, Ordering::Relaxed);
        asked / (5 * members.div_ceil(3)) % 2 == 1
    }

    fn stamp(&self, rank: u32, seq: u64) -> u64 {
        self.shared.line(rank, seq).stamp.load(Ordering::Acquire)
    }

    fn meta(&self, rank: u32, seq: u64) -> u64 {
        self.shared.line(rank, seq).meta.load(Ordering::Relaxed)
    }

    fn payload(&self, rank: u32, seq: u64, place: PayloadPlace) -> Payload {
        let at = self.shared.line(rank, seq).at.load(Ordering::Relaxed);
        Payload {
            place,
            rank,
            seq,
            at,
            is_taken: false,
        }
    }

    fn put(&mut self, to: &Payload, at: usize, from: Region) {
        self.store(to, at, &self.own(from));
    }

    fn put_word(&mut self, to: &Payload, at: usize, word: u32) {
        self.store(to, at, &word.to_ne_bytes());
    }

    fn publish(&mut self, own: &Payload, meta: u64, _: Option<u32>) {
        let line = self.shared.line(self.rank, own.seq);
        line.meta.store(meta, Ordering::Relaxed);
        line.at.store(own.at, Ordering::Relaxed);
        line.stamp.store(own.seq, Ordering::Release);
    }

    fn withdraw(&mut self, seq: u64) {
        let meta = &self.shared.line(self.rank, seq).meta;
        meta.fetch_or(3 << 62, Ordering::Relaxed);
        self.lack(seq);
    }

    fn lack(&mut self, seq: u64) {
        let word = &self.shared.lacks[self.rank as usize];
        word.store(
            add_lack(word.load(Ordering::Relaxed), seq),
            Ordering::Relaxed,
        );
    }

    fn lacks(&self, rank: u32) -> u64 {
        self.shared.lacks[rank as usize].load(Ordering::Relaxed)
    }

    fn get(&mut self, from: &Payload, at: usize, into: Region) -> Result<(), Refused> {
        assert!(!from.is_taken || from.at & LEFT == 0);
        self.write(into, &self.read(from, at, into.len));
        Ok(())
    }

    fn give(&mut self, to: &Payload, at: usize, from: Region) -> Result<(), Refused> {
        let (buf, offset) = buffer_at(to.at);
        let into = Region::new(buf, offset + at, from.len);
        assert_ne!(into.buf, Buf::Input);
        let bytes = self.own(from);
        self.with(to.rank, |b| b.part(into).copy_from_slice(&bytes));
        Ok(())
    }

    fn word(&self, from: &Payload, at: usize) -> u32 {
        let bytes = self.read(from, at, 4);
        u32::from_ne_bytes(bytes.try_into().unwrap())
    }

    fn combine(
        &mut self,
        from: &Payload,
        at: usize,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble> {
        self.room()?;
        let bytes = self.read(from, at, into.len);
        self.with(self.rank, |b| (self.op)(&bytes, b.part(into), order));
        Ok(())
    }

    fn join(
        &mut self,
        from: &Payload,
        at: usize,
        own: Region,
        into: Region,
        order: Order,
    ) -> Result<(), Trouble> {
        self.copy(own, into);
        self.combine(from, at, into, order)
    }

    fn reserve(&mut self, len: usize) -> Result<(), Trouble> {
        self.room()?;
        self.with(self.rank, |b| b.scratch = vec![0xA5; len]);
        Ok(())
    }

    fn copy(&mut self, from: Region, into: Region) {
        self.write(into, &self.own(from));
    }

    fn fold(&mut self, from: Region, into: Region, order: Order) -> Result<(), Trouble> {
        self.room()?;
        let bytes = self.own(from);
        self.with(self.rank, |b| (self.op)(&bytes, b.part(into), order));
        Ok(())
    }

    fn address(&mut self, of: Region) -> u64 {
        (of.buf as u64) << SHIFT | of.offset as u64
    }

    fn set_done(&mut self, seq: u64) {
        self.shared.done[self.rank as usize].store(seq, Ordering::Release);
    }

    fn done(&self, rank: u32) -> u64 {
        self.shared.done[rank as usize].load(Ordering::Acquire)
    }
}
