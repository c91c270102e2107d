//! Reading a peer's memory.

use catena_fabric::reads::Asked;
use catena_fabric::{Peer, PeerLost, RemoteKey, RmaStatus};
use catena_ofi_sys::calls::{self, Read};
use catena_ofi_sys::consts;

use crate::init::Ofi;
use crate::objects::Region;

/// Keys tried for a registration before it is given up.
const KEYS: usize = 8;

impl Ofi {
    /// Registers memory so that others can read it; its key, and the address
    /// at which its first byte is found.
    pub(crate) fn register_readable(&mut self, at: *const u8, len: usize) -> Option<RemoteKey> {
        if !self.reads {
            return None;
        }
        let region = self.register_shown(at, len)?;
        let key = region.key();
        if key == consts::KEY_NOTAVAIL {
            return None;
        }
        self.registered.entry(key).or_default().push(region);
        let virtual_addresses = self.objects.offer.needs(consts::MR_VIRT_ADDR);
        let addr = if virtual_addresses { at as u64 } else { 0 };
        Some(RemoteKey { addr, key })
    }

    fn register_shown(&mut self, at: *const u8, len: usize) -> Option<Region> {
        if self.objects.offer.needs(consts::MR_PROV_KEY) {
            let region = self.objects.register(at, len, consts::REMOTE_READ, 0);
            return region.ok();
        }
        // Short keys come round; one that is in use is passed over.
        for _ in 0..KEYS {
            self.next_key = self.next_key.wrapping_add(1) & self.key_mask;
            if self.registered.contains_key(&self.next_key) {
                continue;
            }
            let key = self.next_key;
            if let Ok(region) = self.objects.register(at, len, consts::REMOTE_READ, key) {
                return Some(region);
            }
        }
        None
    }

    /// Ends what [`Ofi::register_readable`] began.
    pub(crate) fn end_registration(&mut self, remote: RemoteKey) {
        if let Some(regions) = self.registered.get_mut(&remote.key) {
            regions.pop();
            if regions.is_empty() {
                self.registered.remove(&remote.key);
            }
        }
    }

    /// Implements `Transport::try_get`.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn get(
        &mut self,
        peer: Peer,
        remote: RemoteKey,
        into: *mut u8,
        len: usize,
    ) -> Result<RmaStatus, PeerLost> {
        if !self.reads {
            return Ok(RmaStatus::Unable);
        }
        let target = &self.targets[peer.0 as usize];
        if let Some(lost) = &target.lost {
            self.gets.forget(peer, into);
            return Err(PeerLost::clone(lost));
        }
        if !target.is_known() {
            return Ok(RmaStatus::Full);
        }
        let from = target.address;
        let got = self.gets.go_on(
            (peer, remote),
            (into, len),
            self.read_max,
            |operation, at, len| {
                let here = into.wrapping_add(at);
                let region = if self.objects.offer.needs(consts::MR_LOCAL) {
                    self.next_key = self.next_key.wrapping_add(1) & self.key_mask;
                    let region = self
                        .objects
                        .register(here, len, consts::READ, self.next_key);
                    let Ok(region) = region else {
                        return Asked::Unable;
                    };
                    Some(region)
                } else {
                    None
                };
                let read = Read {
                    into: here,
                    len,
                    desc: region.as_ref().map_or(std::ptr::null_mut(), Region::desc),
                    from,
                    addr: remote.addr.wrapping_add(at as u64),
                    key: remote.key,
                };
                // SAFETY: the memory is lent until the piece has arrived, the
                // context stays.
                match unsafe { calls::read(self.objects.ep, &read, self.contexts.of(operation)) } {
                    Ok(()) => {
                        self.counters.reads += 1;
                        Asked::UnderWay(region)
                    }
                    Err(consts::EAGAIN) => Asked::Full,
                    Err(_) => Asked::Unable,
                }
            },
        );
        if let RmaStatus::Bytes(got) = got {
            self.counters.read_bytes += got as u64;
        }
        Ok(got)
    }
}
