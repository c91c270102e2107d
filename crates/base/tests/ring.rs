//! The ring in one address space: against a queue, across threads, and with a
//! peer that writes garbage.
#![cfg(not(loom))]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::VecDeque;

use catena_base::ring::{CELL, Consumer, Heads, Producer, RawArea, Stop};
use proptest::prelude::*;

/// Memory of one ring, with a margin that must stay untouched.
struct Memory {
    base: *mut u8,
    layout: Layout,
    cells: usize,
    data: usize,
}

const MARGIN: usize = 256;

impl Memory {
    fn new(cells: usize, data: usize) -> Self {
        let size = 128 + cells * CELL + data + 2 * MARGIN;
        let layout = Layout::from_size_align(size, 128).unwrap();
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        let memory = Memory {
            base,
            layout,
            cells,
            data,
        };
        for i in memory.margins() {
            // SAFETY: inside the allocation.
            unsafe { base.add(i).write(0xa5) };
        }
        memory
    }

    fn margins(&self) -> impl Iterator<Item = usize> + use<> {
        let before = 128..128 + MARGIN;
        let after = self.layout.size() - MARGIN..self.layout.size();
        before.chain(after)
    }

    fn cells_at(&self) -> usize {
        128 + MARGIN
    }

    /// Where the data area begins.
    fn area_at(&self) -> usize {
        self.base as usize + self.cells_at() + self.cells * CELL
    }

    fn area(&self) -> RawArea {
        // SAFETY: inside the allocation; Heads fits in 128 bytes.
        unsafe {
            RawArea::new(
                self.base.add(self.cells_at()),
                self.base.cast(),
                self.base.add(self.cells_at() + self.cells * CELL),
            )
        }
    }

    fn ends(&self) -> (Producer<RawArea>, Consumer<RawArea>) {
        // SAFETY: one end of each kind, sizes as allocated.
        unsafe {
            let mut tx = Producer::new(self.area(), self.cells);
            let mut rx = Consumer::new(self.area(), self.cells);
            tx.attach_data(self.area(), self.data);
            rx.attach_data(self.area(), self.data);
            tx.extend_data(self.data);
            rx.extend_data(self.data);
            (tx, rx)
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for i in self.margins() {
            // SAFETY: inside the allocation.
            assert_eq!(unsafe { self.base.add(i).read() }, 0xa5, "margin at {i}");
        }
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.base, self.layout) };
    }
}

fn pattern(seed: u64, len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| (seed.wrapping_mul(0x9e37_79b9) >> 7) as u8 ^ (i as u8).wrapping_mul(13))
        .collect()
}

/// Sends if there is room.
fn try_send(tx: &mut Producer<RawArea>, seed: u64, len: usize) -> bool {
    if !tx.has_room() && !tx.refresh().unwrap() {
        return false;
    }
    let words = [seed << 8 | 0xff, !seed, seed];
    let bytes = pattern(seed, len);
    if len <= 32 {
        // SAFETY: up to 32 bytes of the cell.
        tx.push(words, len, |to| unsafe {
            to.copy_from(bytes.as_ptr(), len)
        });
        return true;
    }
    if !tx.can_reserve(len) {
        tx.refresh().unwrap();
    }
    if !tx.can_reserve(len) {
        return false;
    }
    let bulk = tx.reserve(len);
    // SAFETY: `len` bytes were reserved.
    unsafe { bulk.ptr.copy_from(bytes.as_ptr(), len) };
    tx.commit(words, bulk, seed as u32);
    true
}

/// Takes one packet and checks it.
fn try_receive(rx: &mut Consumer<RawArea>, seed: u64, len: usize) -> bool {
    rx.pop(|packet| {
        assert_eq!(packet.words[0] >> 8, seed << 8 >> 8);
        assert_eq!(packet.words[1..], [!seed, seed]);
        assert_eq!(packet.flags, if len > 32 { seed as u32 } else { 0 });
        assert_eq!(packet.bytes.to_vec(), pattern(seed, len));
    })
    .unwrap()
}

