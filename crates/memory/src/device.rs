//! What a device does: it knows its memory, copies, and lends memory to other processes.

use std::fmt;
use std::ops::Range;

use crate::kinds::Kind;

/// Rows of bytes on a device, as far apart as each other. In host memory they lie one
/// after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Bytes of each.
    pub len: usize,
    /// How many there are.
    pub count: usize,
    /// Bytes from the start of one to that of the next, at least `len`.
    pub stride: usize,
}

impl Rows {
    /// The longest stride at which rows are joined. It is what devices take at least.
    pub(crate) const LONGEST: usize = 1 << 30;

    /// A run of bytes.
    pub fn one(len: usize) -> Rows {
        Rows {
            len,
            count: 1,
            stride: len,
        }
    }

    /// Bytes of all.
    pub fn bytes(self) -> usize {
        self.len * self.count
    }

    /// The length of all, if they are one run of bytes.
    pub fn one_run(self) -> Option<usize> {
        (self.count == 1 || self.stride == self.len).then(|| self.bytes())
    }

    /// Takes a run of `len` bytes in, if it is the next row; it begins `distance` bytes
    /// after the first one.
    pub fn join(&mut self, distance: isize, len: usize) -> bool {
        let Ok(distance) = usize::try_from(distance) else {
            return false;
        };
        let is_next = match self.count {
            1 => (len..=Rows::LONGEST).contains(&distance),
            _ => self.stride.checked_mul(self.count) == Some(distance),
        };
        let joins = is_next && len == self.len;
        if joins {
            if self.count == 1 {
                self.stride = distance;
            }
            self.count += 1;
        }
        joins
    }
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Rows of the device become one run in host memory.
    ToHost,
    /// A run in host memory becomes rows of the device.
    ToDevice,
    /// A run in memory of a device becomes another one there.
    Within,
}

/// A copy that a device makes.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Where the first byte goes to.
    pub to: *mut u8,
    /// Where the first byte is.
    pub from: *const u8,
    /// How the bytes lie on the device.
    pub rows: Rows,
    /// Which way they go.
    pub direction: Direction,
}

impl Copy {
    /// Where it works on the device: that to which it goes, if both sides are there.
    pub fn on_device(&self) -> *const u8 {
        match self.direction {
            Direction::ToHost => self.from,
            Direction::ToDevice | Direction::Within => self.to,
        }
    }
}

/// Why a device does not copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyError {
    /// The memory is not, or not any more, on a device of that kind.
    NotThere,
    /// The call that failed, and what it says.
    Failed(String),
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyError::NotThere => f.write_str("the memory is not on a device any more"),
            CopyError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CopyError {}

/// A device's number for where copies wait for each other: those of one queue are made in the order
/// in which they were begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue(pub u64);

/// A device's name for a moment in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub u64);

/// Bytes of a [`Handle`].
pub const HANDLE: usize = 64;

/// By which another process opens memory of a device.
pub type Handle = [u8; HANDLE];

/// Memory of a device that others may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    /// For [`Device::import`]; it names the whole allocation.
    pub handle: Handle,
    /// Bytes from the beginning of the allocation to the address.
    pub offset: u64,
    /// Bytes of the allocation.
    pub len: u64,
    /// A number that no other allocation of this process has, nor a later one at the same address.
    pub id: u64,
}

/// What drives one kind of memory.
///
/// # Safety
/// [`Device::range`] tells only of memory that [`Device::begin`] can copy.
pub unsafe trait Device: Sync {
    /// The kind of its memory, which is not [`Kind::Host`].
    fn kind(&self) -> Kind;

    /// Whether there may be memory of it: not as long as the program has not loaded its driver.
    /// Once there may be some, it stays so.
    fn may_have_memory(&self) -> bool;

    /// The addresses of its memory around this one, of which all are its memory: those of the
    /// allocation. `None` if the address is not on it.
    fn range(&self, at: *const u8) -> Option<Range<usize>>;

    /// Begins a copy: where it waits, which [`Device::wait`] and [`Device::mark`] are told.
    ///
    /// # Errors
    /// [`CopyError`]; nothing was begun then.
    ///
    /// # Safety
    /// Both sides are valid for as many bytes, and nobody changes or uses them until the copy has
    /// been waited for.
    unsafe fn begin(&self, copy: &Copy) -> Result<Queue, CopyError>;

    /// Waits for all copies that were begun in a queue before.
    ///
    /// # Errors
    /// [`CopyError::Failed`].
    fn wait(&self, queue: Queue) -> Result<(), CopyError>;

    /// Marks the moment at which all copies that were begun in a queue before have been made.
    ///
    /// # Errors
    /// [`CopyError::Failed`].
    fn mark(&self, queue: Queue) -> Result<Mark, CopyError>;

    /// Whether that moment has come. If so, or if it failed, the mark is gone.
    ///
    /// # Errors
    /// [`CopyError::Failed`].
    fn has_passed(&self, mark: Mark) -> Result<bool, CopyError>;

    /// Lets other processes on this host open the memory in which the address lies. What the
    /// program began to write there, as far as the device can tell, has been written when it
    /// returns. `None` if that kind of allocation cannot be opened by others.
    fn export(&self, at: *const u8) -> Option<Exported>;

    /// Whether the address is still in the allocation that was exported with this number.
    fn is_still(&self, at: *const u8, id: u64) -> bool;

    /// Opens memory of another process: where its first byte is here, until [`Device::close`].
    /// `near` is memory that is to be copied from or to there, from which the device chooses how it
    /// opens it.
    ///
    /// # Errors
    /// [`CopyError::Failed`].
    fn import(&self, handle: &Handle, near: *const u8) -> Result<*mut u8, CopyError>;

    /// Ends what [`Device::import`] began.
    ///
    /// # Safety
    /// Nothing uses the memory any more.
    unsafe fn close(&self, at: *mut u8);
}
