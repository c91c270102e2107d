//! Reading a peer's memory.

use catena_fabric::reads::Asked;
use catena_fabric::{Peer, PeerLost, RemoteKey, RmaStatus};
use catena_ucx_sys::consts;

use crate::init::Ucx;
use crate::send::call_back;

impl Ucx {
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
        let target = &self.targets[peer.0 as usize];
        if let Some(lost) = &target.lost {
            if !self.gets.is_quiet(peer, into) {
                return Ok(RmaStatus::Full);
            }
            self.gets.forget(peer, into);
            return Err(PeerLost::clone(lost));
        }
        if target.ep.is_null() && !self.reach(peer)? {
            return Ok(RmaStatus::Full);
        }
        let rkey = match self.right(peer, remote.key) {
            Ok(rkey) if rkey.is_null() => return Ok(RmaStatus::Full),
            Ok(rkey) => rkey,
            Err(()) => return Ok(RmaStatus::Unable),
        };
        let ep = self.targets[peer.0 as usize].ep;
        let got = self.gets.go_on(
            (peer, remote),
            (into, len),
            self.read_max,
            |operation, at, len| {
                let param = call_back(self.operations.of(operation));
                let (here, there) = (into.wrapping_add(at), remote.addr.wrapping_add(at as u64));
                // SAFETY: the memory is lent until the piece has arrived.
                let posted =
                    unsafe { self.objects.library.get(ep, here, len, there, rkey, &param) };
                let asked = match posted {
                    Ok(request) if request.is_null() => Asked::Arrived,
                    Ok(_) => Asked::UnderWay(()),
                    Err(consts::ERR_NO_RESOURCE | consts::ERR_NO_MEMORY) => return Asked::Full,
                    Err(_) => return Asked::Unable,
                };
                self.counters.reads += 1;
                asked
            },
        );
        if let RmaStatus::Bytes(got) = got {
            self.counters.read_bytes += got as u64;
        }
        Ok(got)
    }
}
