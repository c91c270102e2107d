//! Model of the ring with two cells: every interleaving of a producer and a
//! consumer, with payloads in cells and in the data area. The trackers report
//! any byte that is written while the other side may still use it.
#![cfg(loom)]

use std::sync::Arc as StdArc;

use catena_base::ring::{ALIGN, Area, Bulk, CELL, Consumer, Producer, Touch};
use catena_base::sync::AtomicU64;
use loom::cell::UnsafeCell;

const CELLS: usize = 2;
const DATA: usize = 4 * ALIGN;

struct Memory {
    words: [AtomicU64; CELLS],
    head: AtomicU64,
    freed: AtomicU64,
    /// One tracker per cell and per aligned piece of the data area.
    cells: [UnsafeCell<()>; CELLS],
    pieces: [UnsafeCell<()>; DATA / ALIGN],
    bytes: std::cell::UnsafeCell<Box<[u64]>>,
}

#[derive(Clone)]
struct Tracked(StdArc<Memory>);

// SAFETY: the trackers fail the test on any unordered access to `bytes`.
unsafe impl Send for Tracked {}

impl Tracked {
    fn new() -> Self {
        Tracked(StdArc::new(Memory {
            words: std::array::from_fn(|_| AtomicU64::new(0)),
            head: AtomicU64::new(0),
            freed: AtomicU64::new(0),
            cells: std::array::from_fn(|_| UnsafeCell::new(())),
            pieces: std::array::from_fn(|_| UnsafeCell::new(())),
            bytes: std::cell::UnsafeCell::new(vec![0; (CELLS * CELL + DATA) / 8].into()),
        }))
    }

    fn byte(&self, at: usize) -> *mut u8 {
        // SAFETY: the box is never moved or resized; only raw bytes are used.
        unsafe { (*self.0.bytes.get()).as_mut_ptr().cast::<u8>().add(at) }
    }
}

// SAFETY: `bytes` has room for all cells and the data area, 8-aligned.
unsafe impl Area for Tracked {
    fn word(&self, cell: usize) -> &AtomicU64 {
        &self.0.words[cell]
    }
    fn head(&self) -> &AtomicU64 {
        &self.0.head
    }
    fn freed(&self) -> &AtomicU64 {
        &self.0.freed
    }
    fn rest(&self, cell: usize) -> *mut u8 {
        self.byte(cell * CELL + 8)
    }
    fn data(&self, offset: usize) -> *mut u8 {
        self.byte(CELLS * CELL + offset)
    }
    fn writes(&self, what: Touch) {
        match what {
            Touch::Cell(i) => self.0.cells[i].with_mut(|_| {}),
            Touch::Data { from, len } => {
                for piece in &self.0.pieces[from / ALIGN..(from + len).div_ceil(ALIGN)] {
                    piece.with_mut(|_| {});
                }
            }
        }
    }
    fn reads(&self, what: Touch) {
        match what {
            Touch::Cell(i) => self.0.cells[i].with(|_| {}),
            Touch::Data { from, len } => {
                for piece in &self.0.pieces[from / ALIGN..(from + len).div_ceil(ALIGN)] {
                    piece.with(|_| {});
                }
            }
        }
    }
}

fn pair() -> (Producer<Tracked>, Consumer<Tracked>) {
    let memory = Tracked::new();
    // SAFETY: two cells, DATA bytes, one end of each kind.
    unsafe {
        let mut tx = Producer::new(memory.clone(), CELLS);
        let mut rx = Consumer::new(memory.clone(), CELLS);
        tx.attach_data(memory.clone(), DATA);
        rx.attach_data(memory, DATA);
        tx.extend_data(DATA);
        rx.extend_data(DATA);
        (tx, rx)
    }
}

fn send(tx: &mut Producer<Tracked>, value: u64, len: usize) {
    while !tx.has_room() && !tx.refresh().unwrap() {
        loom::thread::yield_now();
    }
    let words = [value << 8, value, value];
    if len <= 32 {
        // SAFETY: 32 bytes of the cell.
        tx.push(words, len, |to| unsafe { to.write_bytes(value as u8, len) });
        return;
    }
    while !tx.can_reserve(len) {
        tx.refresh().unwrap();
        if !tx.can_reserve(len) {
            loom::thread::yield_now();
        }
    }
    let bulk: Bulk = tx.reserve(len);
    // SAFETY: `len` bytes were reserved.
    unsafe { bulk.ptr.write_bytes(value as u8, len) };
    tx.commit(words, bulk, 7);
}

fn receive(rx: &mut Consumer<Tracked>, value: u64, len: usize) {
    loop {
        let got = rx.pop(|packet| {
            assert_eq!(packet.words[0] >> 8, value);
            assert_eq!(packet.words[1..], [value, value]);
            assert_eq!(packet.flags, if len > 32 { 7 } else { 0 });
            assert_eq!(packet.bytes.to_vec(), vec![value as u8; len]);
        });
        if got.unwrap() {
            return;
        }
        rx.idle();
        loom::thread::yield_now();
    }
}

fn model(lens: &'static [usize]) {
    loom::model(move || {
        let (mut tx, mut rx) = pair();
        let sender = loom::thread::spawn(move || {
            for (i, len) in lens.iter().enumerate() {
                send(&mut tx, i as u64 + 1, *len);
            }
        });
        for (i, len) in lens.iter().enumerate() {
            receive(&mut rx, i as u64 + 1, *len);
        }
        assert_eq!(rx.pop(|_| ()), Ok(false));
        sender.join().unwrap();
    });
}

#[test]
fn cells_are_reused_in_order() {
    model(&[0, 8, 32, 1]);
}

#[test]
fn data_area_is_reused_in_order() {
    // 128 bytes at 0, 128 at 128, and again from 0 once they are given back.
    model(&[128, 100, 65]);
}

#[test]
fn a_packet_that_would_cross_the_end_starts_over() {
    // 64 bytes at 0, 128 at 64, and 128 at 0 with 64 skipped.
    model(&[64, 128, 128]);
}