proptest! {
    #[test]
    fn behaves_like_a_queue(
        shift in 1u32..5,
        pieces in 2usize..20,
        ops in prop::collection::vec((any::<bool>(), 0usize..800, 0usize..20), 1..500),
    ) {
        let memory = Memory::new(1 << shift, pieces * 64);
        let (mut tx, mut rx) = memory.ends();
        let mut queue = VecDeque::new();
        let mut seed = 0;
        for (sending, len, turn) in ops {
            if sending {
                let len = len.min(pieces / 2 * 64);
                seed += 1;
                // The producer may change its mind with each packet.
                tx.turn_at(turn.max(2 * len.div_ceil(64)) * 64);
                if try_send(&mut tx, seed, len) {
                    queue.push_back((seed, len));
                } else {
                    prop_assert!(!queue.is_empty(), "an empty ring takes any packet");
                }
            } else if let Some((seed, len)) = queue.pop_front() {
                prop_assert!(rx.is_ready());
                prop_assert!(try_receive(&mut rx, seed, len));
            } else {
                prop_assert!(!rx.is_ready());
                prop_assert_eq!(rx.pop(|_| ()), Ok(false));
            }
            if queue.is_empty() {
                rx.idle();
            }
            prop_assert!(queue.len() <= 1 << shift);
        }
    }

    /// Whatever stands in the cells, the consumer stays inside its memory:
    /// every payload it shows lies in the cells or the data area.
    #[test]
    fn garbage_never_leads_out_of_bounds(
        shift in 1u32..4,
        pieces in 2usize..8,
        garbage in prop::collection::vec((any::<u64>(), any::<u64>(), 0u64..2000), 1..200),
    ) {
        let memory = Memory::new(1 << shift, pieces * 64);
        let (_, mut rx) = memory.ends();
        let first = memory.base as usize + memory.cells_at();
        let last = first + memory.cells * CELL + memory.data;
        for (n, (a, b, len)) in garbage.into_iter().enumerate() {
            let stamp = ((n >> shift) as u8).wrapping_add(1);
            let cell = memory.base.wrapping_add(memory.cells_at() + (n % memory.cells) * CELL);
            let meta = if b % 3 == 0 { b } else { len };
            // SAFETY: a cell of the ring; the stamp is right, the rest is not.
            unsafe {
                cell.cast::<[u64; 4]>().write([a & !0xff | u64::from(stamp), a, b, meta]);
            }
            let popped = rx.pop(|packet| {
                let at = packet.bytes.as_ptr() as usize;
                assert!(at >= first && at + packet.bytes.len() <= last);
                assert_eq!(packet.bytes.to_vec().len(), packet.bytes.len());
            });
            match popped {
                Ok(true) => {}
                Err(Stop::Corrupt(_)) => break,
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    /// Whatever stands in the counters, the producer notices or goes on, and
    /// never believes in more room than there is.
    #[test]
    fn false_counters_are_noticed(head in any::<u64>(), freed in any::<u64>(), sent in 0u64..9) {
        let memory = Memory::new(8, 1024);
        let (mut tx, _) = memory.ends();
        for seed in 0..sent.min(8) {
            prop_assert!(try_send(&mut tx, seed, 40));
        }
        let sent = sent.min(8);
        // SAFETY: the counters of this ring.
        unsafe { memory.base.cast::<[u64; 2]>().write([head, freed]) };
        let result = tx.refresh();
        prop_assert_eq!(result.is_ok(), head <= sent && freed <= 64 * sent);
    }
}

#[test]
fn stress_between_two_threads() {
    const PACKETS: u64 = 200_000;
    let memory = Memory::new(4, 1024);
    let (mut tx, mut rx) = memory.ends();
    let len = |seed: u64| (seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as usize % 513;
    struct Moved<T>(T);
    // SAFETY: each end is used by one thread; the memory outlives the scope.
    unsafe impl<T> Send for Moved<T> {}
    let end = Moved(&mut tx);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let Moved(tx) = { end };
            for seed in 0..PACKETS {
                while !try_send(tx, seed, len(seed)) {
                    std::thread::yield_now();
                }
            }
        });
        for seed in 0..PACKETS {
            while !try_receive(&mut rx, seed, len(seed)) {
                rx.idle();
                std::thread::yield_now();
            }
        }
    });
    assert_eq!(rx.pop(|_| ()), Ok(false));
}

#[test]
fn a_packet_in_a_missing_data_area_is_kept() {
    let memory = Memory::new(2, 256);
    let (mut tx, _) = memory.ends();
    // SAFETY: the only consumer in use.
    let mut rx = unsafe { Consumer::new(memory.area(), 2) };
    assert!(try_send(&mut tx, 5, 100));
    assert_eq!(rx.pop(|_| panic!("nothing to show")), Err(Stop::Absent(0)));
    // SAFETY: the ring's data area.
    unsafe { rx.attach_data(memory.area(), 256) };
    assert_eq!(
        rx.pop(|_| panic!("nothing to show")),
        Err(Stop::Absent(128))
    );
    rx.extend_data(128);
    assert!(try_receive(&mut rx, 5, 100));
}

