//! The side of who looks at an area, while its process goes on, hangs, or is no more. Nothing there is believed:
//! whatever stands in it, a reader reads within bounds and comes to an end.

use std::sync::atomic::{Ordering::Acquire, Ordering::Relaxed, fence};

use crate::area::{Area, ENTRIES, RINGS, Ring};
use crate::notice::NOTICES;
use crate::record::ARGUMENTS;

/// A call that a thread has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the function.
    pub function: u16,
    /// Those of its arguments that are kept, and words that mean nothing behind them.
    pub arguments: [u32; ARGUMENTS],
}

/// A thread, as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as the kernel counts.
    pub thread: u32,
    /// How many calls it has made.
    pub calls: u64,
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
        calls: written,
        entries,
    }
}

/// The meaning of an entry; `None` if it has none.
fn entry([first, second]: [u64; 2]) -> Option<Entry> {
    Some(Entry {
        function: (first as u16).checked_sub(1)?,
        arguments: [first >> 32, second, second >> 32].map(|it| it as u32),
    })
}

#[cfg(test)]
mod tests;
