//! A device for tests: what lies in its memory cannot be read or written by address.

use std::sync::Once;

use catena_memory::{Device, Kind, Rows, register};

/// The bit by which its addresses differ from those of the host memory behind them. With
/// it, no processor takes them.
const BIT: usize = 1 << 62;

struct Double;

/// The address on the device of host memory, or the other way round.
fn other<P>(at: *const P) -> *mut P {
    at.map_addr(|at| at ^ BIT).cast_mut()
}

// SAFETY: all its addresses come from `lend`.
unsafe impl Device for Double {
    fn kind(&self) -> Kind {
        Kind::Cuda
    }

    fn owns(&self, at: *const u8) -> bool {
        at.addr() & BIT != 0
    }

    unsafe fn read(&self, to: *mut u8, from: *const u8, rows: Rows) {
        for row in 0..rows.count {
            let from = other(from.wrapping_add(row * rows.stride));
            // SAFETY: the caller's promise.
            unsafe {
                to.add(row * rows.len)
                    .copy_from_nonoverlapping(from, rows.len)
            }
        }
    }

    unsafe fn write(&self, to: *mut u8, from: *const u8, rows: Rows) {
        for row in 0..rows.count {
            let to = other(to.wrapping_add(row * rows.stride));
            // SAFETY: the caller's promise.
            unsafe { to.copy_from_nonoverlapping(from.add(row * rows.len), rows.len) }
        }
    }
}

/// Lends memory to the device; gives its address there.
pub fn lend<T>(memory: &mut [T]) -> *mut u8 {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| register(&Double));
    other(memory.as_mut_ptr()).cast()
}
