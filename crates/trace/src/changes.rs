//! A number that tells whether what stands beside it is whole: it is odd while that changes.
//!
//! | what           | writer               | reader  | rule                                          |
//! |----------------|----------------------|---------|-----------------------------------------------|
//! | the number     | one thread at a time | anybody | odd from before W1 on, even from W2 on        |
//! | what is beside | the same             | anybody | whole if the number is even before and after a look, and the same |
//!
//! Readers may be other processes, which read memory as a file. The writer never waits for them.
//!
//! Model: `tests/loom_changes.rs`.

use crate::sync::{AtomicU32, Ordering::Relaxed, Ordering::Release, fence};

/// How often what stands beside it has begun to change, and ended to: 0 before the first time.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Changes(AtomicU32);

impl Changes {
    /// Nothing was written yet.
    pub fn clear(&self) {
        self.0.store(0, Relaxed);
    }

    /// Has `write` change what it tells of, by atomics. One thread at a time may.
    pub fn make(&self, write: impl FnOnce()) {
        // A process that had the memory before may have been killed in the middle of a change.
        let changes = self.0.load(Relaxed) & !1;
        self.0.store(changes.wrapping_add(1), Relaxed);
        // W1: whoever sees anything of what follows sees that a change is under way.
        fence(Release);
        write();
        // W2: whoever sees this sees all of the change.
        self.0.store(changes.wrapping_add(2), Release);
    }
}

/// Whether nothing has changed between two looks at the number.
pub fn are_whole(before: u32, after: u32) -> bool {
    before == after && before.is_multiple_of(2)
}

/// What `read` finds, if it was whole all the while: `number` looks at the number. No later look
/// may come before an earlier one, as no calls of the kernel do.
///
/// # Errors
/// Whatever a look at the number fails with.
pub fn look<T, E>(
    number: impl Fn() -> Result<u32, E>,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<Option<T>, E> {
    let before = number()?;
    if !before.is_multiple_of(2) {
        return Ok(None);
    }
    let found = read()?;
    Ok(are_whole(before, number()?).then_some(found))
}

impl AsRef<AtomicU32> for Changes {
    fn as_ref(&self) -> &AtomicU32 {
        &self.0
    }
}
