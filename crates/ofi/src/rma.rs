//! Operations on a peer's memory. A put asks the provider to tell of its end when the data are at
//! the target, so a flush only waits for what is under way.

use catena_fabric::operations::Posting;
use catena_fabric::{
    Access, Atomic, Buf, LocalKey, OpId, Peer, RemoteKey, Rma, RmaCaps, RmaError, Started,
};
use catena_ofi_sys::calls::{self, Transfer};
use catena_ofi_sys::consts;

use crate::init::Ofi;
use crate::objects::{Objects, Region};
use crate::words::OpResources;

/// Keys that a provider may refuse for a registration before it is given up: those of memory that
/// is read into or written from are not listed.
const KEYS: usize = 80;

/// The next key after `last` that is not in use, of those that have no other bits than `mask`; none
/// if all are. 0 is that of our own memory.
fn next_key(last: u64, mask: u64, in_use: impl Fn(u64) -> bool) -> Option<u64> {
    let following = |key: &u64| Some(key.wrapping_add(1) & mask);
    let mut keys = std::iter::successors(following(&last), following);
    let free = keys.find(|key| *key == last || *key != 0 && !in_use(*key))?;
    (free != last || last != 0 && !in_use(last)).then_some(free)
}

impl Ofi {
    /// Registers memory so that others can read or write it; its key, and the address
    /// at which its first byte is found.
    pub(crate) fn register_remote(&mut self, buf: Buf, access: Access) -> Option<RemoteKey> {
        if !buf.kind.is_host() {
            return None;
        }
        let reads = access.allows(Access::READ);
        let writes = access.allows(Access::WRITE);
        let atomics = access.allows(Access::ATOMIC);
        if atomics && self.atomics.is_empty() || reads && !self.reads || writes && !self.writes {
            return None;
        }
        let read = if reads || atomics {
            consts::REMOTE_READ
        } else {
            0
        };
        let write = if writes || atomics {
            consts::REMOTE_WRITE
        } else {
            0
        };
        let region = self.register_with(buf, read | write)?;
        let key = region.key();
        if key == consts::KEY_NOTAVAIL {
            return None;
        }
        self.registered.entry(key).or_default().push(region);
        let virtual_addresses = self.objects.offer.needs(consts::MR_VIRT_ADDR);
        let addr = if virtual_addresses { buf.at as u64 } else { 0 };
        Some(RemoteKey { addr, key })
    }

    fn register_with(&mut self, buf: Buf, access: u64) -> Option<Region> {
        let (objects, registered) = (&self.objects, &self.registered);
        let in_use = |key| registered.contains_key(&key);
        let last = &mut self.next_key;
        register(objects, (last, self.key_mask), in_use, buf, access).ok()
    }

    /// Registers memory for operations of this end, where the provider wants that.
    pub(crate) fn register_own(&mut self, buf: Buf) -> Option<LocalKey> {
        if !self.objects.offer.needs(consts::MR_LOCAL) || !buf.kind.is_host() {
            return None;
        }
        let region = self.register_with(buf, consts::WRITE | consts::READ)?;
        self.next_local += 1;
        self.local.insert(self.next_local, region);
        Some(LocalKey(self.next_local))
    }

    /// Ends what [`Ofi::register_own`] began.
    pub(crate) fn end_own(&mut self, key: LocalKey) {
        self.local.remove(&key.0);
    }

    /// Ends what [`Ofi::register_remote`] began.
    pub(crate) fn end_registration(&mut self, remote: RemoteKey) {
        if let Some(regions) = self.registered.get_mut(&remote.key) {
            regions.pop();
            if regions.is_empty() {
                self.registered.remove(&remote.key);
            }
        }
    }
}

/// Registers memory under a key that is not in use, after the `last` one, if the provider does not
/// choose it. One that it refuses is passed over.
///
/// # Errors
/// libfabric's number, positive.
fn register(
    objects: &Objects,
    (last, mask): (&mut u64, u64),
    in_use: impl Fn(u64) -> bool,
    buf: Buf,
    access: u64,
) -> Result<Region, i32> {
    if objects.offer.needs(consts::MR_PROV_KEY) {
        return objects.register(buf.at, buf.len, access, 0);
    }
    let mut refused = libc::ENOSPC;
    for _ in 0..KEYS {
        *last = next_key(*last, mask, &in_use).ok_or(refused)?;
        match objects.register(buf.at, buf.len, access, *last) {
            Err(error) if error == consts::ENOKEY => refused = error,
            other => return other,
        }
    }
    Err(refused)
}

