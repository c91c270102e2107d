//! A device for tests: what lies in its memory cannot be read or written by address.

use std::ops::Range;
use std::sync::Once;

use catena_memory::{
    Copy, CopyError, Device, Direction, Exported, Handle, Kind, Mark, Queue, Rows, register,
};

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

    fn range(&self, at: *const u8) -> Option<Range<usize>> {
        (at.addr() & BIT != 0).then(|| at.addr()..at.addr() + 1)
    }

    unsafe fn begin(&self, copy: &Copy) -> Result<Queue, CopyError> {
        let Rows { len, count, stride } = copy.rows;
        for row in 0..count {
            let (near, far) = (row * len, row * stride);
            // SAFETY: the caller's promise.
            unsafe {
                match copy.direction {
                    Direction::ToHost => {
                        let from = other(copy.from.wrapping_add(far));
                        from.copy_to_nonoverlapping(copy.to.add(near), len);
                    }
                    _ => {
                        let to = other(copy.to.wrapping_add(far));
                        to.copy_from_nonoverlapping(copy.from.add(near), len);
                    }
                }
            }
        }
        Ok(Queue(0))
    }

    fn wait(&self, _: Queue) -> Result<(), CopyError> {
        Ok(())
    }

    fn mark(&self, _: Queue) -> Result<Mark, CopyError> {
        Ok(Mark(0))
    }

    fn has_passed(&self, _: Mark) -> Result<bool, CopyError> {
        Ok(true)
    }

    fn export(&self, _: *const u8) -> Option<Exported> {
        None
    }

    fn import(&self, _: &Handle, _: *const u8) -> Result<*mut u8, CopyError> {
        Err(CopyError::NotThere)
    }

    unsafe fn close(&self, _: *mut u8) {}
}

/// Lends memory to the device; gives its address there.
pub fn lend<T>(memory: &mut [T]) -> *mut u8 {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| register(&Double));
    other(memory.as_mut_ptr()).cast()
}
