//! Registered memory, and an operation on it.

use catena_fabric::{Access, Atomic, OpId, RemoteKey};

/// Memory that is registered.
#[derive(Debug)]
pub(crate) struct Region {
    pub owner: u32,
    pub base: u64,
    pub len: usize,
    pub access: Access,
}

impl Region {
    /// The `len` bytes at `addr`, if they are all of this region.
    pub fn range(&self, addr: u64, len: usize) -> Option<*mut u8> {
        let at = usize::try_from(addr.checked_sub(self.base)?).ok()?;
        let is_inside = at.checked_add(len)? <= self.len;
        is_inside.then(|| (self.base as *mut u8).wrapping_add(at))
    }
}

/// What is to be done at the target.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Write what lies at this address of the origin.
    Put(u64, usize),
    /// Write these bytes; the origin was told that its put is complete.
    Carry(Vec<u8>),
    /// Read to this address of the origin.
    Get(u64, usize),
    Atomic(Atomic),
    Flush,
}

/// An operation under way.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub number: u64,
    pub origin: u32,
    pub target: u32,
    pub op: OpId,
    pub key: RemoteKey,
    pub work: Work,
}