/// Which way the data of an operation go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RmaKind {
    Get,
    Put,
}

impl Ofi {
    /// Starts an operation on memory here and at `target` of a peer.
    ///
    /// # Safety
    /// As for [`Rma::put`] and [`Rma::get`].
    unsafe fn start(
        &mut self,
        way: RmaKind,
        op: OpId,
        peer: Peer,
        local: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let state = &self.targets[peer.0 as usize];
        self.endpoint.losses.check(peer)?;
        if !(if way == RmaKind::Put {
            self.writes
        } else {
            self.reads
        }) {
            return Err(RmaError::Unsupported);
        }
        if !state.is_known() {
            return Ok(Started::Full);
        }
        let address = state.address;
        let refused = |objects: &Objects, error: i32| {
            RmaError::Refused(objects.offer.library.strerror(error))
        };
        let (objects, contexts, last) = (&self.objects, &self.contexts, &mut self.next_key);
        let registered = &self.registered;
        let desc = self.local.get(&local.local.0).map(Region::desc);
        let (first, key_mask) = (self.first_operation, self.key_mask);
        let started = self.operations.start(Some(op), peer, |slot| {
            let region = if objects.offer.needs(consts::MR_LOCAL) && desc.is_none() {
                let access = if way == RmaKind::Put {
                    consts::WRITE
                } else {
                    consts::READ
                };
                let in_use = |key| registered.contains_key(&key);
                let region = register(objects, (last, key_mask), in_use, local, access);
                Some(region.map_err(|error| refused(objects, error))?)
            } else {
                None
            };
            let transfer = Transfer {
                local: local.at,
                len: local.len,
                desc: desc
                    .or(region.as_ref().map(Region::desc))
                    .unwrap_or_default(),
                peer: address,
                addr: target.addr,
                key: target.key,
            };
            let context = contexts.of(first + slot);
            // SAFETY: the memory is lent until the operation has ended, the context stays.
            let posted = unsafe {
                match way {
                    RmaKind::Put => calls::write(objects.ep, &transfer, context),
                    RmaKind::Get => calls::read(objects.ep, &transfer, context),
                }
            };
            match posted {
                Ok(()) => Ok(Posting::UnderWay(OpResources {
                    _region: region,
                    fetches: None,
                })),
                Err(consts::EAGAIN) => Ok(Posting::Full),
                Err(error) => Err(refused(objects, error as i32)),
            }
        });
        if way == RmaKind::Get && started == Ok(Started::UnderWay) {
            self.endpoint.count_read(local.len);
        }
        started
    }
}

impl Rma for Ofi {
    fn rma_caps(&self, _peer: Peer) -> RmaCaps {
        RmaCaps {
            put: self.writes,
            get: self.reads,
            atomics: self.atomics,
            max_len: if self.reads || self.writes {
                self.longest
            } else {
                0
            },
            piece: self.piece,
        }
    }

    unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        from: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised; a put only reads what is local.
        unsafe { self.start(RmaKind::Put, op, peer, from.in_host()?, target) }
    }

    unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        unsafe { self.start(RmaKind::Get, op, peer, into.in_host()?, target) }
    }

    fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.start_atomic(op, peer, atomic, target)
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        if !self.writes && !self.reads {
            return Err(RmaError::Unsupported);
        }
        self.endpoint.losses.check(peer)?;
        Ok(self.operations.flush(op, peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_round_and_none_is_taken_that_is_in_use() {
        // Three bits: seven keys.
        let mut used = std::collections::BTreeSet::new();
        let mut last = 0;
        for key in 1..=7 {
            last = next_key(last, 7, |key| used.contains(&key)).expect("one is free");
            assert_eq!(last, key);
            used.insert(last);
        }
        assert_eq!(next_key(last, 7, |key| used.contains(&key)), None);
        assert_eq!(next_key(0, 7, |key| used.contains(&key)), None);
        for free in [7, 3, 1] {
            used.remove(&free);
            assert_eq!(next_key(last, 7, |key| used.contains(&key)), Some(free));
            used.insert(free);
        }
        used.clear();
        assert_eq!(
            next_key(7, 7, |key| used.contains(&key)),
            Some(1),
            "0 is ours"
        );
    }
}
