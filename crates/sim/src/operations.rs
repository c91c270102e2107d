//! Operations on registered memory.
//!
//! Without faults they are complete at once. On a flaky network they find no room now and then,
//! wait at their origin, are carried out in any order, and are refused now and then; a put is
//! complete at its origin long before its bytes are at the target.

use catena_base::PeerBytes;
use catena_fabric::{Access, AtomicType, OpId, RemoteKey, RmaError, Started};

use crate::faults::Reads;
use crate::operation::{Operation, Work};
use crate::wire::{Wire, lost};

/// Operations of one process that wait, at most.
const MOST: usize = 16;

impl Wire {
    /// The memory that an operation works on.
    pub fn reach(
        &self,
        target: u32,
        key: RemoteKey,
        len: usize,
        access: Access,
    ) -> Result<*mut u8, RmaError> {
        let region = self.regions.get(&key.key);
        let region = region.filter(|it| it.owner == target);
        let region = region.ok_or(RmaError::NoRegion)?;
        if !region.access.allows(access) {
            return Err(RmaError::Forbidden);
        }
        region.range(key.addr, len).ok_or(RmaError::OutOfBounds)
    }

    /// Does the work of an operation; the former word of an atomic, else 0.
    fn carry_out(&self, target: u32, key: RemoteKey, work: &Work) -> Result<u64, RmaError> {
        match work {
            Work::Put(from, len) => {
                let to = self.reach(target, key, *len, Access::WRITE)?;
                // SAFETY: the origin lends `from` until it is told, and the owner of the region
                // lends that until it is deregistered; they may overlap.
                unsafe { std::ptr::copy(*from as *const u8, to, *len) };
                Ok(0)
            }
            Work::Carry(bytes) => {
                let to = self.reach(target, key, bytes.len(), Access::WRITE)?;
                // SAFETY: within a registered region.
                unsafe { PeerBytes::from(&bytes[..]).copy_to(to) };
                Ok(0)
            }
            Work::Get(into, len) => {
                let from = self.reach(target, key, *len, Access::READ)?;
                // SAFETY: as for a put.
                unsafe { std::ptr::copy(from, *into as *mut u8, *len) };
                Ok(0)
            }
            Work::Atomic(atomic) => {
                let at = self.reach(target, key, atomic.ty.size(), Access::ATOMIC)?;
                // SAFETY: within a registered region, which the lock of the wire guards from other
                // atomics.
                let old = unsafe { load(at, atomic.ty) };
                // SAFETY: as above.
                unsafe { store(at, atomic.ty, atomic.apply(old)) };
                Ok(if atomic.fetches { old } else { 0 })
            }
            Work::Flush => Ok(0),
        }
    }

    /// Starts an operation.
    pub fn start(&mut self, mut operation: Operation) -> Result<Started, RmaError> {
        let Operation {
            origin,
            target,
            key,
            ..
        } = operation;
        match self.faults.reads {
            Reads::Never => return Err(RmaError::Unsupported),
            Reads::Whole => {
                let value = self.carry_out(target, key, &operation.work)?;
                return Ok(Started::Complete(value));
            }
            Reads::Flaky => {}
        }
        let waiting = self.operations.iter().filter(|it| it.origin == origin);
        if self.rng.one_in(3) || waiting.count() >= MOST {
            return Ok(Started::Full);
        }
        self.started += 1;
        operation.number = self.started;
        self.operations.push(operation);
        Ok(Started::UnderWay)
    }

    /// Carries on operations of a process, and takes one that it is to be told of.
    pub fn next_completion(&mut self, origin: u32) -> Option<(OpId, Result<u64, RmaError>)> {
        let dead = self.operations.iter().position(|it| {
            it.origin == origin && self.dead[it.target as usize] && self.told_of(it.target, origin)
        });
        if let Some(at) = dead {
            let operation = self.operations.swap_remove(at);
            let lost = lost(catena_fabric::Peer(operation.target));
            let is_told = matches!(operation.work, Work::Carry(_));
            return match is_told {
                true => self.next_completion(origin),
                false => Some((operation.op, Err(RmaError::Lost(lost)))),
            };
        }
        loop {
            let ready: Vec<usize> = (0..self.operations.len())
                .filter(|&at| self.is_ready(at, origin))
                .collect();
            if ready.is_empty() || self.rng.one_in(3) {
                return None;
            }
            let at = ready[self.rng.below(ready.len())];
            let Operation {
                target,
                key,
                work,
                op,
                ..
            } = self.operations[at].clone();
            let is_sound = self.rng.below(32) > 0 || matches!(work, Work::Carry(_) | Work::Flush);
            if !is_sound {
                self.operations.swap_remove(at);
                let cause = "the simulator does so now and then".into();
                return Some((op, Err(RmaError::Refused(cause))));
            }
            if let Work::Put(from, len) = work
                && self.reach(target, key, len, Access::WRITE).is_ok()
                && self.rng.one_in(2)
            {
                let mut bytes = vec![0; len];
                // SAFETY: the origin lends it until it is told.
                unsafe { PeerBytes::new(from as *const u8, len) }.read(&mut bytes);
                self.operations[at].work = Work::Carry(bytes);
                return Some((op, Ok(0)));
            }
            let done = self.carry_out(target, key, &work);
            self.operations.swap_remove(at);
            if !matches!(work, Work::Carry(_)) {
                return Some((op, done));
            }
        }
    }

    /// Whether an operation is one of `origin` and can be carried out now.
    fn is_ready(&self, at: usize, origin: u32) -> bool {
        let this = &self.operations[at];
        let is_before = |it: &Operation| {
            it.origin == origin && it.target == this.target && it.number < this.number
        };
        this.origin == origin
            && !self.dead[this.target as usize]
            && (!matches!(this.work, Work::Flush) || !self.operations.iter().any(is_before))
    }
}

/// The word at an address.
///
/// # Safety
/// As many bytes as the type has are there, and nobody writes them.
unsafe fn load(at: *const u8, ty: AtomicType) -> u64 {
    let mut word = [0; 8];
    // SAFETY: as promised.
    unsafe { PeerBytes::new(at, ty.size()) }.read(&mut word[..ty.size()]);
    u64::from_le_bytes(word)
}

/// Writes the word at an address.
///
/// # Safety
/// As many bytes as the type has are there, and nobody else uses them.
unsafe fn store(at: *mut u8, ty: AtomicType, value: u64) {
    let word = value.to_le_bytes();
    // SAFETY: as promised.
    unsafe { PeerBytes::from(&word[..ty.size()]).copy_to(at) };
}
