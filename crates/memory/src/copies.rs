//! Copies that a device makes, and that are waited for together.

use std::fmt;

use crate::device::{Copy, CopyError, Device, Direction, Mark, Queue, Rows};
use crate::kinds::{Kind, Unsupported};
use crate::registry::{RANGES, device};

/// Copies of one kind of memory that are waited for together.
pub struct Copies {
    device: &'static dyn Device,
    queue: Option<Queue>,
}

impl fmt::Debug for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copies")
            .field("kind", &self.device.kind())
            .field("queue", &self.queue)
            .finish()
    }
}

impl Copies {
    /// None yet, of that kind of memory.
    ///
    /// # Errors
    /// As [`device`].
    pub fn of(kind: Kind) -> Result<Copies, Unsupported> {
        let device = device(kind)?;
        Ok(Copies {
            device,
            queue: None,
        })
    }

    /// Begins one more. Memory that was a device's and has become the host's since is copied at
    /// once.
    ///
    /// # Errors
    /// [`CopyError`]; nothing was begun then.
    ///
    /// # Safety
    /// As [`Device::begin`], until [`Copies::wait`] has returned or [`Marked::has_passed`] said so.
    pub unsafe fn begin(&mut self, copy: &Copy) -> Result<(), CopyError> {
        // SAFETY: the caller's promise.
        match unsafe { self.begin_on_device(copy) } {
            Err(CopyError::NotThere) if copy.direction != Direction::Within => {
                // SAFETY: as above; it is memory of the host.
                unsafe { on_host(copy) };
                Ok(())
            }
            begun => begun,
        }
    }

    /// Begins one more, of memory that is never the host's, such as what a peer has exported.
    ///
    /// # Errors
    /// [`CopyError`]; nothing was begun then.
    ///
    /// # Safety
    /// As [`Copies::begin`].
    pub unsafe fn begin_on_device(&mut self, copy: &Copy) -> Result<(), CopyError> {
        // SAFETY: the caller's promise.
        let begun = unsafe { self.device.begin(copy) };
        let queue = begun.inspect_err(|error| {
            if *error == CopyError::NotThere {
                RANGES.forget(copy.on_device());
            }
        })?;
        if let Some(before) = self.queue.replace(queue).filter(|it| *it != queue) {
            self.device.wait(before)?;
        }
        Ok(())
    }

    /// Waits until all of them have been made.
    ///
    /// # Errors
    /// [`CopyError::Failed`].
    pub fn wait(self) -> Result<(), CopyError> {
        self.queue.map_or(Ok(()), |queue| self.device.wait(queue))
    }

    /// Lets them be made meanwhile.
    ///
    /// # Errors
    /// [`CopyError::Failed`]; they were waited for then.
    pub fn mark(self) -> Result<Marked, CopyError> {
        let device = self.device;
        let mark = self.queue.map(|queue| {
            let mark = device.mark(queue).inspect_err(|_| {
                // What fails here fails above, too.
                let _ = device.wait(queue);
            });
            Ok((mark?, queue))
        });
        let mark = mark.transpose()?;
        Ok(Marked { device, mark })
    }
}

/// Copies that are being made.
pub struct Marked {
    device: &'static dyn Device,
    mark: Option<(Mark, Queue)>,
}

impl fmt::Debug for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Marked")
            .field("kind", &self.device.kind())
            .field("mark", &self.mark)
            .finish()
    }
}

impl Marked {
    /// Whether all of them have been made; never to be asked again then, nor after an error.
    ///
    /// # Errors
    /// [`CopyError::Failed`]; they were waited for then.
    pub fn has_passed(&self) -> Result<bool, CopyError> {
        let Some((mark, queue)) = self.mark else {
            return Ok(true);
        };
        // That the question fails says nothing of the copies, which may still be made.
        let has_passed = self.device.has_passed(mark);
        has_passed.or_else(|_| self.device.wait(queue).map(|()| true))
    }
}

/// Copies rows in memory that the processor reads and writes.
///
/// # Safety
/// Both sides are valid.
pub(crate) unsafe fn on_host(copy: &Copy) {
    let Rows { len, count, stride } = copy.rows;
    for row in 0..count {
        let (near, far) = (row * len, row * stride);
        let (to, from) = match copy.direction {
            Direction::ToHost => (near, far),
            Direction::ToDevice | Direction::Within => (far, near),
        };
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy(copy.from.add(from), copy.to.add(to), len) };
    }
}
