//! What the threads of a process share that use partitioned requests without the library's lock.

use catena_base::partitions::Callers;

use super::directory::Directory;
use super::incoming::Incoming;
use super::outgoing::Outgoing;

/// Sends, by handle.
pub static SENDS: Directory<Outgoing> = Directory::new();
/// Receives, by handle.
pub static RECEIVES: Directory<Incoming> = Directory::new();

/// Who may be in the library at the same time.
#[inline]
pub fn callers() -> Callers {
    match catena_core::is_locked() {
        true => Callers::Many,
        false => Callers::One,
    }
}
