//! The side of who looks at an area, while its process goes on, hangs, or is no more. Nothing there is believed:
//! whatever stands in it, a reader reads within bounds and comes to an end.

use std::sync::atomic::{Ordering::Acquire, Ordering::Relaxed, fence};

use crate::area::{Area, ENTRIES, RINGS, Ring};
use crate::notice::NOTICES;
use crate::record::{ARGUMENTS, CALL, TIME};

/// Something that a thread has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It has called a function. Arguments beyond those of the function mean nothing.
    Call {
        /// Its number.
        function: u16,
        /// Those that are numbers or handles, in their order.
        arguments: [u32; ARGUMENTS],
    },
    /// It was so late: nanoseconds since 1970.
    Time(u64),
}

/// A thread, as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as the kernel counts.
    pub thread: u32,
    /// How many entries it has ever written.
    pub written: u64,
    /// The last of them, the oldest first.
    pub entries: Vec<Entry>,
}

/// A look at an area.
#[derive(Clone, Copy, Debug)]
pub struct View {
    area: Area,
}

impl View {
    /// A look at that area.
    pub fn of(area: Area) -> View {
        View { area }
    }

    /// The threads that have called anything and have not ended.
    pub fn threads(&self) -> Vec<Thread> {
        let front = self.area.front();
        let taken = front.taken.load(Acquire);
        (0..RINGS)
            .filter(|number| taken & 1 << number != 0)
            .map(|number| {
                let thread = front.threads[number].load(Relaxed);
                read(thread, self.area.ring(number))
            })
            .collect()
    }

    /// What threads wait for: the number of each, and its notice.
    pub fn notices(&self) -> Vec<(u32, Vec<u8>)> {
        let slots = (0..NOTICES).map(|number| self.area.slot(number));
        slots.filter_map(|slot| slot.read()).collect()
    }
}

fn read(thread: u32, ring: &Ring) -> Thread {
    let written = ring.written.load(Acquire);
    let words: Vec<[u64; 2]> = ring
        .entries
        .0
        .iter()
        .map(|entry| std::array::from_fn(|at| entry[at].load(Relaxed)))
        .collect();
    fence(Acquire);
    let after = ring.written.load(Relaxed);
    // What may have been written over meanwhile: the one that is being written now is counted later.
    let first = after.saturating_sub(ENTRIES as u64 - 1).min(written);
    let first = first.max(written.saturating_sub(ENTRIES as u64));
    let entries = (first..written)
        .filter_map(|at| entry(words[at as usize % ENTRIES]))
        .collect();
    Thread {
        thread,
        written,
        entries,
    }
}

/// The meaning of an entry; `None` if it has none.
fn entry([first, second]: [u64; 2]) -> Option<Entry> {
    match first & 0xffff << 16 {
        CALL => Some(Entry::Call {
            function: first as u16,
            arguments: [first >> 32, second, second >> 32].map(|it| it as u32),
        }),
        TIME => Some(Entry::Time(second)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