#[test]
fn only_what_is_present_is_used() {
    let memory = Memory::new(8, 512);
    // SAFETY: one end of each kind, sizes as allocated.
    let (mut tx, mut rx) = unsafe {
        let mut tx = Producer::new(memory.area(), 8);
        let mut rx = Consumer::new(memory.area(), 8);
        tx.attach_data(memory.area(), 512);
        rx.attach_data(memory.area(), 512);
        (tx, rx)
    };
    let (mut sent, mut received) = (0, 0);
    for present in [128, 192, 512] {
        assert!(tx.reach(100) > tx.present() && !try_send(&mut tx, sent, 100));
        tx.extend_data(present);
        while sent - received < 2 && try_send(&mut tx, sent, 100) {
            sent += 1;
        }
        while received < sent {
            if !try_receive_or_extend(&mut rx, received) {
                continue;
            }
            received += 1;
        }
        rx.idle();
        tx.refresh().unwrap();
    }
    for seed in sent..100 {
        assert!(try_send(&mut tx, seed, 100));
        while !try_receive_or_extend(&mut rx, seed) {}
        rx.idle();
        tx.refresh().unwrap();
    }
    assert_eq!((tx.present(), rx.present()), (512, 512));
}

/// Receives a packet of 100 bytes, or extends the area as far as it reaches, and says false.
fn try_receive_or_extend(rx: &mut Consumer<RawArea>, seed: u64) -> bool {
    let mut shown = None;
    match rx.pop(|packet| shown = Some(packet.words[2])) {
        Ok(came) => {
            assert!(came);
            assert_eq!(shown, Some(seed));
            true
        }
        Err(Stop::Absent(end)) => {
            assert!(end > rx.present());
            rx.extend_data(end);
            false
        }
        Err(Stop::Corrupt(corrupt)) => panic!("{corrupt}"),
    }
}

#[test]
fn packets_that_turn_early_find_the_same_memory() {
    let memory = Memory::new(8, 4096);
    let (mut tx, mut rx) = memory.ends();
    let mut place = |seed, len, turn| {
        tx.turn_at(turn);
        assert!(try_send(&mut tx, seed, len));
        let mut at = 0;
        rx.pop(|packet| at = packet.bytes.as_ptr() as usize)
            .unwrap();
        rx.idle();
        tx.refresh().unwrap();
        at - memory.area_at()
    };
    let places: Vec<usize> = (0..6).map(|seed| place(seed, 100, 384)).collect();
    assert_eq!(places, [0, 128, 256, 0, 128, 256]);
    // All of the area, up to its very end, and back.
    let long: Vec<usize> = (6..10).map(|seed| place(seed, 1000, 4096)).collect();
    assert_eq!(long, [384, 1408, 2432, 0]);
    assert_eq!(place(10, 1000, 8192), 1024);
    assert_eq!(place(11, 100, 384), 0);
}

#[test]
fn whether_all_was_taken_is_known_where_a_packet_would_cross() {
    let memory = Memory::new(8, 4096);
    let (mut tx, mut rx) = memory.ends();
    let mut send = |tx: &mut Producer<RawArea>, seed, is_taken| {
        assert!(try_send(tx, seed, 100));
        if is_taken {
            assert_eq!(rx.pop(|_| ()), Ok(true));
            rx.idle();
        }
    };
    let crosses: Vec<bool> = (0..5)
        .map(|seed| {
            let crosses = tx.crosses(384, 100);
            send(&mut tx, seed, seed < 4);
            crosses
        })
        .collect();
    assert_eq!(crosses, [false, false, false, true, false]);
    assert!(!tx.is_drained());
    tx.refresh().unwrap();
    assert!(!tx.is_drained(), "one is left");
    assert_eq!(rx.pop(|_| ()), Ok(true));
    rx.idle();
    assert!(!tx.is_drained(), "it is not known yet");
    tx.refresh().unwrap();
    assert!(tx.is_drained());
}

#[test]
fn a_closed_end_never_has_room() {
    let memory = Memory::new(2, 128);
    // SAFETY: only questions are asked.
    let tx = unsafe { Producer::closed(memory.area()) };
    assert!(!tx.has_room() && !tx.can_reserve(1));
}

#[test]
fn the_counters_share_one_line() {
    assert_eq!(size_of::<Heads>(), 64);
}
