//! What is written of a wait that has lasted: bytes that the crates above give a meaning. A reader
//! sees all of a notice, or nothing.

use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

use crate::area::Area;
use crate::slot::{LONGEST, NOTICES, Slot};
use crate::thread::area;

/// A place for what a thread waits for. Nothing is said there any more once it is dropped.
#[derive(Debug)]
pub struct Notice {
    slot: &'static Slot,
}

impl Notice {
    /// Most bytes that it says.
    pub const LONGEST: usize = LONGEST;

    /// A place for a thread; `None` where this process has no area, or no place left.
    pub fn of(thread: u32) -> Option<Notice> {
        let area = area()?;
        let mut slots = (0..NOTICES).map(|number| area.slot(number));
        let slot = slots.find(|&slot| {
            if !Area::provide(slot) {
                return false;
            }
            let taken = slot.thread.compare_exchange(0, thread, AcqRel, Relaxed);
            taken.is_ok()
        })?;
        area.front().told.fetch_add(1, Relaxed);
        Some(Notice { slot })
    }

    /// Says that, instead of what was said before. More than [`Notice::LONGEST`] bytes are cut off.
    pub fn write(&self, bytes: &[u8]) {
        self.slot.write(bytes);
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        self.slot.write(&[]);
        self.slot.thread.store(0, Release);
        if let Some(area) = area() {
            area.front().told.fetch_sub(1, Relaxed);
        }
    }
}
